// What a rollout writes down, and that a player can be rebuilt from its history.
#include "mara/learning/rollout.hpp"

#include <cstdint>
#include <functional>
#include <vector>

#include "catch.hpp"
#include "mara/nn/mlp.hpp"
#include "tiny_games.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Flow = DefaultFlow<SeatGame>;
using Actor = Mlp<float, SeatGame::kObservation, 8, SeatGame::kOptions>;

Actor random_actor(std::uint64_t seed) {
  Random random(seed);
  Actor actor;
  actor.initialise(random, 1.0f);
  return actor;
}

std::uint64_t seed_of(std::uint64_t episode) {
  return 100 + episode;
}

template <class Game, class A = Actor>
Status roll(Player<Game>& player, const A& actor, std::size_t steps, Rollout& rollout) {
  rollout.resize(1, steps, static_cast<std::size_t>(Game::kGlobalState));
  const RolloutPolicy<A, DefaultFlow<Game>, guidance::None> policy{&actor, nullptr, {}};
  return play<Game, A, DefaultFlow<Game>, guidance::None>(player, policy, 0, steps, seed_of, rollout);
}

}  // namespace

TEST_CASE("rows are the present agents, with the masks, options and probabilities of their turn",
          "[rollout]") {
  const Actor actor = random_actor(1);
  Player<SeatGame> player(SeatGame(true, 0.1), Random(5));
  REQUIRE(player.begin(seed_of(0)));
  Rollout rollout;
  constexpr std::size_t kSteps = 200;
  REQUIRE(roll(player, actor, kSteps, rollout));
  const AgentRows& rows = rollout.rows[0];
  REQUIRE(rows.first.size() == kSteps + 1);
  CHECK(rows.first.front() == 0);
  REQUIRE(rows.first.back() == rows.options.size());
  CHECK(rows.inputs.size() == rows.options.size() * SeatGame::kObservation);
  CHECK(rows.masks.size() == rows.options.size());
  CHECK(rows.distribution.empty());
  Actor::Workspace work;
  int without_agents = 0, masked = 0, ended = 0;
  for (std::size_t t = 0; t < kSteps; ++t) {
    int present = 0;
    for (std::size_t i = 0; i < 3; ++i) present += rollout.states(0, t, i) > 0.0f;
    REQUIRE(rows.first[t + 1] - rows.first[t] == static_cast<std::uint32_t>(present));
    without_agents += present == 0;
    for (std::uint32_t r = rows.first[t]; r < rows.first[t + 1]; ++r) {
      float logits[3];
      actor.forward(&rows.inputs[r * 4], 1, logits, work);
      const MaskedCategorical<3> policy(logits, rows.masks[r]);
      CHECK(((rows.masks[r] >> rows.options[r]) & 1u) == 1u);
      CHECK(rows.log_probabilities[r] == Approx(policy.log_probability(rows.options[r])).margin(1e-5));
      masked += rows.masks[r] != 0b111u;
    }
    // What follows a step is the next step's state, except where a new episode begins.
    const auto end = static_cast<StepEnd>(rollout.ends(0, t));
    ended += end == StepEnd::kTerminated;
    CHECK(end != StepEnd::kTruncated);
    if (end == StepEnd::kContinues && t + 1 < kSteps)
      for (std::size_t i = 0; i < 4; ++i) CHECK(rollout.next_states(0, t, i) == rollout.states(0, t + 1, i));
    CHECK(rollout.rewards(0, t) == rollout.team_rewards(0, t));
    CHECK(rollout.alignment(0, t) == 0.0f);
  }
  CHECK(without_agents > 5);
  CHECK(masked > 5);
  CHECK(ended > 5);
  CHECK(player.episode == 1u + static_cast<std::uint64_t>(ended));
}

TEST_CASE("who ends a step: termination wins over truncation, a limit of ours truncates", "[rollout]") {
  using End = ConstantGame::End;
  using One = Mlp<float, 1, 1>;
  const One actor;
  const auto ends = [&](End end, std::int32_t limit) {
    Player<ConstantGame> player(ConstantGame(1.0f, end, 3), Random(1));
    REQUIRE(player.begin(1));
    player.limit = limit;
    Rollout rollout;
    REQUIRE(roll<ConstantGame, One>(player, actor, 4, rollout));
    std::vector<StepEnd> out;
    for (std::size_t t = 0; t < 4; ++t) out.push_back(static_cast<StepEnd>(rollout.ends(0, t)));
    return out;
  };
  constexpr StepEnd kOn = StepEnd::kContinues, kOver = StepEnd::kTerminated, kCut = StepEnd::kTruncated;
  CHECK(ends(End::kNever, 0) == std::vector<StepEnd>{kOn, kOn, kOn, kOn});
  CHECK(ends(End::kTerminated, 0) == std::vector<StepEnd>{kOn, kOn, kOver, kOn});
  CHECK(ends(End::kTruncated, 0) == std::vector<StepEnd>{kOn, kOn, kCut, kOn});
  CHECK(ends(End::kBoth, 0) == std::vector<StepEnd>{kOn, kOn, kOver, kOn});
  CHECK(ends(End::kTerminated, 2) == std::vector<StepEnd>{kOn, kCut, kOn, kCut});
  CHECK(ends(End::kTerminated, 3) == std::vector<StepEnd>{kOn, kOn, kOver, kOn});
}

