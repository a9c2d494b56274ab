// The dense kernels against sums written out in double, over sizes that leave every kind of remainder.
#include "mara/math/dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/math/aligned.hpp"

namespace {

using mara::Activation;

constexpr std::size_t kWidths[] = {1, 3, 16, 17, 48, 65, 130};
constexpr std::size_t kRows[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 32, 33, 64, 97};

template <class S>
std::vector<S> random_numbers(mara::Random& random, std::size_t count) {
  std::vector<S> x(count);
  for (S& v : x) v = static_cast<S>(random.normal());
  return x;
}

template <class S>
std::vector<S> panels(const std::vector<S>& w, std::size_t inputs, std::size_t outputs) {
  std::vector<S> packed(mara::PanelLayout::size(inputs, outputs), S(-55));
  mara::pack_weights(w.data(), inputs, outputs, packed.data());
  return packed;
}

/// sum over k of a(k) b(k), and of the absolute values: the scale of rounding errors.
struct Reference {
  double value = 0.0, scale = 0.0;
  void add(double term) {
    value += term;
    scale += std::fabs(term);
  }
};

template <class S>
double tolerance(const Reference& reference) {
  return (sizeof(S) == 4 ? 1e-5 : 1e-13) * std::max(1e-3, reference.scale);
}

template <class S>
void check_layer(std::size_t rows, std::size_t inputs, std::size_t outputs, Activation activation,
                 bool bias) {
  CAPTURE(rows, inputs, outputs, static_cast<int>(activation), bias);
  mara::Random random(rows * 1000 + inputs, outputs);
  const auto x = random_numbers<S>(random, rows * inputs), w = random_numbers<S>(random, inputs * outputs);
  const auto b = random_numbers<S>(random, outputs), dz = random_numbers<S>(random, rows * outputs);
  const auto w_panels = panels(w, inputs, outputs);
  constexpr std::size_t kGuard = 20;
  const S kMark = S(-77);
  std::vector<S> y(rows * outputs + kGuard, kMark);
  mara::dense_forward(x.data(), rows, inputs, outputs, w_panels.data(), bias ? b.data() : nullptr, activation,
                      y.data());
  bool good = std::all_of(y.begin() + static_cast<std::ptrdiff_t>(rows * outputs), y.end(),
                          [&](S v) { return v == kMark; });
  for (std::size_t r = 0; r < rows && good; ++r)
    for (std::size_t o = 0; o < outputs && good; ++o) {
      Reference sum;
      if (bias) sum.add(static_cast<double>(b[o]));
      for (std::size_t i = 0; i < inputs; ++i)
        sum.add(static_cast<double>(x[r * inputs + i]) * static_cast<double>(w[i * outputs + o]));
      double expected = sum.value;
      if (activation == Activation::kTanh) expected = std::tanh(expected);
      if (activation == Activation::kRelu) expected = std::max(0.0, expected);
      good = std::fabs(static_cast<double>(y[r * outputs + o]) - expected) <= tolerance<S>(sum);
    }
  CHECK(good);

  for (const bool accumulate : {false, true}) {
    std::vector<S> dx(rows * inputs + kGuard, S(0.5)), dw(inputs * outputs);
    std::vector<S> dw_panels(mara::PanelLayout::size(inputs, outputs) + kGuard, S(0.5));
    std::vector<S> db(outputs + kGuard, S(0.5)), workspace(mara::dense_workspace_size(inputs, outputs));
    const double before = accumulate ? 0.5 : 0.0;
    mara::dense_input_gradient(dz.data(), rows, inputs, outputs, w_panels.data(), workspace.data(),
                               accumulate, dx.data());
    mara::dense_weight_gradient(x.data(), dz.data(), rows, inputs, outputs, accumulate, dw_panels.data());
    mara::unpack_weights(dw_panels.data(), inputs, outputs, dw.data());
    mara::dense_bias_gradient(dz.data(), rows, outputs, accumulate, db.data());
    // Neither padding nor what lies behind is touched.
    const auto untouched = std::count(dw_panels.begin(), dw_panels.end(), S(0.5));
    bool dx_good = dx[rows * inputs] == S(0.5),
         dw_good = static_cast<std::size_t>(untouched) >= dw_panels.size() - inputs * outputs;
    bool db_good = db[outputs] == S(0.5);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < inputs; ++i) {
        Reference sum;
        sum.add(before);
        for (std::size_t o = 0; o < outputs; ++o)
          sum.add(static_cast<double>(dz[r * outputs + o]) * static_cast<double>(w[i * outputs + o]));
        dx_good &= std::fabs(static_cast<double>(dx[r * inputs + i]) - sum.value) <= tolerance<S>(sum);
      }
    for (std::size_t o = 0; o < outputs; ++o) {
      Reference total;
      total.add(before);
      for (std::size_t r = 0; r < rows; ++r) total.add(static_cast<double>(dz[r * outputs + o]));
      db_good &= std::fabs(static_cast<double>(db[o]) - total.value) <= tolerance<S>(total);
      for (std::size_t i = 0; i < inputs; ++i) {
        Reference sum;
        sum.add(before);
        for (std::size_t r = 0; r < rows; ++r)
          sum.add(static_cast<double>(x[r * inputs + i]) * static_cast<double>(dz[r * outputs + o]));
        dw_good &= std::fabs(static_cast<double>(dw[i * outputs + o]) - sum.value) <= tolerance<S>(sum);
      }
    }
    CHECK(dx_good);
    CHECK(dw_good);
    CHECK(db_good);
  }
}

