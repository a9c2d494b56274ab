// Every operation of the tape: its value, and its gradient against central differences in double.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"

namespace {

using mara::Activation;
using mara::Tape;
using mara::Var;

constexpr std::size_t kRows = 5, kCols = 4;
constexpr double kTolerance = 1e-6;

/// Numbers at least 0.05 away from 0, +-0.5 and +-1 and from each other's absolute value: no operation has a
/// kink there.
std::vector<double> smooth_numbers(std::size_t count, std::uint64_t seed) {
  mara::Random random(seed);
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    double v = 0.0;
    do v = random.uniform(-1.6, 1.6);
    while (std::fabs(v) < 0.05 || std::fabs(std::fabs(v) - 0.5) < 0.05 ||
           std::fabs(std::fabs(v) - 1.0) < 0.05);
    x[i] = v;
  }
  return x;
}

/// Loss: weighted sum of the operation's result, so that every element has its own upstream gradient.
Var weigh(Tape<double>& tape, Var y, std::vector<double>& weights) {
  weights.resize(tape.value(y).size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = 0.3 + 0.17 * static_cast<double>(i % 7) - (i % 2 == 0 ? 0.0 : 0.4);
  return tape.dot(y, weights.data());
}

using Unary = std::function<Var(Tape<double>&, Var)>;
double check_unary(const Unary& operation, double shift = 0.0) {
  auto x = smooth_numbers(kRows * kCols, 11);
  for (double& v : x) v = shift == 0.0 ? v : std::fabs(v) + shift;
  std::vector<double> weights;
  return mara::gradient_check(x, [&](Tape<double>& tape, double* dx) {
    return weigh(tape, operation(tape, tape.variable(x.data(), dx, kRows, kCols)), weights);
  });
}

using Binary = std::function<Var(Tape<double>&, Var, Var)>;
double check_binary(const Binary& operation, std::size_t rows_a, std::size_t cols_a, std::size_t rows_b,
                    std::size_t cols_b) {
  const std::size_t split = rows_a * cols_a;
  auto x = smooth_numbers(split + rows_b * cols_b, 12);
  for (std::size_t i = split; i < x.size(); ++i) x[i] += 0.013;  // no ties with the first operand
  std::vector<double> weights;
  return mara::gradient_check(x, [&](Tape<double>& tape, double* dx) {
    const Var a = tape.variable(x.data(), dx, rows_a, cols_a);
    const Var b = tape.variable(x.data() + split, dx + split, rows_b, cols_b);
    return weigh(tape, operation(tape, a, b), weights);
  });
}

}  // namespace

TEST_CASE("gradients of elementwise operations", "[autodiff]") {
  const auto same = [](const Binary& f) { return check_binary(f, kRows, kCols, kRows, kCols); };
  CHECK(same([](auto& t, Var a, Var b) { return t.add(a, b); }) < kTolerance);
  CHECK(same([](auto& t, Var a, Var b) { return t.sub(a, b); }) < kTolerance);
  CHECK(same([](auto& t, Var a, Var b) { return t.mul(a, b); }) < kTolerance);
  CHECK(same([](auto& t, Var a, Var b) { return t.minimum(a, b); }) < kTolerance);
  CHECK(same([](auto& t, Var a, Var b) { return t.maximum(a, b); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.scale(x, -2.5); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.square(t.add_scalar(x, 0.7)); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.square(x); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.abs(x); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.relu(x); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.clamp(x, -0.5, 1.0); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.huber(x, 0.5); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.exp(x); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.log(x); }, 0.2) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.tanh(x); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.sigmoid(x); }) < kTolerance);
}

TEST_CASE("gradients of reductions", "[autodiff]") {
  CHECK(check_unary([](auto& t, Var x) { return t.row_sum(t.square(x)); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.square(t.sum(t.square(x))); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.exp(t.mean(t.square(x))); }) < kTolerance);
  const auto constants = smooth_numbers(kRows * kCols, 13);
  CHECK(check_unary([&](auto& t, Var x) { return t.square(t.dot(t.square(x), constants.data())); }) <
        kTolerance);
}

TEST_CASE("gradients of linear operations", "[autodiff]") {
  CHECK(check_binary([](auto& t, Var a, Var b) { return t.matmul(a, b); }, 5, 4, 4, 3) < kTolerance);
  CHECK(check_binary([](auto& t, Var a, Var b) { return t.mul_rows(a, b); }, 5, 4, 5, 1) < kTolerance);
  CHECK(check_binary([](auto& t, Var a, Var b) { return t.square(t.concat(a, b)); }, 5, 4, 5, 3) <
        kTolerance);
  for (const Activation activation : {Activation::kIdentity, Activation::kTanh, Activation::kRelu}) {
    auto p = smooth_numbers(6 * 4 + 4 * 9 + 9, 14);
    std::vector<double> weights;
    const double worst = mara::gradient_check(p, [&](Tape<double>& t, double* dp) {
      const Var x = t.variable(p.data(), dp, 6, 4);
      const Var w = t.variable(p.data() + 24, dp + 24, 4, 9);
      const Var b = t.variable(p.data() + 60, dp + 60, 1, 9);
      return weigh(t, t.dense(x, w, b, activation), weights);
    });
    CHECK(worst < kTolerance);
  }
  // A square of itself: both operands are one node.
  auto q = smooth_numbers(16, 15);
  std::vector<double> weights;
  CHECK(mara::gradient_check(q, [&](Tape<double>& t, double* dq) {
          const Var x = t.variable(q.data(), dq, 4, 4);
          return weigh(t, t.mul(t.matmul(x, x), x), weights);
        }) < kTolerance);
}

