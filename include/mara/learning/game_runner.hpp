#pragma once
// A game in play, for learners and for evaluation: its random stream, its episode, and what is seen of it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/any_game.hpp"
#include "mara/learning/gae.hpp"

namespace mara {

/// Everything that is seen of a game at one moment, for all slots.
struct GameFrame {
  std::vector<float> observations;             ///< slots x observation
  std::vector<float> state;                    ///< global state
  std::vector<std::uint8_t> present, arrived;  ///< slots
  std::vector<OptionMask> masks;               ///< slots x heads; 1 for absent agents

  explicit GameFrame(const GameShape& shape = {})
      : observations(shape.agents * shape.observation),
        state(shape.state),
        present(shape.agents),
        arrived(shape.agents),
        masks(shape.agents * shape.action.choices(), OptionMask{1}) {}

  /// Reads a game before anybody has chosen. Masks are those of this moment; GameRunner::turn() replaces them
  /// by the ones at each agent's turn.
  void read(const AnyGame& game) {
    const GameShape& shape = game.shape();
    const std::size_t heads = shape.action.choices();
    game.observe(observations.data());
    game.global_state(state.data());
    for (std::size_t i = 0; i < shape.agents; ++i) {
      present[i] = game.present(i) ? 1 : 0;
      arrived[i] = present[i] != 0 && game.arrived(i) ? 1 : 0;
      for (std::size_t h = 0; h < heads; ++h) masks[i * heads + h] = present[i] != 0 ? game.mask(i, h) : 1u;
    }
  }
};

/// What all slots do in one step; rows of absent agents are zero.
struct GameActions {
  std::vector<std::int32_t> options;  ///< slots x heads
  std::vector<float> numbers;         ///< slots x numbers, within the bounds: what the game gets

  explicit GameActions(const GameShape& shape = {})
      : options(shape.agents * shape.action.choices()), numbers(shape.agents * shape.action.numbers()) {}
  void clear() noexcept {
    std::fill(options.begin(), options.end(), 0);
    std::fill(numbers.begin(), numbers.end(), 0.0f);
  }
};

/// How a step ended; termination wins over truncation.
constexpr StepEnd step_end(const StepOutcome& outcome) noexcept {
  return outcome.terminated  ? StepEnd::kTerminated
         : outcome.truncated ? StepEnd::kTruncated
                             : StepEnd::kContinues;
}

/// A game and its episode. The seed and the choices so far rebuild the game exactly, which is how a run
/// resumes; memory grows with the length of the episode, by the numbers of one action per agent and step.
/// Errors in play (kNumerical) say which agent, which value, which step of the episode (the first is 1) and
/// which environment.
class GameRunner {
 public:
  /// `limit`: steps after which an episode is truncated; 0: the game's own end only. `environment`: number
  /// that errors name; negative: none.
  GameRunner(AnyGame game, const Random& random, std::int32_t limit, std::int64_t environment = -1)
      : game_(std::move(game)),
        random_(random),
        limit_(limit),
        environment_(environment),
        order_(game_.shape().agents) {}

  const GameShape& shape() const noexcept { return game_.shape(); }
  const AnyGame& game() const noexcept { return game_; }
  Random& random() noexcept { return random_; }
  std::uint64_t episode() const noexcept { return episode_; }  ///< episodes begun
  std::int32_t step() const noexcept { return step_; }         ///< steps done in this one

  /// A new episode. Errors: those of reset().
  Status begin(std::uint64_t seed) {
    ++episode_;
    return restart(seed);
  }

