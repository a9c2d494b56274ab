#pragma once
// A sort that needs no <algorithm>, allocates nothing and is stable.

#include <cstddef>

namespace mara {

/// Sorts values[count] so that no less(later, earlier); equal values keep their order. scratch: room for
/// `count` values. Of O(count log count) whatever the order was. T is copied freely: indices, say. Runs of a
/// few values are sorted by insertion, then merged pairwise.
template <class T, class Less>
void merge_sort(T* values, T* scratch, std::size_t count, const Less& less) {
  constexpr std::size_t kRun = 16;
  for (std::size_t begin = 0; begin < count; begin += kRun) {
    const std::size_t end = begin + kRun < count ? begin + kRun : count;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const T value = values[i];
      std::size_t at = i;
      for (; at > begin && less(value, values[at - 1]); --at) values[at] = values[at - 1];
      values[at] = value;
    }
  }
  T* from = values;
  T* to = scratch;
  for (std::size_t run = kRun; run < count; run *= 2) {
    for (std::size_t begin = 0; begin < count; begin += 2 * run) {
      const std::size_t middle = begin + run < count ? begin + run : count;
      const std::size_t end = middle + run < count ? middle + run : count;
      std::size_t left = begin, right = middle, at = begin;
      while (left < middle && right < end) {
        const bool take_right = less(from[right], from[left]);
        to[at++] = take_right ? from[right] : from[left];
        right += take_right;
        left += !take_right;
      }
      while (left < middle) to[at++] = from[left++];
      while (right < end) to[at++] = from[right++];
    }
    T* const swapped = from;
    from = to;
    to = swapped;
  }
  if (from != values)
    for (std::size_t i = 0; i < count; ++i) values[i] = from[i];
}

}  // namespace mara