TEST_CASE("gradients of categorical operations", "[autodiff]") {
  const std::uint32_t masks[kRows] = {0b1111u, 0b0101u, 0b0010u, 0b0000u, 0b1110u};
  const std::int32_t columns[kRows] = {2, 0, 3, -1, 7};
  CHECK(check_unary([](auto& t, Var x) { return t.softmax(x); }) < kTolerance);
  CHECK(check_unary([](auto& t, Var x) { return t.log_softmax(x); }) < kTolerance);
  CHECK(check_unary([&](auto& t, Var x) { return t.masked_log_softmax(x, masks); }) < kTolerance);
  CHECK(check_unary([&](auto& t, Var x) { return t.gather(t.square(x), columns); }) < kTolerance);
  // Entropy: -sum p log p over the legal options.
  CHECK(check_unary([&](auto& t, Var x) {
          const Var l = t.masked_log_softmax(x, masks);
          return t.row_sum(t.mul(t.exp(l), l));
        }) < kTolerance);
}

TEST_CASE("values of the operations", "[autodiff]") {
  Tape<double> t;
  const double a[4] = {-2.0, -0.25, 0.5, 3.0}, b[4] = {1.0, -1.0, 0.5, 2.0};
  const Var x = t.input(a, 2, 2), y = t.input(b, 2, 2);
  const auto values = [&](Var v) { return std::vector<double>(t.value(v).begin(), t.value(v).end()); };
  using V = std::vector<double>;
  CHECK(values(t.add(x, y)) == V{-1.0, -1.25, 1.0, 5.0});
  CHECK(values(t.sub(x, y)) == V{-3.0, 0.75, 0.0, 1.0});
  CHECK(values(t.mul(x, y)) == V{-2.0, 0.25, 0.25, 6.0});
  CHECK(values(t.minimum(x, y)) == V{-2.0, -1.0, 0.5, 2.0});
  CHECK(values(t.maximum(x, y)) == V{1.0, -0.25, 0.5, 3.0});
  CHECK(values(t.scale(x, 2.0)) == V{-4.0, -0.5, 1.0, 6.0});
  CHECK(values(t.add_scalar(x, 2.0)) == V{0.0, 1.75, 2.5, 5.0});
  CHECK(values(t.square(x)) == V{4.0, 0.0625, 0.25, 9.0});
  CHECK(values(t.abs(x)) == V{2.0, 0.25, 0.5, 3.0});
  CHECK(values(t.relu(x)) == V{0.0, 0.0, 0.5, 3.0});
  CHECK(values(t.clamp(x, -1.0, 1.0)) == V{-1.0, -0.25, 0.5, 1.0});
  CHECK(values(t.huber(x, 1.0)) == V{1.5, 0.03125, 0.125, 2.5});
  CHECK(values(t.row_sum(x)) == V{-2.25, 3.5});
  CHECK(t.scalar(t.sum(x)) == 1.25);
  CHECK(t.scalar(t.mean(x)) == 0.3125);
  CHECK(t.scalar(t.dot(x, b)) == Approx(4.5));
  CHECK(values(t.matmul(x, y)) == V{-2.125, 1.5, 2.0, 5.5});
  CHECK(values(t.mul_rows(x, t.row_sum(y))) == V{0.0, 0.0, 1.25, 7.5});
  CHECK(values(t.concat(x, t.row_sum(y))) == V{-2.0, -0.25, 0.0, 0.5, 3.0, 2.5});
  const std::int32_t columns[2] = {1, -1};
  CHECK(values(t.gather(x, columns)) == V{-0.25, 0.0});
  CHECK(values(t.stop_gradient(x)) == values(x));
  CHECK(values(t.exp(x))[3] == std::exp(3.0));
  CHECK(values(t.log(x))[3] == std::log(3.0));
  CHECK(values(t.tanh(x))[3] == std::tanh(3.0));
  CHECK(values(t.sigmoid(x))[3] == Approx(1.0 / (1.0 + std::exp(-3.0))));
  CHECK(t.status().has_value());
}

TEST_CASE("NaN stays NaN through every operation", "[autodiff]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double a[2] = {nan, 1.0}, b[2] = {1.0, nan};
  Tape<double> t;
  const Var x = t.input(a, 1, 2), y = t.input(b, 1, 2);
  const auto both = [&](Var v) {
    CHECK(std::isnan(t.value(v)[0]));
    CHECK(std::isnan(t.value(v)[1]));
  };
  both(t.add(x, y));
  both(t.minimum(x, y));
  both(t.maximum(x, y));
  both(t.softmax(x));
  both(t.log_softmax(x));
  const auto first = [&](Var v) {
    CHECK(std::isnan(t.value(v)[0]));
    if (t.cols(v) == 2) CHECK(std::isfinite(t.value(v)[1]));
  };
  first(t.relu(x));
  first(t.clamp(x, -0.5, 2.0));
  first(t.huber(x, 0.5));
  first(t.abs(x));
  first(t.exp(x));
  first(t.log(x));
  first(t.tanh(x));
  first(t.sigmoid(x));
  first(t.sum(x));
  first(t.mean(x));
}
