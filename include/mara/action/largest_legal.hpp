#pragma once
// The best of some options.

#include <bit>

#include "mara/action/masked_categorical.hpp"
#include "mara/core/libm.hpp"

namespace mara::detail {

/// The option with the largest number among the legal ones, lowest index among equals; -1 when none is legal
/// or one of them is not finite. Bits of options that x has not must be 0. masked_mode() for numbers of any
/// type.
template <class S>
int largest_legal(const S* x, OptionMask legal) noexcept {
  int best = -1;
  for (; legal != 0; legal &= legal - 1) {
    const int a = std::countr_zero(legal);
    if (!libm::isfinite(x[a])) return -1;
    if (best < 0 || x[a] > x[best]) best = a;
  }
  return best;
}

}  // namespace mara::detail
