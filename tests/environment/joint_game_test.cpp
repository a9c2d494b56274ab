// Many agents as one: what it sees, may do, and does.

#include "mara/environment/joint_game.hpp"

#include <vector>

#include "catch.hpp"
#include "mara/environment/check_environment.hpp"
#include "mara/environment/matrix_game.hpp"
#include "mara/environment/two_step_game.hpp"

using namespace mara;

namespace {

/// Two slots, the second empty in every other step; two heads of 2 and 3 options and a number. The slot with
/// the higher index goes first; the other may not take the same option of head 1. Pays the options as digits.
class PairGame {
 public:
  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t) {
    steps_ = 0;
    taken_ = -1;
    return {};
  }
  bool present(std::size_t slot) const { return slot == 0 || steps_ % 2 == 0; }
  bool arrived(std::size_t slot) const { return slot == 0 ? steps_ == 0 : present(1); }
  void observe(float* rows) const {
    rows[0] = 10.0f + static_cast<float>(steps_);
    rows[1] = present(1) ? 20.0f : 0.0f;
  }
  void global_state(float* row) const { *row = static_cast<float>(steps_); }
  std::span<const std::uint32_t> turn_order() const {
    static constexpr std::uint32_t kBoth[2] = {1, 0};
    return std::span<const std::uint32_t>(kBoth).subspan(present(1) ? 0 : 1);
  }
  OptionMask mask(std::size_t, std::size_t head) const {
    if (head == 0) return 0b11u;
    return taken_ < 0 ? 0b111u : 0b111u & ~(1u << taken_);
  }
  void choose(std::size_t slot, const std::int32_t* options, const float* numbers) {
    digits_[slot] = 10 * options[0] + options[1];
    taken_ = options[1];
    numbers_[slot] = numbers[0];
  }
  StepOutcome step() {
    const int both = 100 * digits_[0] + (present(1) ? digits_[1] : 0);
    ++steps_;
    taken_ = -1;
    return {static_cast<float>(both) + numbers_[0] + (steps_ % 2 == 1 ? numbers_[1] : 0.0f), steps_ == 4,
            false};
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  GameShape shape_{2, 1, 1, {{2, 3}, {{-1.0f, 1.0f}}}};
  int steps_ = 0, taken_ = -1;
  int digits_[2] = {};
  float numbers_[2] = {};
  float rewards_[2] = {};
};
static_assert(Game<PairGame>);

JointGame joint(AnyGame game, JointAction kind) {
  return JointGame::create(std::move(game), kind).value();
}

}  // namespace

TEST_CASE("joint game: heads of all agents beside each other", "[environment]") {
  JointGame game = joint(AnyGame(PairGame()), JointAction::kHeads);
  CHECK(game.shape() == GameShape{1, 2, 1, {{2, 3, 2, 3}, {{-1.0f, 1.0f}, {-1.0f, 1.0f}}}});
  CHECK_FALSE(game.present(0));
  CHECK(game.turn_order().empty());
  REQUIRE(game.reset(1));
  CHECK(game.arrived(0));
  std::vector<float> seen(2);
  game.observe(seen.data());
  CHECK(seen == std::vector<float>{10, 20});
  for (std::size_t h = 0; h < 4; ++h) CHECK(game.mask(0, h) == (h % 2 == 0 ? 0b11u : 0b111u));
  const std::vector<std::int32_t> options{1, 2, 0, 1};
  const std::vector<float> numbers{0.25f, 0.5f};
  game.choose(0, options.data(), numbers.data());
  CHECK(game.step().team_reward == 1201.75f);
  CHECK(game.rewards()[0] == 1201.75f);
  // Slot 1 is empty now: its heads have one option, and what is chosen there does not count.
  CHECK_FALSE(game.arrived(0));
  CHECK(game.mask(0, 1) == 0b111u);
  CHECK(game.mask(0, 2) == 1u);
  CHECK(game.mask(0, 3) == 1u);
  game.choose(0, options.data(), numbers.data());
  CHECK(game.step().team_reward == 1200.25f);
  // Both want option 2 of head 1; slot 1 is first, slot 0 gets the next lower one.
  const std::vector<std::int32_t> clash{0, 2, 1, 2}, low{0, 0, 1, 0};
  game.choose(0, clash.data(), numbers.data());
  CHECK(game.step().team_reward == 112.75f);
  game.choose(0, low.data(), numbers.data());
  const StepOutcome last = game.step();
  CHECK(last.terminated);
  CHECK(last.team_reward == 0.25f);
  REQUIRE(game.reset(1));
  // Below the taken option 0 there is none: the lowest legal one.
  game.choose(0, low.data(), numbers.data());
  CHECK(game.step().team_reward == 110.75f);
}

TEST_CASE("joint game: all joint options in one list", "[environment]") {
  const MatrixGame inner = MatrixGame::create({2, 3}, {0, 1, 2, 3, 4, 5}).value();
  JointGame game = joint(AnyGame(inner), JointAction::kFlat);
  REQUIRE(game.reset(1));
  // The shape has room for three options of both agents; the first may use two.
  CHECK(game.shape().action == ActionShape::discrete(9));
  CHECK(game.mask(0, 0) == 0b000111111u);
  for (std::int32_t option = 0; option < 6; ++option) {
    REQUIRE(game.reset(1));
    game.choose(0, &option, nullptr);
    CHECK(game.step().team_reward == static_cast<float>(option));
  }
  JointGame two = joint(AnyGame(TwoStepGame()), JointAction::kFlat);
  REQUIRE(two.reset(1));
  CHECK(two.mask(0, 0) == 0b1111u);
  std::int32_t option = 2;  // B of the first agent
  two.choose(0, &option, nullptr);
  CHECK_FALSE(two.step().terminated);
  option = 3;
  two.choose(0, &option, nullptr);
  CHECK(two.step().team_reward == 8.0f);
}

TEST_CASE("joint game: refusals", "[environment]") {
  CHECK(JointGame::create(AnyGame(PairGame()), JointAction::kFlat)
            .error()
            .message.find("joint game: more than 32") == 0);
  const MatrixGame many = MatrixGame::create({6, 6}, std::vector<float>(36)).value();
  CHECK_FALSE(JointGame::create(AnyGame(many), JointAction::kFlat));
  CHECK(JointGame::create(AnyGame(many), JointAction::kHeads));
}

TEST_CASE("joint game: fulfils the contract of games", "[environment]") {
  for (const JointAction kind : {JointAction::kHeads, JointAction::kFlat}) {
    const auto report = check_environment([kind] { return joint(AnyGame(TwoStepGame()), kind); }, 1);
    INFO(report.text());
    CHECK(report.good());
  }
}
