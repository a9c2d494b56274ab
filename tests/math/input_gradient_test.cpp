// The way back through two dense layers in one sweep against the same in two.
#include "mara/math/input_gradient.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using mara::Activation;

namespace {

template <class S>
std::vector<S> random_numbers(mara::Random& random, std::size_t count, double scale) {
  std::vector<S> x(count);
  for (S& v : x) v = static_cast<S>(scale * random.normal());
  return x;
}

template <class S>
void compare(std::size_t rows, std::size_t inputs, std::size_t outputs, Activation activation,
             bool accumulate) {
  CAPTURE(rows, inputs, outputs, mara::name_of(activation), accumulate);
  mara::Random random(rows + 1000 * inputs, outputs);
  const auto w = random_numbers<S>(random, inputs * outputs, 1.0);
  const auto dz = random_numbers<S>(random, rows * outputs, 1.0);
  auto in = random_numbers<S>(random, rows * inputs, 2.0);
  mara::math::activate(activation, in.size(), in.data());
  std::vector<S> panels(mara::PanelLayout::size(inputs, outputs));
  mara::pack_weights(w.data(), inputs, outputs, panels.data());
  std::vector<S> workspace(mara::dense_workspace_size(inputs, outputs));
  std::vector<S> expected(rows * inputs, S(7)), d_in = expected, alone = expected;
  std::vector<S> expected_bias(inputs + 1, S(3)), d_bias = expected_bias;
  mara::dense_input_gradient(dz.data(), rows, inputs, outputs, panels.data(), workspace.data(), false,
                             expected.data());
  mara::activation_bias_gradient(in.data(), rows, inputs, activation, expected.data(), expected_bias.data(),
                                 accumulate);
  mara::dense_input_gradient_through(dz.data(), rows, inputs, outputs, panels.data(), workspace.data(),
                                     in.data(), activation, d_bias.data(), accumulate, d_in.data());
  mara::dense_input_gradient_through(dz.data(), rows, inputs, outputs, panels.data(), workspace.data(),
                                     in.data(), activation, static_cast<S*>(nullptr), accumulate,
                                     alone.data());
  CHECK(d_in == expected);
  CHECK(alone == expected);
  const double tolerance = (sizeof(S) == 4 ? 1e-5 : 1e-13) * std::sqrt(static_cast<double>(outputs));
  bool good = d_bias[inputs] == S(3);
  for (std::size_t i = 0; i < inputs && good; ++i) {
    double scale = 3.0;
    for (std::size_t r = 0; r < rows; ++r) scale += std::fabs(static_cast<double>(expected[r * inputs + i]));
    good = std::fabs(static_cast<double>(d_bias[i]) - static_cast<double>(expected_bias[i])) <=
           tolerance * scale;
  }
  CHECK(good);
}

}  // namespace

TEMPLATE_TEST_CASE("through a layer and an activation at once", "[math][dense]", float, double) {
  for (const Activation activation : {Activation::kTanh, Activation::kRelu, Activation::kElu})
    for (const std::size_t inputs : {8u, 16u, 48u, 64u, 100u, 192u})
      for (const std::size_t outputs : {1u, 17u, 128u, 300u})
        for (const std::size_t rows : {1u, 7u, 40u}) {
          compare<TestType>(rows, inputs, outputs, activation, true);
          compare<TestType>(rows, inputs, outputs, activation, false);
        }
  compare<TestType>(0, 64, 16, Activation::kTanh, true);
  compare<TestType>(0, 64, 16, Activation::kTanh, false);
}
