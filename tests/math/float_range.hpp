#pragma once
// A walk through all of float, and the worst error of a function on it.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace mara_test {

/// Every 4099th bit pattern of float (NaN and infinities among them), all powers of two, and the numbers at
/// which something changes.
inline const std::vector<float>& float_range() {
  static const std::vector<float> range = [] {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    std::vector<float> x = {0.0f,
                            -0.0f,
                            kInf,
                            -kInf,
                            std::numeric_limits<float>::quiet_NaN(),
                            std::bit_cast<float>(0xffffffffu),
                            std::bit_cast<float>(0x7f800001u),
                            std::bit_cast<float>(0x7fabcdefu),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::lowest()};
    for (const float edge :
         {1.17549435e-38f, 1e-45f, 1.0f, 0.41421356f, 0.70710677f, 1.41421354f, 14.0f, 25.0f, 3.92f, 8.8f,
          87.3365479f, 87.4f, 88.7228317f, 88.7228394f, 88.8f, 103.97f}) {
      for (const float sign : {1.0f, -1.0f}) {
        float below = sign * edge, above = below;
        for (int i = 0; i < 4; ++i) {
          x.push_back(below);
          x.push_back(above);
          below = std::nextafter(below, -kInf);
          above = std::nextafter(above, kInf);
        }
      }
    }
    for (std::uint32_t exponent = 0; exponent < 512; ++exponent)
      x.push_back(std::bit_cast<float>(exponent << 23));
    for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 4099)
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    return x;
  }();
  return range;
}

struct WorstError {
  double relative = 0.0;   ///< where the exact value is a normal float
  double absolute = 0.0;   ///< there
  double subnormal = 0.0;  ///< elsewhere, in units of the smallest normal float
  float at = 0.0f;         ///< of the worst relative error
  std::size_t wrong = 0;   ///< NaN or infinity in the wrong place
  float wrong_at = 0.0f;
};

/// f(in, count, out) in float against reference(double) on the numbers of float_range() that `keep` accepts.
template <class F, class Reference, class Keep>
WorstError worst_error(const F& f, const Reference& reference, const Keep& keep) {
  std::vector<float> x, y;
  for (const float v : float_range())
    if (keep(v)) x.push_back(v);
  y.resize(x.size());
  f(x.data(), x.size(), y.data());
  WorstError worst;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = reference(static_cast<double>(x[i]));
    const float rounded = static_cast<float>(exact);
    if (!std::isfinite(rounded) || !std::isfinite(y[i])) {
      if (!(std::isnan(rounded) ? std::isnan(y[i]) : y[i] == rounded)) {
        worst.wrong_at = x[i];
        ++worst.wrong;
      }
      continue;
    }
    const double error = std::fabs(static_cast<double>(y[i]) - exact);
    constexpr double kNormal = std::numeric_limits<float>::min();
    if (std::fabs(exact) < kNormal) {
      worst.subnormal = std::max(worst.subnormal, error / kNormal);
      continue;
    }
    worst.absolute = std::max(worst.absolute, error);
    if (error / std::fabs(exact) > worst.relative) {
      worst.relative = error / std::fabs(exact);
      worst.at = x[i];
    }
  }
  return worst;
}
template <class F, class Reference>
WorstError worst_error(const F& f, const Reference& reference) {
  return worst_error(f, reference, [](float) { return true; });
}

}  // namespace mara_test
