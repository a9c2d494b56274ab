#pragma once
// A fixed team of threads for loops whose iterations are independent.

#include <cstddef>
#include <functional>

namespace mara {

/// Runs body(i) for i in [0, count) on up to `threads` threads. Which thread runs which index is unspecified;
/// results are the same for any number of threads when iterations do not share state. threads <= 1 runs in the
/// caller. A ThreadPool keeps its threads between calls.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int threads() const noexcept;
  void for_each(std::size_t count, const std::function<void(std::size_t)>& body);
};

}  // namespace mara
