// What is said when a game spoils its play: which environment, step, agent and value; and that nothing of it
// is learnt from.

#include "mara/learning/game_runner.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/environment/fixed_team.hpp"
#include "mara/learning/evaluate.hpp"
#include "mara/learning/maddpg.hpp"
#include "mara/learning/team_ppo.hpp"

using namespace mara;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum class Fault {
  kNone,
  kObservation,
  kState,
  kMask,
  kTeamReward,
  kReward,
  kFewRewards,
  kNobody,
  kReset,
  kMaskAtTheEnd,
  kObservationAtTheEnd,
};

/// Three agents with two heads. The fault is there from the step on whose number is `at`; an episode has 5
/// steps.
class Faulty {
 public:
  explicit Faulty(Fault fault, int at = 0, bool truncated = true)
      : shape_{3, 2, 4, {{2, 3}, {{-1.0f, 1.0f}}}}, fault_(fault), at_(at), truncated_(truncated) {}

  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t) {
    step_ = 0;
    if (fault_ == Fault::kReset) return Error{ErrorCode::kInvalidArgument, "no map"};
    return {};
  }
  bool present(std::size_t) const { return true; }
  bool arrived(std::size_t) const { return step_ == 0; }
  void observe(float* rows) const {
    std::fill_n(rows, 6, 0.5f);
    if (now(Fault::kObservation) || (fault_ == Fault::kObservationAtTheEnd && step_ == 5)) rows[3] = kNaN;
  }
  void global_state(float* row) const {
    std::fill_n(row, 4, 0.25f);
    if (now(Fault::kState)) row[2] = -kInfinity;
  }
  std::span<const std::uint32_t> turn_order() const { return now(Fault::kNobody) ? wrong_ : order_; }
  OptionMask mask(std::size_t slot, std::size_t head) const {
    if (head == 1 && slot == 2 && (now(Fault::kMask) || (fault_ == Fault::kMaskAtTheEnd && step_ == 5)))
      return 0b1000u;  // no option of the head
    return head == 0 ? 0b11u : 0b111u;
  }
  void choose(std::size_t, const std::int32_t*, const float*) {}
  StepOutcome step() {
    rewards_.assign(now(Fault::kFewRewards) ? 2 : 3, 1.0f);
    if (now(Fault::kReward)) rewards_[1] = kInfinity;
    const float team = now(Fault::kTeamReward) ? kNaN : 3.0f;
    ++step_;
    return {team, step_ == 5 && !truncated_, step_ == 5 && truncated_};
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  bool now(Fault fault) const { return fault_ == fault && step_ >= at_; }

  GameShape shape_;
  Fault fault_;
  int at_, step_ = 0;
  bool truncated_;
  std::vector<std::uint32_t> order_{0, 1, 2}, wrong_{0, 9};
  std::vector<float> rewards_;
};

/// Environment 2 is the faulty one.
GameMaker one_faulty(Fault fault, int at, bool truncated = true) {
  return [=](int e) { return AnyGame(Faulty(e == 2 ? fault : Fault::kNone, at, truncated)); };
}

struct Case {
  Fault fault;
  std::string words;  ///< where the fault begins at step 3
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {Fault::kObservation, "number 1 that agent 1 sees is nan after step 3 of environment 2"},
      {Fault::kState, "number 2 of the global state is -inf after step 3 of environment 2"},
      {Fault::kTeamReward, "the reward of the team is nan in step 4 of environment 2"},
      {Fault::kReward, "the reward of agent 1 is inf in step 4 of environment 2"},
      {Fault::kFewRewards, "2 rewards for 3 agents in step 4 of environment 2"},
      {Fault::kNobody, "agent 9 has a turn, but there is no such agent, in step 4 of environment 2"}};
  return all;
}
/// The last frame of a piece of experience has it, or the next turn.
bool no_option(const std::string& message, const std::string& learner) {
  const std::string words = learner + "agent 2 has no legal option ";
  return message == words + "in step 4 of environment 2" ||
         message == words + "after step 3 of environment 2";
}

template <class T>
std::string failure(const std::unique_ptr<T>& trainer, int updates = 3) {
  const std::vector<float> before(trainer->weights().begin(), trainer->weights().end());
  for (int i = 0; i < updates; ++i) {
    const auto report = trainer->update();
    for (const float w : trainer->weights()) REQUIRE(std::isfinite(w));
    if (report) continue;
    CHECK(report.error().code == ErrorCode::kNumerical);
    return report.error().message;
  }
  return "";
}

template <class Trainer = IppoTrainer>
std::unique_ptr<Trainer> ppo(const GameMaker& make, int steps = 20, std::int32_t limit = 0) {
  typename Trainer::Config config;
  config.environments = 4;
  config.rollout_steps = steps;
  config.episode_steps = limit;
  config.epochs = 1;
  return Trainer::create(config, make).value();
}
std::unique_ptr<MaddpgTrainer> maddpg(const GameMaker& make, int steps = 10, std::int64_t random = 0) {
  MaddpgConfig config;
  config.environments = 4;
  config.round_steps = steps;
  config.batch = 8;
  config.random_steps = random;
  return MaddpgTrainer::create(config, make).value();
}

