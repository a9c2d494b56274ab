#pragma once
// Adam with decoupled weight decay.

#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/math/transform.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/optimiser.hpp"

namespace mara {

/// Hyper-parameters of AdamW.
struct AdamWConfig {
  double learning_rate = 3e-4;
  double beta1 = 0.9;              ///< decay of the mean of gradients
  double beta2 = 0.999;            ///< decay of the mean of squared gradients
  double epsilon = 1e-8;           ///< added outside the root
  double weight_decay = 1e-2;      ///< a step takes learning_rate * weight_decay of every parameter away
  double max_gradient_norm = 0.0;  ///< global norm to clip to; 0: no clipping
};

/// AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, algorithm 2): the decay
/// does not pass through the moments. All parameters decay alike.
template <class S>
class AdamW {
 public:
  explicit AdamW(std::size_t parameters, AdamWConfig config = {})
      : config_(config),
        adam_(parameters, {.learning_rate = config.learning_rate,
                           .beta1 = config.beta1,
                           .beta2 = config.beta2,
                           .epsilon = config.epsilon,
                           .max_gradient_norm = config.max_gradient_norm}) {}

  /// One step, see Optimiser.
  Status step(std::span<S> parameters, std::span<const S> gradients) {
    const Result<double> norm =
        detail::checked_norm("AdamW", adam_.first_moment().size(), parameters, gradients);
    if (!norm) return norm.error();
    using V = simd::Vec<S>;
    const V kept = simd::broadcast(static_cast<S>(1.0 - config_.learning_rate * config_.weight_decay));
    simd::map<false>(
        parameters.size(), parameters.data(), [kept](V p) { return p * kept; },
        static_cast<const S*>(parameters.data()));
    return adam_.step(parameters, gradients);
  }

  const AdamWConfig& config() const noexcept { return config_; }
  void set_learning_rate(double rate) noexcept {
    config_.learning_rate = rate;
    adam_.set_learning_rate(rate);
  }
  /// Norm of the gradient of the last successful step, before clipping.
  double gradient_norm() const noexcept { return adam_.gradient_norm(); }

  /// State for checkpoints, as Adam's.
  std::span<const S> first_moment() const noexcept { return adam_.first_moment(); }
  std::span<const S> second_moment() const noexcept { return adam_.second_moment(); }
  std::uint64_t steps() const noexcept { return adam_.steps(); }
  /// Puts a saved state back; sizes that differ are an error and change nothing.
  Status restore(std::span<const S> first, std::span<const S> second, std::uint64_t steps) {
    const std::size_t size = adam_.first_moment().size();
    if (Status fits = detail::check_moments("AdamW", first.size(), size, second.size(), size); !fits)
      return fits;
    return adam_.restore(first, second, steps);
  }

 private:
  AdamWConfig config_;
  Adam<S> adam_;
};

}  // namespace mara
