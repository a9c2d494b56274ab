#pragma once
// Initial weights.

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "mara/core/random.hpp"

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

}  // namespace mara
