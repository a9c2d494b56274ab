// The tape itself: shapes, errors, accumulation, stop_gradient, reuse.
#include "mara/autodiff/tape.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/arena.hpp"

using mara::Activation;
using mara::Tape;
using mara::Var;

TEST_CASE("masked categorical on the tape", "[autodiff]") {  // case A7
  const double logits[8] = {1, 2, 3, 4, 1, 2, 3, 4};
  const std::uint32_t masks[2] = {0b0101u, 0u};
  const std::int32_t chosen[2] = {2, 2};
  double gradient[8] = {};
  Tape<double> t;
  const Var x = t.variable(logits, gradient, 2, 4);
  const Var l = t.masked_log_softmax(x, masks);
  CHECK(t.scalar(t.sum(t.gather(l, chosen))) == Approx(-0.1269280110).margin(1e-9));
  const Var entropy = t.scale(t.sum(t.mul(t.exp(l), l)), -1.0);
  CHECK(t.scalar(entropy) == Approx(0.3653338851).margin(1e-9));
  t.backward(t.add(entropy, t.sum(t.gather(l, chosen))));
  CHECK(gradient[0] != 0.0);
  CHECK(gradient[1] == 0.0);
  CHECK(gradient[3] == 0.0);
  CHECK(gradient[0] == Approx(-gradient[2]));
  for (int i = 4; i < 8; ++i) CHECK(gradient[i] == 0.0);
}

TEST_CASE("known softmax gradients", "[autodiff]") {  // case A9
  const double logits[3] = {0.2, -0.5, 1.0}, rewards[3] = {1.0, 2.0, -1.0};
  double gradient[3] = {};
  Tape<double> t;
  const Var x = t.variable(logits, gradient, 1, 3);
  const Var objective = t.dot(t.softmax(x), rewards);
  CHECK(t.scalar(objective) == Approx(-0.0624294574).margin(1e-9));
  t.backward(objective);
  CHECK(gradient[0] == Approx(0.28543617).margin(1e-8));
  CHECK(gradient[1] == Approx(0.27515783).margin(1e-8));
  CHECK(gradient[2] == Approx(-0.560594).margin(1e-8));

  t.clear();
  double slope[3] = {};
  const Var y = t.variable(logits, slope, 1, 3);
  const Var l = t.log_softmax(y);
  const Var entropy = t.scale(t.sum(t.mul(t.exp(l), l)), -1.0);
  CHECK(t.scalar(entropy) == Approx(0.9293476152).margin(1e-9));
  t.backward(entropy);
  CHECK(slope[0] == Approx(0.10342139).margin(1e-8));
  CHECK(slope[1] == Approx(0.14474763).margin(1e-8));
  CHECK(slope[2] == Approx(-0.24816902).margin(1e-8));
}

TEST_CASE("layers of case A15", "[autodiff]") {
  Tape<double> t;
  const double e[2] = {0.5, 3.0}, large[2] = {1000.0, 0.0};
  const Var h = t.huber(t.input(e, 1, 2), 1.0);
  CHECK(t.value(h)[0] == 0.125);
  CHECK(t.value(h)[1] == 2.5);
  const Var l = t.log_softmax(t.input(large, 1, 2));
  CHECK(t.value(l)[0] == 0.0);
  CHECK(t.value(l)[1] == -1000.0);
}

TEST_CASE("gradients accumulate over uses, roots and calls", "[autodiff]") {
  const double value[2] = {3.0, -1.0};
  double gradient[2] = {100.0, 0.0};
  Tape<double> t;
  const Var x = t.variable(value, gradient, 1, 2);
  const Var again = t.variable(value, gradient, 1, 2);
  const Var first = t.sum(t.square(x)), second = t.sum(t.mul(x, again));
  t.backward(first);  // 2x on top of what the caller had
  CHECK(gradient[0] == 106.0);
  t.backward(second);  // once through each name
  CHECK(gradient[0] == 112.0);
  t.backward(first);
  CHECK(gradient[0] == 118.0);
  CHECK(gradient[1] == -6.0);
}

TEST_CASE("stop_gradient and inputs block the way back", "[autodiff]") {
  const double value[2] = {3.0, -1.0};
  double gradient[2] = {};
  Tape<double> t;
  const Var x = t.variable(value, gradient, 1, 2);
  t.backward(t.sum(t.mul(t.stop_gradient(t.square(x)), x)));
  CHECK(gradient[0] == 9.0);
  CHECK(gradient[1] == 1.0);
  t.backward(t.sum(t.square(t.input(value, 1, 2))));
  CHECK(gradient[0] == 9.0);
  // A variable without a gradient buffer is a constant.
  t.backward(t.sum(t.mul(x, t.variable(value, nullptr, 1, 2))));
  CHECK(gradient[0] == 12.0);
}

