#pragma once
// Memory that begins on a cache line, where vector loads are fastest.

#include <cstddef>
#include <new>
#include <vector>

namespace mara {

/// Allocator whose blocks begin on 64-byte boundaries.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, kAlignment); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) noexcept { return true; }
};

/// A std::vector that begins on a 64-byte boundary.
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace mara
