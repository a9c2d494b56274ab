// Every operation of the tape against central differences in double. With MARA_PRINT_GRADIENT_CHECK set in
// the environment the worst errors are printed.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "operation_table.hpp"

namespace {

using mara::Activation;
using mara::Tape;
using mara::Var;

constexpr double kTolerance = 1e-6;

/// Loss: weighted sum of the operation's result, so that every element has its own upstream gradient. The
/// weights nearly cancel: a large loss would hide small differences in its rounding.
Var weigh(Tape<double>& tape, Var y, std::vector<double>& weights) {
  weights.resize(tape.value(y).size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = -0.3 + 0.17 * static_cast<double>(i % 7) - (i % 2 == 0 ? 0.0 : 0.4);
  return tape.dot(y, weights.data());
}

double worst_error(const mara_test::Operation<double>& operation) {
  auto x = mara_test::operand_numbers(operation);
  std::vector<double> weights;
  return mara::gradient_check(x, [&](Tape<double>& tape, double* dx) {
    std::vector<Var> operands;
    std::size_t at = 0;
    for (const auto& o : operation.operands) {
      operands.push_back(tape.variable(x.data() + at, dx + at, o.rows, o.cols));
      at += o.rows * o.cols;
    }
    // Squared operands are on the tape too: gradients meet others on their way.
    Var loss = weigh(tape, operation.apply(tape, operands), weights);
    for (const Var v : operands) loss = tape.add(loss, tape.mean(tape.square(v)));
    return loss;
  });
}

double worst_dense_error(Activation activation) {
  constexpr std::size_t kRows = 6, kIn = 4, kOut = 9;
  constexpr std::size_t kW = mara::PanelLayout::size(kIn, kOut), kB = mara::PanelLayout::padded(kOut);
  auto p = mara_test::smooth_numbers(kRows * kIn + kW + kB, 14);
  std::vector<double> weights;
  return mara::gradient_check(p, [&](Tape<double>& tape, double* dp) {
    const Var x = tape.variable(p.data(), dp, kRows, kIn);
    const std::size_t w = kRows * kIn, b = w + kW;
    const mara::DenseParameters<double> layer{p.data() + w, p.data() + b, dp + w, dp + b, kIn, kOut};
    return weigh(tape, tape.dense(x, layer, activation), weights);
  });
}

}  // namespace

TEST_CASE("gradients of every operation", "[autodiff][gradient]") {
  const bool print = std::getenv("MARA_PRINT_GRADIENT_CHECK") != nullptr;
  const auto check = [print](const std::string& name, double error) {
    CAPTURE(name);
    CHECK(error < kTolerance);
    if (print) std::printf("| %-26s | %8.1e |\n", name.c_str(), error);
  };
  if (print) std::printf("| operation                  | worst relative error |\n|---|---|\n");
  for (const auto& operation : mara_test::operations<double>()) check(operation.name, worst_error(operation));
  for (int i = 0; i < mara::kActivations; ++i) {
    const auto activation = static_cast<Activation>(i);
    check(std::string("dense, ") + mara::name_of(activation), worst_dense_error(activation));
  }
}

TEST_CASE("gradients of operations that are used together", "[autodiff][gradient]") {
  auto q = mara_test::smooth_numbers(16, 15);
  std::vector<double> weights;
  CHECK(mara::gradient_check(q, [&](Tape<double>& t, double* dq) {
          const Var x = t.variable(q.data(), dq, 4, 4);
          return weigh(t, t.mul(t.matmul(x, x), x), weights);
        }) < kTolerance);
  // Entropy: -sum p log p over the legal options.
  auto x = mara_test::smooth_numbers(20, 11);
  CHECK(mara::gradient_check(x, [&](Tape<double>& t, double* dx) {
          const Var l = t.masked_log_softmax(t.variable(x.data(), dx, 5, 4), mara_test::kMasks);
          return weigh(t, t.row_sum(t.mul(t.exp(l), l)), weights);
        }) < kTolerance);
}

TEST_CASE("the gradient check notices a wrong gradient", "[autodiff][gradient]") {
  std::vector<double> x = {0.3, -0.7};
  const double wrong = mara::gradient_check(x, [&](Tape<double>& t, double* dx) {
    // The gradient stops in one factor: half of it is missing.
    const Var v = t.variable(x.data(), dx, 1, 2);
    return t.sum(t.mul(t.stop_gradient(v), v));
  });
  CHECK(wrong > 0.1);
  CHECK(std::isinf(mara::gradient_check(
      x, [&](Tape<double>& t, double* dx) { return t.sum(t.log(t.variable(x.data(), dx, 1, 2))); })));
}
