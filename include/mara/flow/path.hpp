#pragma once
// Probability paths and couplings of conditional flow matching.

#include <cstddef>

#include "mara/core/random.hpp"

namespace mara {

/// The straight path x_t = (1-t) x0 + t x1 + sigma e, e ~ N(0, I), whose target velocity is x1 - x0 (Lipman
/// et al. 2023; Tong et al. 2024, eq. 14-15). x0 and x1 are drawn independently of each other (I-CFM) by the
/// caller.
struct LinearPath {
  float sigma = 0.0f;

  /// Writes x_t and the target velocity, `extent` numbers each.
  void sample(const float* x0, const float* x1, float t, std::size_t extent, Random& random, float* x_t,
              float* velocity) const noexcept {
    for (std::size_t i = 0; i < extent; ++i) {
      x_t[i] = (1.0f - t) * x0[i] + t * x1[i];
      if (sigma > 0.0f) x_t[i] += sigma * static_cast<float>(random.normal());
      velocity[i] = x1[i] - x0[i];
    }
  }
};

}  // namespace mara
