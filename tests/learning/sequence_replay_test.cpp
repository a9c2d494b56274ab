// Pieces of episodes: the ring, the layout of batches, draws by priority, save and load.

#include "mara/learning/sequence_replay.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "tiny_games.hpp"

using namespace mara;
using namespace mara::test;

namespace {

SequenceShape small_shape(std::size_t steps) {
  return {{2, 3, 2, {{3}, {{-1.0f, 1.0f}}}}, steps, 4};
}

/// A piece whose every number says where it belongs: 1000 piece + 100 time + place.
Sequence marked(const SequenceShape& shape, int piece, std::size_t length) {
  Sequence made(shape);
  const auto fill = [](auto& values, float base) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::remove_reference_t<decltype(values[0])>>(base + static_cast<float>(i));
  };
  std::vector<float> memory(8);
  fill(memory, static_cast<float>(1000 * piece));
  made.begin(piece % 2 == 0, memory.data());
  GameFrame frame(shape.game);
  GameActions actions(shape.game);
  std::vector<float> rewards(2);
  for (std::size_t t = 0; t <= length; ++t) {
    const auto base = static_cast<float>(1000 * piece + 100 * static_cast<int>(t));
    fill(frame.observations, base);
    fill(frame.state, base);
    frame.present = {1, static_cast<std::uint8_t>(t % 2)};
    frame.arrived = {static_cast<std::uint8_t>(t == 0), 0};
    frame.masks = {7u, t % 2 == 1 ? 3u : 1u};
    if (t == length) break;
    actions.options = {static_cast<int>(t % 3), 0};
    actions.numbers = {0.5f, -0.5f};
    fill(rewards, base);
    made.add(frame, actions, {base, false, t + 1 == length}, rewards);
  }
  made.close(frame);
  return made;
}

}  // namespace

TEST_CASE("batches are time-major, padding is empty", "[learning]") {
  const SequenceShape shape = small_shape(3);
  auto replay = SequenceReplay::create(shape, 4).value();
  for (int piece = 1; piece <= 3; ++piece) replay.add(marked(shape, piece, piece == 2 ? 2 : 3));
  SequenceBatch batch;
  batch.places = {1, 0};  // pieces 2 (of two steps) and 1
  replay.gather(batch);
  REQUIRE(batch.count == 2);
  CHECK(batch.lengths == std::vector<std::uint32_t>{2, 3});
  CHECK(batch.fresh == std::vector<std::uint8_t>{1, 0});
  REQUIRE(batch.observations.size() == 4 * 2 * 2 * 3);
  for (std::size_t t = 0; t <= 3; ++t)
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t i = 0; i < 6; ++i) {
        const float base =
            static_cast<float>((b == 0 ? 2000 : 1000) + 100 * static_cast<int>(t) + static_cast<int>(i));
        CHECK(batch.observations[(t * 2 + b) * 6 + i] == (b == 0 && t > 2 ? 0.0f : base));
        if (i < 2) CHECK(batch.states[(t * 2 + b) * 2 + i] == (b == 0 && t > 2 ? 0.0f : base));
        if (i < 2 && t < 3) CHECK(batch.rewards[(t * 2 + b) * 2 + i] == (b == 0 && t > 1 ? 0.0f : base));
      }
  CHECK(batch.valid(1, 0));
  CHECK_FALSE(batch.valid(2, 0));
  CHECK(batch.valid(2, 1));
  // Nobody is in the padding, and its masks are those of absent agents.
  CHECK(batch.present == std::vector<std::uint8_t>{1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1});
  CHECK(batch.masks[(3 * 2 + 0) * 2] == 1u);
  CHECK(batch.masks[(3 * 2 + 1) * 2 + 1] == 3u);
  CHECK(batch.options == std::vector<std::int32_t>{0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 2, 0});
  CHECK(batch.ends == std::vector<std::uint8_t>{0, 0, 2, 0, 0, 2});
  CHECK(batch.numbers[3] == -0.5f);
  CHECK(batch.memory[0] == 2000.0f);
  CHECK(batch.memory[8 + 7] == 1007.0f);
}

TEST_CASE("the oldest piece makes room", "[learning]") {
  const SequenceShape shape = small_shape(2);
  auto replay = SequenceReplay::create(shape, 3).value();
  for (int piece = 1; piece <= 5; ++piece) {
    replay.add(marked(shape, piece, 2));
    CHECK(replay.size() == static_cast<std::size_t>(std::min(piece, 3)));
  }
  SequenceBatch batch;
  batch.places = {0, 1, 2};
  replay.gather(batch);
  CHECK(batch.team_rewards == std::vector<float>{4000, 5000, 3000, 4100, 5100, 3100});
  // 2 x 3 x 3 observations, 3 x 2 states, 3 x 2 masks and 2 x (2 options, 2 numbers, 3 rewards) of 4 bytes,
  // 12 flags, 2 ends, a length, a flag, 8 memory.
  CHECK(SequenceArrays::bytes(shape, 1) == 4 * (18 + 6 + 6 + 14) + 12 + 2 + 4 + 1 + 32);
  CHECK(replay.bytes() == 3 * SequenceArrays::bytes(shape, 1));
}

