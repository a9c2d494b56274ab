#pragma once
// The switch riddle: prisoners who may leave one bit behind. With the exact value of every policy.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/environment/fixed_team.hpp"

namespace mara {

/// What an agent may do in the room.
enum class SwitchAction : int { kNothing = 0, kToggle = 1, kTell = 2 };

/// The riddle of 100 prisoners and a light bulb as a game (Foerster et al., "Learning to communicate with
/// deep multi-agent reinforcement learning", NIPS 2016, section 6.1). On each of at most T = 4 n - 6 days one
/// of n agents, drawn uniformly, is in a room with a lamp, off at first. Options: 0 nothing, 1 toggle the
/// lamp, 2 tell that all have been in the room; what the agents outside choose is ignored, and their mask
/// allows nothing else than 0. Telling terminates: it pays 1 when all have been there (today counts), else
/// -1. After day T terminated with 0: the limit is a rule of the game. Observation [2]: whether the agent is
/// in the room, and if so whether the lamp is on (else 0). Good policies need memory. Global state [2 n + 2]:
/// who has been in the room, who is in it, the lamp, day / T. Rewards: the same to the team and to each
/// agent. With three agents at best 20/27 = .7407. Fulfils Game.
class SwitchRiddle : public FixedTeam {
 public:
  /// `agents` in [2, 1000].
  explicit SwitchRiddle(std::size_t agents = 3)
      : FixedTeam(valid(agents) ? GameShape{agents, 2, 2 * agents + 2, ActionShape::discrete(3)}
                                : GameShape{}),
        asked_(agents),
        visited_(valid(agents) ? agents : 0),
        random_(0) {}

  /// Days of an episode with n >= 2 agents.
  static constexpr int days(std::size_t agents) noexcept { return 4 * static_cast<int>(agents) - 6; }

  /// Errors: a number of agents outside [2, 1000].
  Status reset(std::uint64_t seed) {
    if (!valid(asked_)) return bad("switch riddle", "agents", std::to_string(asked_), "not in [2, 1000]");
    random_ = Random(seed, 0x73776974u);
    visited_.assign(asked_, 0);
    lamp_ = false;
    begin();
    enter();
    return {};
  }
  void observe(float* rows) const noexcept {
    for (std::size_t i = 0; i < visited_.size(); ++i) {
      const bool here = present(i) && i == visitor_;
      rows[2 * i] = here ? 1.0f : 0.0f;
      rows[2 * i + 1] = here && lamp_ ? 1.0f : 0.0f;
    }
  }
  void global_state(float* row) const noexcept {
    const std::size_t n = visited_.size();
    for (std::size_t i = 0; i < n; ++i) {
      row[i] = visited_[i] != 0 ? 1.0f : 0.0f;
      row[n + i] = i == visitor_ ? 1.0f : 0.0f;
    }
    row[2 * n] = lamp_ ? 1.0f : 0.0f;
    row[2 * n + 1] = static_cast<float>(steps()) / static_cast<float>(days(n));
  }
  OptionMask mask(std::size_t slot, std::size_t) const noexcept { return slot == visitor_ ? 0b111u : 0b001u; }
  StepOutcome step() {
    if (over()) return nothing();
    const auto action = static_cast<SwitchAction>(option(visitor_));
    if (action == SwitchAction::kTell) return finish_shared(all_visited() ? 1.0 : -1.0, true, false);
    if (action == SwitchAction::kToggle) lamp_ = !lamp_;
    const bool last = steps() + 1 >= days(visited_.size());
    if (!last) enter();
    return finish_shared(0.0, last, false);
  }
  std::size_t visitor() const noexcept { return visitor_; }  ///< who is in the room
  bool lamp() const noexcept { return lamp_; }

 private:
  static constexpr bool valid(std::size_t agents) noexcept { return agents >= 2 && agents <= 1000; }
  void enter() noexcept {
    visitor_ = random_.below(static_cast<std::uint32_t>(visited_.size()));
    visited_[visitor_] = 1;
  }
  bool all_visited() const noexcept {
    return std::all_of(visited_.begin(), visited_.end(), [](std::uint8_t v) { return v != 0; });
  }

  std::size_t asked_;
  std::vector<std::uint8_t> visited_;
  Random random_;
  std::size_t visitor_ = 0;
  bool lamp_ = false;
};

static_assert(Game<SwitchRiddle>);

/// What one agent saw of one day and did then.
struct SwitchDay {
  bool in_room = false;
  bool lamp = false;  ///< as seen: false outside the room
  SwitchAction action = SwitchAction::kNothing;
};

namespace detail {

/// Walks the tree of all visit sequences and all choices of a policy.
template <class Policy>
class SwitchRiddleTree {
 public:
  SwitchRiddleTree(std::size_t agents, Policy& policy)
      : policy_(policy), days_(SwitchRiddle::days(agents)), seen_(agents), visits_(agents) {}

  /// Expected reward from the morning of `day` on.
  double value(int day, bool lamp) {
    if (day == days_) return 0.0;
    double sum = 0.0;
    for (std::size_t visitor = 0; visitor < seen_.size(); ++visitor) {
      for (std::size_t i = 0; i < seen_.size(); ++i) seen_[i].push_back({i == visitor, i == visitor && lamp});
      ++visits_[visitor];
      sum += of_visitor(visitor, day, lamp);
      --visits_[visitor];
      for (auto& days : seen_) days.pop_back();
    }
    return sum / static_cast<double>(seen_.size());
  }

 private:
  double of_visitor(std::size_t visitor, int day, bool lamp) {
    const std::array<double, 3> p = policy_(visitor, std::span<const SwitchDay>(seen_[visitor]));
    double sum = 0.0;
    for (const SwitchAction action : {SwitchAction::kNothing, SwitchAction::kToggle}) {
      const double probability = p[static_cast<std::size_t>(action)];
      if (!(probability > 0.0)) continue;
      seen_[visitor].back().action = action;
      sum += probability * value(day + 1, lamp != (action == SwitchAction::kToggle));
    }
    if (!(p[2] > 0.0)) return sum;
    const bool all = std::all_of(visits_.begin(), visits_.end(), [](int count) { return count > 0; });
    return sum + (all ? p[2] : -p[2]);
  }

  Policy& policy_;
  int days_;
  std::vector<std::vector<SwitchDay>> seen_;  ///< by each agent, up to today
  std::vector<int> visits_;
};

}  // namespace detail

/// The exact expected return of a policy in SwitchRiddle(agents): all n^T visit sequences, 729 for three
/// agents. `policy(agent, days)` -> std::array<double, 3>: probabilities of nothing, toggle and tell for an
/// agent in the room, given all that it saw and did, std::span<const SwitchDay>; the last day is today, its
/// action still to come. Errors: agents outside [2, 4] (five agents have 6e9 sequences).
template <class Policy>
requires std::is_invocable_r_v<std::array<double, 3>, Policy&, std::size_t, std::span<const SwitchDay>>
    Result<double> switch_riddle_value(std::size_t agents, Policy policy) {
  if (agents < 2 || agents > 4)
    return Error{ErrorCode::kInvalidArgument,
                 "switch riddle: agents = " + std::to_string(agents) + ", exact values are for 2 to 4"};
  return detail::SwitchRiddleTree<Policy>(agents, policy).value(0, false);
}

}  // namespace mara
