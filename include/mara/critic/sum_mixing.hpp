#pragma once
// Value decomposition by a sum (VDN).

#include <cstddef>
#include <string>
#include <type_traits>

#include "mara/critic/mixing.hpp"

namespace mara::critic {

/// Q_tot = sum of the agents' values (Sunehag et al., "Value-decomposition networks for cooperative
/// multi-agent learning", 2017, eq. 1). The state is not read.
class SumMixing {
 public:
  static constexpr bool kPerAgent = false, kCentral = false;

  static Result<SumMixing> create(const MixerConfig&, std::size_t, std::size_t) { return SumMixing{}; }
  std::size_t stored() const noexcept { return 0; }
  template <class S>
  void initialise(Random&, S*) const {}
  template <class S, class F>
  void visit(S*, const std::string&, F&&) const {}
  template <class S>
  Var mix(Tape<S>& tape, const std::type_identity_t<S>*, std::type_identity_t<S>*, Var q, Var) const {
    return tape.row_sum(q);
  }
};

static_assert(Mixing<SumMixing>);

}  // namespace mara::critic