TEST_CASE("ties and bounds", "[autodiff]") {
  const double a[3] = {1.0, 2.0, 0.0}, b[3] = {1.0, 1.0, 0.0};
  double da[3] = {}, db[3] = {};
  Tape<double> t;
  const Var x = t.variable(a, da, 1, 3), y = t.variable(b, db, 1, 3);
  t.backward(t.sum(t.minimum(x, y)));
  CHECK(da[0] == 1.0);
  CHECK(db[0] == 0.0);
  CHECK(da[1] == 0.0);
  CHECK(db[1] == 1.0);
  t.backward(t.sum(t.clamp(x, 0.0, 1.0)));  // passes on the bounds, not outside
  CHECK(da[0] == 2.0);
  CHECK(da[1] == 0.0);
  CHECK(da[2] == 2.0);
}

TEST_CASE("a dot weight of zero removes a bad element", "[autodiff]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double a[3] = {1.0, nan, 2.0}, w[3] = {1.0, 0.0, 0.5};
  double g[3] = {};
  Tape<double> t;
  const Var loss = t.dot(t.variable(a, g, 1, 3), w);
  CHECK(t.scalar(loss) == 2.0);
  t.backward(loss);
  CHECK(g[0] == 1.0);
  CHECK(g[1] == 0.0);
  CHECK(g[2] == 0.5);
}

TEST_CASE("shape errors are named, spread as invalid nodes, and go with clear", "[autodiff]") {
  const double a[6] = {1, 2, 3, 4, 5, 6};
  double g[6] = {7, 7, 7, 7, 7, 7};
  Tape<double> t;
  const Var x = t.variable(a, g, 2, 3), y = t.input(a, 3, 2);
  const Var bad = t.add(x, y);
  CHECK(!bad.valid());
  REQUIRE(!t.status());
  CHECK(t.status().error().code == mara::ErrorCode::kShapeMismatch);
  CHECK(t.status().error().message == "add: shapes differ: 2 x 3 and 3 x 2");
  const Var worse = t.sum(t.mul(bad, x));
  CHECK(!worse.valid());
  CHECK(t.status().error().message == "add: shapes differ: 2 x 3 and 3 x 2");  // the first one stays
  CHECK(std::isnan(t.scalar(worse)));
  CHECK(t.value(worse).empty());
  t.backward(worse);
  CHECK(g[0] == 7.0);

  const auto message = [&](auto&& operation) {
    t.clear();
    const Var p = t.variable(a, g, 2, 3), q = t.input(a, 3, 2);
    CHECK(!operation(p, q).valid());
    REQUIRE(!t.status());
    return t.status().error().message;
  };
  CHECK(message([&](Var p, Var) { return t.matmul(p, p); }) == "matmul: 2 x 3 times 2 x 3 do not agree");
  CHECK(message([&](Var p, Var q) { return t.concat(p, q); }) == "concat: rows differ: 2 x 3 and 3 x 2");
  CHECK(message([&](Var p, Var q) { return t.mul_rows(p, q); }) ==
        "mul_rows: x 2 x 3 needs a column of its rows, got 3 x 2");
  CHECK(message([&](Var p, Var) {
          return t.dense(p, mara::DenseParameters<double>{.inputs = 4, .outputs = 2}, Activation::kTanh);
        }) == "dense: x 2 x 3, the layer has 4 inputs");
  CHECK(message([&](Var p, Var q) { return t.add_cols(p, q); }) ==
        "add_cols: x 2 x 3 needs a row of its columns, got 3 x 2");
  CHECK(message([&](Var p, Var q) { return t.mul_number(p, q); }) ==
        "mul_number: the number must be 1 x 1, is 3 x 2");
  CHECK(message([&](Var p, Var q) {
          return t.concat_rows({p, p, q});
        }) == "concat_rows: columns differ: 2 x 3 and 3 x 2");
  CHECK(message([&](Var, Var) { return t.concat(std::span<const Var>{}); }) == "concat: nothing to join");
  CHECK(message([&](Var p, Var) { return t.slice_cols(p, 2, 2); }) ==
        "slice_cols: 2 from 2 on do not lie in 2 x 3");
  CHECK(message([&](Var p, Var) { return t.slice_rows(p, 3, 0); }) ==
        "slice_rows: 0 from 3 on do not lie in 2 x 3");
  CHECK(message([&](Var p, Var) { return t.reshape(p, 4, 2); }) ==
        "reshape: 2 x 3 has not the numbers of 4 x 2");
  CHECK(message([&](Var p, Var q) { return t.row_matmul(p, q); }) ==
        "row_matmul: x 2 x 3 and w 3 x 2 do not agree");
  CHECK(message([&](Var p, Var) { return t.row_matmul(p, t.slice_cols(p, 0, 2)); }) ==
        "row_matmul: x 2 x 3 and w 2 x 2 do not agree");
  const std::int32_t few[2] = {1, 2}, negative[2] = {3, -1};
  CHECK(message([&](Var p, Var) { return t.segment_sum(p, few, 2); }) ==
        "segment_sum: the sizes sum to 3, x is 2 x 3");
  CHECK(message([&](Var p, Var) { return t.segment_softmax(p, negative, 2); }) ==
        "segment_softmax: sizes[1] = -1 is negative");
  CHECK(message([&](Var p, Var) { return t.activate(p, static_cast<Activation>(17)); }) ==
        "activate: no such activation");
  CHECK(message([&](Var, Var) { return t.exp(Var{99}); }) == "exp: operand is not a node of this tape");
  std::vector<double> wide(33);
  const std::uint32_t mask = 1;
  CHECK(message([&](Var, Var) { return t.masked_log_softmax(t.input(wide.data(), 1, 33), &mask); }) ==
        "masked_log_softmax: a mask has 32 bits, operand is 1 x 33");

  t.clear();
  CHECK(t.status().has_value());
  t.backward(t.variable(a, g, 2, 3));
  CHECK(t.status().error().message == "backward: root must be 1 x 1, is 2 x 3");
}

