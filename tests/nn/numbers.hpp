#pragma once
// Numbers and losses that the tests of layers share.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara_test {

/// Standard normal numbers.
template <class S>
std::vector<S> normal_numbers(std::size_t count, std::uint64_t seed) {
  mara::Random random(seed);
  std::vector<S> x(count);
  for (S& v : x) v = static_cast<S>(random.normal());
  return x;
}

template <class S>
std::vector<S> copy_of(std::span<const S> values) {
  return {values.begin(), values.end()};
}

/// Weighted sum of y, so that every element has its own upstream gradient. `weights` must live as long as the
/// tape's nodes.
inline mara::Var weigh(mara::Tape<double>& tape, mara::Var y, std::vector<double>& weights) {
  weights.resize(tape.value(y).size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = -0.3 + 0.17 * static_cast<double>(i % 7) - (i % 2 == 0 ? 0.0 : 0.4);
  return tape.dot(y, weights.data());
}

/// Sets a parameter by name to row-major numbers.
template <class Network, class S>
void set_parameter(Network& network, const std::string& wanted, const std::vector<S>& values) {
  network.visit_parameters([&](const std::string& name, mara::ParameterView<S> view) {
    if (name == wanted && view.size() == values.size()) view.copy_from(values.data());
  });
}

/// A parameter by name, row-major, in double.
template <class S, class Network>
std::vector<double> parameter(const Network& network, const std::string& wanted) {
  std::vector<S> values;
  network.visit_parameters([&](const std::string& name, mara::ParameterView<const S> view) {
    if (name != wanted) return;
    values.resize(view.size());
    view.copy_to(values.data());
  });
  return {values.begin(), values.end()};
}

/// y[rows x outputs] = x[rows x inputs] w[inputs x outputs] + b, in double.
inline std::vector<double> affine(const std::vector<double>& x, const std::vector<double>& w,
                                  const std::vector<double>& b) {
  const std::size_t outputs = b.size(), inputs = w.size() / outputs, rows = x.size() / inputs;
  std::vector<double> y(rows * outputs);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t o = 0; o < outputs; ++o) {
      double total = b[o];
      for (std::size_t i = 0; i < inputs; ++i) total += x[r * inputs + i] * w[i * outputs + o];
      y[r * outputs + o] = total;
    }
  return y;
}

}  // namespace mara_test
