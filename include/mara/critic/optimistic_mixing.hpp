#pragma once
// Weighted QMIX: a monotone mixer that learns from an unrestricted one.

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "mara/critic/monotonic_mixing.hpp"

namespace mara::critic {

/// An unrestricted value of the team: a network of the state and of the chosen values of all agents (Rashid
/// et al. 2020, section 6.1).
class CentralMixing {
 public:
  static constexpr bool kPerAgent = false, kCentral = false;

  /// Errors (kInvalidArgument): no slots, a width of 0 in config.central_hidden.
  static Result<CentralMixing> create(const MixerConfig& config, std::size_t slots, std::size_t state) {
    if (slots == 0) return Error{ErrorCode::kInvalidArgument, "mixer: slots = 0"};
    auto network = detail::mixer_network(slots + state, config.central_hidden, 1);
    if (!network) return network.error();
    CentralMixing made;
    made.network_ = std::move(*network);
    return made;
  }
  std::size_t stored() const noexcept { return network_.stored(); }
  template <class S>
  void initialise(Random& random, S* storage) const {
    network_.initialise(random, storage);
  }
  template <class S, class F>
  void visit(S* storage, const std::string& prefix, F&& f) const {
    network_.visit(storage, prefix, f);
  }
  template <class S>
  Var mix(Tape<S>& tape, const std::type_identity_t<S>* storage, std::type_identity_t<S>* gradients, Var q,
          Var state) const {
    return network_.forward(tape, storage, gradients, tape.concat(q, state), tape.rows(q), nullptr, nullptr);
  }

 private:
  AgentNetwork network_;
};

/// Optimistically weighted QMIX (Rashid, Farquhar, Peng and Whiteson, "Weighted QMIX: expanding monotonic
/// value function factorisation", NeurIPS 2020, section 5): the mixer of QMIX, fitted to targets of an
/// unrestricted value Q* with weight 1 where it is below the target and alpha elsewhere (eq. 8), so that it
/// keeps joint options that could be good. Q* has agent networks of its own; its targets are its values at
/// the joint option that Q_tot prefers.
class OptimisticMixing : public MonotonicMixing {
 public:
  static constexpr bool kPerAgent = false, kCentral = true;
  using Central = CentralMixing;

  OptimisticMixing() = default;
  /// Errors: those of MonotonicMixing.
  static Result<OptimisticMixing> create(const MixerConfig& config, std::size_t slots, std::size_t state) {
    auto base = MonotonicMixing::create(config, slots, state);
    if (!base) return base.error();
    return OptimisticMixing(std::move(*base));
  }

 private:
  explicit OptimisticMixing(MonotonicMixing base) : MonotonicMixing(std::move(base)) {}
};

static_assert(Mixing<OptimisticMixing> && Mixing<CentralMixing>);

}  // namespace mara::critic