TEST_CASE("a cleared tape reuses its memory and gives the same bits", "[autodiff]") {
  std::vector<float> x(40 * 9), w(9 * 21), b(21);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = std::cos(static_cast<float>(i));
  Tape<float> t;
  std::vector<float> first;
  std::size_t capacity = 0;
  for (int round = 0; round < 4; ++round) {
    std::vector<float> dw(w.size()), db(b.size());
    t.clear();
    const Var in = t.input(x.data(), 40, 9);
    const Var weights = t.variable(w.data(), dw.data(), 9, 21), bias = t.variable(b.data(), db.data(), 1, 21);
    const Var y = t.tanh(t.add_cols(t.matmul(in, weights), bias));
    t.backward(t.mean(t.square(t.exp(y))));
    if (round == 0) {
      first = dw;
      capacity = t.capacity();
    }
    CHECK(dw == first);
    CHECK(t.capacity() == capacity);
  }
  CHECK(t.rows(Var{0}) == 40);
  CHECK(t.cols(Var{0}) == 9);
  CHECK(t.gradient(Var{0}).empty());
  CHECK(t.gradient(Var{1}).size() == 9 * 21);
}

TEST_CASE("bits do not depend on the alignment of the caller's arrays", "[autodiff]") {
  constexpr std::size_t kRows = 7, kCols = 13;
  std::vector<float> loss, gradient;
  for (std::size_t shift = 0; shift < 5; ++shift) {
    std::vector<float> x(shift + kRows * kCols), dx(x.size());
    for (std::size_t i = shift; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i - shift));
    Tape<float> t;
    const Var v = t.variable(x.data() + shift, dx.data() + shift, kRows, kCols);
    const Var y = t.mul(t.log_softmax(t.gelu(v)), t.softplus(t.tanh(t.elu(t.div(v, t.exp(v))))));
    const Var sum = t.add(t.mean(y), t.sum(t.row_cosine(t.square(v), t.sigmoid(v), 1e-6f)));
    t.backward(sum);
    loss.push_back(t.scalar(sum));
    gradient.insert(gradient.end(), dx.begin() + static_cast<std::ptrdiff_t>(shift), dx.end());
  }
  for (std::size_t shift = 1; shift < 5; ++shift) {
    CHECK(loss[shift] == loss[0]);
    for (std::size_t i = 0; i < kRows * kCols; ++i)
      REQUIRE(gradient[shift * kRows * kCols + i] == gradient[i]);
  }
}

TEST_CASE("views: reshape and slices of rows copy nothing", "[autodiff]") {
  const double a[6] = {1, 2, 3, 4, 5, 6};
  double g[6] = {};
  Tape<double> t;
  const Var x = t.variable(a, g, 2, 3);
  CHECK(t.value(t.reshape(x, 3, 2)).data() == a);
  CHECK(t.value(t.slice_rows(x, 1, 1)).data() == a + 3);
  // Two views and the matrix itself meet in one gradient.
  t.backward(t.add(t.sum(t.square(t.slice_rows(x, 1, 1))),
                   t.add(t.sum(t.reshape(x, 1, 6)), t.sum(t.slice_rows(x, 0, 2)))));
  CHECK(std::vector<double>(g, g + 6) == std::vector<double>{2, 2, 2, 10, 12, 14});
  CHECK(t.rows(t.slice_rows(x, 1, 0)) == 0);
}

