// Targets of value learning: known values, time limits, masks, slow targets.

#include "mara/learning/q_targets.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

constexpr StepEnd kGoes = StepEnd::kContinues, kDone = StepEnd::kTerminated, kCut = StepEnd::kTruncated;

std::vector<double> n_step(std::vector<double> rewards, std::vector<double> next, std::vector<StepEnd> ends,
                           double gamma, std::size_t n) {
  std::vector<double> out(rewards.size());
  n_step_targets<double>(rewards, next, ends, gamma, n, out);
  return out;
}
std::vector<double> td_lambda(std::vector<double> rewards, std::vector<double> next,
                              std::vector<StepEnd> ends, double gamma, double lambda) {
  std::vector<double> out(rewards.size());
  lambda_targets<double>(rewards, next, ends, gamma, lambda, out);
  return out;
}
void check_near(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("number " << i << ": " << got[i]);
    CHECK(std::fabs(got[i] - expected[i]) < 1e-9);
  }
}

}  // namespace

TEST_CASE("TD(lambda) and n steps: known values (A2)", "[learning]") {
  // v = [.5, 1, 2]; the values that follow the three steps, the last of which terminates.
  const std::vector<double> rewards{1, 2, 3}, next{1, 2, 99};
  const std::vector<StepEnd> ends{kGoes, kGoes, kDone};
  check_near(td_lambda(rewards, next, ends, 0.9, 0.0), {1.9, 3.8, 3});
  check_near(td_lambda(rewards, next, ends, 0.9, 0.5), {3.3625, 4.25, 3});
  check_near(td_lambda(rewards, next, ends, 0.9, 1.0), {5.23, 4.7, 3});
  CHECK(std::fabs(n_step(rewards, {1, 2, 4}, {kGoes, kGoes, kGoes}, 0.9, 3)[0] - 8.146) < 1e-9);
  CHECK(std::fabs(n_step({1, 2}, {1, 5}, {kGoes, kCut}, 0.9, 3)[0] - 6.85) < 1e-9);
  CHECK(std::fabs(n_step({1, 2}, {1, 5}, {kGoes, kDone}, 0.9, 3)[0] - 2.8) < 1e-9);
}

TEST_CASE("targets do not reach over the end of an episode", "[learning]") {
  const std::vector<double> rewards{1, 2, 4, 8}, next{10, 20, 30, 40};
  check_near(n_step(rewards, next, {kGoes, kCut, kGoes, kGoes}, 1.0, 4), {23, 22, 52, 48});
  check_near(n_step(rewards, next, {kGoes, kDone, kGoes, kDone}, 1.0, 4), {3, 2, 12, 8});
  check_near(n_step(rewards, next, {kGoes, kGoes, kGoes, kGoes}, 1.0, 1), {11, 22, 34, 48});
  check_near(n_step(rewards, next, {kGoes, kGoes, kGoes, kGoes}, 1.0, 2), {23, 36, 52, 48});
  check_near(td_lambda(rewards, next, {kGoes, kCut, kGoes, kGoes}, 1.0, 1.0), {23, 22, 52, 48});
}

TEST_CASE("a time limit is no end (A3)", "[learning]") {
  // One state, reward 1, cut after 10 steps: 100 is right, 9.174312 is what termination would give.
  const auto converged = [](StepEnd last) {
    double value = 0.0;
    std::vector<StepEnd> ends(10, kGoes);
    ends.back() = last;
    for (int sweep = 0; sweep < 20000; ++sweep) {
      const std::vector<double> targets =
          n_step(std::vector<double>(10, 1.0), std::vector<double>(10, value), ends, 0.99, 1);
      double mean = 0.0;
      for (const double y : targets) mean += y / 10.0;
      value += 0.5 * (mean - value);
    }
    return value;
  };
  CHECK(std::fabs(converged(kCut) - 100.0) < 0.1);
  CHECK(std::fabs(converged(kDone) - 9.174312) < 1e-3);
}

TEST_CASE("next values: double Q, masks (A12)", "[learning]") {
  const float online[] = {1, 5, 3}, target[] = {4, 2, 6};
  const auto y = [&](OptionMask mask, bool double_q) {
    return 1.0 + 0.9 * static_cast<double>(next_value(online, target, 3, mask, double_q).value);
  };
  CHECK(std::fabs(y(0b011u, true) - 2.8) < 1e-6);
  CHECK(std::fabs(y(0b011u, false) - 4.6) < 1e-6);
  CHECK(std::fabs(y(0b111u, false) - 6.4) < 1e-6);
  CHECK(next_value(online, target, 3, 0b011u, true).option == 1);
  CHECK(next_value(online, target, 3, 0b101u, true).option == 2);
  // Bits past the last option say nothing; without a legal option there is no value.
  CHECK(next_value(online, target, 3, 0b1000u, true).option == -1);
  CHECK(std::isnan(next_value(online, target, 3, 0u, true).value));
  const float broken[] = {1, std::numeric_limits<float>::quiet_NaN(), 3};
  CHECK(next_value(broken, target, 3, 0b111u, true).option == -1);
  CHECK(next_value(broken, target, 3, 0b101u, true).option == 2);
}

TEST_CASE("slow targets (A12)", "[learning]") {
  const std::vector<double> online{3.0};
  std::vector<double> target{1.0};
  soft_update<double>(online, 0.01, target);
  CHECK(std::fabs(target[0] - 1.02) < 1e-12);
  for (int i = 1; i < 100; ++i) soft_update<double>(online, 0.01, target);
  CHECK(std::fabs(target[0] - 2.2679353175) < 1e-9);
}
