#pragma once
// Signals: how well a sampled option agrees with the flow, one number per agent and step.

#include <algorithm>
#include <cmath>
#include <concepts>

namespace mara::guidance {

/// What a signal is computed from. The *sampled* option counts, not what the arbiter granted in the end
/// (otherwise agents would free-ride by asking for nothing).
struct SignalInput {
  const float* endpoint = nullptr;      ///< x1^, kOptions numbers
  const float* distribution = nullptr;  ///< q, kOptions numbers
  int options = 0;
  int current = 0;  ///< option held before
  int sampled = 0;
};

/// log q(a), floored at -10 so that one option that the field excludes cannot dominate.
struct LogLikelihood {
  static float measure(const SignalInput& in) noexcept {
    return std::max(-10.0f, std::log(in.distribution[in.sampled]));
  }
};

/// 2 <df, da> - |da|^2 with df = x1^ - e_current, da = e_sampled - e_current: the decrease of the squared
/// distance to the endpoint that the option achieves.
struct DistanceReduction {
  static float measure(const SignalInput& in) noexcept {
    if (in.sampled == in.current) return 0.0f;
    const float toward = in.endpoint[in.sampled] - (in.endpoint[in.current] - 1.0f);
    return 2.0f * toward - 2.0f;
  }
};

/// cos(df, da), 0 when either is shorter than 1e-6. Kept because the literature names it; it rewards moving
/// for its own sake, so agents toggle. Prefer the others.
struct Cosine {
  static float measure(const SignalInput& in) noexcept {
    if (in.sampled == in.current) return 0.0f;
    float norm = 0.0f;
    for (int a = 0; a < in.options; ++a) {
      const float d = in.endpoint[a] - (a == in.current ? 1.0f : 0.0f);
      norm += d * d;
    }
    if (!(norm > 1e-12f)) return 0.0f;
    const float inner = in.endpoint[in.sampled] - (in.endpoint[in.current] - 1.0f);
    return inner / (std::sqrt(norm) * std::sqrt(2.0f));
  }
};

/// S::measure(input) -> float, finite for finite inputs.
template <class S>
concept Signal = requires(const SignalInput& in) {
  { S::measure(in) } -> std::same_as<float>;
};

}  // namespace mara::guidance
