// Embedding, pooling over the agents of teams, attention: values, masks, gradients.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/nn/attention.hpp"
#include "mara/nn/embedding.hpp"
#include "mara/nn/set_pooling.hpp"
#include "numbers.hpp"

using mara::AttentionPool;
using mara::Random;
using mara::RowGroups;
using mara::SelfAttention;
using mara::Tape;
using mara::Var;
using mara_test::copy_of;
using mara_test::normal_numbers;

namespace {

// Two groups of five rows: rows 1 and 4 of the first are absent, the second is empty but for its last row.
constexpr std::uint8_t kAlive[10] = {1, 0, 1, 1, 0, 0, 0, 0, 0, 1};
constexpr std::uint8_t kNobody[10] = {1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
constexpr std::int32_t kSizes[4] = {3, 0, 1, 6};

/// softmax(q k / sqrt(width)) v for one query and head over the rows that count.
std::vector<double> attend(const std::vector<double>& q, const std::vector<std::vector<double>>& keys,
                           const std::vector<std::vector<double>>& values) {
  std::vector<double> p, out(q.size());
  double total = 0;
  for (const auto& k : keys) {
    double score = 0;
    for (std::size_t c = 0; c < q.size(); ++c) score += q[c] * k[c];
    p.push_back(std::exp(score / std::sqrt(static_cast<double>(q.size()))));
    total += p.back();
  }
  for (std::size_t j = 0; j < keys.size(); ++j)
    for (std::size_t c = 0; c < q.size(); ++c) out[c] += p[j] / total * values[j][c];
  return out;
}

std::vector<double> piece(const std::vector<double>& rows, std::size_t cols, std::size_t row,
                          std::size_t column, std::size_t count) {
  const auto at = rows.begin() + static_cast<std::ptrdiff_t>(row * cols + column);
  return {at, at + static_cast<std::ptrdiff_t>(count)};
}

/// Value and gradients with the given rows; the loss weighs every element of the result differently.
template <class Layer>
struct Outcome {
  std::vector<double> value, gradients, dx;
  Outcome(Layer& layer, std::vector<double> x, std::size_t cols, const RowGroups& groups) : dx(x.size()) {
    Tape<double> tape;
    std::vector<double> weights;
    layer.zero_gradients();
    const Var y = layer.forward(tape, tape.variable(x.data(), dx.data(), groups.rows(), cols), groups);
    tape.backward(mara_test::weigh(tape, y, weights));
    value = copy_of(tape.value(y));
    gradients = copy_of(std::span<const double>(layer.gradients()));
  }
};

/// mean or maximum with the interface of a layer.
template <bool kMax>
struct Pool {
  std::vector<double> none;
  Var forward(Tape<double>& tape, Var x, const RowGroups& groups) {
    return kMax ? mara::set_max(tape, x, groups) : mara::set_mean(tape, x, groups);
  }
  std::vector<double>& gradients() { return none; }
  void zero_gradients() {}
};

/// What absent rows hold changes nothing, to the bit.
template <class Layer>
void check_masks(Layer& layer, std::size_t cols) {
  const RowGroups groups{.count = 2, .rows_each = 5, .alive = kAlive};
  const auto x = normal_numbers<double>(10 * cols, 3);
  const Outcome<Layer> plain(layer, x, cols, groups);
  for (const double garbage : {1e30, std::numeric_limits<double>::quiet_NaN()}) {
    auto changed = x;
    for (std::size_t r = 0; r < 10; ++r)
      if (kAlive[r] == 0) std::fill_n(changed.begin() + static_cast<std::ptrdiff_t>(r * cols), cols, garbage);
    const Outcome<Layer> other(layer, changed, cols, groups);
    CHECK(other.value == plain.value);
    CHECK(other.gradients == plain.gradients);
    CHECK(other.dx == plain.dx);
  }
  for (std::size_t r = 0; r < 10; ++r)
    for (std::size_t c = 0; c < cols; ++c) CHECK((plain.dx[r * cols + c] == 0.0) == (kAlive[r] == 0));
  // Nor does it matter whether they are there at all.
  std::vector<double> closed;
  for (std::size_t r = 0; r < 10; ++r)
    if (kAlive[r] != 0)
      for (std::size_t c = 0; c < cols; ++c) closed.push_back(x[r * cols + c]);
  const std::int32_t sizes[2] = {3, 1};
  const Outcome<Layer> few(layer, closed, cols, RowGroups{.count = 2, .sizes = sizes});
  if (few.value.size() == plain.value.size()) {
    CHECK(few.value == plain.value);
    CHECK(few.gradients == plain.gradients);
  }
}

template <class Layer>
void check_gradients(Layer& layer, std::size_t cols) {
  auto x = normal_numbers<double>(10 * cols, 4);
  std::vector<double> weights, more;
  for (const RowGroups& groups :
       {RowGroups{.count = 2, .rows_each = 5}, RowGroups{.count = 2, .rows_each = 5, .alive = kAlive},
        RowGroups{.count = 4, .sizes = kSizes}, RowGroups{.count = 4, .sizes = kSizes, .alive = kNobody}}) {
    const auto build = [&](Tape<double>& tape, double* dx) {
      const Var in = dx == nullptr ? tape.input(x.data(), 10, cols) : tape.variable(x.data(), dx, 10, cols);
      return tape.add(mara_test::weigh(tape, layer.forward(tape, in, groups), weights),
                      mara_test::weigh(tape, in, more));
    };
    if constexpr (requires { layer.parameters(); }) {
      CHECK(mara::gradient_check(layer.parameters(), layer.gradients(),
                                 [&](Tape<double>& tape) { return build(tape, nullptr); }) < 1e-6);
    }
    CHECK(mara::gradient_check(x, build) < 1e-6);
  }
}

template <class S, class Layer>
void check_twin(Layer& layer, std::size_t cols) {
  Random random(cols);
  layer.initialise(random);
  const auto x = normal_numbers<S>(10 * cols, 5);
  for (const RowGroups& groups :
       {RowGroups{.count = 2, .rows_each = 5}, RowGroups{.count = 2, .rows_each = 5, .alive = kAlive},
        RowGroups{.count = 4, .sizes = kSizes}, RowGroups{.count = 4, .sizes = kSizes, .alive = kNobody}}) {
    Tape<S> tape;
    const auto taped = copy_of(tape.value(layer.forward(tape, tape.input(x.data(), 10, cols), groups)));
    REQUIRE(tape.status());
    std::vector<S> y(taped.size(), S(7)), z(taped.size(), S(7));
    auto inference = layer.inference(6);
    REQUIRE(inference.forward(x.data(), groups, y.data()));
    CHECK(y == taped);
    auto workspace = Layer::Shape::template workspace<S>(6);
    REQUIRE(layer.forward(x.data(), groups, z.data(), workspace));
    CHECK(z == y);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("embedding: rows by index", "[nn][embedding]", float, double) {
  using S = TestType;
  mara::Embedding<S, 5, 3> table;
  STATIC_REQUIRE(decltype(table)::kParameters == 15);
  Random random(1);
  table.initialise(random);
  const auto w = mara_test::parameter<S>(table, "weight");
  const std::int32_t indices[6] = {4, 0, -1, 4, 5, 2};
  std::vector<S> y(18), z(18);
  table.forward(indices, 6, y.data());
  table.inference().forward(indices, 6, z.data());
  CHECK(y == z);
  Tape<S> tape;
  const Var out = table.forward(tape, indices, 6);
  CHECK(copy_of(tape.value(out)) == y);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const bool inside = indices[i] >= 0 && indices[i] < 5;
      CHECK(static_cast<double>(y[i * 3 + c]) ==
            (inside ? w[static_cast<std::size_t>(indices[i]) * 3 + c] : 0.0));
    }
  // Row 4 is picked twice.
  tape.backward(tape.sum(out));
  const double expected[5] = {1, 0, 1, 0, 2};
  for (std::size_t r = 0; r < 5; ++r)
    for (std::size_t c = 0; c < 3; ++c) CHECK(table.gradients()[r * 3 + c] == S(expected[r]));
}

TEST_CASE("embedding: gradients", "[nn][embedding][gradient]") {
  mara::Embedding<double, 5, 17> table;
  Random random(1);
  table.initialise(random, 0.1);
  const std::int32_t indices[6] = {4, 0, -1, 4, 5, 2};
  std::vector<double> weights;
  CHECK(mara::gradient_check(table.parameters(), table.gradients(), [&](Tape<double>& tape) {
          return mara_test::weigh(tape, tape.square(table.forward(tape, indices, 6)), weights);
        }) < 1e-6);
}

TEMPLATE_TEST_CASE("mean and maximum over teams: known values", "[nn][set_pooling]", float, double) {
  using S = TestType;
  const S x[20] = {1, 10, 99, 99, 3, -5, 2, 4, 99, 99, 9, 9, 9, 9, 9, 9, 9, 9, -1, 6};
  const RowGroups groups{.count = 2, .rows_each = 5, .alive = kAlive};
  const S mean[4] = {2, 3, -1, 6}, most[4] = {3, 10, -1, 6};
  S y[4], z[4];
  mara::set_mean(x, 2, groups, y);
  mara::set_max(x, 2, groups, z);
  Tape<S> tape;
  const Var in = tape.input(x, 10, 2);
  const auto means = tape.value(mara::set_mean(tape, in, groups));
  const auto maxima = tape.value(mara::set_max(tape, in, groups));
  REQUIRE(means.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(y[i] == Approx(mean[i]));
    CHECK(z[i] == most[i]);
    CHECK(means[i] == y[i]);
    CHECK(maxima[i] == z[i]);
  }
  // Groups of varying size, one of them empty; and one with nobody.
  const RowGroups varying{.count = 4, .sizes = kSizes, .alive = kNobody};
  S v[8], m[8];
  mara::set_mean(x, 2, varying, v);
  mara::set_max(x, 2, varying, m);
  CHECK(v[2] == S(0));
  CHECK(m[3] == S(0));
  CHECK(v[4] == S(2));  // one row
  CHECK(v[6] == S(99));
  CHECK(m[7] == S(99));
}

TEMPLATE_TEST_CASE("pooling has the same bits with and without a tape", "[nn][set_pooling]", float, double) {
  using S = TestType;
  for (const std::size_t cols : {std::size_t{1}, std::size_t{3}, std::size_t{17}, std::size_t{65}}) {
    const auto x = normal_numbers<S>(300 * cols, cols);
    std::vector<std::uint8_t> alive(300);
    for (std::size_t i = 0; i < 300; ++i) alive[i] = i % 3 != 1;
    const RowGroups groups{.count = 6, .rows_each = 50, .alive = alive.data()};
    std::vector<S> y(6 * cols), z(6 * cols);
    mara::set_mean(x.data(), cols, groups, y.data());
    mara::set_max(x.data(), cols, groups, z.data());
    Tape<S> tape;
    const Var in = tape.input(x.data(), 300, cols);
    CHECK(copy_of(tape.value(mara::set_mean(tape, in, groups))) == y);
    CHECK(copy_of(tape.value(mara::set_max(tape, in, groups))) == z);
  }
  const S nan = std::numeric_limits<S>::quiet_NaN();
  const S x[4] = {1, nan, 3, 4};
  S y[2], z[2];
  mara::set_mean(x, 2, RowGroups{.count = 1, .rows_each = 2}, y);
  mara::set_max(x, 2, RowGroups{.count = 1, .rows_each = 2}, z);
  CHECK((y[0] == S(2) && std::isnan(y[1]) && z[0] == S(3) && std::isnan(z[1])));
}

TEST_CASE("absent agents change neither value nor gradient of a pool", "[nn][set_pooling]") {
  Pool<false> mean;
  check_masks(mean, 3);
  check_gradients(mean, 3);
  Pool<true> most;
  check_gradients(most, 3);
}

TEST_CASE("attention pool against a double reference", "[nn][attention]") {
  constexpr std::size_t kIn = 3, kWidth = 6, kHeads = 2, kHead = kWidth / kHeads;
  AttentionPool<double, kIn, kWidth, kHeads> pool;
  Random random(3);
  pool.initialise(random);
  for (double& p : pool.parameters()) p += 0.2 * random.normal();
  const auto x = normal_numbers<double>(10 * kIn, 4);
  const RowGroups groups{.count = 2, .rows_each = 5, .alive = kAlive};
  const auto query = mara_test::parameter<double>(pool, "query");
  const auto rows = mara_test::affine(x, mara_test::parameter<double>(pool, "key_value.weight"),
                                      mara_test::parameter<double>(pool, "key_value.bias"));
  std::vector<double> pooled;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t h = 0; h < kHeads; ++h) {
      std::vector<std::vector<double>> keys, values;
      for (std::size_t r = k * 5; r < k * 5 + 5; ++r) {
        if (kAlive[r] == 0) continue;
        keys.push_back(piece(rows, 2 * kWidth, r, h * kHead, kHead));
        values.push_back(piece(rows, 2 * kWidth, r, kWidth + h * kHead, kHead));
      }
      const auto out = attend(piece(query, kWidth, 0, h * kHead, kHead), keys, values);
      pooled.insert(pooled.end(), out.begin(), out.end());
    }
  const auto expected = mara_test::affine(pooled, mara_test::parameter<double>(pool, "output.weight"),
                                          mara_test::parameter<double>(pool, "output.bias"));
  std::vector<double> y(2 * kWidth);
  REQUIRE(pool.inference(5).forward(x.data(), groups, y.data()));
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(expected[i]).margin(1e-12));
}

TEST_CASE("self-attention against a double reference", "[nn][attention]") {
  constexpr std::size_t kIn = 3, kWidth = 6, kHeads = 3, kHead = kWidth / kHeads;
  SelfAttention<double, kIn, kWidth, kHeads> layer;
  Random random(3);
  layer.initialise(random);
  for (double& p : layer.parameters()) p += 0.2 * random.normal();
  const auto x = normal_numbers<double>(10 * kIn, 4);
  const RowGroups groups{.count = 2, .rows_each = 5, .alive = kAlive};
  const auto rows = mara_test::affine(x, mara_test::parameter<double>(layer, "query_key_value.weight"),
                                      mara_test::parameter<double>(layer, "query_key_value.bias"));
  std::vector<double> y(10 * kWidth, 3.0);
  REQUIRE(layer.inference(5).forward(x.data(), groups, y.data()));
  for (std::size_t r = 0; r < 10; ++r) {
    std::vector<double> mixed;
    for (std::size_t h = 0; h < kHeads; ++h) {
      std::vector<std::vector<double>> keys, values;
      for (std::size_t j = r / 5 * 5; j < r / 5 * 5 + 5; ++j) {
        if (kAlive[j] == 0) continue;
        keys.push_back(piece(rows, 3 * kWidth, j, kWidth + h * kHead, kHead));
        values.push_back(piece(rows, 3 * kWidth, j, 2 * kWidth + h * kHead, kHead));
      }
      const auto out = attend(piece(rows, 3 * kWidth, r, h * kHead, kHead), keys, values);
      mixed.insert(mixed.end(), out.begin(), out.end());
    }
    const auto expected = mara_test::affine(mixed, mara_test::parameter<double>(layer, "output.weight"),
                                            mara_test::parameter<double>(layer, "output.bias"));
    for (std::size_t c = 0; c < kWidth; ++c)
      CHECK(y[r * kWidth + c] == Approx(kAlive[r] == 0 ? 0.0 : expected[c]).margin(1e-12));
  }
}

TEST_CASE("absent agents change neither value nor gradient of an attention", "[nn][attention]") {
  Random random(3);
  AttentionPool<double, 3, 6, 2> pool;
  pool.initialise(random);
  check_masks(pool, 3);
  SelfAttention<double, 3, 6, 2> layer;
  layer.initialise(random);
  check_masks(layer, 3);
}

TEST_CASE("gradients of attention", "[nn][attention][gradient]") {
  Random random(3);
  AttentionPool<double, 3, 6, 2> pool;
  pool.initialise(random);
  check_gradients(pool, 3);
  AttentionPool<double, 1, 17, 1> odd;
  odd.initialise(random);
  check_gradients(odd, 1);
  SelfAttention<double, 3, 6, 3> layer;
  layer.initialise(random);
  check_gradients(layer, 3);
}

TEMPLATE_TEST_CASE("attention has the same bits with and without a tape", "[nn][attention]", float, double) {
  using S = TestType;
  AttentionPool<S, 3, 6, 2> pool;
  check_twin<S>(pool, 3);
  AttentionPool<S, 17, 65, 5> odd;
  check_twin<S>(odd, 17);
  SelfAttention<S, 3, 6, 2> layer;
  check_twin<S>(layer, 3);
}

TEST_CASE("the order of the agents does not matter to a pool and moves with self-attention",
          "[nn][attention]") {
  Random random(3);
  AttentionPool<double, 4, 8, 2> pool;
  SelfAttention<double, 4, 8, 2> layer;
  pool.initialise(random);
  layer.initialise(random);
  const auto x = normal_numbers<double>(6 * 4, 4);
  std::vector<double> turned(x.rbegin(), x.rend());
  for (int r = 0; r < 6; ++r) std::reverse(turned.begin() + r * 4, turned.begin() + r * 4 + 4);
  const RowGroups groups{.count = 1, .rows_each = 6};
  std::vector<double> a(8), b(8), c(48), d(48);
  REQUIRE(pool.inference(6).forward(x.data(), groups, a.data()));
  REQUIRE(pool.inference(6).forward(turned.data(), groups, b.data()));
  REQUIRE(layer.inference(6).forward(x.data(), groups, c.data()));
  REQUIRE(layer.inference(6).forward(turned.data(), groups, d.data()));
  for (std::size_t i = 0; i < 8; ++i) CHECK(a[i] == Approx(b[i]).margin(1e-13));
  for (std::size_t r = 0; r < 6; ++r)
    for (std::size_t i = 0; i < 8; ++i) CHECK(c[r * 8 + i] == Approx(d[(5 - r) * 8 + i]).margin(1e-13));
}

TEST_CASE("groups that do not fit are refused", "[nn][attention]") {
  AttentionPool<float, 3, 6, 2> pool;
  const std::vector<float> x(30);
  std::vector<float> y(12, 7.0f);
  auto inference = pool.inference(4);
  const mara::Status status = inference.forward(x.data(), RowGroups{.count = 2, .rows_each = 5}, y.data());
  REQUIRE(!status);
  CHECK(status.error().message == "group 0 has 5 rows, made for 4");
  CHECK(y[0] == 7.0f);
  const std::int32_t negative[2] = {-1, 5};
  CHECK(inference.forward(x.data(), RowGroups{.count = 2, .sizes = negative}, y.data()).error().message ==
        "sizes[0] = -1 is negative");
  Tape<float> tape;
  CHECK(!pool.forward(tape, tape.input(x.data(), 10, 3), RowGroups{.count = 2, .rows_each = 4}).valid());
  CHECK(tape.status().error().message == "live_rows: the groups have 8 rows, x is 10 x 3");
  tape.clear();
  CHECK(!mara::set_mean(tape, tape.input(x.data(), 4, 3), RowGroups{.count = 2, .sizes = negative}).valid());
  CHECK(tape.status().error().message == "live_rows: sizes[0] = -1 is negative");
}