TEST_CASE("uniform draws are uniform", "[learning]") {
  const SequenceShape shape = small_shape(1);
  auto replay = SequenceReplay::create(shape, 4).value();
  for (int piece = 1; piece <= 4; ++piece) replay.add(marked(shape, piece, 1));
  Random random(1);
  SequenceBatch batch;
  std::vector<double> drawn(4);
  REQUIRE(replay.sample(random, 8000, 1.0, batch));
  for (std::size_t b = 0; b < 8000; ++b) {
    drawn[batch.places[b]] += 1.0;
    CHECK(batch.importance[b] == 1.0f);
  }
  for (const double n : drawn) CHECK(std::fabs(n - 2000.0) < 4.0 * std::sqrt(8000.0 * 0.25 * 0.75));
}

TEST_CASE("draws by priority: shares and weights", "[learning]") {
  const SequenceShape shape = small_shape(1);
  auto replay = SequenceReplay::create(shape, 4, 0.5).value();
  for (int piece = 1; piece <= 4; ++piece) replay.add(marked(shape, piece, 1));
  const std::vector<std::size_t> places{0, 1, 2, 3};
  const std::vector<double> errors{1.0, 4.0, -9.0, 16.0};  // roots 1, 2, 3, 4 of 10
  replay.set_priorities(places, errors);
  Random random(1);
  SequenceBatch batch;
  REQUIRE(replay.sample(random, 10000, 0.4, batch));
  std::vector<double> drawn(4);
  for (std::size_t b = 0; b < 10000; ++b) {
    drawn[batch.places[b]] += 1.0;
    // (N P)^-beta over its largest value, that of the rarest piece.
    const double share = 0.1 * (1.0 + static_cast<double>(batch.places[b]));
    const double weight = std::pow(4.0 * share, -0.4) / std::pow(4.0 * 0.1, -0.4);
    CHECK(std::fabs(static_cast<double>(batch.importance[b]) - weight) < 1e-5);
  }
  // One draw from each stretch of a ten-thousandth: at most one off at each border.
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::fabs(drawn[i] - 1000.0 * static_cast<double>(i + 1)) <= 2.0);
  // A new piece gets the largest priority so far.
  replay.add(marked(shape, 5, 1));
  CHECK(std::fabs(replay.tree().priority(0) - 4.0) < 1e-6);
}

TEST_CASE("a replay goes on where it was saved", "[learning]") {
  const SequenceShape shape = small_shape(2);
  for (const double alpha : {0.0, 0.6})
    for (const int pieces : {0, 2, 3, 5}) {
      auto replay = SequenceReplay::create(shape, 3, alpha).value();
      for (int piece = 1; piece <= pieces; ++piece) replay.add(marked(shape, piece, 2));
      if (pieces > 0) {
        const std::vector<std::size_t> places{0};
        const std::vector<double> errors{7.0};
        replay.set_priorities(places, errors);
      }
      const TemporaryFile file("replay");
      ArchiveWriter out("replay");
      replay.save(out);
      REQUIRE(out.write(file.path));
      auto again = SequenceReplay::create(shape, 3, alpha).value();
      auto in = ArchiveReader::open(file.path, "replay").value();
      REQUIRE(again.load(in));
      CHECK(again.size() == replay.size());
      for (SequenceReplay* one : {&replay, &again}) one->add(marked(shape, 9, 1));
      Random first(4), second(4);
      SequenceBatch expected, got;
      REQUIRE(replay.sample(first, 20, 0.5, expected));
      REQUIRE(again.sample(second, 20, 0.5, got));
      CHECK(got.places == expected.places);
      CHECK(got.importance == expected.importance);
      CHECK(got.observations == expected.observations);
      CHECK(got.masks == expected.masks);
      // A replay of fewer pieces does not take more than it holds.
      auto small = SequenceReplay::create(shape, 1, alpha).value();
      auto once_more = ArchiveReader::open(file.path, "replay").value();
      if (pieces > 1) CHECK(small.load(once_more).error().message.find("replay: size = ") == 0);
    }
}

TEST_CASE("replays refuse what they cannot be", "[learning]") {
  const SequenceShape shape = small_shape(2);
  CHECK(SequenceReplay::create(shape, 0).error().message.find("replay: capacity = 0") == 0);
  CHECK(SequenceReplay::create(small_shape(0), 2).error().message.find("replay: steps = 0") == 0);
  CHECK(SequenceReplay::create(shape, 2, 1.5).error().message.find("replay: alpha = 1.5") == 0);
  CHECK(SequenceReplay::create(shape, std::size_t{1} << 40).error().message.find("replay: capacity") == 0);
  const auto replay = SequenceReplay::create(shape, 2).value();
  Random random(1);
  SequenceBatch batch;
  CHECK(replay.sample(random, 2, 1.0, batch).error().code == ErrorCode::kState);
}
