#pragma once
// The Adam optimiser.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mara/core/result.hpp"
#include "mara/math/aligned.hpp"
#include "mara/math/quotient.hpp"
#include "mara/math/simd.hpp"
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

  /// One step down the gradient. The gradient is clipped by its global norm first (max_gradient_norm > 0),
  /// the buffer itself stays as it is. A gradient norm that is not finite, or spans of the wrong size, are an
  /// error and change nothing.
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
    update(parameters.data(), gradients.data(), static_cast<S>(clip_factor(norm, config_.max_gradient_norm)));
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

  /// Puts a saved state back; sizes that differ are an error and change nothing. The continuation has the
  /// same bits as an uninterrupted run.
  Status restore(std::span<const S> first, std::span<const S> second, std::uint64_t steps) {
    if (first.size() != first_.size() || second.size() != second_.size())
      return Error{ErrorCode::kShapeMismatch, "Adam::restore: moments of " + std::to_string(first.size()) +
                                                  " and " + std::to_string(second.size()) +
                                                  " numbers, made for " + std::to_string(first_.size())};
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
  // Moments of units that get no gradient decay for ever, and subnormal numbers would slow every step down.
  // From kTiny they need more than kFlushEvery steps to get there (beta1 >= 0.1; a smaller one costs time,
  // not correctness).
  static constexpr std::uint64_t kFlushEvery = 8;
  static constexpr double kTiny = 1e-28;

  void update(S* parameters, const S* gradients, S clip) noexcept {
    if (steps_ % kFlushEvery == 0) {
      update_all<true>(parameters, gradients, clip);
    } else {
      update_all<false>(parameters, gradients, clip);
    }
  }

  template <bool kFlush>
  void update_all(S* parameters, const S* gradients, S clip) noexcept {
    using V = simd::Vec<S>;
    constexpr std::size_t kW = simd::kLanes<S>;
    // The corrections for the bias of the start are folded into the rate and into epsilon.
    const double correction = std::sqrt(1.0 - beta2_power_);
    const auto rate = static_cast<S>(config_.learning_rate * correction / (1.0 - beta1_power_));
    const V minus_rate = simd::broadcast(-rate);
    const V epsilon = simd::broadcast(static_cast<S>(config_.epsilon * correction));
    const V beta1 = simd::broadcast(static_cast<S>(config_.beta1));
    const V beta2 = simd::broadcast(static_cast<S>(config_.beta2));
    const V rest1 = simd::broadcast(static_cast<S>((1.0 - config_.beta1) * static_cast<double>(clip)));
    const V rest2 = simd::broadcast(
        static_cast<S>((1.0 - config_.beta2) * static_cast<double>(clip) * static_cast<double>(clip)));
    const V tiny = simd::broadcast(static_cast<S>(kTiny));
    const V floor = simd::broadcast(S(1e-36));  // its root is far below any epsilon
    const auto change = [&](V g, V & m, V & v) __attribute__((always_inline)) {
      m = simd::fma(beta1, m, rest1 * g);
      v = simd::max(floor, simd::fma(beta2, v, rest2 * g * g));
      if constexpr (kFlush) m = simd::select((m < tiny) & (m > -tiny), V{}, m);
      return simd::quotient(minus_rate * m, simd::square_root(v) + epsilon);
    };
    S* const first = first_.data();
    S* const second = second_.data();
    const std::size_t count = first_.size();
    std::size_t i = 0;
    const auto whole = [&](std::size_t at) __attribute__((always_inline)) {
      V m = simd::load(first + at), v = simd::load(second + at);
      const V step = change(simd::load(gradients + at), m, v);
      simd::store(first + at, m);
      simd::store(second + at, v);
      simd::store(parameters + at, simd::load(parameters + at) + step);
    };
    for (; i + 2 * kW <= count; i += 2 * kW) {
      whole(i);
      whole(i + kW);
    }
    for (; i < count; i += kW) {
      const std::size_t rest = count - i < kW ? count - i : kW;
      V m = simd::load_partial(first + i, rest), v = simd::load_partial(second + i, rest);
      const V step = change(simd::load_partial(gradients + i, rest), m, v);
      simd::store_partial(first + i, m, rest);
      simd::store_partial(second + i, v, rest);
      simd::store_partial(parameters + i, simd::load_partial(parameters + i, rest) + step, rest);
    }
  }

  AdamConfig config_;
  AlignedVector<S> first_;
  AlignedVector<S> second_;
  std::uint64_t steps_ = 0;
  double beta1_power_ = 1.0;  ///< beta1^steps
  double beta2_power_ = 1.0;
  double gradient_norm_ = 0.0;
};

}  // namespace mara