/// Says no when it is the turn of agent 1.
struct Silent {
  void begin(std::uint64_t) {}
  void look(const GameFrame&) {}
  bool choose(std::size_t slot, const OptionMask*, std::int32_t*, float*) { return slot != 1; }
};

}  // namespace

TEST_CASE("play: learners name environment, step, agent and value of what a game spoils", "[learning]") {
  for (const auto& [fault, words] : cases()) {
    CAPTURE(words);
    CHECK(failure(ppo(one_faulty(fault, 3))) == "team ppo: " + words);
    CHECK(failure(ppo<TeamMappoTrainer>(one_faulty(fault, 3), 1), 4) == "team ppo: " + words);
    CHECK(failure(maddpg(one_faulty(fault, 3))) == "maddpg: " + words);
    CHECK(failure(maddpg(one_faulty(fault, 3), 10, 1000)) == "maddpg: " + words);  // uniform actions
  }
  CHECK(no_option(failure(ppo(one_faulty(Fault::kMask, 3))), "team ppo: "));
  CHECK(no_option(failure(maddpg(one_faulty(Fault::kMask, 3))), "maddpg: "));
  CHECK(no_option(failure(maddpg(one_faulty(Fault::kMask, 3), 10, 1000)), "maddpg: "));
  CHECK(failure(ppo(one_faulty(Fault::kNone, 3))).empty());
  CHECK(failure(maddpg(one_faulty(Fault::kNone, 3))).empty());
}

TEST_CASE("play: a frame that only the value of the next state sees is looked at too", "[learning]") {
  const std::string observation = "number 1 that agent 1 sees is nan after step 5 of environment 2";
  CHECK(failure(ppo(one_faulty(Fault::kObservationAtTheEnd, 0))) == "team ppo: " + observation);
  CHECK(failure(maddpg(one_faulty(Fault::kObservationAtTheEnd, 0))) == "maddpg: " + observation);
  // A rollout or a piece that stops where the episode goes on.
  const std::string third = "number 1 that agent 1 sees is nan after step 3 of environment 2";
  CHECK(failure(ppo(one_faulty(Fault::kObservation, 3), 3)) == "team ppo: " + third);
  CHECK(failure(ppo(one_faulty(Fault::kObservation, 3), 20, 3)) == "team ppo: " + third);
  CHECK(failure(maddpg(one_faulty(Fault::kObservation, 3), 3), 1) == "maddpg: " + third);
  // What an agent would do in the final state is asked by MADDPG after a truncation only, by PPO never.
  CHECK(failure(maddpg(one_faulty(Fault::kMaskAtTheEnd, 0))) ==
        "maddpg: agent 2 has no legal option after step 5 of environment 2");
  CHECK(failure(maddpg(one_faulty(Fault::kMaskAtTheEnd, 0, false))).empty());
  CHECK(failure(ppo(one_faulty(Fault::kMaskAtTheEnd, 0))).empty());
}

TEST_CASE("play: an episode that cannot begin names its environment", "[learning]") {
  const GameMaker make = one_faulty(Fault::kReset, 0);
  IppoTrainer::Config config;
  config.environments = 4;
  const auto team = IppoTrainer::create(config, make);
  REQUIRE_FALSE(team);
  CHECK(team.error().message == "team ppo: reset of environment 2: no map");
  MaddpgConfig other;
  other.environments = 4;
  const auto central = MaddpgTrainer::create(other, make);
  REQUIRE_FALSE(central);
  CHECK(central.error().message == "maddpg: reset of environment 2: no map");
}

TEST_CASE("play: an empty mask, a silent network and a poor observation are told apart", "[learning]") {
  const auto words = [](Fault fault, auto policy) {
    const GameMaker make = [fault](int) { return AnyGame(Faulty(fault, 1)); };
    const auto played = evaluate_policy(make, policy);
    return played ? std::string() : played.error().message;
  };
  struct First : Silent {
    bool choose(std::size_t, const OptionMask*, std::int32_t* options, float*) {
      options[0] = options[1] = 0;
      return true;
    }
  };
  CHECK(words(Fault::kNone, Silent()) == "agent 1: what its network says is not finite in step 1");
  CHECK(words(Fault::kMask, First()) == "agent 2 has no legal option in step 2");
  CHECK(words(Fault::kObservation, First()) == "number 1 that agent 1 sees is nan after step 1");
  CHECK(words(Fault::kTeamReward, First()) == "the reward of the team is nan in step 2");
  CHECK(words(Fault::kNone, First()).empty());
}
