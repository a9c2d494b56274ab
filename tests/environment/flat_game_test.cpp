// Several choices as one: numbering, masks, play, and a learner of values that plays so.
#include "mara/environment/flat_game.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "catch.hpp"
#include "mara/environment/check_environment.hpp"
#include "mara/environment/fixed_team.hpp"
#include "mara/environment/pendulum_game.hpp"

using namespace mara;

namespace {

/// Two agents with three heads of 2, 3 and 2 options. The second agent may not choose 2 in its middle head,
/// and nobody what was chosen there before in this step. Pays 100 x first + 10 x middle + last of both.
class LockGame : public FixedTeam {
 public:
  LockGame() : FixedTeam(GameShape{2, 1, 1, ActionShape::multi_discrete({2, 3, 2})}) {}
  Status reset(std::uint64_t) {
    begin();
    taken_ = 0;
    return {};
  }
  void observe(float* rows) const { std::fill_n(rows, 2, present(0) ? 1.0f : 0.0f); }
  void global_state(float* row) const { *row = 0.0f; }
  OptionMask mask(std::size_t slot, std::size_t head) const {
    if (head != 1) return ~OptionMask{0};  // more bits than options
    return (slot == 1 ? 3u : 7u) & ~taken_;
  }
  void choose(std::size_t slot, const std::int32_t* options, const float*) {
    const auto paid = static_cast<double>(100 * options[0] + 10 * options[1] + options[2]);
    sum_ = slot == 0 ? paid : sum_ + paid;
    taken_ = OptionMask{1} << options[1];
  }
  StepOutcome step() {
    taken_ = 0;
    return finish_shared(sum_, false, steps() + 1 >= 4);
  }

 private:
  OptionMask taken_ = 0;
  double sum_ = 0.0;
};

}  // namespace

TEST_CASE("combinations of options: every one once, last head fastest", "[games]") {
  const FlatOptions flat = FlatOptions::create({2, 3, 2}).value();
  CHECK(flat.count() == 12);
  std::vector<std::int32_t> options(3);
  int number = 0;
  for (std::int32_t a = 0; a < 2; ++a)
    for (std::int32_t b = 0; b < 3; ++b)
      for (std::int32_t c = 0; c < 2; ++c, ++number) {
        flat.split(number, options.data());
        CHECK(options == std::vector<std::int32_t>{a, b, c});
      }
  // Against the definition, for all masks of the heads.
  for (OptionMask a = 0; a < 4; ++a)
    for (OptionMask b = 0; b < 8; ++b)
      for (OptionMask c = 0; c < 4; ++c) {
        const OptionMask masks[] = {a, b, c};
        OptionMask expected = 0;
        for (std::int32_t f = 0; f < 12; ++f) {
          flat.split(f, options.data());
          if ((a >> options[0] & b >> options[1] & c >> options[2] & 1u) != 0) expected |= OptionMask{1} << f;
        }
        REQUIRE(flat.mask([&](std::size_t head) { return masks[head]; }) == expected);
      }
  CHECK(FlatOptions().count() == 1);
  CHECK(FlatOptions().mask([](std::size_t) { return OptionMask{0}; }) == 1u);
  CHECK(FlatOptions::create({32}).value().mask([](std::size_t) { return OptionMask{0x80000001u}; }) ==
        0x80000001u);
  CHECK(FlatOptions::create({4, 8}).value().count() == 32);
  CHECK(FlatOptions::create({4, 9}).error().message == "more than 32 combinations of the options of 2 heads");
  CHECK_FALSE(FlatOptions::create({2147483647, 2147483647}));
  CHECK_FALSE(FlatOptions::create({3, 0}));
}

TEST_CASE("a game of several choices as one of a single choice", "[games]") {
  FlatGame game = FlatGame::create(AnyGame(LockGame())).value();
  CHECK(game.shape() == GameShape{2, 1, 1, ActionShape::discrete(12)});
  const GameReport report =
      check_environment([](int) { return FlatGame::create(AnyGame(LockGame())).value(); }, 1);
  CHECK(report.violations.empty());
  REQUIRE(game.reset(1));
  CHECK(game.mask(0, 0) == 0xfffu);
  const std::int32_t first = 1 * 6 + 0 * 2 + 1;  // 1, 0, 1
  game.choose(0, &first, nullptr);
  CHECK(game.mask(1, 0) ==
        (OptionMask{0b001100} | OptionMask{0b001100} << 6));  // 1 alone is left in the middle
  const std::int32_t second = 0 * 6 + 1 * 2 + 1;              // 0, 1, 1
  game.choose(1, &second, nullptr);
  CHECK(game.step().team_reward == 101.0f + 11.0f);
  CHECK(FlatGame::create(AnyGame(PendulumGame())).error().message ==
        "flat game: an action with 1 numbers has no list of options");
}
