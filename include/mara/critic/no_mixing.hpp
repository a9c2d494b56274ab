#pragma once
// Independent Q-learning: no mixer.

#include <cstddef>
#include <string>
#include <type_traits>

#include "mara/critic/mixing.hpp"

namespace mara::critic {

/// Every agent learns its own value, the others being part of its world (Tan, "Multi-agent reinforcement
/// learning: independent vs. cooperative agents", ICML 1993). With one agent: DQN (Mnih et al. 2015).
class NoMixing {
 public:
  static constexpr bool kPerAgent = true, kCentral = false;

  static Result<NoMixing> create(const MixerConfig&, std::size_t, std::size_t) { return NoMixing{}; }
  std::size_t stored() const noexcept { return 0; }
  template <class S>
  void initialise(Random&, S*) const {}
  template <class S, class F>
  void visit(S*, const std::string&, F&&) const {}
  template <class S>
  Var mix(Tape<S>&, const std::type_identity_t<S>*, std::type_identity_t<S>*, Var q, Var) const {
    return q;
  }
};

static_assert(Mixing<NoMixing>);

}  // namespace mara::critic
