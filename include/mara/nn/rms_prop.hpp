#pragma once
// The RMSprop optimiser.

#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/math/aligned.hpp"
#include "mara/math/transform.hpp"
#include "mara/nn/optimiser.hpp"

namespace mara {

/// Hyper-parameters of RmsProp; the defaults are those of QMIX (Rashid et al. 2018).
struct RmsPropConfig {
  double learning_rate = 5e-4;
  double alpha = 0.99;             ///< decay of the mean of squared gradients
  double epsilon = 1e-5;           ///< added outside the root
  double max_gradient_norm = 0.0;  ///< global norm to clip to; 0: no clipping
};

/// RMSprop (Tieleman and Hinton, Coursera lecture 6e, 2012): mean = alpha mean + (1 - alpha) g^2, and the
/// parameters go back by learning_rate g / (sqrt(mean) + epsilon).
template <class S>
class RmsProp {
 public:
  explicit RmsProp(std::size_t parameters, RmsPropConfig config = {}) : config_(config), mean_(parameters) {}

  /// One step, see Optimiser.
  Status step(std::span<S> parameters, std::span<const S> gradients) {
    const Result<double> norm = detail::checked_norm("RmsProp", mean_.size(), parameters, gradients);
    if (!norm) return norm.error();
    gradient_norm_ = *norm;
    ++steps_;
    using V = simd::Vec<S>;
    const auto clip = static_cast<S>(clip_factor(gradient_norm_, config_.max_gradient_norm));
    const V rate = simd::broadcast(static_cast<S>(config_.learning_rate)), factor = simd::broadcast(clip),
            alpha = simd::broadcast(static_cast<S>(config_.alpha)),
            rest = simd::broadcast(static_cast<S>(1.0 - config_.alpha)),
            epsilon = simd::broadcast(static_cast<S>(config_.epsilon));
    // Means of units that get no gradient decay for ever; subnormal numbers would slow every step down.
    const V tiny = simd::broadcast(S(1e-36));
    S* x = parameters.data();
    const S *old = x, *g = gradients.data(), *mean = mean_.data();
    simd::map<false>(
        mean_.size(), mean_.data(),
        [=](V m, V d) {
          d *= factor;
          const V next = simd::fma(alpha, m, rest * d * d);
          return simd::select(next < tiny, V{}, next);
        },
        mean, g);
    simd::map<false>(
        mean_.size(), x, [=](V p, V m, V d) { return p - rate * (d * factor) / (simd::sqrt(m) + epsilon); },
        old, mean, g);
    return {};
  }

  const RmsPropConfig& config() const noexcept { return config_; }
  void set_learning_rate(double rate) noexcept { config_.learning_rate = rate; }
  /// Norm of the gradient of the last successful step, before clipping.
  double gradient_norm() const noexcept { return gradient_norm_; }

  /// State for checkpoints: the mean of squared gradients is the second moment; there is no first.
  std::span<const S> first_moment() const noexcept { return {}; }
  std::span<const S> second_moment() const noexcept { return mean_; }
  std::uint64_t steps() const noexcept { return steps_; }
  /// Puts a saved state back; sizes that differ are an error and change nothing.
  Status restore(std::span<const S> first, std::span<const S> second, std::uint64_t steps) {
    if (Status fits = detail::check_moments("RmsProp", first.size(), 0, second.size(), mean_.size()); !fits)
      return fits;
    mean_.assign(second.begin(), second.end());
    steps_ = steps;
    return {};
  }

 private:
  RmsPropConfig config_;
  AlignedVector<S> mean_;
  std::uint64_t steps_ = 0;
  double gradient_norm_ = 0.0;
};

}  // namespace mara
