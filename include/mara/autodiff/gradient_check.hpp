#pragma once
// Comparison of gradients from the tape with central differences.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "mara/autodiff/tape.hpp"

namespace mara {

/// Worst relative error of the tape's gradient against central differences,
/// |tape - difference| / max(1, |tape|, |difference|), over all parameters. `build(tape, gradient)` records a loss
/// (1 x 1) of `parameters`, whose gradients go to `gradient` (same layout), and returns it:
///
///     gradient_check(w, [&](Tape<double>& tape, double* dw) {
///       return tape.sum(tape.square(tape.variable(w.data(), dw, 2, 3)));
///     });
///
/// The loss must be smooth within `step` of the parameters, which are restored at the end. The result is infinite
/// when a loss or a gradient is not finite.
template <class Build>
double gradient_check(std::span<double> parameters, Build&& build, double step = 1e-6) {
  Tape<double> tape;
  std::vector<double> gradient(parameters.size(), 0.0), unused(parameters.size(), 0.0);
  tape.backward(build(tape, gradient.data()));
  const auto loss = [&] {
    tape.clear();
    return tape.scalar(build(tape, unused.data()));
  };
  double worst = 0.0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double x = parameters[i];
    parameters[i] = x + step;
    const double above = loss();
    parameters[i] = x - step;
    const double below = loss();
    parameters[i] = x;
    const double difference = (above - below) / (2.0 * step);
    const double size = std::max({1.0, std::fabs(difference), std::fabs(gradient[i])});
    const double error = std::fabs(gradient[i] - difference) / size;
    if (!std::isfinite(error)) return INFINITY;
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace mara