  /// Whether a frame that was read now has finite numbers only, in the rows of absent agents too: these reach
  /// gradients. `choices`: whether every present agent must have a legal option, as where learners ask what
  /// it would do next. The first thing that is wrong is the error.
  Status check(const GameFrame& frame, bool choices = false) const {
    const auto is = [this](const std::string& what, float value) {
      return failure(what + " is " + format_number(static_cast<double>(value)), "after step", step_);
    };
    if (const std::size_t i = not_finite(frame.observations); i < frame.observations.size()) {
      const std::size_t width = shape().observation;
      return is("number " + std::to_string(i % width) + " that agent " + std::to_string(i / width) +
                    (frame.present[i / width] == 0 ? " (absent)" : "") + " sees",
                frame.observations[i]);
    }
    if (const std::size_t i = not_finite(frame.state); i < frame.state.size())
      return is("number " + std::to_string(i) + " of the global state", frame.state[i]);
    const std::size_t heads = shape().action.choices();
    for (std::size_t slot = 0; choices && slot < shape().agents; ++slot)
      if (frame.present[slot] != 0 && stuck(frame.masks.data() + slot * heads))
        return failure("agent " + std::to_string(slot) + " has no legal option", "after step", step_);
    return {};
  }

  /// One step. `frame` holds this moment (frame.read()) and is checked; its masks become those at each
  /// agent's turn. choose(slot, masks) -> bool writes the slot's row of `actions`; false stops with an error.
  /// Errors (kNumerical): those of check(), a turn of nobody, an agent without a legal option, choose() said
  /// no, an option is illegal, a reward is not finite.
  template <class Choose>
  Result<StepOutcome> turn(GameFrame& frame, GameActions& actions, Choose&& choose) {
    if (const Status fine = check(frame); !fine) return fine.error();
    const std::size_t heads = shape().action.choices(), numbers = shape().action.numbers();
    const std::span<const std::uint32_t> order = game_.turn_order();
    order_.assign(order.begin(), order.end());
    actions.clear();
    for (const std::uint32_t slot : order_) {
      const auto wrong = [this, slot](const std::string& what) {
        return failure("agent " + std::to_string(slot) + what, "in step", step_ + 1);
      };
      if (slot >= shape().agents) return wrong(" has a turn, but there is no such agent,");
      OptionMask* masks = frame.masks.data() + slot * heads;
      for (std::size_t h = 0; h < heads; ++h) masks[h] = game_.mask(slot, h);
      if (stuck(masks)) return wrong(" has no legal option");
      if (!choose(static_cast<std::size_t>(slot), static_cast<const OptionMask*>(masks)))
        return wrong(": what its network says is not finite");
      const std::int32_t* options = actions.options.data() + slot * heads;
      for (std::size_t h = 0; h < heads; ++h)
        if (options[h] < 0 || options[h] > 31 || ((masks[h] >> options[h]) & 1u) == 0)
          return wrong(": option " + std::to_string(options[h]) + " of head " + std::to_string(h) +
                       " is not legal");
      const float* box = actions.numbers.data() + slot * numbers;
      game_.choose(slot, options, box);
      options_.insert(options_.end(), options, options + heads);
      numbers_.insert(numbers_.end(), box, box + numbers);
    }
    StepOutcome outcome = game_.step();
    ++step_;
    if (limit_ > 0 && step_ >= limit_) outcome.truncated = true;
    if (const Status fine = check_rewards(outcome.team_reward); !fine) return fine.error();
    return outcome;
  }
  /// Individual rewards of the last step, one per slot.
  std::span<const float> rewards() const { return game_.rewards(); }

