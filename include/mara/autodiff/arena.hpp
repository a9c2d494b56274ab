#pragma once
// Bump allocation for the tape: memory is handed out in order and kept when the tape is cleared.

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace mara {

/// Hands out 64-byte aligned blocks. clear() forgets all blocks but keeps the memory, so that a program that
/// asks for the same sizes again allocates nothing.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;

  /// Uninitialised room for `count` objects of the trivial type T, aligned to 64 bytes; valid until clear().
  template <class T>
  T* allocate(std::size_t count) {
    return static_cast<T*>(allocate_bytes(count * sizeof(T)));
  }

  /// Forgets every block; keeps the memory.
  void clear() noexcept {
    chunk_ = 0;
    used_ = 0;
  }

  /// Bytes held, used or not.
  std::size_t capacity() const noexcept {
    std::size_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.size;
    return total;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete (memory, std::align_val_t{kAlignment});
    }
  };
  struct Chunk {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size = 0;
  };
  static constexpr std::size_t kFirstChunk = std::size_t{1} << 16;

  void* allocate_bytes(std::size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    while (chunk_ < chunks_.size()) {
      if (bytes <= chunks_[chunk_].size - used_) {
        void* block = chunks_[chunk_].memory.get() + used_;
        used_ += bytes;
        return block;
      }
      ++chunk_;
      used_ = 0;
    }
    // Doubling keeps the number of chunks logarithmic in the memory needed.
    std::size_t size = chunks_.empty() ? kFirstChunk : chunks_.back().size * 2;
    while (size < bytes) size *= 2;
    auto* memory = static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment}));
    chunks_.push_back(Chunk{std::unique_ptr<std::byte, Free>(memory), size});
    used_ = bytes;
    return memory;
  }

  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0;  ///< chunk that serves the next request
  std::size_t used_ = 0;   ///< bytes used in it
};

}  // namespace mara
