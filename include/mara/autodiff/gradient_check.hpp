#pragma once
// Comparison of gradients from the tape with central differences.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "mara/autodiff/tape.hpp"

namespace mara {

/// Worst relative error of the tape's gradient against central differences,
/// |tape - difference| / max(|tape|, |difference|, 0.01), over all parameters. `build(tape)` records a loss
/// (1 x 1) of `parameters` whose gradients backward() adds to `gradients` (same layout; zeroed here first),
/// and returns it. For a network m:
///
///     gradient_check(m.parameters(), m.gradients(), [&](Tape<double>& tape) {
///       return tape.mean(tape.square(m.forward(tape, tape.input(x, rows, cols))));
///     });
///
/// The loss should be smooth within `step` of the parameters, which are restored at the end. Infinite when a
/// loss or a gradient is not finite, or the tape reports an error.
template <class Build>
double gradient_check(std::span<double> parameters, std::span<double> gradients, Build&& build,
                      double step = 1e-6) {
  constexpr double kFailed = std::numeric_limits<double>::infinity();
  constexpr double kSmallest = 0.01;
  Tape<double> tape;
  std::fill(gradients.begin(), gradients.end(), 0.0);
  tape.backward(build(tape));
  if (!tape.status()) return kFailed;
  const std::vector<double> gradient(gradients.begin(), gradients.end());
  const auto loss = [&] {
    tape.clear();
    return tape.scalar(build(tape));
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
    const double size = std::max({kSmallest, std::fabs(difference), std::fabs(gradient[i])});
    const double error = std::fabs(gradient[i] - difference) / size;
    if (!std::isfinite(error)) return kFailed;
    worst = std::max(worst, error);
  }
  return worst;
}

/// The same with a gradient buffer made here, for losses written straight on the tape: build(tape, gradient).
///
///     gradient_check(w, [&](Tape<double>& tape, double* dw) {
///       return tape.sum(tape.square(tape.variable(w.data(), dw, 2, 3)));
///     });
template <class Build>
double gradient_check(std::span<double> parameters, Build&& build) {
  std::vector<double> gradients(parameters.size());
  return gradient_check(parameters, gradients,
                        [&](Tape<double>& tape) { return build(tape, gradients.data()); });
}

}  // namespace mara
