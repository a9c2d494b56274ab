#pragma once
// Stochastic gradient descent, with momentum if wanted.

#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/math/aligned.hpp"
#include "mara/math/transform.hpp"
#include "mara/nn/optimiser.hpp"

namespace mara {

/// Hyper-parameters of Sgd.
struct SgdConfig {
  double learning_rate = 1e-2;
  double momentum = 0.0;           ///< share of the old velocity kept at a step; 0: none
  bool nesterov = false;           ///< look ahead along the velocity
  double max_gradient_norm = 0.0;  ///< global norm to clip to; 0: no clipping
};

/// Gradient descent: velocity = momentum velocity + g, and the parameters go back by learning_rate velocity,
/// or by learning_rate (g + momentum velocity) with nesterov (Sutskever et al., "On the importance of
/// initialization and momentum in deep learning", ICML 2013, in the form that evaluates the gradient at the
/// parameters).
template <class S>
class Sgd {
 public:
  explicit Sgd(std::size_t parameters, SgdConfig config = {})
      : config_(config), size_(parameters), velocity_(config.momentum != 0.0 ? parameters : 0) {}

  /// One step, see Optimiser.
  Status step(std::span<S> parameters, std::span<const S> gradients) {
    const Result<double> norm = detail::checked_norm("Sgd", size_, parameters, gradients);
    if (!norm) return norm.error();
    gradient_norm_ = *norm;
    ++steps_;
    using V = simd::Vec<S>;
    const auto clip = static_cast<S>(clip_factor(gradient_norm_, config_.max_gradient_norm));
    const V rate = simd::broadcast(static_cast<S>(config_.learning_rate)), factor = simd::broadcast(clip),
            momentum = simd::broadcast(static_cast<S>(config_.momentum));
    S* x = parameters.data();
    const S *old = x, *g = gradients.data(), *v = velocity_.data();
    if (velocity_.empty()) {
      simd::map<false>(
          size_, x, [=](V p, V d) { return p - rate * (d * factor); }, old, g);
      return {};
    }
    // Velocities of units that get no gradient decay for ever; subnormal numbers would slow every step down.
    const V tiny = simd::broadcast(S(1e-30));
    simd::map<false>(
        size_, velocity_.data(),
        [=](V w, V d) {
          const V next = simd::fma(momentum, w, d * factor);
          return simd::select((next < tiny) & (next > -tiny), V{}, next);
        },
        v, g);
    if (config_.nesterov) {
      simd::map<false>(
          size_, x, [=](V p, V w, V d) { return p - rate * simd::fma(momentum, w, d * factor); }, old, v, g);
    } else {
      simd::map<false>(
          size_, x, [=](V p, V w) { return p - rate * w; }, old, v);
    }
    return {};
  }

  const SgdConfig& config() const noexcept { return config_; }
  void set_learning_rate(double rate) noexcept { config_.learning_rate = rate; }
  /// Norm of the gradient of the last successful step, before clipping.
  double gradient_norm() const noexcept { return gradient_norm_; }

  /// State for checkpoints: the velocity; empty without momentum.
  std::span<const S> first_moment() const noexcept { return velocity_; }
  std::span<const S> second_moment() const noexcept { return {}; }
  std::uint64_t steps() const noexcept { return steps_; }
  /// Puts a saved state back; sizes that differ are an error and change nothing.
  Status restore(std::span<const S> first, std::span<const S> second, std::uint64_t steps) {
    if (Status fits = detail::check_moments("Sgd", first.size(), velocity_.size(), second.size(), 0); !fits)
      return fits;
    velocity_.assign(first.begin(), first.end());
    steps_ = steps;
    return {};
  }

 private:
  SgdConfig config_;
  std::size_t size_;
  AlignedVector<S> velocity_;
  std::uint64_t steps_ = 0;
  double gradient_norm_ = 0.0;
};

}  // namespace mara
