#pragma once
// The jobs that wait, sorted, by class of demand.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "mara/simulation/active_job.hpp"

namespace mara {

/// Waiting jobs in the order of (key, tie number), kept apart by demand class: when one job of a class does
/// not fit, no other of it does, and a pass drops the class at once. A pass over it therefore costs O(jobs
/// served
/// + classes), however many wait. Insert and erase cost O(log n).
class WaitingQueue {
 public:
  struct Entry {
    mutable double key = 0.0;  // rekey() changes it within the set, and restores the order
    std::uint64_t tie = 0;
    JobSlot slot = 0;
    std::uint32_t demand_class = 0;

    friend bool operator<(const Entry& a, const Entry& b) noexcept {
      return a.key < b.key || (a.key == b.key && a.tie < b.tie);
    }
  };

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  void insert(const Entry& entry) {
    if (entry.demand_class >= classes_.size()) classes_.resize(entry.demand_class + std::size_t{1});
    if (entry.slot >= entries_.size()) entries_.resize(entry.slot + std::size_t{1});
    Jobs& jobs = classes_[entry.demand_class];
    jobs.insert(jobs.end(), entry);  // most jobs come last
    entries_[entry.slot] = {entry, true};
    ++size_;
  }
  /// Takes a job out; harmless when it does not wait.
  void erase(JobSlot slot) {
    if (!contains(slot)) return;
    const Entry entry = entries_[slot].entry;
    classes_[entry.demand_class].erase(entry);
    entries_[slot].waits = false;
    --size_;
  }
  bool contains(JobSlot slot) const noexcept { return slot < entries_.size() && entries_[slot].waits; }

  /// Gives every job a new key; key_of(slot). Cheap where the new keys keep the old order.
  template <class KeyOf>
  void rekey(KeyOf&& key_of) {
    for (Jobs& jobs : classes_) {
      bool sorted = true;
      const Entry* before = nullptr;
      for (const Entry& entry : jobs) {
        entry.key = key_of(entry.slot);  // the order is mended below
        entries_[entry.slot].entry.key = entry.key;
        sorted = sorted && (before == nullptr || *before < entry);
        before = &entry;
      }
      if (sorted) continue;
      moved_.assign(jobs.begin(), jobs.end());
      std::sort(moved_.begin(), moved_.end());
      jobs.clear();
      jobs.insert(moved_.begin(), moved_.end());
    }
  }

  /// Whether any class's first job satisfies `test(entry)`.
  template <class Test>
  bool any_head(Test&& test) const {
    for (const Jobs& jobs : classes_)
      if (!jobs.empty() && test(*jobs.begin())) return true;
    return false;
  }

  /// Begins a pass over the classes for which `open(demand_class)` says true.
  template <class Open>
  void begin(Open&& open) {
    heads_.clear();
    for (std::uint32_t c = 0; c < classes_.size(); ++c)
      if (!classes_[c].empty() && open(c)) heads_.push_back({classes_[c].begin(), c});
    std::make_heap(heads_.begin(), heads_.end(), later);
  }
  /// The next job in order, or null at the end of the pass. It must be dealt with by one of the next three.
  const Entry* front() const noexcept { return heads_.empty() ? nullptr : &*heads_.front().at; }
  /// It stays in the queue; the pass goes on behind it.
  void skip() {
    Head head = pop_head();
    if (++head.at != classes_[head.demand_class].end()) push_head(head);
  }
  /// It has been served and leaves the queue.
  void take() {
    Head head = pop_head();
    const JobSlot slot = head.at->slot;
    head.at = classes_[head.demand_class].erase(head.at);
    entries_[slot].waits = false;
    --size_;
    if (head.at != classes_[head.demand_class].end()) push_head(head);
  }
  /// Neither it nor the rest of its class is looked at again in this pass.
  void drop_class() { pop_head(); }

 private:
  using Jobs = std::set<Entry>;
  struct Head {
    Jobs::iterator at;
    std::uint32_t demand_class;
  };
  struct Slot {
    Entry entry;
    bool waits = false;
  };

  static bool later(const Head& a, const Head& b) noexcept { return *b.at < *a.at; }
  Head pop_head() {
    std::pop_heap(heads_.begin(), heads_.end(), later);
    const Head head = heads_.back();
    heads_.pop_back();
    return head;
  }
  void push_head(const Head& head) {
    heads_.push_back(head);
    std::push_heap(heads_.begin(), heads_.end(), later);
  }

  std::vector<Jobs> classes_;
  std::vector<Head> heads_;
  std::vector<Slot> entries_;  // by slot
  std::vector<Entry> moved_;
  std::size_t size_ = 0;
};

}  // namespace mara
