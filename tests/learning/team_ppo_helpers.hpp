#pragma once
// What the tests of the PPO family share: a game whose agents come and go, training for a number of steps.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/learning/small_game_configs.hpp"
#include "mara/learning/team_ppo.hpp"

namespace mara::test {

/// Up to `agents` agents that come and go; `padding` more slots stay empty for ever. Each sees a number of
/// its own and one of the team; option 2 is illegal after an agent that took it in the same step. Option 0
/// pays the agent its number, the others half of the team's. Without agents nothing is paid. Ends at random,
/// terminated or truncated. With `numbers` a box of two numbers joins, of which the first costs its square.
class ComingAndGoing {
 public:
  explicit ComingAndGoing(std::size_t agents = 3, std::size_t padding = 0, bool numbers = false)
      : shape_{agents + padding, 2, 2, ActionShape::discrete(3)}, agents_(agents) {
    if (numbers) shape_.action.box = {{-1.0f, 1.0f}, {0.0f, 2.0f}};
    present_.assign(shape_.agents, 0), arrived_.assign(shape_.agents, 0), own_.assign(shape_.agents, 0.0f);
    chosen_.assign(shape_.agents, 0), spent_.assign(shape_.agents, 0.0f),
        rewards_.assign(shape_.agents, 0.0f);
  }

  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t seed) {
    random_ = Random(seed);
    std::fill(present_.begin(), present_.end(), std::uint8_t{0});
    move(0.5);
    return {};
  }
  bool present(std::size_t slot) const { return present_[slot] != 0; }
  bool arrived(std::size_t slot) const { return arrived_[slot] != 0; }
  void observe(float* rows) const {
    for (std::size_t i = 0; i < shape_.agents; ++i, rows += 2) {
      rows[0] = present(i) ? own_[i] : 0.0f;
      rows[1] = present(i) ? common_ : 0.0f;
    }
  }
  void global_state(float* row) const {
    row[0] = common_;
    row[1] = static_cast<float>(order_.size());
  }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t, std::size_t) const { return taken_ ? 0b011u : 0b111u; }
  void choose(std::size_t slot, const std::int32_t* options, const float* numbers) {
    chosen_[slot] = *options;
    taken_ = *options == 2;
    if (shape_.action.numbers() > 0) spent_[slot] = numbers[0] * numbers[0];
  }
  StepOutcome step() {
    StepOutcome outcome;
    std::fill(rewards_.begin(), rewards_.end(), 0.0f);
    for (const std::uint32_t i : order_) {
      rewards_[i] = (chosen_[i] == 0 ? own_[i] : 0.5f * common_) - spent_[i];
      outcome.team_reward += rewards_[i];
    }
    const double end = random_.uniform();
    outcome.terminated = end < 0.05;
    outcome.truncated = end > 0.95;
    move(0.25);
    return outcome;
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  void move(double rate) {
    taken_ = false;
    common_ = static_cast<float>(random_.uniform(-1.0, 1.0));
    order_.clear();
    for (std::size_t i = 0; i < agents_; ++i) {
      const bool turned = random_.uniform() < rate;
      own_[i] = static_cast<float>(random_.uniform(-1.0, 1.0));
      arrived_[i] = turned && present_[i] == 0 ? 1 : 0;
      if (turned) present_[i] = present_[i] == 0 ? 1 : 0;
      if (present_[i] != 0) order_.insert(order_.begin(), static_cast<std::uint32_t>(i));
    }
  }

  GameShape shape_;
  std::size_t agents_;
  Random random_{0};
  std::vector<std::uint8_t> present_, arrived_;
  std::vector<float> own_, spent_, rewards_;
  std::vector<std::int32_t> chosen_;
  std::vector<std::uint32_t> order_;
  float common_ = 0.0f;
  bool taken_ = false;
};

/// A maker of equal games.
template <class G>
GameMaker same_game(G game) {
  return [game](int) { return AnyGame(G(game)); };
}

template <class Trainer>
typename Trainer::Config small_config() {
  return small_game_ppo<typename Trainer::Config>();
}

/// A trainer that has learnt for `steps` environment steps. `last`: the report of its last round.
template <class Trainer, class... Guided>
std::unique_ptr<Trainer> trained(typename Trainer::Config config, const GameMaker& make, std::int64_t steps,
                                 TrainingReport* last = nullptr, Guided... guided) {
  config.total_steps = steps;
  auto made = Trainer::create(config, make, std::move(guided)...);
  REQUIRE(made);
  while ((*made)->env_steps() < steps) {
    auto report = (*made)->update();
    if (!report) INFO(report.error().message);
    REQUIRE(report);
    if (last != nullptr) *last = *report;
  }
  return std::move(*made);
}

/// Rounds one after the other.
template <class Trainer>
TrainingReport rounds(Trainer& trainer, int count) {
  TrainingReport last;
  for (int i = 0; i < count; ++i) {
    auto report = trainer.update();
    REQUIRE(report);
    last = *report;
  }
  return last;
}
template <class Trainer>
std::unique_ptr<Trainer> created(const typename Trainer::Config& config, const GameMaker& make) {
  auto made = Trainer::create(config, make);
  REQUIRE(made);
  return std::move(*made);
}
/// Actor and critic, number by number.
template <class Trainer>
std::vector<float> all_weights(const Trainer& trainer) {
  std::vector<float> all(trainer.weights().begin(), trainer.weights().end());
  all.insert(all.end(), trainer.critic_weights().begin(), trainer.critic_weights().end());
  return all;
}
/// A value of a report by name.
inline double value_of(const TrainingReport& report, const std::string& name) {
  for (const auto& [key, value] : report.values)
    if (key == name) return value;
  FAIL("no value " + name);
  return 0.0;
}

/// Mean team return of the trainer's policy.
template <class Trainer>
double evaluated(const Trainer& trainer, const GameMaker& make, std::size_t episodes = 20,
                 std::int32_t limit = 0) {
  auto policy = trainer.policy(trainer.weights());
  const auto played = evaluate_policy(make, policy, {.episodes = episodes, .episode_steps = limit});
  REQUIRE(played);
  return mean_team_return(*played);
}

}  // namespace mara::test
