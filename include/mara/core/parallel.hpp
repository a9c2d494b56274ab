#pragma once
// A fixed team of threads for loops whose iterations are independent.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace mara {

/// Runs body(i) for i in [0, count) on up to `threads` threads. Which thread runs which index is unspecified;
/// results are the same for any number of threads when iterations do not share state. threads <= 1 runs in
/// the caller. A ThreadPool keeps its threads between calls.
class ThreadPool {
 public:
  /// The caller of for_each is one of the threads. Counts outside [1, 1024] are moved to the nearest of
  /// these; when the system refuses a thread the pool goes on with those it has.
  explicit ThreadPool(int threads);
  /// Ends the threads. No for_each may be running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// Returns when every body(i) has returned; what the bodies wrote is then visible to the caller. Indices
  /// are handed out in blocks, in rising order. A body must not throw (the program ends). Calls from several
  /// threads wait for one another; a call from inside a body runs in that thread alone.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& body);

 private:
  void work();
  void take_blocks() noexcept;
  /// True on a thread that is at present inside a body of any pool.
  static bool& inside() noexcept {
    thread_local bool flag = false;
    return flag;
  }

  std::mutex call_mutex_;  ///< one loop at a time
  std::mutex mutex_;       ///< guards round_, busy_, stop_ and the start of a round
  std::condition_variable started_, finished_;
  std::uint64_t round_ = 0;
  std::size_t busy_ = 0;  ///< workers that have not yet finished this round
  bool stop_ = false;

  // The loop of the present round; written before the round starts.
  const std::function<void(std::size_t)>* body_ = nullptr;
  std::size_t count_ = 0, block_ = 1;
  std::atomic<std::size_t> next_block_{0};

  std::vector<std::thread> workers_;
};

inline ThreadPool::ThreadPool(int threads) {
  const int extra = std::clamp(threads, 1, 1024) - 1;
  workers_.reserve(static_cast<std::size_t>(extra));
  try {
    for (int i = 0; i < extra; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // Out of threads: slower, and otherwise the same.
  }
}

inline ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  started_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

inline void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (count == 0) return;
  if (workers_.empty() || count == 1 || inside()) {
    const auto serial = [&]() noexcept {
      for (std::size_t i = 0; i < count; ++i) body(i);
    };
    serial();
    return;
  }
  const std::lock_guard call(call_mutex_);
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    count_ = count;
    block_ = std::max<std::size_t>(1, count / (8 * (workers_.size() + 1)));  // few fetches, even finish
    next_block_.store(0, std::memory_order_relaxed);
    busy_ = workers_.size();
    ++round_;
  }
  started_.notify_all();
  take_blocks();
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return busy_ == 0; });
}

inline void ThreadPool::work() {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      started_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take_blocks();
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) finished_.notify_one();
  }
}

inline void ThreadPool::take_blocks() noexcept {
  inside() = true;
  const std::size_t blocks = (count_ - 1) / block_ + 1;
  for (;;) {
    const std::size_t index = next_block_.fetch_add(1, std::memory_order_relaxed);
    if (index >= blocks) break;
    const std::size_t first = index * block_;
    const std::size_t last = std::min(count_ - first, block_) + first;
    for (std::size_t i = first; i < last; ++i) (*body_)(i);
  }
  inside() = false;
}

}  // namespace mara
