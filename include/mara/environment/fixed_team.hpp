#pragma once
// What games share whose agents are all there from the first step of an episode to the last.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/environment/game.hpp"

namespace mara {

/// Base of games with a fixed team: presence, turn order (by slot), masks (everything legal), choices,
/// rewards. A game adds reset(), observe(), global_state() and step(). Before the first reset nobody is
/// present. After the end of an episode everybody stays, so that the final state can be observed; a further
/// step() changes nothing, pays nothing and says again how the episode ended. Who does not choose repeats the
/// last choice (option 0, numbers 0, after reset). An option outside the range counts as the nearest one, a
/// number outside its bounds as the nearest bound, NaN as 0.
class FixedTeam {
 public:
  const GameShape& shape() const noexcept { return shape_; }
  bool present(std::size_t slot) const noexcept { return begun_ && slot < shape_.agents; }
  bool arrived(std::size_t slot) const noexcept { return present(slot) && steps_ == 0; }
  std::span<const std::uint32_t> turn_order() const noexcept {
    return std::span<const std::uint32_t>(order_).first(begun_ ? order_.size() : 0);
  }
  OptionMask mask(std::size_t, std::size_t head) const noexcept {
    return first_options(shape_.action.heads[head]);
  }
  void choose(std::size_t slot, const std::int32_t* options, const float* numbers) noexcept {
    if (slot >= shape_.agents) return;
    const std::size_t heads = shape_.action.choices(), box = shape_.action.numbers();
    for (std::size_t h = 0; h < heads; ++h)
      options_[slot * heads + h] = std::clamp<std::int32_t>(options[h], 0, shape_.action.heads[h] - 1);
    for (std::size_t k = 0; k < box; ++k) numbers_[slot * box + k] = within(numbers[k], shape_.action.box[k]);
  }
  std::span<const float> rewards() const noexcept { return rewards_; }
  /// Steps of the episode so far.
  int steps() const noexcept { return steps_; }

 protected:
  explicit FixedTeam(GameShape shape)
      : shape_(std::move(shape)),
        order_(shape_.agents),
        options_(shape_.agents * shape_.action.choices()),
        numbers_(shape_.agents * shape_.action.numbers()),
        rewards_(shape_.agents) {
    std::iota(order_.begin(), order_.end(), 0u);
  }
  ~FixedTeam() = default;
  FixedTeam(const FixedTeam&) = default;
  FixedTeam(FixedTeam&&) noexcept = default;
  FixedTeam& operator=(const FixedTeam&) = default;
  FixedTeam& operator=(FixedTeam&&) noexcept = default;

  /// The mask in which options 0..count-1 are legal.
  static constexpr OptionMask first_options(int count) noexcept {
    return count >= 32 ? ~OptionMask{0} : (OptionMask{1} << count) - 1u;
  }
  static constexpr float within(float value, ActionBounds bounds) noexcept {
    if (!(value == value)) value = 0.0f;
    if (value < bounds.low) return bounds.low;
    return value > bounds.high ? bounds.high : value;
  }
  /// "game: field = value, not ..." as an error.
  static Error bad(const std::string& game, const std::string& field, const std::string& value,
                   const std::string& rule) {
    return Error{ErrorCode::kInvalidArgument, game + ": " + field + " = " + value + ", " + rule};
  }

  /// Begins an episode.
  void begin() {
    begun_ = true;
    steps_ = 0;
    ended_ = {};
    std::fill(options_.begin(), options_.end(), 0);
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      numbers_[i] = within(0.0f, shape_.action.box[i % shape_.action.numbers()]);
    std::fill(rewards_.begin(), rewards_.end(), 0.0f);
  }
  /// The option that `slot` chose at `head`, and the number of its action.
  int option(std::size_t slot, std::size_t head = 0) const noexcept {
    return options_[slot * shape_.action.choices() + head];
  }
  double number(std::size_t slot, std::size_t which = 0) const noexcept {
    return static_cast<double>(numbers_[slot * shape_.action.numbers() + which]);
  }
  /// Whether there is nothing to step: no episode, or one that is over.
  bool over() const noexcept { return !begun_ || ended_.terminated || ended_.truncated; }
  /// The answer to a step when over().
  StepOutcome nothing() {
    std::fill(rewards_.begin(), rewards_.end(), 0.0f);
    return begun_ ? ended_ : StepOutcome{0.0f, true, false};
  }
  /// Individual rewards of this step, to be set before finish().
  std::vector<float>& own_rewards() noexcept { return rewards_; }
  /// Ends a step. Termination wins over truncation.
  StepOutcome finish(double team_reward, bool terminated, bool truncated) noexcept {
    ++steps_;
    ended_ = {0.0f, terminated, truncated && !terminated};
    return {static_cast<float>(team_reward), ended_.terminated, ended_.truncated};
  }
  /// Ends a step that pays everybody the same.
  StepOutcome finish_shared(double reward, bool terminated, bool truncated) noexcept {
    std::fill(rewards_.begin(), rewards_.end(), static_cast<float>(reward));
    return finish(reward, terminated, truncated);
  }

 private:
  GameShape shape_;
  std::vector<std::uint32_t> order_;
  std::vector<std::int32_t> options_;  ///< agents x heads
  std::vector<float> numbers_;         ///< agents x box
  std::vector<float> rewards_;
  StepOutcome ended_;
  int steps_ = 0;
  bool begun_ = false;
};

}  // namespace mara
