#pragma once
// A priority queue whose entries can be moved and removed.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mara {

/// Minimum heap of (key, item) with items 0, 1, ...: lower key first, equal keys by the lower tie number.
/// Each item is in it at most once. Push, update and erase cost O(log n); memory is O(largest item).
class IndexedHeap {
 public:
  struct Entry {
    double key;
    std::uint64_t tie;
    std::uint32_t item;
  };

  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  const Entry& top() const noexcept { return heap_.front(); }
  bool contains(std::uint32_t item) const noexcept { return item < place_.size() && place_[item] != kAbsent; }

  /// Inserts the item, or gives it a new key. `key` is not NaN.
  void set(std::uint32_t item, double key, std::uint64_t tie) {
    if (item >= place_.size()) place_.resize(item + std::size_t{1}, kAbsent);
    std::size_t at = place_[item];
    if (at == kAbsent) {
      at = heap_.size();
      heap_.push_back({key, tie, item});
      place_[item] = static_cast<std::uint32_t>(at);
    } else {
      heap_[at].key = key;
      heap_[at].tie = tie;
    }
    sift_down(sift_up(at));
  }

  /// Takes the item out; harmless when it is not in.
  void erase(std::uint32_t item) noexcept {
    if (!contains(item)) return;
    const std::size_t at = place_[item];
    place_[item] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    put(at, last);
    sift_down(sift_up(at));
  }
  void pop() noexcept { erase(heap_.front().item); }
  void clear() noexcept {
    for (const Entry& entry : heap_) place_[entry.item] = kAbsent;
    heap_.clear();
  }

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  static bool before(const Entry& a, const Entry& b) noexcept {
    return a.key < b.key || (a.key == b.key && a.tie < b.tie);
  }
  void put(std::size_t at, const Entry& entry) noexcept {
    heap_[at] = entry;
    place_[entry.item] = static_cast<std::uint32_t>(at);
  }
  std::size_t sift_up(std::size_t at) noexcept {
    const Entry entry = heap_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (!before(entry, heap_[parent])) break;
      put(at, heap_[parent]);
      at = parent;
    }
    put(at, entry);
    return at;
  }
  void sift_down(std::size_t at) noexcept {
    const Entry entry = heap_[at];
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], entry)) break;
      put(at, heap_[child]);
      at = child;
    }
    put(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> place_;  // by item
};

}  // namespace mara
