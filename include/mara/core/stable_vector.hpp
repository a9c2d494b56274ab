#pragma once
// A growing array whose elements never move.

#include <cstddef>
#include <memory>
#include <vector>

namespace mara {

/// Elements 0, 1, ... with references that stay valid when it grows; access costs two loads.
template <class T, std::size_t kChunk = 64>
class StableVector {
  static_assert((kChunk & (kChunk - 1)) == 0, "StableVector: kChunk must be a power of two");

 public:
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](std::size_t i) const noexcept { return chunks_[i / kChunk][i % kChunk]; }
  /// Appends an element of default value.
  void grow() {
    if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<T[]>(kChunk));
    ++size_;
  }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace mara
