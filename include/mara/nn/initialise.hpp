#pragma once
// Initial weights.

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

/// Fills weights[inputs x outputs] with a random matrix whose rows (or columns, whichever are fewer) are
/// orthogonal with length `gain` (Saxe, McClelland and Ganguli, "Exact solutions to the nonlinear dynamics of
/// learning in deep linear neural networks", ICLR 2014, section 3). Computed in double: float and double
/// networks of one stream get the same numbers up to rounding.
template <class S>
void orthogonal_initialise(Random& random, std::size_t inputs, std::size_t outputs, S gain, S* weights) {
  // Modified Gram-Schmidt, run twice, over `few` vectors of `many` components each.
  const std::size_t few = inputs < outputs ? inputs : outputs;
  const std::size_t many = inputs < outputs ? outputs : inputs;
  std::vector<double> basis(few * many);
  for (double& x : basis) x = random.normal();
  for (std::size_t i = 0; i < few; ++i) {
    double* v = basis.data() + i * many;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double* u = basis.data() + j * many;
        double inner = 0.0;
        for (std::size_t k = 0; k < many; ++k) inner += u[k] * v[k];
        for (std::size_t k = 0; k < many; ++k) v[k] -= inner * u[k];
      }
    }
    double square = 0.0;
    for (std::size_t k = 0; k < many; ++k) square += v[k] * v[k];
    const double factor = 1.0 / std::sqrt(square);
    for (std::size_t k = 0; k < many; ++k) v[k] *= factor;
  }
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t o = 0; o < outputs; ++o) {
      const double x = inputs < outputs ? basis[i * many + o] : basis[o * many + i];
      weights[i * outputs + o] = static_cast<S>(x * static_cast<double>(gain));
    }
}

/// Fills `values` with normal numbers of the given standard deviation.
template <class S>
void normal_initialise(Random& random, S deviation, std::span<S> values) {
  for (S& x : values) x = static_cast<S>(random.normal() * static_cast<double>(deviation));
}

/// Fills `values` with uniform numbers in [-bound, bound).
template <class S>
void uniform_initialise(Random& random, S bound, std::span<S> values) {
  const auto b = static_cast<double>(bound);
  for (S& x : values) x = static_cast<S>(random.uniform(-b, b));
}

/// How the weights of a layer begin. Xavier: Glorot and Bengio, "Understanding the difficulty of training
/// deep feedforward neural networks", AISTATS 2010, eq. 16; He: He et al., "Delving Deep into Rectifiers",
/// ICCV 2015, eq. 10.
enum class Initialiser {
  kOrthogonal,     ///< see orthogonal_initialise
  kXavierUniform,  ///< variance 2 / (inputs + outputs)
  kXavierNormal,   ///< the same
  kHeUniform,      ///< variance 2 / inputs
  kHeNormal        ///< the same
};

/// Standard deviation of the weights [inputs x outputs] with gain 1.
inline double initial_deviation(Initialiser kind, std::size_t inputs, std::size_t outputs) noexcept {
  const auto in = static_cast<double>(inputs), out = static_cast<double>(outputs);
  switch (kind) {
    case Initialiser::kOrthogonal:
      return 1.0 / std::sqrt(in > out ? in : out);
    case Initialiser::kXavierUniform:
    case Initialiser::kXavierNormal:
      return std::sqrt(2.0 / (in + out));
    case Initialiser::kHeUniform:
    case Initialiser::kHeNormal:
      return std::sqrt(2.0 / in);
  }
  return 0.0;
}

/// Fills a weight matrix [inputs x outputs], whatever its storage; its deviation is `gain` times
/// initial_deviation(). For instance all weights of a network:
///
///     network.visit_parameters([&](const std::string& name, auto view) {
///       if (name.ends_with("weight")) initialise_weights(random, Initialiser::kHeNormal, 1.0, view);
///     });
template <class S>
void initialise_weights(Random& random, Initialiser kind, double gain, ParameterView<S> weights) {
  std::vector<S> values(weights.size());
  const double deviation = gain * initial_deviation(kind, weights.rows, weights.cols);
  switch (kind) {
    case Initialiser::kOrthogonal:
      orthogonal_initialise(random, weights.rows, weights.cols, static_cast<S>(gain), values.data());
      break;
    case Initialiser::kXavierUniform:
    case Initialiser::kHeUniform:
      uniform_initialise(random, static_cast<S>(deviation * std::sqrt(3.0)), std::span<S>(values));
      break;
    case Initialiser::kXavierNormal:
    case Initialiser::kHeNormal:
      normal_initialise(random, static_cast<S>(deviation), std::span<S>(values));
      break;
  }
  weights.copy_from(values.data());
}

}  // namespace mara
