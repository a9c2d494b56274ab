#pragma once
// Learning rates as functions of the step: plain values, the same step always gives the same rate.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

namespace mara {

/// rate(step) for step = 0, 1, ...; use it as optimiser.set_learning_rate(rate(optimiser.steps())).
template <class R>
concept LearningRate = requires(const R& rate, std::uint64_t step) {
  { rate(step) } -> std::same_as<double>;
};

namespace detail {
/// Share of `steps` that is done, in [0, 1]; 1 when there are none.
inline double share_done(std::uint64_t step, std::uint64_t steps) noexcept {
  return step >= steps ? 1.0 : static_cast<double>(step) / static_cast<double>(steps);
}
}  // namespace detail

/// Always the same.
struct ConstantRate {
  double rate = 3e-4;

  double operator()(std::uint64_t) const noexcept { return rate; }
};

/// From `first` to `last` along a line in `steps` steps, `last` from then on.
struct LinearRate {
  double first = 3e-4;
  double last = 0.0;
  std::uint64_t steps = 0;

  double operator()(std::uint64_t step) const noexcept {
    const double done = detail::share_done(step, steps);
    return first * (1.0 - done) + last * done;
  }
};

/// From `first` to `last` along half a cosine in `steps` steps, `last` from then on (Loshchilov and Hutter,
/// "SGDR", ICLR 2017, eq. 5, without restarts).
struct CosineRate {
  double first = 3e-4;
  double last = 0.0;
  std::uint64_t steps = 0;

  double operator()(std::uint64_t step) const noexcept {
    const double done = detail::share_done(step, steps);
    if (done >= 1.0) return last;
    return last + 0.5 * (first - last) * (1.0 + std::cos(std::numbers::pi * done));
  }
};

/// `first`, multiplied by `factor` every `period` steps (never, when that is 0).
struct StepRate {
  double first = 3e-4;
  double factor = 0.1;
  std::uint64_t period = 0;

  double operator()(std::uint64_t step) const noexcept {
    return period == 0 ? first : first * std::pow(factor, static_cast<double>(step / period));
  }
};

/// Grows along a line for `steps` steps, 1 / steps of then(0) at step 0 and all of it at step `steps` - 1;
/// goes on with `then`, which counts its steps from there.
template <LearningRate Then>
struct WarmUp {
  std::uint64_t steps = 0;
  Then then;

  double operator()(std::uint64_t step) const noexcept {
    if (step < steps) return then(0) * (static_cast<double>(step + 1) / static_cast<double>(steps));
    return then(step - steps);
  }
};
template <class Then>
WarmUp(std::uint64_t, Then) -> WarmUp<Then>;

}  // namespace mara
