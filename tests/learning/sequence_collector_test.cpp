// Play into a replay: where pieces are cut, which frame follows, what memory they begin with.

#include "mara/learning/sequence_collector.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "mara/action/exploration.hpp"
#include "mara/environment/fixed_team.hpp"
#include "q_learning_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

/// Two agents that see the time and a mark; every step pays the mark. Terminated after `length` steps.
class MarkGame : public FixedTeam {
 public:
  MarkGame(float mark, int length)
      : FixedTeam(GameShape{2, 2, 1, ActionShape::discrete(2)}), mark_(mark), length_(length) {}
  Status reset(std::uint64_t) {
    begin();
    return {};
  }
  void observe(float* rows) const {
    for (int i = 0; i < 2; ++i) {
      *rows++ = static_cast<float>(steps());
      *rows++ = mark_;
    }
  }
  void global_state(float* row) const { *row = mark_; }
  StepOutcome step() { return finish_shared(static_cast<double>(mark_), steps() + 1 == length_, false); }

 private:
  float mark_;
  int length_;
};

AgentTeam team_with(Recurrence recurrence, std::size_t slots, std::size_t observation, std::size_t outputs) {
  TeamConfig config;
  config.network.hidden = {8};
  config.network.recurrence = recurrence;
  config.network.memory_units = 4;
  return AgentTeam::create(config, slots, observation, outputs).value();
}
AlignedVector<float> weights_of(const AgentTeam& team) {
  AlignedVector<float> weights(team.stored());
  Random random(3);
  team.initialise(random, weights.data());
  return weights;
}
const auto kUniform = [](std::size_t, const float* outputs, const OptionMask* masks, Random& random,
                         std::int32_t* options, float*) {
  const float flat[3] = {outputs[0] * 0.0f, 0.0f, 0.0f};
  *options = masked_sample(flat, 3, masks[0] & 7u, random);
  return *options >= 0;
};

}  // namespace

TEST_CASE("pieces end with their episode, and keep the frame before the reset", "[learning]") {
  const AgentTeam team = team_with(Recurrence::kNone, 2, 2, 2);
  const AlignedVector<float> weights = weights_of(team);
  for (const int limit : {0, 3}) {  // terminated after 5 steps, or truncated after 3
    const GameMaker make = [](int) { return AnyGame(MarkGame(1.0f, 5)); };
    auto collector = SequenceCollector::create({1, 1, limit}, make, 2, 0).value();
    auto replay = SequenceReplay::create(collector.shape(), 10).value();
    ThreadPool pool(1);
    const auto greedy = [](std::size_t, const float*, const OptionMask*, Random&, std::int32_t* options,
                           float*) {
      *options = 1;
      return true;
    };
    const auto report = collector.play(pool, team, weights.data(), 10, greedy, replay).value();
    CHECK(report.env_steps == 10);
    CHECK(report.episodes == (limit == 0 ? 2 : 3));
    CHECK(report.mean_return() == (limit == 0 ? 5.0 : 3.0));
    SequenceBatch batch;
    batch.places = {0, 1, 2};
    replay.gather(batch);
    const auto time = [&](std::size_t t, std::size_t b) { return batch.observations[(t * 3 + b) * 4]; };
    CHECK(time(0, 0) == 0.0f);
    CHECK(time(2, 0) == 2.0f);
    CHECK(time(0, 1) == 2.0f);
    CHECK(batch.fresh ==
          (limit == 0 ? std::vector<std::uint8_t>{1, 0, 0} : std::vector<std::uint8_t>{1, 0, 1}));
    CHECK(batch.ends[0] == 0);
    if (limit == 0) {
      CHECK(batch.lengths == std::vector<std::uint32_t>{2, 2, 1});
      CHECK(time(1, 2) == 5.0f);
      CHECK(batch.ends[0 * 3 + 2] == static_cast<std::uint8_t>(StepEnd::kTerminated));
    } else {
      CHECK(batch.lengths == std::vector<std::uint32_t>{2, 1, 2});
      CHECK(time(1, 1) == 3.0f);  // not 0, what the reset shows
      CHECK(batch.ends[0 * 3 + 1] == static_cast<std::uint8_t>(StepEnd::kTruncated));
      CHECK(time(0, 2) == 0.0f);
    }
  }
}

TEST_CASE("what belongs to one environment stays together (C6)", "[learning]") {
  const AgentTeam team = team_with(Recurrence::kNone, 2, 2, 2);
  const AlignedVector<float> weights = weights_of(team);
  const GameMaker make = [](int e) { return AnyGame(MarkGame(static_cast<float>(e + 1), 3 + e)); };
  auto collector = SequenceCollector::create({1, 4, 0}, make, 3, 0).value();
  auto replay = SequenceReplay::create(collector.shape(), 100).value();
  ThreadPool pool(2);
  REQUIRE(collector.play(pool, team, weights.data(), 12, kUniform, replay));
  SequenceBatch batch;
  for (std::size_t i = 0; i < replay.size(); ++i) batch.places.push_back(i);
  replay.gather(batch);
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t b = 0; b < batch.count; ++b) {
      if (!batch.valid(t, b)) continue;
      const std::size_t at = t * batch.count + b;
      const float mark = batch.states[at];
      CHECK(mark > 0.0f);
      CHECK(batch.team_rewards[at] == mark);
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK(batch.observations[(at * 2 + i) * 2 + 1] == mark);
        CHECK(batch.rewards[at * 2 + i] == mark);
      }
      CHECK(batch.states[at + batch.count] == mark);
    }
}

