// Schedules of epsilon, epsilon-greedy options, noise on numbers and parameters.
#include "mara/action/exploration.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "mara/nn/parameter_view.hpp"

using mara::ActionBounds;
using mara::epsilon_greedy;
using mara::EpsilonSchedule;
using mara::GaussianNoise;
using mara::OptionMask;
using mara::ParameterNoise;
using mara::Random;

TEST_CASE("Schedules of epsilon", "[exploration]") {
  const EpsilonSchedule usual;
  CHECK(usual.check());
  CHECK(usual.at(0) == 1.0);
  CHECK(usual.at(25000) == Approx(0.525));
  CHECK(usual.at(50000) == 0.05);
  CHECK(usual.at(~std::uint64_t{0}) == 0.05);
  CHECK(EpsilonSchedule::nature_dqn().at(500000) == Approx(0.55));
  CHECK(EpsilonSchedule::nature_dqn().at(1000000) == 0.1);
  const auto constant = EpsilonSchedule::constant(0.3);
  CHECK(constant.at(0) == 0.3);
  CHECK(constant.at(1u << 20) == 0.3);
  const auto exponential = EpsilonSchedule::exponential(1.0, 0.01, 1000);
  CHECK(exponential.at(0) == 1.0);
  CHECK(exponential.at(500) == Approx(0.1));
  CHECK(exponential.at(750) / exponential.at(500) == Approx(exponential.at(250)));
  CHECK(exponential.at(1000) == 0.01);
  CHECK(EpsilonSchedule::linear(0.2, 0.1, 0).at(0) == 0.1);  // annealed before it began

  const auto says = [](const EpsilonSchedule& schedule, const char* what) {
    const auto status = schedule.check();
    return !status && status.error().message.find(what) != std::string::npos;
  };
  CHECK(says(EpsilonSchedule::linear(1.5, 0.1, 10), "start = 1.5"));
  CHECK(says(EpsilonSchedule::linear(1.0, -0.1, 10), "finish = -0.1"));
  CHECK(says(EpsilonSchedule::linear(1.0, NAN, 10), "finish"));
  CHECK(says(EpsilonSchedule::exponential(1.0, 0.0, 10), "(0, 1]"));
  EpsilonSchedule strange;
  strange.kind = static_cast<mara::ScheduleKind>(9);
  CHECK(says(strange, "kind = 9"));
}

TEST_CASE("Epsilon-greedy options", "[exploration]") {
  const std::vector<float> q{1, 5, 3, 5};
  Random random(2);
  CHECK(epsilon_greedy(q, 0b1111, 0.0, random) == 1);  // a tie: the lowest index
  CHECK(epsilon_greedy(q, 0b1101, 0.0, random) == 3);
  CHECK(epsilon_greedy(q, 0b0101, 0.0, random) == 2);
  CHECK(random.state().position == 6);  // the coin is thrown even so

  const int draws = 100000;
  std::vector<double> counts(4, 0.0);
  for (int i = 0; i < draws; ++i)
    counts[static_cast<std::size_t>(epsilon_greedy(q, 0b1011, 0.3, random))] += 1.0;
  CHECK(counts[2] == 0.0);
  const std::vector<double> wanted{0.1, 0.8, 0.0, 0.1};
  for (const std::size_t a : {0u, 1u, 3u}) {
    CAPTURE(a, counts[a]);
    CHECK(std::fabs(counts[a] / draws - wanted[a]) < 3 * std::sqrt(wanted[a] * (1 - wanted[a]) / draws));
  }

  const auto before = random.state();
  CHECK(epsilon_greedy(q, 0, 1.0, random) == -1);
  CHECK(epsilon_greedy(q, 0b10000, 1.0, random) == -1);  // no such option
  CHECK(epsilon_greedy(std::vector<float>{1, NAN}, 0b11, 1.0, random) == -1);
  CHECK(random.state() == before);
  CHECK(epsilon_greedy(std::vector<float>{1, NAN}, 0b01, 1.0, random) == 0);
  const std::vector<float> many(32, 0.0f);
  CHECK(epsilon_greedy(many, 0x80000000u, 1.0, random) == 31);
}

TEST_CASE("Noise on numbers", "[exploration]") {
  const std::vector<ActionBounds> box{{-1.0f, 1.0f}, {0.0f, 100.0f}};
  Random random(4);
  const int draws = 50000;
  double squares[2] = {};
  for (int i = 0; i < draws; ++i) {
    double x[2] = {0.0, 50.0};
    GaussianNoise::exploration().add<double>(box, random, x);
    squares[0] += x[0] * x[0];
    squares[1] += (x[1] - 50.0) * (x[1] - 50.0);
  }
  CHECK(std::sqrt(squares[0] / draws) == Approx(0.1).epsilon(0.02));
  CHECK(std::sqrt(squares[1] / draws) == Approx(5.0).epsilon(0.02));  // in units of half the width

  bool inside = true, cut = false, at_bound = false;
  for (int i = 0; i < draws; ++i) {
    float x[2] = {0.0f, 99.0f};
    GaussianNoise::target_smoothing().add<float>(box, random, x);
    inside = inside && x[0] >= -0.5f && x[0] <= 0.5f && x[1] <= 100.0f && x[1] >= 74.0f;
    cut = cut || x[0] == 0.5f;
    at_bound = at_bound || x[1] == 100.0f;
  }
  CHECK(inside);
  CHECK(cut);
  CHECK(at_bound);

  float same[2] = {0.25f, 3.0f};
  GaussianNoise{0.0}.add<float>(box, random, same);
  CHECK(same[0] == 0.25f);
  CHECK(same[1] == 3.0f);
  CHECK(GaussianNoise{}.check());
  CHECK_FALSE(GaussianNoise{-0.1}.check());
  CHECK_FALSE(GaussianNoise{NAN}.check());
  CHECK_FALSE(GaussianNoise{INFINITY}.check());
  CHECK_FALSE(GaussianNoise{0.1, -1.0}.check());
  CHECK_FALSE(GaussianNoise{0.1, NAN}.check());
}

TEST_CASE("Noise on parameters is off until it is asked for", "[exploration]") {
  std::vector<float> storage(mara::PanelLayout::size(3, 5), 0.0f);
  const mara::ParameterView<float> view{storage.data(), 3, 5, mara::Storage::kPanels};
  Random random(6);
  ParameterNoise noise;
  noise.perturb(view, random);
  CHECK(random.state().position == 0);
  noise.adapt(0.0);
  CHECK(noise.deviation == 0.0);
  noise.deviation = 0.5;
  noise.perturb(view, random);
  std::size_t changed = 0;
  for (const float x : storage) changed += x != 0.0f ? 1 : 0;
  CHECK(changed == 15);  // padding stays zero
  CHECK(view.at(2, 4) != 0.0f);
  noise.adapt(0.05);
  CHECK(noise.deviation == Approx(0.505));
  noise.adapt(0.2);
  CHECK(noise.deviation == Approx(0.5));
  noise.adapt(NAN);
  CHECK(noise.deviation == Approx(0.5));
}
