#pragma once
// The Adam optimiser.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mara/core/result.hpp"
#include "mara/math/aligned.hpp"
#include "mara/nn/gradient_clip.hpp"

namespace mara {

/// Hyper-parameters of Adam.
struct AdamConfig {
  double learning_rate = 3e-4;
  double beta1 = 0.9;              ///< decay of the mean of gradients
  double beta2 = 0.999;            ///< decay of the mean of squared gradients
  double epsilon = 1e-8;           ///< added outside the root
  double max_gradient_norm = 0.0;  ///< global norm to clip to; 0: no clipping
};

/// Adam (Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1).
template <class S>
class Adam {
 public:
  explicit Adam(std::size_t parameters, AdamConfig config = {})
      : config_(config), first_(parameters), second_(parameters) {}

  /// One step down the gradient. The gradient is clipped by its global norm first (max_gradient_norm > 0), the
  /// buffer itself stays as it is. A gradient norm that is not finite, or spans of the wrong size, are an error
  /// and change nothing.
  Status step(std::span<S> parameters, std::span<const S> gradients) {
    if (parameters.size() != first_.size() || gradients.size() != first_.size())
      return Error{ErrorCode::kShapeMismatch, "Adam::step: " + std::to_string(parameters.size()) +
                                                  " parameters and " + std::to_string(gradients.size()) +
                                                  " gradients, made for " + std::to_string(first_.size())};
    const double norm = global_norm(gradients);
    if (!std::isfinite(norm))
      return Error{ErrorCode::kNumerical, "Adam::step: gradient norm is " + std::to_string(norm)};
    gradient_norm_ = norm;
    ++steps_;
    beta1_power_ *= config_.beta1;
    beta2_power_ *= config_.beta2;
    const S clip = static_cast<S>(clip_factor(norm, config_.max_gradient_norm));
    const S b1 = static_cast<S>(config_.beta1), b2 = static_cast<S>(config_.beta2);
    const S rest1 = static_cast<S>(1.0 - config_.beta1), rest2 = static_cast<S>(1.0 - config_.beta2);
    // The two bias corrections are folded into the rate and into epsilon.
    const double correction2 = std::sqrt(1.0 - beta2_power_);
    const S rate = static_cast<S>(config_.learning_rate * correction2 / (1.0 - beta1_power_));
    const S epsilon = static_cast<S>(config_.epsilon * correction2);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const S g = gradients[i] * clip;
      first_[i] = b1 * first_[i] + rest1 * g;
      second_[i] = b2 * second_[i] + rest2 * (g * g);
      parameters[i] -= rate * first_[i] / (std::sqrt(second_[i]) + epsilon);
    }
    return {};
  }

  const AdamConfig& config() const noexcept { return config_; }
  void set_learning_rate(double rate) noexcept { config_.learning_rate = rate; }
  /// Norm of the gradient of the last successful step, before clipping.
  double gradient_norm() const noexcept { return gradient_norm_; }

  /// State for checkpoints: running means of gradients and of squared gradients, and the number of steps.
  std::span<const S> first_moment() const noexcept { return first_; }
  std::span<const S> second_moment() const noexcept { return second_; }
  std::uint64_t steps() const noexcept { return steps_; }

  /// Puts a saved state back; sizes that differ are an error and change nothing. The continuation has the same bits
  /// as an uninterrupted run.
  Status restore(std::span<const S> first, std::span<const S> second, std::uint64_t steps) {
    if (first.size() != first_.size() || second.size() != second_.size())
      return Error{ErrorCode::kShapeMismatch, "Adam::restore: moments of " + std::to_string(first.size()) + " and " +
                                                  std::to_string(second.size()) + " numbers, made for " +
                                                  std::to_string(first_.size())};
    first_.assign(first.begin(), first.end());
    second_.assign(second.begin(), second.end());
    steps_ = steps;
    // Powers by the same multiplications as step(), so that every bit agrees.
    beta1_power_ = beta2_power_ = 1.0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      if (beta1_power_ == 0.0 && beta2_power_ == 0.0) break;
      beta1_power_ *= config_.beta1;
      beta2_power_ *= config_.beta2;
    }
    return {};
  }

 private:
  AdamConfig config_;
  AlignedVector<S> first_;
  AlignedVector<S> second_;
  std::uint64_t steps_ = 0;
  double beta1_power_ = 1.0;  ///< beta1^steps
  double beta2_power_ = 1.0;
  double gradient_norm_ = 0.0;
};

}  // namespace mara
