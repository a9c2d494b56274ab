// The tape itself: shapes, errors, accumulation, stop_gradient, reuse.
#include "mara/autodiff/tape.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
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
  CHECK(message([&](Var p, Var q) { return t.dense(p, q, q, Activation::kTanh); }) ==
        "dense: x 2 x 3, w 3 x 2, b 3 x 2 do not agree");
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
    const Var y = t.dense(in, weights, bias, Activation::kTanh);
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
