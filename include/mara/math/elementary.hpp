#pragma once
// Elementary functions over arrays.

#include <cmath>
#include <cstddef>

namespace mara::math {

/// out[i] = e^in[i].
template <class S>
void exp(const S* in, std::size_t count, S* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::exp(in[i]);
}

/// out[i] = ln in[i].
template <class S>
void log(const S* in, std::size_t count, S* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::log(in[i]);
}

/// out[i] = tanh in[i].
template <class S>
void tanh(const S* in, std::size_t count, S* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::tanh(in[i]);
}

/// out[i] = 1 / (1 + e^-in[i]).
template <class S>
void sigmoid(const S* in, std::size_t count, S* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = S(1) / (S(1) + std::exp(-in[i]));
}

}  // namespace mara::math