TEST_CASE("a history and its seed rebuild the state exactly", "[rollout]") {
  const Actor actor = random_actor(2);
  Player<SeatGame> player(SeatGame(true, 0.02), Random(6));
  REQUIRE(player.begin(seed_of(0)));
  Rollout rollout, again;
  REQUIRE(roll(player, actor, 57, rollout));
  Player<SeatGame> rebuilt(SeatGame(true, 0.02), Random(player.random.state()));
  REQUIRE(rebuilt.replay(player.episode_seed, player.step, player.history));
  CHECK(rebuilt.step == player.step);
  CHECK(rebuilt.history == player.history);
  rebuilt.episode = player.episode;
  REQUIRE(roll(player, actor, 50, rollout));
  REQUIRE(roll(rebuilt, actor, 50, again));
  CHECK(rollout.rows[0].inputs == again.rows[0].inputs);
  CHECK(rollout.rows[0].options == again.rows[0].options);
  CHECK((rollout.team_rewards == again.team_rewards));
  CHECK((rollout.ends == again.ends));
}

TEST_CASE("a history that is not of this game is refused", "[rollout]") {
  const Actor actor = random_actor(3);
  Player<SeatGame> player(SeatGame(), Random(7));
  REQUIRE(player.begin(1));
  Rollout rollout;
  REQUIRE(roll(player, actor, 10, rollout));
  Player<SeatGame> other(SeatGame(false, 0.0, 2), Random(7));  // two agents instead of three
  const Status longer = other.replay(player.episode_seed, player.step, player.history);
  REQUIRE_FALSE(longer);
  CHECK(longer.error().message.find("too long") != std::string::npos);
  Player<SeatGame> same(SeatGame(), Random(7));
  const Status shorter = same.replay(player.episode_seed, player.step + 1, player.history);
  REQUIRE_FALSE(shorter);
  CHECK(shorter.error().message.find("too short") != std::string::npos);
}

TEST_CASE("errors end a rollout: broken logits, and an episode that cannot begin", "[rollout]") {
  Actor actor = random_actor(4);
  actor.parameters()[0] = std::numeric_limits<float>::quiet_NaN();
  Player<SeatGame> player(SeatGame(), Random(8));
  REQUIRE(player.begin(1));
  Rollout rollout;
  const Status broken = roll(player, actor, 10, rollout);
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code == ErrorCode::kNumerical);
  CHECK(broken.error().message.find("logits") != std::string::npos);

  using One = Mlp<float, 1, 1>;
  Player<ConstantGame> short_lived(ConstantGame(1.0f, ConstantGame::End::kTerminated, 2), Random(9));
  REQUIRE_FALSE(short_lived.begin(0));
  REQUIRE(short_lived.begin(1));
  rollout.resize(1, 5, 1);
  const One one;
  const RolloutPolicy<One, DefaultFlow<ConstantGame>, guidance::None> policy{&one, nullptr, {}};
  const std::function<std::uint64_t(std::uint64_t)> zero = [](std::uint64_t) { return std::uint64_t{0}; };
  const Status ended = play<ConstantGame, One, DefaultFlow<ConstantGame>, guidance::None>(
      short_lived, policy, 0, 5, zero, rollout);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code == ErrorCode::kIo);
}

TEST_CASE(
    "with a field: distributions over legal options, signals of the sampled ones, and the shaped reward",
    "[rollout]") {
  using Mode = guidance::Combined<guidance::AuxiliaryReward<guidance::LogLikelihood>, guidance::FlowInput>;
  using Wide = Mlp<float, SeatGame::kObservation + SeatGame::kOptions, 8, SeatGame::kOptions>;
  Random random(10);
  Wide actor;
  actor.initialise(random, 1.0f);
  Flow flow;
  flow.field = Flow::Field(random);
  Player<SeatGame> player(SeatGame(true, 0.05), Random(11));
  REQUIRE(player.begin(seed_of(0)));
  Rollout rollout;
  constexpr std::size_t kSteps = 60;
  rollout.resize(1, kSteps, SeatGame::kGlobalState);
  Mode mode;
  std::get<0>(mode.modes).weight = 0.5f;
  const RolloutPolicy<Wide, Flow, Mode> policy{&actor, &flow, mode};
  REQUIRE(play<SeatGame, Wide, Flow, Mode>(player, policy, 0, kSteps, seed_of, rollout));
  const AgentRows& rows = rollout.rows[0];
  REQUIRE(rows.distribution.size() == rows.options.size() * 3);
  REQUIRE(rows.inputs.size() == rows.options.size() * 7);
  for (std::size_t t = 0; t < kSteps; ++t) {
    float sum = 0.0f;
    for (std::uint32_t r = rows.first[t]; r < rows.first[t + 1]; ++r) {
      float total = 0.0f;
      for (std::size_t a = 0; a < 3; ++a) {
        const float q = rows.distribution[r * 3 + a];
        total += q;
        CHECK((((rows.masks[r] >> a) & 1u) != 0 || q == 0.0f));
      }
      CHECK(total == Approx(1.0));
      const float q = rows.distribution[r * 3 + static_cast<std::size_t>(rows.options[r])];
      CHECK(rows.signals[r] == Approx(std::max(-10.0f, std::log(q))).margin(1e-5));
      sum += rows.signals[r];
    }
    const auto agents = rows.first[t + 1] - rows.first[t];
    const float mean = agents == 0 ? 0.0f : sum / static_cast<float>(agents);
    CHECK(rollout.alignment(0, t) == Approx(mean).margin(1e-6));
    CHECK(rollout.rewards(0, t) == Approx(rollout.team_rewards(0, t) + 0.5f * mean).margin(1e-5));
  }
}
