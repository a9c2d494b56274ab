#include "mara/nn/gradient_clip.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"

TEMPLATE_TEST_CASE("global norm clip: known values", "[nn][clip]", float, double) {  // case A14
  using S = TestType;
  std::vector<S> g = {S(3), S(4), S(12)};
  CHECK(mara::global_norm(std::span<const S>(g)) == 13.0);
  CHECK(mara::clip_by_global_norm(std::span<S>(g), 6.5) == 13.0);
  CHECK(g == std::vector<S>{S(1.5), S(2), S(6)});
  CHECK(mara::clip_by_global_norm(std::span<S>(g), 6.6) == 6.5);  // within: unchanged
  CHECK(mara::clip_by_global_norm(std::span<S>(g), 0.0) == 6.5);  // off
  CHECK(g == std::vector<S>{S(1.5), S(2), S(6)});
  g[0] = std::numeric_limits<S>::quiet_NaN();
  CHECK(std::isnan(mara::clip_by_global_norm(std::span<S>(g), 1.0)));
  CHECK(g[2] == S(6));
  std::vector<S> empty;
  CHECK(mara::clip_by_global_norm(std::span<S>(empty), 1.0) == 0.0);
}

TEMPLATE_TEST_CASE("several groups are clipped by one norm", "[nn][gradient_clip]", float, double) {
  using S = TestType;
  std::vector<S> first = {3, 4}, second = {12}, none;
  const std::span<S> a(first), b(second), c(none);
  CHECK(mara::clip_by_global_norm({a, b, c}, 6.5) == 13.0);
  CHECK(first == std::vector<S>{S(1.5), 2});
  CHECK(second == std::vector<S>{6});
  CHECK(mara::clip_by_global_norm({a, b}, 7.0) == 6.5);  // within: nothing happens
  CHECK(second[0] == S(6));
  CHECK(mara::clip_by_global_norm({a, b}, 0.0) == 6.5);  // clipping off
  second[0] = std::numeric_limits<S>::infinity();
  CHECK(std::isinf(mara::clip_by_global_norm({a, b}, 1.0)));
  CHECK(first == std::vector<S>{S(1.5), 2});
}