template <class S>
bool same_bits(const S* a, const S* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(S)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("dense kernels agree with sums in double", "[math][dense]", float, double) {
  for (const std::size_t inputs : kWidths)
    for (const std::size_t outputs : kWidths)
      for (const std::size_t rows : {std::size_t{1}, std::size_t{7}, std::size_t{33}, std::size_t{49}})
        check_layer<TestType>(rows, inputs, outputs, Activation::kIdentity, true);
  for (const std::size_t rows : kRows)
    for (const Activation activation : {Activation::kIdentity, Activation::kTanh, Activation::kRelu})
      check_layer<TestType>(rows, 19, 67, activation, rows % 2 == 0);
  check_layer<TestType>(1, 300, 257, Activation::kTanh, true);    // one row across several panels
  check_layer<TestType>(300, 140, 128, Activation::kRelu, true);  // several passes over the inner dimension
}

TEMPLATE_TEST_CASE("dense kernels agree with sums in double at odd sizes", "[math][dense]", float, double) {
  constexpr std::size_t kOdd[] = {1, 3, 17, 65, 1000};
  for (const std::size_t inputs : kOdd)
    for (const std::size_t outputs : kOdd) {
      const bool large = inputs * outputs > 100'000;
      for (std::size_t rows = 1; rows <= 33; rows += large ? 16 : inputs * outputs > 5000 ? 4 : 1)
        check_layer<TestType>(rows, inputs, outputs, Activation::kTanh, rows % 2 == 1);
    }
}

TEMPLATE_TEST_CASE("a row has the same bits in every batch of several", "[math][dense]", float, double) {
  using S = TestType;
  for (const std::size_t outputs : {std::size_t{1}, std::size_t{16}, std::size_t{33}, std::size_t{64},
                                    std::size_t{70}, std::size_t{130}, std::size_t{300}}) {
    constexpr std::size_t kInputs = 150, kBatch = 67;
    mara::Random random(outputs);
    const auto x = random_numbers<S>(random, kBatch * kInputs),
               w = panels(random_numbers<S>(random, kInputs * outputs), kInputs, outputs);
    const auto b = random_numbers<S>(random, outputs);
    std::vector<S> whole(kBatch * outputs), pieces(kBatch * outputs);
    const auto run = [&](std::size_t begin, std::size_t rows, S* out) {
      mara::dense_forward(x.data() + begin * kInputs, rows, kInputs, outputs, w.data(), b.data(),
                          Activation::kTanh, out + begin * outputs);
    };
    run(0, kBatch, whole.data());
    for (const std::size_t piece : {std::size_t{2}, std::size_t{5}, std::size_t{13}, std::size_t{48}}) {
      CAPTURE(outputs, piece);
      for (std::size_t begin = 0; begin < kBatch;
           begin += piece)  // the last piece has more than one row, too
        run(std::min(begin, kBatch - 2), std::clamp<std::size_t>(kBatch - begin, 2, piece), pieces.data());
      CHECK(same_bits(whole.data(), pieces.data(), whole.size()));
    }
    // Alignment of the operands does not matter either.
    mara::AlignedVector<S> aligned(w.begin(), w.end());
    mara::dense_forward(x.data(), kBatch, kInputs, outputs, aligned.data(), b.data(), Activation::kTanh,
                        pieces.data());
    CHECK(same_bits(whole.data(), pieces.data(), whole.size()));
  }
}

namespace {
template <class S, std::size_t... kOutputs>
void check_constant_outputs() {
  const auto check = [](auto outputs) {
    constexpr std::size_t kOut = decltype(outputs)::value, kIn = 37;
    mara::Random random(kOut);
    for (const std::size_t rows : {std::size_t{1}, std::size_t{9}, std::size_t{50}}) {
      CAPTURE(rows, kOut);
      const auto x = random_numbers<S>(random, rows * kIn),
                 w = panels(random_numbers<S>(random, kIn * kOut), kIn, kOut);
      const auto b = random_numbers<S>(random, kOut);
      std::vector<S> constant(rows * kOut, S(9)), any(rows * kOut);
      mara::dense_forward<kIn, kOut>(x.data(), rows, kIn, kOut, w.data(), b.data(), Activation::kRelu,
                                     constant.data());
      mara::dense_forward(x.data(), rows, kIn, kOut, w.data(), b.data(), Activation::kRelu, any.data());
      CHECK(same_bits(constant.data(), any.data(), any.size()));
    }
  };
  (check(std::integral_constant<std::size_t, kOutputs>{}), ...);
}
}  // namespace

TEMPLATE_TEST_CASE("a constant number of outputs changes no bit", "[math][dense]", float, double) {
  check_constant_outputs<TestType, 1, 8, 9, 16, 17, 31, 32, 33, 40, 48, 63, 64, 65, 72, 96, 100, 127, 128,
                         129, 200, 256, 260, 320>();
}

TEMPLATE_TEST_CASE("NaN and infinity pass through a dense layer", "[math][dense]", float, double) {
  using S = TestType;
  constexpr std::size_t kInputs = 9, kOutputs = 35, kBatch = 14;
  mara::Random random(5);
  for (const Activation activation : {Activation::kIdentity, Activation::kTanh, Activation::kRelu}) {
    auto x = random_numbers<S>(random, kBatch * kInputs);
    const auto w = panels(std::vector<S>(kInputs * kOutputs, S(0.25)), kInputs, kOutputs);
    x[3 * kInputs + 4] = std::numeric_limits<S>::quiet_NaN();
    x[5 * kInputs + 1] = std::numeric_limits<S>::infinity();
    x[6 * kInputs + 1] = -std::numeric_limits<S>::infinity();
    std::vector<S> y(kBatch * kOutputs);
    mara::dense_forward(x.data(), kBatch, kInputs, kOutputs, w.data(), static_cast<const S*>(nullptr),
                        activation, y.data());
    for (std::size_t r = 0; r < kBatch; ++r)
      for (std::size_t o = 0; o < kOutputs; ++o) {
        const S v = y[r * kOutputs + o];
        const S inf = std::numeric_limits<S>::infinity();
        if (r == 3) {
          REQUIRE(std::isnan(v));
        } else if (r == 5) {
          REQUIRE((activation == Activation::kTanh ? std::fabs(v - S(1)) < S(6e-7) : v == inf));
        } else if (r == 6) {
          REQUIRE((activation == Activation::kTanh   ? std::fabs(v + S(1)) < S(6e-7)
                   : activation == Activation::kRelu ? v == S(0)
                                                     : v == -inf));
        } else {
          REQUIRE(std::isfinite(v));
        }
      }
    // Gradients: NaN upstream reaches only what it feeds.
    std::vector<S> dz(kBatch * kOutputs, S(1)), dw(kInputs * kOutputs), finite(kBatch * kInputs, S(1));
    std::vector<S> dw_panels(mara::PanelLayout::size(kInputs, kOutputs));
    dz[2 * kOutputs + 7] = std::numeric_limits<S>::quiet_NaN();
    mara::dense_weight_gradient(finite.data(), dz.data(), kBatch, kInputs, kOutputs, false, dw_panels.data());
    mara::unpack_weights(dw_panels.data(), kInputs, kOutputs, dw.data());
    for (std::size_t i = 0; i < kInputs; ++i)
      for (std::size_t o = 0; o < kOutputs; ++o) REQUIRE(std::isnan(dw[i * kOutputs + o]) == (o == 7));
  }
}

TEMPLATE_TEST_CASE("activation gradients follow from the outputs", "[math][dense]", float, double) {
  using S = TestType;
  std::vector<S> y(41);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = S(0.25) * static_cast<S>(i % 9) - S(1);
  for (const std::size_t count : {std::size_t{1}, std::size_t{4}, std::size_t{16}, y.size()}) {
    std::vector<S> tanh_gradient(y.size(), S(3)), relu_gradient(y.size(), S(3)), same(y.size(), S(3));
    mara::activation_gradient(y.data(), count, Activation::kTanh, tanh_gradient.data());
    mara::activation_gradient(y.data(), count, Activation::kRelu, relu_gradient.data());
    mara::activation_gradient(y.data(), count, Activation::kIdentity, same.data());
    for (std::size_t i = 0; i < y.size(); ++i) {
      const bool in = i < count;
      CHECK(tanh_gradient[i] == (in ? S(3) * (S(1) - y[i] * y[i]) : S(3)));
      CHECK(relu_gradient[i] == (in && y[i] <= S(0) ? S(0) : S(3)));
      CHECK(same[i] == S(3));
    }
  }
}

TEST_CASE("no rows and no inner dimension are fine", "[math][dense]") {
  const float w[6] = {1, 2, 3, 4, 5, 6}, bias[3] = {7, 8, 9};
  float y[6] = {};
  const auto packed = panels(std::vector<float>(w, w + 6), 2, 3);
  mara::dense_forward(w, 0, 2, 3, packed.data(), bias, Activation::kTanh, y);
  CHECK(y[0] == 0.0f);
  const float* none = nullptr;
  mara::dense_forward(none, 2, 0, 3, none, bias, Activation::kIdentity, y);
  CHECK(y[0] == 7.0f);
  CHECK(y[5] == 9.0f);
  std::vector<float> wide(3 * 200, 5.0f), dw(mara::PanelLayout::size(20, 200), 1.0f);
  mara::dense_forward(none, 3, 0, 200, none, none, Activation::kRelu, wide.data());
  CHECK(std::count(wide.begin(), wide.end(), 0.0f) == 600);
  mara::dense_weight_gradient(none, none, 0, 20, 200, false, dw.data());
  CHECK(dw[mara::PanelLayout::index(20, 200, 19, 199)] == 0.0f);
  CHECK(dw[0] == 0.0f);
}
