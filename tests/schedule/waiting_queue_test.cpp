// The queue by classes against a sorted list.
#include "mara/schedule/waiting_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;

namespace {

std::vector<JobSlot> pass(WaitingQueue& queue) {
  std::vector<JobSlot> order;
  queue.begin([](std::uint32_t) { return true; });
  for (; const WaitingQueue::Entry* entry = queue.front(); queue.skip()) order.push_back(entry->slot);
  return order;
}

}  // namespace

TEST_CASE("WaitingQueue: order of (key, tie) over all classes; skip, take, drop_class") {
  WaitingQueue queue;
  CHECK(queue.empty());
  queue.insert({2.0, 1, 10, 0});
  queue.insert({1.0, 2, 11, 1});
  queue.insert({1.0, 3, 12, 0});
  queue.insert({3.0, 4, 13, 1});
  queue.insert({2.5, 5, 14, 2});
  CHECK(pass(queue) == std::vector<JobSlot>{11, 12, 10, 14, 13});
  CHECK(queue.size() == 5);

  std::vector<JobSlot> seen;
  queue.begin([](std::uint32_t c) { return c != 2; });
  seen.push_back(queue.front()->slot);
  queue.take();  // 11
  seen.push_back(queue.front()->slot);
  queue.drop_class();  // 12, and 10 with it
  seen.push_back(queue.front()->slot);
  queue.skip();
  CHECK(queue.front() == nullptr);
  CHECK(seen == std::vector<JobSlot>{11, 12, 13});
  CHECK_FALSE(queue.contains(11));
  CHECK(queue.contains(10));
  CHECK(queue.size() == 4);

  queue.erase(11);  // harmless
  queue.erase(99);
  queue.erase(10);
  queue.rekey([](JobSlot slot) { return -static_cast<double>(slot); });
  CHECK(pass(queue) == std::vector<JobSlot>{14, 13, 12});
  CHECK(queue.any_head([](const WaitingQueue::Entry& entry) { return entry.slot == 13; }));
  CHECK_FALSE(queue.any_head([](const WaitingQueue::Entry& entry) { return entry.slot == 10; }));
}

TEST_CASE("WaitingQueue: random operations against a plain model") {
  Random random(4);
  WaitingQueue queue;
  std::map<JobSlot, WaitingQueue::Entry> model;
  std::uint64_t tie = 0;
  for (int step = 0; step < 30'000; ++step) {
    const JobSlot slot = random.below(40);
    switch (random.below(5)) {
      case 0:
      case 1:
        if (model.count(slot) == 0) {
          const WaitingQueue::Entry entry{static_cast<double>(random.below(6)), ++tie, slot, random.below(5)};
          queue.insert(entry);
          model[slot] = entry;
        }
        break;
      case 2:
        queue.erase(slot);
        model.erase(slot);
        break;
      case 3: {
        const double shift = random.below(7);
        const auto key_of = [shift](JobSlot s) {
          return static_cast<double>(static_cast<std::uint32_t>(s * shift) % 5);
        };
        queue.rekey(key_of);
        for (auto& [s, entry] : model) entry.key = key_of(s);
        break;
      }
      default: {  // a pass that takes some
        queue.begin([](std::uint32_t) { return true; });
        while (const WaitingQueue::Entry* entry = queue.front()) {
          const JobSlot s = entry->slot;
          if (random.below(4) == 0) {
            queue.take();
            model.erase(s);
          } else if (random.below(4) == 0) {
            queue.drop_class();
          } else {
            queue.skip();
          }
        }
      }
    }
    if (queue.size() != model.size()) FAIL("sizes");
    if (step % 10 != 0) continue;
    std::vector<WaitingQueue::Entry> entries;
    for (const auto& [s, entry] : model) entries.push_back(entry);
    std::sort(entries.begin(), entries.end());
    std::vector<JobSlot> expected;
    for (const auto& entry : entries) expected.push_back(entry.slot);
    if (pass(queue) != expected) FAIL("order");
  }
}
