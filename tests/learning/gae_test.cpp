// Advantages with termination and truncation apart, against exact values.
#include "mara/learning/gae.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

constexpr std::size_t kSteps = 6;
const std::array<float, kSteps> kRewards{1, 0, 2, -1, 1, 3}, kValues{0.5f, 1, 0.25f, 2, 0, 1.5f};
// Step 2 terminates; step 4 is cut, the value of its final observation is 4; the rollout ends with bootstrap
// value 2.5.
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const std::array<float, kSteps> kNext{1, 0.25f, kNan, 0, 4, 2.5f};
const std::array<StepEnd, kSteps> kEnds{StepEnd::kContinues, StepEnd::kContinues, StepEnd::kTerminated,
                                        StepEnd::kContinues, StepEnd::kTruncated, StepEnd::kContinues};

std::array<float, kSteps> advantages(float gamma, float lambda) {
  std::array<float, kSteps> a{};
  td_errors(kRewards, kValues, kNext, kEnds, gamma, a);
  accumulate_advantages(a, kEnds, gamma, lambda);
  return a;
}

}  // namespace

TEST_CASE("generalised advantages: the exact table", "[gae]") {
  const struct {
    float gamma, lambda;
    std::array<double, kSteps> advantage, returned;
  } rows[] = {
      {0.9f, 0.8f, {1.7492, 0.485, 1.75, 0.312, 4.6, 3.75}, {2.2492, 1.485, 2, 2.312, 4.6, 5.25}},
      {0.99f,
       0.95f,
       {2.330219, 0.893375, 1.75, 1.66488, 4.96, 3.975},
       {2.830219, 1.893375, 2, 3.66488, 4.96, 5.475}},
      {0.9f, 0.0f, {1.4, -0.775, 1.75, -3, 4.6, 3.75}, {1.9, 0.225, 2, -1, 4.6, 5.25}},
      {0.9f, 1.0f, {2.12, 0.8, 1.75, 1.14, 4.6, 3.75}, {2.62, 1.8, 2, 3.14, 4.6, 5.25}},
      {1.0f, 1.0f, {2.5, 1, 1.75, 2, 5, 4}, {3, 2, 2, 4, 5, 5.5}},
  };
  for (const auto& row : rows) {
    const auto a = advantages(row.gamma, row.lambda);
    for (std::size_t t = 0; t < kSteps; ++t) {
      INFO("gamma " << row.gamma << ", lambda " << row.lambda << ", step " << t);
      CHECK(a[t] == Approx(row.advantage[t]).epsilon(1e-5).margin(1e-6));
      CHECK(a[t] + kValues[t] == Approx(row.returned[t]).epsilon(1e-5).margin(1e-6));
    }
  }
}

TEST_CASE("one-step errors: what follows a termination does not count, not even NaN", "[gae]") {
  std::array<float, kSteps> delta{};
  td_errors(kRewards, kValues, kNext, kEnds, 0.9f, delta);
  const double expected[] = {1.4, -0.775, 1.75, -3.0, 4.6, 3.75};
  for (std::size_t t = 0; t < kSteps; ++t) CHECK(delta[t] == Approx(expected[t]).epsilon(1e-6));
}

TEST_CASE("no episode hears of the next one", "[gae]") {
  std::vector<float> a{1, 2, 3, 4}, changed{1, 2, -100, 4};
  const std::vector<StepEnd> cut{StepEnd::kContinues, StepEnd::kTruncated, StepEnd::kContinues,
                                 StepEnd::kContinues};
  accumulate_advantages(a, cut, 0.9f, 0.8f);
  accumulate_advantages(changed, cut, 0.9f, 0.8f);
  CHECK(a[0] == changed[0]);
  CHECK(a[1] == changed[1]);
  CHECK(a[0] == Approx(1.0 + 0.72 * 2.0));
  CHECK(a[2] != changed[2]);
}

TEST_CASE("TD(lambda) returns of three steps and a terminal state", "[gae]") {
  const std::array<float, 3> rewards{1, 2, 3}, values{0.5f, 1, 2}, next{1, 2, 0};
  const std::array<StepEnd, 3> ends{StepEnd::kContinues, StepEnd::kContinues, StepEnd::kTerminated};
  const struct {
    float lambda;
    std::array<double, 3> expected;
  } rows[] = {{0.0f, {1.9, 3.8, 3}}, {0.5f, {3.3625, 4.25, 3}}, {1.0f, {5.23, 4.7, 3}}};
  for (const auto& row : rows) {
    std::array<float, 3> a{};
    td_errors(rewards, values, next, ends, 0.9f, a);
    accumulate_advantages(a, ends, 0.9f, row.lambda);
    for (std::size_t t = 0; t < 3; ++t) CHECK(a[t] + values[t] == Approx(row.expected[t]).epsilon(1e-6));
  }
}

TEST_CASE("an empty rollout", "[gae]") {
  td_errors({}, {}, {}, {}, 0.9f, {});
  accumulate_advantages({}, {}, 0.9f, 0.8f);
}
