#pragma once
// Games for the tests of MADDPG.

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/learning/maddpg.hpp"

namespace mara::test {

/// Three slots whose agents come and go. Each takes one of three seats (the last is always free, each other
/// one only for the first who asks) and says a number; seats 0 and 1 pay, far numbers cost. Own rewards are
/// the shares of the team's. Episodes end by chance or after 7 steps.
class SeatsGame {
 public:
  SeatsGame() { shape_ = {3, 2, 2, {{3}, {{-1.0f, 2.0f}}}}; }
  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t seed) {
    random_ = Random(seed, 77);
    steps_ = 0;
    here_ = {1, 1, 0};
    arrived_ = {1, 1, 0};
    begin();
    return {};
  }
  bool present(std::size_t slot) const { return here_[slot] != 0; }
  bool arrived(std::size_t slot) const { return arrived_[slot] != 0; }
  void observe(float* rows) const {
    for (std::size_t i = 0; i < 3; ++i) {
      rows[2 * i] = here_[i] != 0 ? static_cast<float>(steps_) / 7.0f : 0.0f;
      rows[2 * i + 1] = here_[i] != 0 ? static_cast<float>(i) : 0.0f;
    }
  }
  void global_state(float* row) const {
    row[0] = state_break_ && steps_ == 3 ? std::numeric_limits<float>::quiet_NaN()
                                         : static_cast<float>(steps_) / 7.0f;
    row[1] = static_cast<float>(here_[0] + here_[1] + here_[2]);
  }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t, std::size_t) const { return free_; }
  void choose(std::size_t slot, const std::int32_t* options, const float* numbers) {
    taken_[slot] = options[0];
    if (options[0] < 2) free_ &= ~(1u << options[0]);
    number_[slot] = numbers[0];
    legal_ = legal_ && numbers[0] >= -1.0f && numbers[0] <= 2.0f;
  }
  StepOutcome step() {
    rewards_ = {};
    float team = 0.0f;
    for (std::size_t i = 0; i < 3; ++i) {
      if (here_[i] == 0) continue;
      rewards_[i] = static_cast<float>(2 - taken_[i]) - (number_[i] - 0.5f) * (number_[i] - 0.5f);
      team += rewards_[i];
    }
    ++steps_;
    for (std::size_t i = 0; i < 3; ++i) {
      const bool before = here_[i] != 0;
      here_[i] = random_.uniform() < 0.7 ? 1 : 0;
      arrived_[i] = here_[i] != 0 && (!before || random_.uniform() < 0.1) ? 1 : 0;
    }
    const bool over = random_.uniform() < 0.1;
    begin();
    return {team * scale_, over, !over && steps_ >= 7};
  }
  std::span<const float> rewards() const { return rewards_; }

  bool state_break_ = false;  ///< the state after three steps is NaN
  float scale_ = 1.0f;
  bool legal_ = true;

 private:
  void begin() {
    order_.clear();
    for (std::uint32_t i = 3; i-- > 0;)
      if (here_[i] != 0) order_.push_back(i);
    free_ = 7u;
  }
  GameShape shape_;
  Random random_{0};
  int steps_ = 0;
  std::array<int, 3> here_{}, arrived_{};
  std::array<std::int32_t, 3> taken_{};
  std::array<float, 3> number_{}, rewards_{};
  std::vector<std::uint32_t> order_;
  OptionMask free_ = 7u;
};

inline GameMaker seats_game() {
  return [](int) { return AnyGame(SeatsGame()); };
}

/// One agent, one option, always in the same state, each step pays 1, never terminated.
class PayGame {
 public:
  PayGame() { shape_ = {1, 1, 1, ActionShape::discrete(1)}; }
  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t) { return {}; }
  bool present(std::size_t) const { return true; }
  bool arrived(std::size_t) const { return false; }
  void observe(float* rows) const { rows[0] = 1.0f; }
  void global_state(float* row) const { row[0] = 1.0f; }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t, std::size_t) const { return 1u; }
  void choose(std::size_t, const std::int32_t*, const float*) {}
  StepOutcome step() { return {1.0f, false, false}; }
  std::span<const float> rewards() const { return rewards_; }

 private:
  GameShape shape_;
  std::array<std::uint32_t, 1> order_{0};
  std::array<float, 1> rewards_{1.0f};
};

/// A trainer, or the test fails.
inline std::unique_ptr<MaddpgTrainer> made_trainer(const MaddpgConfig& config, const GameMaker& make) {
  auto made = MaddpgTrainer::create(config, make);
  if (!made) FAIL(made.error().message);
  return std::move(made).value();
}

inline std::vector<float> copy_of(std::span<const float> values) {
  return {values.begin(), values.end()};
}

}  // namespace mara::test