TEST_CASE("empty matrices pass through", "[autodiff]") {
  Tape<double> t;
  const double one = 1.0;
  double g = 0.0;
  const Var none = t.input(&one, 0, 3);
  CHECK(t.scalar(t.mean(t.square(none))) == 0.0);
  CHECK(t.scalar(t.sum(t.softmax(none))) == 0.0);
  CHECK(t.scalar(t.weighted_mean(none, &one)) == 0.0);
  const Var means = t.col_mean(none);
  CHECK(t.cols(means) == 3);
  for (const double v : t.value(means)) CHECK(v == 0.0);
  const Var x = t.variable(&one, &g, 1, 1);
  t.backward(t.add(t.mean(t.gather_rows(x, nullptr, 0)), t.sum(x)));
  CHECK(g == 1.0);
  CHECK(t.status().has_value());
}

TEST_CASE("a mean over nobody is 0, and so is its gradient", "[autodiff]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double a[3] = {1.0, nan, 2.0}, none[3] = {}, some[3] = {1.0, 0.0, 1.0};
  double g[3] = {};
  Tape<double> t;
  const Var x = t.variable(a, g, 1, 3);
  t.backward(t.weighted_mean(x, none));
  CHECK(std::vector<double>(g, g + 3) == std::vector<double>{0, 0, 0});
  CHECK(t.scalar(t.weighted_mean(x, none)) == 0.0);
  const Var mean = t.weighted_mean(x, some);
  CHECK(t.scalar(mean) == 1.5);
  t.backward(mean);
  CHECK(std::vector<double>(g, g + 3) == std::vector<double>{0.5, 0, 0.5});
}

TEST_CASE("slopes where there is none or none in particular", "[autodiff]") {
  const double zero[2] = {0.0, 0.0}, y[2] = {3.0, 4.0};
  double dx[2] = {}, dy[2] = {};
  Tape<double> t;
  const Var x = t.variable(zero, dx, 1, 2), v = t.variable(y, dy, 1, 2);
  const Var cosine = t.row_cosine(x, v, 0.0);
  CHECK(t.scalar(cosine) == 0.0);
  t.backward(t.add(cosine, t.add(t.sum(t.sqrt(x)), t.add(t.sum(t.abs(x)), t.sum(t.relu(x))))));
  for (const double g : {dx[0], dx[1], dy[0], dy[1]}) CHECK(g == 0.0);
  t.backward(t.sum(t.row_max(x)));  // the first of the largest
  CHECK(dx[0] == 1.0);
  CHECK(dx[1] == 0.0);
  const std::int32_t two = 2;
  t.backward(t.sum(t.segment_max(t.reshape(x, 2, 1), &two, 1)));
  CHECK(dx[0] == 2.0);
  CHECK(dx[1] == 0.0);
}

TEST_CASE("an embedding adds up its gradients in order", "[autodiff]") {
  const float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  const float weights[8] = {1e8f, 1.0f, 1.0f, 1.0f, -1e8f, 1.0f, 5.0f, 5.0f};
  const std::int32_t indices[4] = {1, 1, 1, -1};
  float g[4] = {};
  Tape<float> t;
  const Var rows = t.gather_rows(t.variable(table, g, 2, 2), indices, 4);
  CHECK(t.value(rows)[0] == 3.0f);
  CHECK(t.value(rows)[6] == 0.0f);
  t.backward(t.dot(rows, weights));
  CHECK(g[2] == (1e8f + 1.0f) - 1e8f);  // from the first index to the last
  CHECK(g[3] == 3.0f);
  CHECK(g[0] == 0.0f);
}

TEST_CASE("the arena hands out aligned, separate blocks and keeps them", "[autodiff]") {
  mara::Arena arena;
  std::vector<double*> blocks;
  for (int round = 0; round < 3; ++round) {
    std::vector<double*> now;
    for (const std::size_t count : {std::size_t{1}, std::size_t{9}, std::size_t{40000}, std::size_t{3}}) {
      double* block = arena.allocate<double>(count);
      CHECK(reinterpret_cast<std::uintptr_t>(block) % mara::Arena::kAlignment == 0);
      block[0] = static_cast<double>(count);
      block[count - 1] = static_cast<double>(count);
      now.push_back(block);
    }
    CHECK(*now[0] == 1.0);
    CHECK(*now[1] == 9.0);
    if (round == 0) blocks = now;
    CHECK(now == blocks);
    arena.clear();
  }
}
