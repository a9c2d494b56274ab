#pragma once
// Running mean and variance of value targets.

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "mara/core/result.hpp"

namespace mara {

/// Normalises returns by an exponentially weighted mean and variance with correction of the bias of the start
/// (Yu et al., "The Surprising Effectiveness of PPO in Cooperative Multi-Agent Games", NeurIPS 2022, section
/// 3; the correction as in Adam). Statistics are kept in double, values are of type S.
template <class S>
class ValueNormaliser {
 public:
  /// All there is to it, for checkpoints.
  struct State {
    double mean = 0.0;         ///< weighted sum of batch means
    double mean_square = 0.0;  ///< weighted sum of batch means of squares
    double weight = 0.0;       ///< sum of the weights: 1 - beta^updates
    friend bool operator==(const State&, const State&) = default;
  };
  static constexpr double kVarianceFloor = 1e-2;

  /// beta in [0, 1): share of the old statistics kept at an update.
  explicit ValueNormaliser(double beta = 0.999) noexcept : beta_(beta) {}

  /// Takes one batch of returns into the statistics. An empty batch changes nothing; a value that is not
  /// finite is an error and changes nothing.
  Status update(std::span<const S> batch) {
    if (batch.empty()) return {};
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto x = static_cast<double>(batch[i]);
      if (!std::isfinite(x))
        return Error{ErrorCode::kNumerical,
                     "ValueNormaliser::update: batch[" + std::to_string(i) + "] is " + std::to_string(x)};
      sum += x;
      squares += x * x;
    }
    const auto count = static_cast<double>(batch.size());
    state_.mean = beta_ * state_.mean + (1.0 - beta_) * (sum / count);
    state_.mean_square = beta_ * state_.mean_square + (1.0 - beta_) * (squares / count);
    state_.weight = beta_ * state_.weight + (1.0 - beta_);
    return {};
  }

  /// Mean of the returns seen; 0 before the first update.
  double mean() const noexcept { return state_.weight > 0.0 ? state_.mean / state_.weight : 0.0; }
  /// Variance of the returns seen, at least kVarianceFloor; 1 before the first update.
  double variance() const noexcept {
    if (!(state_.weight > 0.0)) return 1.0;
    const double m = mean();
    const double v = state_.mean_square / state_.weight - m * m;
    return v > kVarianceFloor ? v : kVarianceFloor;
  }

  /// (x - mean) / standard deviation.
  S normalize(S x) const noexcept {
    return static_cast<S>((static_cast<double>(x) - mean()) / std::sqrt(variance()));
  }
  /// x * standard deviation + mean.
  S denormalize(S x) const noexcept {
    return static_cast<S>(static_cast<double>(x) * std::sqrt(variance()) + mean());
  }
  /// The same over arrays, in place.
  void normalize(std::span<S> values) const noexcept {
    const double m = mean(), inverse = std::sqrt(variance());
    for (S& x : values) x = static_cast<S>((static_cast<double>(x) - m) / inverse);
  }
  void denormalize(std::span<S> values) const noexcept {
    const double m = mean(), deviation = std::sqrt(variance());
    for (S& x : values) x = static_cast<S>(static_cast<double>(x) * deviation + m);
  }

  double beta() const noexcept { return beta_; }
  const State& state() const noexcept { return state_; }
  void set_state(const State& state) noexcept { state_ = state; }

 private:
  double beta_;
  State state_;
};

}  // namespace mara