  void save(ArchiveWriter& out) const {
    out.put_value("random", random_.state());
    out.put_value("episode", episode_);
    out.put_value("episode_seed", seed_);
    out.put_value("step", step_);
    out.put("options", options_);
    out.put("numbers", numbers_);
  }
  /// Replays what save() wrote on a game that was made alike. Errors: of the archive, of reset(), and kParse
  /// when the choices do not fit the game.
  Status load(ArchiveReader& in) {
    Random::State random;
    std::uint64_t episode = 0, seed = 0;
    std::int32_t steps = 0;
    std::vector<std::int32_t> options;
    std::vector<float> numbers;
    Status status = in.get_value("random", random);
    if (status) status = in.get_value("episode", episode);
    if (status) status = in.get_value("episode_seed", seed);
    if (status) status = in.get_value("step", steps);
    if (status) status = in.get("options", options);
    if (status) status = in.get("numbers", numbers);
    if (status) status = restart(seed);
    if (!status) return status;
    const std::size_t heads = shape().action.choices(), count = shape().action.numbers();
    std::size_t option = 0, number = 0;
    for (; step_ < steps; ++step_) {
      const std::span<const std::uint32_t> order = game_.turn_order();
      order_.assign(order.begin(), order.end());
      for (const std::uint32_t slot : order_) {
        if (options.size() - option < heads || numbers.size() - number < count)
          return Error{ErrorCode::kParse, "the choices of an episode are too few for the game"};
        for (std::size_t h = 0; h < heads; ++h) {
          const std::int32_t chosen = options[option + h];
          if (chosen < 0 || chosen > 31 || ((game_.mask(slot, h) >> chosen) & 1u) == 0)
            return Error{ErrorCode::kParse,
                         "a stored choice of agent " + std::to_string(slot) + " is not legal"};
        }
        game_.choose(slot, options.data() + option, numbers.data() + number);
        option += heads, number += count;
      }
      game_.step();
    }
    if (option != options.size() || number != numbers.size())
      return Error{ErrorCode::kParse, "the choices of an episode are too many for the game"};
    random_ = Random(random);
    episode_ = episode;
    options_ = std::move(options);
    numbers_ = std::move(numbers);
    return {};
  }

 private:
  /// Place of the first number that is not finite, or the size. In blocks, which compilers make vectors of.
  static std::size_t not_finite(const std::vector<float>& values) noexcept {
    constexpr std::size_t kBlock = 16;
    std::size_t i = 0;
    for (; i + kBlock <= values.size(); i += kBlock) {
      std::uint32_t bad = 0;
      for (std::size_t k = 0; k < kBlock; ++k) bad |= libm::isfinite(values[i + k]) ? 0u : 1u;
      if (bad != 0) break;
    }
    while (i < values.size() && libm::isfinite(values[i])) ++i;
    return i;
  }
  Error failure(const std::string& what, const char* when, std::int32_t step) const {
    return Error{ErrorCode::kNumerical, what + " " + when + " " + std::to_string(step) + place()};
  }
  std::string place() const {
    return environment_ < 0 ? std::string() : " of environment " + std::to_string(environment_);
  }
  /// Whether a head has no legal option.
  bool stuck(const OptionMask* masks) const noexcept {
    const std::vector<int>& heads = shape().action.heads;
    for (std::size_t h = 0; h < heads.size(); ++h)
      if ((masks[h] & (heads[h] >= 32 ? ~OptionMask{0} : (OptionMask{1} << heads[h]) - 1)) == 0) return true;
    return false;
  }
  Status check_rewards(float team) const {
    const auto is = [this](const std::string& whose, float value) {
      return failure("the reward of " + whose + " is " + format_number(static_cast<double>(value)), "in step",
                     step_);
    };
    if (!libm::isfinite(team)) return is("the team", team);
    const std::span<const float> rewards = game_.rewards();
    if (rewards.size() != shape().agents)
      return failure(
          std::to_string(rewards.size()) + " rewards for " + std::to_string(shape().agents) + " agents",
          "in step", step_);
    for (std::size_t i = 0; i < rewards.size(); ++i)
      if (!libm::isfinite(rewards[i])) return is("agent " + std::to_string(i), rewards[i]);
    return {};
  }
  Status restart(std::uint64_t seed) {
    seed_ = seed;
    step_ = 0;
    options_.clear();
    numbers_.clear();
    const Status begun = game_.reset(seed);
    if (begun || environment_ < 0) return begun;
    return Error{begun.error().code, "reset" + place() + ": " + begun.error().message};
  }

  AnyGame game_;
  Random random_;
  std::int32_t limit_;
  std::int64_t environment_;
  std::uint64_t episode_ = 0, seed_ = 0;
  std::int32_t step_ = 0;
  std::vector<std::int32_t> options_;  ///< chosen in this episode, in the order of choosing
  std::vector<float> numbers_;
  std::vector<std::uint32_t> order_;
};

}  // namespace mara
