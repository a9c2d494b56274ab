// Values of the operations of the tape, at ordinary numbers and at NaN.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/tape.hpp"

using mara::Tape;
using mara::Var;

namespace {
/// A column beside x: 7, 8, ...
Var row_like(Tape<double>& t, Var x) {
  static const double numbers[2] = {7.0, 8.0};
  return t.input(numbers, t.rows(x), 1);
}
}  // namespace

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
  CHECK(values(t.div(x, y)) == V{-2.0, 0.25, 1.0, 1.5});
  CHECK(values(t.neg(x)) == V{2.0, 0.25, -0.5, -3.0});
  CHECK(values(t.sqrt(t.square(x))) == values(t.abs(x)));
  CHECK(values(t.softplus(x))[0] == Approx(0.1269280110));
  CHECK(values(t.elu(x))[0] == Approx(-0.8646647168));
  CHECK(values(t.elu(x))[3] == 3.0);
  CHECK(values(t.gelu(x))[0] == Approx(-0.0455002639));
  CHECK(values(t.gelu(x))[3] == Approx(2.9959503037));
  const double two[2] = {2.0, -4.0};
  const Var col = t.input(two, 2, 1), row = t.input(two, 1, 2), one = t.input(two, 1, 1);
  CHECK(values(t.add_rows(x, col)) == V{0.0, 1.75, -3.5, -1.0});
  CHECK(values(t.sub_rows(x, col)) == V{-4.0, -2.25, 4.5, 7.0});
  CHECK(values(t.mul_rows(x, col)) == V{-4.0, -0.5, -2.0, -12.0});
  CHECK(values(t.div_rows(x, col)) == V{-1.0, -0.125, -0.125, -0.75});
  CHECK(values(t.add_cols(x, row)) == V{0.0, -4.25, 2.5, -1.0});
  CHECK(values(t.sub_cols(x, row)) == V{-4.0, 3.75, -1.5, 7.0});
  CHECK(values(t.mul_cols(x, row)) == V{-4.0, 1.0, 1.0, -12.0});
  CHECK(values(t.div_cols(x, row)) == V{-1.0, 0.0625, 0.25, -0.75});
  CHECK(values(t.add_number(x, one)) == values(t.add_scalar(x, 2.0)));
  CHECK(values(t.sub_number(x, one)) == values(t.add_scalar(x, -2.0)));
  CHECK(values(t.mul_number(x, one)) == values(t.scale(x, 2.0)));
  CHECK(values(t.div_number(x, one)) == values(t.scale(x, 0.5)));
  CHECK(values(t.row_mean(x)) == V{-1.125, 1.75});
  CHECK(values(t.row_max(x)) == V{-0.25, 3.0});
  CHECK(values(t.col_sum(x)) == V{-1.5, 2.75});
  CHECK(values(t.col_mean(x)) == V{-0.75, 1.375});
  CHECK(t.scalar(t.weighted_mean(x, b)) == Approx(1.8));
  const std::uint32_t masks[2] = {0b10u, 0b11u};
  CHECK(values(t.masked_softmax(x, masks))[0] == 0.0);
  CHECK(values(t.masked_softmax(x, masks))[1] == 1.0);
  CHECK(values(t.log_sum_exp(x))[1] == Approx(3.0788897343));
  const std::int32_t indices[3] = {1, -1, 0};
  CHECK(values(t.gather_rows(x, indices, 3)) == V{0.5, 3.0, 0.0, 0.0, -2.0, -0.25});
  CHECK(values(t.concat({x, y, row_like(t, x)})) == V{-2.0, -0.25, 1.0, -1.0, 7.0, 0.5, 3.0, 0.5, 2.0, 8.0});
  CHECK(values(t.concat_rows(x, row)) == V{-2.0, -0.25, 0.5, 3.0, 2.0, -4.0});
  CHECK(values(t.slice_cols(x, 1, 1)) == V{-0.25, 3.0});
  CHECK(values(t.slice_rows(x, 1, 1)) == V{0.5, 3.0});
  CHECK(values(t.reshape(x, 4, 1)) == values(x));
  CHECK(t.rows(t.reshape(x, 4, 1)) == 4);
  CHECK(values(t.row_dot(x, y)) == V{-1.75, 6.25});
  CHECK(values(t.row_cosine(x, y, 1e-6))[1] == Approx(0.9968152785));
  CHECK(values(t.row_matmul(x, t.concat(y, x))) == V{-1.5, 2.0625, 1.75, 10.0});
  CHECK(values(t.row_matmul(x, y)) == V{-1.75, 6.25});
  const std::int32_t sizes[3] = {1, 0, 3};
  const Var tall = t.reshape(x, 4, 1);
  CHECK(values(t.segment_sum(tall, sizes, 3)) == V{-2.0, 0.0, 3.25});
  CHECK(values(t.segment_mean(tall, sizes, 3))[2] == Approx(3.25 / 3.0));
  CHECK(values(t.segment_max(tall, sizes, 3)) == V{-2.0, 0.0, 3.0});
  CHECK(values(t.segment_softmax(tall, sizes, 3))[0] == 1.0);
  CHECK(t.scalar(t.sum(t.segment_softmax(tall, sizes, 3))) == Approx(2.0));
  CHECK(values(t.activate(x, mara::Activation::kIdentity)) == values(x));
  CHECK(values(t.activate(x, mara::Activation::kElu)) == values(t.elu(x)));
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
  both(t.div(x, y));
  both(t.mul(x, y));
  both(t.sub(x, y));
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
  first(t.neg(x));
  first(t.sqrt(x));
  first(t.softplus(x));
  first(t.elu(x));
  first(t.gelu(x));
  first(t.row_sum(x));
  first(t.row_mean(x));
  first(t.row_max(x));
  first(t.col_sum(x));
  first(t.col_mean(x));
  first(t.row_dot(x, y));
  first(t.row_cosine(x, y, 1e-6));
  first(t.log_sum_exp(x));
  first(t.row_matmul(x, y));
  const std::int32_t one = 1;
  first(t.segment_sum(x, &one, 1));
  first(t.segment_max(x, &one, 1));
  first(t.segment_softmax(x, &one, 1));
}

TEST_CASE("pooling over a team leaves absent agents out", "[autodiff]") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double scores[5] = {1.0, -kInf, 1.0, -kInf, -kInf};
  const std::int32_t sizes[2] = {3, 2};
  double g[5] = {};
  Tape<double> t;
  const Var p = t.segment_softmax(t.variable(scores, g, 5, 1), sizes, 2);
  const std::vector<double> values(t.value(p).begin(), t.value(p).end());
  CHECK(values == std::vector<double>{0.5, 0.0, 0.5, 0.0, 0.0});
  const double weights[5] = {1.0, 2.0, 3.0, 4.0, 5.0};
  t.backward(t.dot(p, weights));
  CHECK(std::vector<double>(g, g + 5) == std::vector<double>{-0.5, 0.0, 0.5, 0.0, 0.0});
}