TEST_CASE("replayed pieces give the outputs that were acted on (C4)", "[learning]") {
  for (const Recurrence recurrence : {Recurrence::kNone, Recurrence::kGru, Recurrence::kLstm}) {
    const AgentTeam team = team_with(recurrence, 3, 2, 3);
    const AlignedVector<float> weights = weights_of(team);
    const GameMaker make = [](int) { return AnyGame(CrowdGame(0.1, 9)); };
    auto collector = SequenceCollector::create({5, 1, 0}, make, 4, team.memory()).value();
    auto replay = SequenceReplay::create(collector.shape(), 100).value();
    ThreadPool pool(1);
    std::vector<std::vector<float>> in_order;
    REQUIRE(collector.play(
        pool, team, weights.data(), 60,
        [&](std::size_t slot, const float* outputs, const OptionMask* masks, Random& random,
            std::int32_t* options, float* numbers) {
          in_order.emplace_back(outputs, outputs + 3);
          return kUniform(slot, outputs, masks, random, options, numbers);
        },
        replay));
    std::size_t seen = 0;
    for (std::size_t piece = 0; piece < replay.size(); ++piece) {
      SequenceBatch batch;
      batch.places = {piece};
      replay.gather(batch);
      Tape<float> tape;
      const Var out = team.forward(tape, weights.data(), nullptr, batch.observations.data(), 5, 1,
                                   batch.memory.data(), batch.arrived.data());
      for (std::size_t t = 0; t < batch.lengths[0]; ++t)
        for (std::size_t i = 3; i-- > 0;) {  // the order of the turns
          if (batch.present[t * 3 + i] == 0) continue;
          const auto row = tape.value(out).subspan((t * 3 + i) * 3, 3);
          REQUIRE(seen < in_order.size());
          CHECK(std::vector<float>(row.begin(), row.end()) == in_order[seen++]);
          CHECK((batch.masks[t * 3 + i] >> batch.options[t * 3 + i] & 1u) == 1u);
        }
    }
    CHECK(seen > 80);
  }
}

TEST_CASE("the same pieces on any number of threads", "[learning]") {
  const AgentTeam team = team_with(Recurrence::kGru, 3, 2, 3);
  const AlignedVector<float> weights = weights_of(team);
  const GameMaker make = [](int) { return AnyGame(CrowdGame(0.1, 9)); };
  SequenceBatch expected;
  for (const int threads : {1, 2, 3}) {
    auto collector = SequenceCollector::create({5, 5, 0}, make, 4, team.memory()).value();
    auto replay = SequenceReplay::create(collector.shape(), 100).value();
    ThreadPool pool(threads);
    for (int pass = 0; pass < 7; ++pass)
      REQUIRE(collector.play(pool, team, weights.data(), 3, kUniform, replay));
    SequenceBatch batch;
    for (std::size_t i = 0; i < replay.size(); ++i) batch.places.push_back(i);
    replay.gather(batch);
    if (threads == 1) expected = batch;
    CHECK(batch.observations == expected.observations);
    CHECK(batch.options == expected.options);
    CHECK(batch.memory == expected.memory);
  }
}

TEST_CASE("collectors refuse what they cannot play", "[learning]") {
  const GameMaker make = [](int) { return AnyGame(CrowdGame()); };
  CHECK(SequenceCollector::create({1, 0, 0}, make, 1, 0).error().message.find("environments = 0") == 0);
  const auto negative = static_cast<std::size_t>(-1);  // what becomes of -1 in a field of std::size_t
  const std::string large = " = " + std::to_string(negative) + ", more than 2^31";
  CHECK(SequenceCollector::create({1, negative, 0}, make, 1, 0).error().message == "environments" + large);
  CHECK(SequenceCollector::create({1, 1, 0}, make, negative, 0).error().message == "sequence_steps" + large);
  CHECK(SequenceCollector::create({1, 1, 0}, make, 1, negative).error().message == "memory" + large);
  CHECK(SequenceCollector::create({1, 1, -1}, make, 1, 0).error().message.find("episode_steps = -1") == 0);
  const GameMaker mixed = [](int e) { return e == 0 ? AnyGame(CrowdGame()) : AnyGame(MarkGame(1.0f, 2)); };
  CHECK(SequenceCollector::create({1, 2, 0}, mixed, 1, 0).error().code == ErrorCode::kShapeMismatch);
  auto collector = SequenceCollector::create({1, 2, 0}, make, 1, 0).value();
  auto replay = SequenceReplay::create(collector.shape(), 10).value();
  const AgentTeam team = team_with(Recurrence::kNone, 3, 2, 3);
  const AlignedVector<float> weights = weights_of(team);
  ThreadPool pool(1);
  const auto silent = [](std::size_t, const float*, const OptionMask*, Random&, std::int32_t*, float*) {
    return false;
  };
  CHECK(collector.play(pool, team, weights.data(), 1, silent, replay).error().code == ErrorCode::kNumerical);
}
