#pragma once
// The policy loss of PPO for Gaussian policies as one operation on the tape.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "mara/action/diagonal_gaussian.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/math/reduce.hpp"

namespace mara {

/// Steps that a policy loss is taken over: actions [rows x kActions], and a number a row of the others.
/// Memory of the caller, unchanged until backward() is done.
struct GaussianPolicyBatch {
  const float* actions = nullptr;
  const float* old_log_probabilities = nullptr;  ///< under the policy that acted
  const float* advantages = nullptr;
  std::size_t rows = 0;
};

/// What a policy loss was made of, means over its rows.
struct GaussianPolicyLoss {
  Var loss;  ///< 1 x 1: -mean(min(ratio A, clip(ratio) A)) - entropy_weight * entropy
  double approximate_kl = 0.0;
};

namespace detail {
struct GaussianPolicyGradient {
  float* means;    ///< [rows x kActions] d loss / d means
  float* log_std;  ///< [kActions]
};
/// 1 in the first `lanes` lanes, 0 in the others.
MARA_INLINE simd::VecF ones(std::size_t lanes) noexcept {
  static constexpr auto kOnes = [] {
    std::array<float, simd::kLanes<float>> ones{};
    ones.fill(1.0f);
    return ones;
  }();
  return simd::load_partial(kOnes.data(), lanes);
}
}  // namespace detail

/// The clipped surrogate (Schulman et al., "Proximal policy optimization algorithms", 2017, eq. 7) and the
/// bonus for entropy. means: [rows x kActions] on the tape, log_std: [1 x kActions]. Values and both
/// gradients come from one sweep over the rows. Where both terms of the minimum are equal the gradient of the
/// first is taken. Shapes that do not agree: see TapeCore::status.
template <std::size_t kActions>
GaussianPolicyLoss gaussian_policy_loss(Tape<float>& tape, Var means, Var log_std,
                                        const GaussianPolicyBatch& batch, float clip, float entropy_weight) {
  using Policy = DiagonalGaussian<kActions>;
  using simd::VecF;
  if (!tape.known("gaussian_policy_loss", means) || !tape.known("gaussian_policy_loss", log_std)) return {};
  if (tape.rows(means) != batch.rows || tape.cols(means) != kActions ||
      tape.value(log_std).size() != kActions)
    return {
        tape.fail("gaussian_policy_loss", "means " + tape.shape(means) + ", log_std " + tape.shape(log_std) +
                                              ", rows " + std::to_string(batch.rows) + ", actions of " +
                                              std::to_string(kActions) + " numbers"),
        0.0};
  auto made = tape.fresh(1, 1, means, log_std);
  auto* kept = tape.arena().template allocate<detail::GaussianPolicyGradient>(1);
  kept->means = tape.arena().template allocate<float>(batch.rows * kActions);
  kept->log_std = tape.arena().template allocate<float>(kActions);
  made.node.data = kept;

  const auto c = [](float value) { return simd::broadcast(value); };
  const auto s = tape.value(log_std).template first<kActions>();
  const typename Policy::Scales scales(s);
  const VecF low = c(1.0f - clip), high = c(1.0f + clip);
  const VecF minus_share = c(-1.0f / static_cast<float>(batch.rows));
  const float* mean = tape.value(means).data();
  VecF objective = {}, divergence = {}, log_std_sums[kActions] = {};
  for (std::size_t r = 0; r < batch.rows; r += Policy::kW) {
    const std::size_t lanes = std::min(Policy::kW, batch.rows - r);
    VecF z[kActions], squares = {};
    for (std::size_t k = 0; k < kActions; ++k) {
      z[k] = (Policy::component(batch.actions + r * kActions, k, lanes) -
              Policy::component(mean + r * kActions, k, lanes)) *
             c(scales.inverse_std[k]);
      squares = simd::fma(z[k], z[k], squares);
    }
    const VecF log_probability = simd::fma(c(-0.5f), squares, c(scales.constant));
    const VecF log_ratio = log_probability - simd::load_partial(batch.old_log_probabilities + r, lanes);
    const VecF ratio = simd::exp(log_ratio);
    const VecF advantage = simd::load_partial(batch.advantages + r, lanes);
    const VecF whole = ratio * advantage;
    const VecF clipped = simd::max(low, simd::min(high, ratio)) * advantage;
    const auto cut = whole > clipped;
    const VecF within = detail::ones(lanes);
    // Where the probabilities are NaN, `cut` is false and the loss becomes NaN.
    objective += simd::select(within > VecF{}, simd::select(cut, clipped, whole), VecF{});
    divergence += simd::select(within > VecF{}, (ratio - c(1.0f)) - log_ratio, VecF{});
    const VecF slope = simd::select(cut, VecF{}, whole) * minus_share;  // d loss / d log-probability
    for (std::size_t k = 0; k < kActions; ++k) {
      Policy::set_component(kept->means + r * kActions, k, lanes, slope * z[k] * c(scales.inverse_std[k]));
      log_std_sums[k] += simd::select(within > VecF{}, slope * simd::fma(z[k], z[k], c(-1.0f)), VecF{});
    }
  }
  for (std::size_t k = 0; k < kActions; ++k)
    kept->log_std[k] = math::detail::sum_lanes<float>(log_std_sums[k]) - entropy_weight;
  const float rows = static_cast<float>(batch.rows);
  made.out[0] = -math::detail::sum_lanes<float>(objective) / rows -
                entropy_weight * static_cast<float>(Policy::entropy(s));

  made.node.backward = [](TapeCore<float>& core, const TapeCore<float>::Node& node) {
    const auto& gradient = *static_cast<const detail::GaussianPolicyGradient*>(node.data);
    const VecF factor = simd::broadcast(node.gradient[0]);
    const auto scaled = [factor](VecF g) { return factor * g; };
    core.add_gradient(node.a, scaled, static_cast<const float*>(gradient.means));
    core.add_gradient(node.b, scaled, static_cast<const float*>(gradient.log_std));
  };
  return {tape.push(made.node), static_cast<double>(math::detail::sum_lanes<float>(divergence) / rows)};
}

/// values[count] to mean 0 and standard deviation 1, in place: (x - mean) / (deviation + 1e-8).
inline void normalise(float* values, std::size_t count) noexcept {
  if (count == 0) return;
  using simd::VecF;
  const float mean = math::sum(values, count) / static_cast<float>(count);
  const VecF m = simd::broadcast(mean);
  simd::transform(values, count, values, [m](VecF x) { return x - m; });
  const double variance = math::sum_of_squares(values, count) / static_cast<double>(count);
  const VecF scale = simd::broadcast(static_cast<float>(1.0 / (std::sqrt(variance) + 1e-8)));
  simd::transform(values, count, values, [scale](VecF x) { return x * scale; });
}

/// A_t = delta_t + gamma lambda A_{t+1} as in accumulate_advantages(), for `environments` side by side:
/// deltas[steps x environments], in place. keep[steps x environments]: 0 where the episode ended with that
/// step, otherwise 1.
inline void accumulate_advantages_of_batch(float* deltas, const float* keep, std::size_t steps,
                                           std::size_t environments, float gamma, float lambda) noexcept {
  constexpr std::size_t kW = simd::kLanes<float>;
  const simd::VecF decay = simd::broadcast(gamma * lambda);
  for (std::size_t e = 0; e < environments; e += kW) {
    const std::size_t lanes = std::min(kW, environments - e);
    simd::VecF running = {};
    for (std::size_t t = steps; t-- > 0;) {
      const std::size_t at = t * environments + e;
      running = simd::fma(decay * simd::load_partial(keep + at, lanes), running,
                          simd::load_partial(deltas + at, lanes));
      simd::store_partial(deltas + at, running, lanes);
    }
  }
}

}  // namespace mara
