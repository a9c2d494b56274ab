#pragma once
// An environment as a game whose global state carries the flow.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "mara/environment/environment_game.hpp"
#include "mara/guidance/allocation_flow.hpp"
#include "mara/guidance/environment_flow.hpp"

namespace mara {

/// EnvironmentGame with the mean over the agents present of the flow vector x1^ - x behind the environment's
/// own global state: kOptions numbers, where the field would move the whole allocation (zeros with nobody
/// there), see EnvironmentFlow. This is how a mixer (QMIX) or a critic comes to see the flow; agents do not,
/// so that deployment needs no field. One thread at a time. Fulfils Game.
template <Environment E, class Flow = DefaultFlow<E>>
class FlowStateGame {
 public:
  /// `flow` is not null.
  FlowStateGame(E environment, std::size_t slots, std::shared_ptr<const Flow> flow)
      : game_(std::move(environment), slots), flow_(std::move(flow)), shape_(game_.shape()) {
    shape_.state += kOptions;
  }

  const GameShape& shape() const noexcept { return shape_; }
  Status reset(std::uint64_t seed) { return game_.reset(seed); }
  bool present(std::size_t slot) const { return game_.present(slot); }
  bool arrived(std::size_t slot) const { return game_.arrived(slot); }
  void observe(float* rows) const { game_.observe(rows); }
  void global_state(float* row) const {
    game_.global_state(row);
    float* mean = row + game_.shape().state;
    std::fill_n(mean, kOptions, 0.0f);
    const std::size_t agents = game_.turn_order().size();
    if (agents == 0) return;
    moment_.evaluate(game_.environment(), *flow_);
    for (std::size_t i = 0; i < agents; ++i)
      for (std::size_t a = 0; a < kOptions; ++a)
        mean[a] +=
            moment_.endpoint[i * kOptions + a] - (static_cast<int>(a) == moment_.current[i] ? 1.0f : 0.0f);
    for (std::size_t a = 0; a < kOptions; ++a) mean[a] /= static_cast<float>(agents);
  }
  std::span<const std::uint32_t> turn_order() const noexcept { return game_.turn_order(); }
  OptionMask mask(std::size_t slot, std::size_t head) const { return game_.mask(slot, head); }
  void choose(std::size_t slot, const std::int32_t* options, const float* numbers) {
    game_.choose(slot, options, numbers);
  }
  StepOutcome step() { return game_.step(); }
  std::span<const float> rewards() const noexcept { return game_.rewards(); }

  const EnvironmentGame<E>& game() const noexcept { return game_; }

 private:
  static constexpr auto kOptions = static_cast<std::size_t>(E::kOptions);

  EnvironmentGame<E> game_;
  std::shared_ptr<const Flow> flow_;
  GameShape shape_;
  mutable EnvironmentFlow<E, Flow> moment_;  ///< scratch of global_state()
};

}  // namespace mara
