#pragma once
// Random play that writes down all a game shows, and what is wrong with it. The inside of
// check_environment().

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/libm.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/any_game.hpp"
#include "mara/environment/game_moment.hpp"
#include "mara/environment/game_report.hpp"

namespace mara::detail {

/// Plays one game at random, step by step. What is wrong goes to a report.
class GamePlay {
 public:
  enum class Choices { kLegal, kIllegal, kWild };

  GamePlay(AnyGame& game, const GameCheckOptions& options, GameReport& report,
           Choices choices = Choices::kLegal)
      : game_(game),
        options_(options),
        report_(report),
        choices_(choices),
        shape_(game.shape()),
        random_(0) {}

  const std::vector<GameMoment>& moments() const noexcept { return moments_; }

  /// Begins episode number `episode` with a seed that gives the game's chances and ours. False: there is
  /// none.
  bool begin(int episode, std::uint64_t seed) {
    episode_ = episode;
    step_ = 0;
    random_ = Random(seed, 0x636865636bu);
    if (const Status begun = game_.reset(seed); !begun) {
      report_.add("reset-failed", "reset(" + std::to_string(seed) + ") failed: " + begun.error().message);
      return false;
    }
    ++report_.episodes;
    was_there_.assign(shape_.agents, 0);
    if (!capture({}, false)) return false;
    const GameMoment& now = moments_.back();
    for (std::size_t slot = 0; slot < shape_.agents; ++slot)
      if (now.present[slot] != 0 && now.arrived[slot] == 0)
        add("arrived-after-reset",
            "arrived(" + name(slot) + ") is false; after reset everybody present has arrived");
    return true;
  }

  /// One step. False when the episode is over or was left.
  bool advance() {
    if (step_ >= options_.most_steps) {
      report_.note("episode " + std::to_string(episode_) + " had not ended after " + std::to_string(step_) +
                   " steps; a learner would have to cut it");
      return false;
    }
    if (numbers_ > kMostNumbers) return false;
    choose();
    const StepOutcome outcome = game_.step();
    ++step_;
    ++report_.steps;
    check_rewards(outcome);
    if (outcome.terminated && outcome.truncated)
      report_.note(
          "a step both terminated and truncated the episode; termination wins, nothing is bootstrapped");
    return capture(outcome, outcome.terminated || outcome.truncated) && !outcome.terminated &&
           !outcome.truncated;
  }

 private:
  static constexpr std::size_t kMostNumbers = std::size_t{1} << 24;  ///< written down at most
  static constexpr std::uint32_t kUntouched = 0x7fc5a5a5u;           ///< a NaN that no arithmetic makes

  static std::string name(std::size_t slot) { return std::to_string(slot); }
  void add(std::string_view what, const std::string& words) {
    report_.add(what,
                words + " (episode " + std::to_string(episode_) + ", step " + std::to_string(step_) + ")");
  }

  /// Writes down what is to be seen. False when the shape is another one: nothing more can be asked.
  bool capture(const StepOutcome& outcome, bool last) {
    if (!(game_.shape() == shape_)) {
      add("shape-changed", "shape() is not what it was; extents and action space never change");
      return false;
    }
    GameMoment now;
    now.outcome = outcome;
    for (std::size_t slot = 0; slot < shape_.agents; ++slot) {
      now.present.push_back(game_.present(slot) ? 1 : 0);
      now.arrived.push_back(now.present.back() != 0 && game_.arrived(slot) ? 1 : 0);
    }
    now.rows = read("observe()", "observation", shape_.agents * shape_.observation,
                    [this](float* out) { game_.observe(out); });
    now.state =
        read("global_state()", "state", shape_.state, [this](float* out) { game_.global_state(out); });
    check_rows(now);
    if (!last) check_order(now);
    if (step_ > 0 && !last) check_arrivals(now);
    for (std::size_t slot = 0; slot < shape_.agents; ++slot) was_there_[slot] |= now.present[slot];
    if (step_ > 0) {
      const std::span<const float> rewards = game_.rewards();
      now.rewards.assign(rewards.begin(), rewards.end());
    }
    numbers_ += now.rows.size() + now.state.size() + shape_.agents;
    moments_.push_back(std::move(now));
    return true;
  }

