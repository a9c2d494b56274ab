// Exact values of policies that are known: they must be those of the games' closed forms.
#include "mara/learning/exact_evaluation.hpp"

#include <array>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

/// Options from a table by the observation's set entry, numbers in proportion to the first number seen.
struct Known {
  std::vector<std::vector<int>> options;  ///< by slot, by index of the observation's 1
  std::array<double, 2> gains{};
  std::size_t width = 1;
  std::vector<float> seen{};

  void begin(std::uint64_t) {}
  void look(const GameFrame& frame) { seen = frame.observations; }
  bool choose(std::size_t slot, const OptionMask*, std::int32_t* chosen, float* numbers) {
    const float* row = seen.data() + slot * width;
    if (options.empty()) {
      numbers[0] = static_cast<float>(-gains[slot]) * row[0];
      return true;
    }
    if (slot >= options.size()) return false;
    for (std::size_t s = 0; s < width; ++s)
      if (row[s] == 1.0f) chosen[0] = options[slot][s];
    return true;
  }
};

}  // namespace

TEST_CASE("exact evaluation: linear policies of the linear-quadratic team", "[learning]") {
  using G = LinearQuadraticTeam;
  struct Case {
    std::array<double, 2> gains;
    double expected_return, closed_loop;
  };
  for (const Case& c : {Case{{G::kBestGains[0], G::kBestGains[1]}, -0.66168862, 0.22009921},
                        Case{{0.5, 0.5}, -0.85498987, 0.6}}) {
    CAPTURE(c.gains[0], c.gains[1]);
    Known policy{{}, c.gains};
    const auto value = linear_quadratic_value(policy, G().shape());
    REQUIRE(value);
    CHECK(value->expected_return == Approx(c.expected_return).margin(1e-5));
    CHECK(value->expected_return == Approx(G::expected_return(c.gains[0], c.gains[1])).margin(1e-5));
    CHECK(value->closed_loop == Approx(c.closed_loop).margin(1e-6));
    CHECK(value->closed_loop == Approx(G::closed_loop(c.gains[0], c.gains[1])).margin(1e-6));
  }
}

TEST_CASE("exact evaluation: dynamic allocation, chain, quadratic team", "[learning]") {
  // Queue 1 when it has something, else queue 2: the best; each who has something requests: -30.318365, -60.
  const std::vector<int> first{0, 0, 0, 1, 1, 1, 1, 1, 1}, other{1, 1, 1, 0, 0, 0, 0, 0, 0},
      own{0, 1, 1, 0, 1, 1, 0, 1, 1};
  Known best{{first, other}, {}, 9}, selfish{{first, own}, {}, 9};
  const GameShape two = DynamicAllocationGame().shape();
  CHECK(dynamic_allocation_values(best, two).value()[0] == Approx(-3.116164).epsilon(1e-6));
  CHECK(dynamic_allocation_values(best, two).value()[8] == Approx(-11.883951).epsilon(1e-6));
  CHECK(dynamic_allocation_values(selfish, two).value()[0] == Approx(-30.318365).epsilon(1e-6));
  CHECK(dynamic_allocation_values(selfish, two).value()[8] == Approx(-60.0).epsilon(1e-6));

  Known home{{{0, 0, 0, 0, 0}}, {}, 5};
  CHECK(chain_value(home, ChainGame().shape()).value() == Approx(2.0).epsilon(1e-6));

  Known numbers{{}, {-QuadraticTeam::kBest[0], -QuadraticTeam::kBest[1]}};
  CHECK(quadratic_team_value(numbers, QuadraticTeam().shape()).value() ==
        Approx(QuadraticTeam::kBestValue).epsilon(1e-6));
  Known mute{{std::vector<int>(9)}, {}, 9};  // the second agent has no answer
  CHECK_FALSE(dynamic_allocation_values(mute, two));
}
