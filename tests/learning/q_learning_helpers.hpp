#pragma once
// What the tests of value learners share.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/environment/matrix_game.hpp"
#include "mara/learning/q_learning.hpp"
#include "mara/learning/small_game_configs.hpp"
#include "sanitized.hpp"

namespace mara::test {

/// Seeds of a learning test; one under sanitizers, which are slow and look for other faults. The longest
/// tests are left out there: shorter ones pass through the same code.
inline constexpr std::uint64_t kSeeds = kSanitized ? 1 : 5;

/// Three slots whose agents come and go: an agent leaves with probability .3 after a step, an empty slot is
/// taken with probability .5, also by another one at once. Three options; in turn, from the last slot to the
/// first, nobody may choose what the one before chose. An agent sees its age and what its slot was dealt;
/// options pay the distinct choices. Terminated with probability `end` after each step; `cut` steps at most.
class CrowdGame {
 public:
  explicit CrowdGame(double end = 0.1, int cut = 0)
      : shape_{3, 2, 4, ActionShape::discrete(3)}, end_(end), cut_(cut), random_(0) {}

  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t seed) {
    random_ = Random(seed, 77);
    steps_ = 0;
    for (Slot& slot : slots_) slot = {};
    slots_[0] = {true, true, 0, random_.uniform()};
    fill(false);
    begin_turns();
    return {};
  }
  bool present(std::size_t slot) const { return slots_[slot].here; }
  bool arrived(std::size_t slot) const { return slots_[slot].fresh; }
  void observe(float* rows) const {
    for (const Slot& slot : slots_) {
      *rows++ = slot.here ? 0.1f * static_cast<float>(slot.age) : 0.0f;
      *rows++ = slot.here ? static_cast<float>(slot.dealt) : 0.0f;
    }
  }
  void global_state(float* row) const {
    for (const Slot& slot : slots_) *row++ = slot.here ? static_cast<float>(slot.dealt) : -1.0f;
    *row = 0.1f * static_cast<float>(steps_);
  }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t, std::size_t) const { return last_ < 0 ? 7u : 7u & ~(1u << last_); }
  void choose(std::size_t slot, const std::int32_t* options, const float*) {
    slots_[slot].option = last_ = options[0];
  }
  StepOutcome step() {
    unsigned distinct = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      rewards_[i] =
          slots_[i].here ? static_cast<float>(slots_[i].dealt) * static_cast<float>(slots_[i].option) : 0.0f;
      if (slots_[i].here) distinct |= 1u << slots_[i].option;
    }
    const float reward = static_cast<float>(std::popcount(distinct)) + rewards_[0];
    ++steps_;
    for (Slot& slot : slots_) {
      slot.fresh = false;
      ++slot.age;
      if (slot.here && random_.uniform() < 0.3) slot.here = false;
    }
    fill(true);
    begin_turns();
    const bool over = random_.uniform() < end_;
    return {reward, over, cut_ > 0 && steps_ >= cut_};
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  struct Slot {
    bool here = false, fresh = false;
    int age = 0;
    double dealt = 0.0;
    int option = 0;
  };
  void fill(bool coin) {
    for (Slot& slot : slots_)
      if (!slot.here && (!coin || random_.uniform() < 0.5)) slot = {true, true, 0, random_.uniform(), 0};
    for (Slot& slot : slots_)
      if (slot.here) slot.dealt = random_.uniform();
  }
  void begin_turns() {
    order_.clear();
    for (std::uint32_t i = 3; i-- > 0;)
      if (slots_[i].here) order_.push_back(i);
    last_ = -1;
  }

  GameShape shape_;
  double end_;
  int cut_;
  Random random_;
  Slot slots_[3];
  float rewards_[3] = {};
  std::vector<std::uint32_t> order_;
  int steps_ = 0, last_ = -1;
};
static_assert(Game<CrowdGame>);

/// A maker of games that are made alike.
template <class G>
GameMaker maker_of(const G& game) {
  return [game](int) { return AnyGame(game); };
}

/// Rounds until `env_steps` environment steps are done.
template <class Trainer>
void train(Trainer& trainer, std::int64_t env_steps) {
  while (trainer.env_steps() < env_steps) trainer.update().value();
}

/// Mean team return without exploration.
template <class Trainer>
double greedy_return(const Trainer& trainer, const GameMaker& make, std::size_t episodes = 1) {
  auto policy = trainer.policy(trainer.weights());
  EvaluationConfig config;
  config.episodes = episodes;
  return mean_team_return(evaluate_policy(make, policy, config).value());
}

/// Values of all slots, slots x options, for observations [slots x observation] at the start of an episode.
/// By the target networks, which are an average over the last networks where config.target_tau > 0.
template <class Trainer>
std::vector<float> agent_values(const Trainer& trainer, const std::vector<float>& observations) {
  const AgentTeam& team = trainer.networks().team();
  std::vector<float> memory(team.slots() * team.memory()), values(team.slots() * team.outputs());
  AgentTeam::Workspace workspace;
  team.step(trainer.target_parameters().data(), observations.data(), 1, memory.data(), nullptr, values.data(),
            workspace);
  return values;
}

/// The mixed value of one joint option.
template <class Trainer>
double team_value(const Trainer& trainer, const std::vector<float>& observations,
                  const std::vector<float>& state, const std::vector<int>& joint) {
  const std::vector<float> values = agent_values(trainer, observations);
  const std::size_t options = trainer.networks().team().outputs();
  std::vector<float> chosen;
  for (std::size_t i = 0; i < joint.size(); ++i)
    chosen.push_back(values[i * options + static_cast<std::size_t>(joint[i])]);
  Tape<float> tape;
  const Var mixed = trainer.networks().mixer().mix(
      tape, trainer.target_parameters().data() + trainer.networks().mixer_at(), nullptr,
      tape.input(chosen.data(), 1, chosen.size()), tape.input(state.data(), 1, state.size()));
  return static_cast<double>(tape.scalar(mixed));
}

/// The configurations of the library with a seed.
inline QLearningConfig small_q_config(std::uint64_t seed) {
  QLearningConfig config = small_game_q();
  config.seed = seed;
  return config;
}
inline QLearningConfig matrix_config(std::uint64_t seed) {
  QLearningConfig config = matrix_game_q();
  config.seed = seed;
  return config;
}

}  // namespace mara::test
