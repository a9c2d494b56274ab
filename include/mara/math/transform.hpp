#pragma once
// Loops over arrays, a vector at a time. Full vectors and the shorter last one run through the same
// arithmetic, so the bits of an element depend neither on its place nor on its alignment.

#include <cstddef>

#include "mara/math/simd.hpp"

namespace mara::simd {

/// out[i] = f(in[i], ...) for `count` numbers, or out[i] += f(in[i], ...) when kAdd. f takes and gives
/// vectors; its value for the lanes beyond the end, where it sees zeros, is dropped. out may be one of the
/// arrays read.
template <bool kAdd, class S, class F, class... In>
MARA_INLINE void map(std::size_t count, S* out, F&& f, const In*... in) noexcept {
  constexpr std::size_t kW = kLanes<S>;
  std::size_t i = 0;
  for (; i + kW <= count; i += kW) {
    Vec<S> y = f(load(in + i)...);
    if constexpr (kAdd) y = load(out + i) + y;
    store(out + i, y);
  }
  if (i < count) {
    const std::size_t lanes = count - i;
    Vec<S> y = f(load_partial(in + i, lanes)...);
    if constexpr (kAdd) y = load_partial(out + i, lanes) + y;
    store_partial(out + i, y, lanes);
  }
}

/// out[i] = f(in[i]) for `count` numbers; in and out may be the same array.
template <class S, class F>
MARA_INLINE void transform(const S* in, std::size_t count, S* out, F&& f) noexcept {
  map<false>(count, out, f, in);
}

}  // namespace mara::simd
