#pragma once
// Numbers of an action as independent normal numbers: their density, and how they come to lie within bounds.

#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/action/action_shape.hpp"
#include "mara/core/libm.hpp"
#include "mara/math/elementary.hpp"
#include "mara/math/reduce.hpp"

namespace mara {

/// How the box part comes from normal numbers.
enum class BoxKind : std::uint8_t {
  kGaussian,      ///< numbers are normal; bounds cut what is handed to the game, not the log-probability
  kTanhGaussian,  ///< tanh of normal numbers, stretched to the bounds (Haarnoja et al. 2018, appendix C)
};

/// (ln 2 pi) / 2: minus the log-density of a standard normal number at 0; its entropy is half more.
inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

/// Log-density of latent[count] under independent normals with means[count] and logarithms of standard
/// deviations log_std[count].
template <class S>
S normal_log_density(const S* means, const S* log_std, const S* latent, std::size_t count) noexcept {
  using V = simd::Vec<S>;
  const auto term = [](V u, V mean, V s) {
    const V z = (u - mean) * simd::exp(s * simd::broadcast(S(-1)));
    return (z * z) * simd::broadcast(S(-0.5));
  };
  const S squares = math::detail::sum_terms<S>(count, term, latent, means, log_std);
  return squares +
         (math::sum(log_std, count) * S(-1) + static_cast<S>(-kHalfLogTwoPi * static_cast<double>(count)));
}

/// KL(p || q) of one normal number, from means and logarithms of standard deviations.
inline double normal_kl_divergence(double mean, double log_std, double other_mean,
                                   double other_log_std) noexcept {
  const double wider = log_std - other_log_std;
  const double away = (mean - other_mean) * libm::exp(-other_log_std);
  return 0.5 * (libm::exp(2.0 * wider) + away * away - 1.0) - wider;
}

/// Sum over numbers of log(d number / d latent): 0 for kGaussian; for kTanhGaussian of log(1 - tanh^2 u) = 2
/// (log 2 - u - softplus(-2 u)), which loses no digits to cancellation, and of log((high - low) / 2).
template <class S>
S box_log_slope(BoxKind kind, std::span<const ActionBounds> box, const S* latent) noexcept {
  if (kind != BoxKind::kTanhGaussian) return S(0);
  constexpr double kLogTwo = 0.69314718055994530942;
  double total = 0.0;
  for (std::size_t k = 0; k < box.size(); ++k) {
    // The slope of tanh is even: with |u| the exponential cannot overflow.
    const double u = libm::fabs(static_cast<double>(latent[k]));
    total += 2.0 * (kLogTwo - u - libm::log1p(libm::exp(-2.0 * u)));
    total += libm::log(0.5 * (static_cast<double>(box[k].high) - static_cast<double>(box[k].low)));
  }
  return static_cast<S>(total);
}

/// Numbers for the game, within the bounds, from latent ones.
template <class S>
void box_numbers(BoxKind kind, std::span<const ActionBounds> box, const S* latent, S* numbers) noexcept {
  for (std::size_t k = 0; k < box.size(); ++k) {
    const double low = static_cast<double>(box[k].low), high = static_cast<double>(box[k].high);
    double x = static_cast<double>(latent[k]);
    if (kind == BoxKind::kTanhGaussian) {
      const double t = libm::tanh(x);
      x = 0.5 * (low * (1.0 - t) + high * (1.0 + t));
    }
    numbers[k] = static_cast<S>(x < low ? low : high < x ? high : x);
  }
}

}  // namespace mara
