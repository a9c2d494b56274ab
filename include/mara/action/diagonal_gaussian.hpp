#pragma once
// Box actions: independent normal distributions whose standard deviations do not depend on the state.

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "mara/core/random.hpp"
#include "mara/math/random_batch.hpp"
#include "mara/math/simd.hpp"
#include "mara/math/transform.hpp"

namespace mara {

/// Distribution of actions of kActions numbers around means that a network gives: N(mean_k, exp(log_std_k)^2)
/// for each component. Batches are row-major [rows x kActions], log-probabilities are natural logarithms of
/// densities. Actions are not bounded; whoever acts on them cuts them.
template <std::size_t kActions>
struct DiagonalGaussian {
  static_assert(kActions >= 1, "DiagonalGaussian: an action needs at least one number");
  using LogStd = std::span<const float, kActions>;
  static constexpr std::size_t kW = simd::kLanes<float>;
  static constexpr double kHalfLogTwoPi = 0.91893853320467274178;

  /// Differential entropy, nats: sum of log_std + (1 + ln 2 pi) / 2.
  static double entropy(LogStd log_std) noexcept {
    double total = 0.0;
    for (const float s : log_std) total += static_cast<double>(s) + 0.5 + kHalfLogTwoPi;
    return total;
  }

  /// noise[rows x kActions] in: standard normal numbers; out: what to add to the means.
  /// log_probabilities[rows]: those of mean + noise, whatever the mean is.
  static void scale_noise(LogStd log_std, float* noise, std::size_t rows, float* log_probabilities) noexcept {
    const Scales s(log_std);
    for (std::size_t r = 0; r < rows; r += kW) {
      const std::size_t lanes = rows - r < kW ? rows - r : kW;
      simd::VecF squares = {};
      for (std::size_t k = 0; k < kActions; ++k) {
        const simd::VecF z = component(noise + r * kActions, k, lanes);
        squares = simd::fma(z, z, squares);
        set_component(noise + r * kActions, k, lanes, z * simd::broadcast(s.std[k]));
      }
      store_log_probability(squares, s.constant, log_probabilities + r, lanes);
    }
  }

  /// Draws actions[rows x kActions] around means, and their log-probabilities [rows].
  static void sample(Random& random, const float* means, LogStd log_std, std::size_t rows, float* actions,
                     float* log_probabilities) noexcept {
    math::fill_normals(random, actions, rows * kActions);
    scale_noise(log_std, actions, rows, log_probabilities);
    simd::map<true>(
        rows * kActions, actions, [](simd::VecF m) { return m; }, means);
  }

  /// log_probabilities[rows] of actions[rows x kActions] around means.
  static void log_probabilities(const float* means, LogStd log_std, const float* actions, std::size_t rows,
                                float* log_probabilities) noexcept {
    const Scales s(log_std);
    for (std::size_t r = 0; r < rows; r += kW) {
      const std::size_t lanes = rows - r < kW ? rows - r : kW;
      simd::VecF squares = {};
      for (std::size_t k = 0; k < kActions; ++k) {
        const simd::VecF z =
            (component(actions + r * kActions, k, lanes) - component(means + r * kActions, k, lanes)) *
            simd::broadcast(s.inverse_std[k]);
        squares = simd::fma(z, z, squares);
      }
      store_log_probability(squares, s.constant, log_probabilities + r, lanes);
    }
  }

  /// What all rows share.
  struct Scales {
    std::array<float, kActions> std{}, inverse_std{};
    float constant = 0.0f;  ///< log-density at the mean

    explicit Scales(LogStd log_std) noexcept {
      double total = 0.0;
      for (std::size_t k = 0; k < kActions; ++k) {
        const double s = static_cast<double>(log_std[k]);
        std[k] = static_cast<float>(std::exp(s));
        inverse_std[k] = static_cast<float>(std::exp(-s));
        total -= s + kHalfLogTwoPi;
      }
      constant = static_cast<float>(total);
    }
  };

  /// Component k of `lanes` rows from `rows` on, one in each lane, 0 in the others.
  MARA_INLINE static simd::VecF component(const float* rows, std::size_t k, std::size_t lanes) noexcept {
    if constexpr (kActions == 1) {
      return simd::load_partial(rows, lanes);
    } else {
      simd::VecF v = {};
      for (std::size_t i = 0; i < lanes; ++i) v[i] = rows[i * kActions + k];
      return v;
    }
  }
  MARA_INLINE static void set_component(float* rows, std::size_t k, std::size_t lanes,
                                        simd::VecF v) noexcept {
    if constexpr (kActions == 1) {
      simd::store_partial(rows, v, lanes);
    } else {
      for (std::size_t i = 0; i < lanes; ++i) rows[i * kActions + k] = v[i];
    }
  }

 private:
  MARA_INLINE static void store_log_probability(simd::VecF squares, float constant, float* out,
                                                std::size_t lanes) noexcept {
    simd::store_partial(out, simd::fma(simd::broadcast(-0.5f), squares, simd::broadcast(constant)), lanes);
  }
};

}  // namespace mara