  /// What `write` writes, with guards on both sides of it.
  template <class Write>
  std::vector<float> read(const std::string& call, const std::string& what, std::size_t count, Write write) {
    const std::size_t guard = std::max<std::size_t>(64, count);
    const auto touched = [](float x) { return std::bit_cast<std::uint32_t>(x) != kUntouched; };
    std::vector<float> first;
    for (int time = 0; time < 2; ++time) {
      std::vector<float> buffer(count + 2 * guard, std::bit_cast<float>(kUntouched));
      const auto begin = buffer.begin() + static_cast<std::ptrdiff_t>(guard);
      const auto end = begin + static_cast<std::ptrdiff_t>(count);
      write(buffer.data() + guard);
      if (std::any_of(buffer.begin(), begin, touched) || std::any_of(end, buffer.end(), touched))
        add("writes-outside", call + " writes outside its " + std::to_string(count) + " numbers");
      const auto left_out = std::find_if_not(begin, end, touched);
      if (left_out != end) {
        add(what + "-not-written",
            call + " leaves number " + std::to_string(left_out - begin) + " as it was");
        std::replace_if(
            begin, end, [&touched](float x) { return !touched(x); }, 0.0f);
      }
      if (time == 0)
        first.assign(begin, end);
      else if (!same_bits(first, {buffer.data() + guard, count}))
        add(what + "-changes", call + " twice in a row gives different numbers");
    }
    const auto strange =
        std::find_if_not(first.begin(), first.end(), [](float x) { return libm::isfinite(x); });
    if (strange != first.end())
      add(what + "-not-finite",
          call + ": number " + std::to_string(strange - first.begin()) + " is " + std::to_string(*strange));
    return first;
  }

  void check_rows(const GameMoment& now) {
    for (std::size_t slot = 0; slot < shape_.agents; ++slot) {
      if (now.present[slot] != 0) continue;
      for (std::size_t k = 0; k < shape_.observation; ++k)
        if (const float value = now.rows[slot * shape_.observation + k]; !(value == 0.0f)) {
          add("observation-of-absent", "observe(): row " + name(slot) +
                                           " is of an absent agent, its number " + std::to_string(k) +
                                           " is " + std::to_string(value) + ", not 0");
          break;
        }
    }
  }

  void check_order(GameMoment& now) {
    const std::span<const std::uint32_t> order = game_.turn_order();
    now.order.assign(order.begin(), order.end());
    std::vector<int> seen(shape_.agents);
    for (const std::uint32_t slot : now.order) {
      if (slot >= shape_.agents)
        add("turn-order", "turn_order() names slot " + name(slot) + " of " + name(shape_.agents));
      else if (now.present[slot] == 0)
        add("turn-order", "turn_order() names slot " + name(slot) + ", which is absent");
      else if (++seen[slot] == 2)
        add("turn-order", "turn_order() names slot " + name(slot) + " twice");
    }
    for (std::size_t slot = 0; slot < shape_.agents; ++slot)
      if (now.present[slot] != 0 && seen[slot] == 0)
        add("turn-order", "turn_order() lacks slot " + name(slot) + ", which is present");
  }

  void check_arrivals(const GameMoment& now) {
    const GameMoment& before = moments_.back();
    for (std::size_t slot = 0; slot < shape_.agents; ++slot) {
      if (now.present[slot] == 0 || before.present[slot] != 0 || now.arrived[slot] != 0) continue;
      if (was_there_[slot] != 0)
        add("returned",
            "slot " + name(slot) + " is present again without arrived(); an agent that left never returns");
      else
        add("arrival-unmarked", "slot " + name(slot) + " is present for the first time without arrived()");
    }
  }

