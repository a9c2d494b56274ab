// The heap of events against a sorted list.
#include "mara/core/indexed_heap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;

TEST_CASE("IndexedHeap: lower keys first, equal keys by tie number") {
  IndexedHeap heap;
  CHECK(heap.empty());
  heap.set(5, 2.0, 1);
  heap.set(3, 1.0, 9);
  heap.set(7, 1.0, 4);
  CHECK(heap.size() == 3);
  CHECK(heap.top().item == 7);
  heap.pop();
  CHECK(heap.top().item == 3);
  heap.set(3, 3.0, 0);  // moved back
  CHECK(heap.top().item == 5);
  CHECK(heap.size() == 2);
  heap.erase(5);
  heap.erase(5);   // not in it any more
  heap.erase(99);  // never was
  CHECK_FALSE(heap.contains(5));
  CHECK_FALSE(heap.contains(99));
  CHECK(heap.top().item == 3);
  heap.clear();
  CHECK(heap.empty());
  CHECK_FALSE(heap.contains(3));
  heap.set(3, 1.0, 0);
  CHECK(heap.top().item == 3);
}

TEST_CASE("IndexedHeap: random operations against a plain model") {
  Random random(3);
  IndexedHeap heap;
  std::map<std::uint32_t, std::pair<double, std::uint64_t>> model;
  for (int step = 0; step < 200'000; ++step) {
    const std::uint32_t item = random.below(60);
    switch (random.below(4)) {
      case 0:
      case 1: {
        const double key = random.below(20);  // many equal ones
        heap.set(item, key, item);
        model[item] = {key, item};
        break;
      }
      case 2:
        heap.erase(item);
        model.erase(item);
        break;
      default:
        if (!model.empty()) {
          const std::uint32_t top = heap.top().item;
          heap.pop();
          model.erase(top);
        }
    }
    if (heap.size() != model.size() || heap.contains(item) != (model.count(item) != 0))
      FAIL("size or members");
    if (model.empty()) continue;
    const auto least = std::min_element(model.begin(), model.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    if (heap.top().item != least->first || heap.top().key != least->second.first)
      FAIL("the top is not the least");
  }
}
