#pragma once
// The smaller and the larger of two. <algorithm> has them too, and would be half of what a program that
// deploys an actor compiles.

namespace mara {

/// The smaller of two; the first when they are equal or one is NaN.
template <class T>
constexpr T smaller(T a, T b) noexcept {
  return b < a ? b : a;
}
/// The larger of two; the first when they are equal or one is NaN.
template <class T>
constexpr T larger(T a, T b) noexcept {
  return a < b ? b : a;
}

}  // namespace mara