  void check_rewards(const StepOutcome& outcome) {
    if (!libm::isfinite(outcome.team_reward))
      add("team-reward-not-finite", "step(): the team reward is " + std::to_string(outcome.team_reward));
    const std::span<const float> rewards = game_.rewards();
    if (rewards.size() != shape_.agents)
      add("rewards-size", "rewards() has " + std::to_string(rewards.size()) + " numbers, there are " +
                              name(shape_.agents) + " slots");
    for (std::size_t slot = 0; slot < std::min(rewards.size(), shape_.agents); ++slot) {
      if (!libm::isfinite(rewards[slot]))
        add("reward-not-finite", "rewards()[" + name(slot) + "] is " + std::to_string(rewards[slot]));
      else if (rewards[slot] != 0.0f && moments_.back().present[slot] == 0)
        add("reward-of-absent",
            "rewards()[" + name(slot) + "] is " + std::to_string(rewards[slot]) + ", but nobody was there");
    }
  }

  /// The mask of a present agent, checked.
  OptionMask legal(std::size_t slot, std::size_t head) {
    const int count = shape_.action.heads[head];
    const OptionMask all = count >= 32 ? ~OptionMask{0} : (OptionMask{1} << count) - 1u;
    const OptionMask mask = game_.mask(slot, head);
    const std::string call = "mask(" + name(slot) + ", " + std::to_string(head) + ")";
    if (game_.mask(slot, head) != mask) add("mask-changes", call + " changes without a choice in between");
    if ((mask & ~all) != 0)
      add("mask-beyond", call + " has bits beyond the " + std::to_string(count) + " options");
    if ((mask & all) == 0) add("mask-empty", call + " allows no option");
    moments_.back().masks.push_back(mask);
    return mask & all;
  }

  std::int32_t option(OptionMask mask, int count) {
    if (choices_ == Choices::kWild && random_.below(2) == 0) {
      constexpr std::int32_t kWild[] = {-1, 32, 1000, -2147483647 - 1, 2147483647};
      return kWild[random_.below(5)];
    }
    if (choices_ != Choices::kLegal || mask == 0)
      return static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(count)));
    auto skip = random_.below(static_cast<std::uint32_t>(std::popcount(mask)));
    for (; skip > 0; --skip) mask &= mask - 1;
    return std::countr_zero(mask);
  }
  float number(ActionBounds bounds) {
    const std::uint32_t kind = random_.below(8);
    if (choices_ == Choices::kWild && kind >= 4) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      const float wild[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, 3e38f};
      return wild[kind - 4];
    }
    const double low = static_cast<double>(bounds.low), high = static_cast<double>(bounds.high);
    if (kind < 2) return kind == 0 ? bounds.low : bounds.high;
    const double beyond = choices_ == Choices::kLegal ? 0.0 : high - low;
    return static_cast<float>(random_.uniform(low - beyond, high + beyond));
  }

  /// Everybody present chooses, in turn; whom the order forgets comes last.
  void choose() {
    std::vector<std::uint8_t> left = moments_.back().present;
    std::vector<std::uint32_t> order = moments_.back().order;
    for (std::uint32_t slot = 0; slot < shape_.agents; ++slot) order.push_back(slot);
    std::vector<std::int32_t> options(shape_.action.choices());
    std::vector<float> numbers(shape_.action.numbers());
    for (const std::uint32_t slot : order) {
      if (slot >= shape_.agents || left[slot] == 0) continue;
      left[slot] = 0;
      for (std::size_t h = 0; h < options.size(); ++h)
        options[h] = option(legal(slot, h), shape_.action.heads[h]);
      for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = number(shape_.action.box[k]);
      game_.choose(slot, options.empty() ? nullptr : options.data(),
                   numbers.empty() ? nullptr : numbers.data());
    }
  }

  AnyGame& game_;
  const GameCheckOptions& options_;
  GameReport& report_;
  Choices choices_;
  GameShape shape_;
  Random random_;
  std::vector<GameMoment> moments_;
  std::vector<std::uint8_t> was_there_;
  std::size_t numbers_ = 0;
  int episode_ = 0, step_ = 0;
};

}  // namespace mara::detail
