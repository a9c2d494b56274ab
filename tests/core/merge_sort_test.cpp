// merge_sort against std::stable_sort.
#include "mara/core/merge_sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

TEST_CASE("merge_sort is a stable sort of any count", "[merge_sort]") {
  mara::Random random(1);
  std::vector<std::size_t> counts{0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 100, 255, 256, 257, 1000, 10000};
  for (const std::size_t count : counts) {
    for (const std::uint32_t keys : {1u, 5u, 1'000'000u}) {
      std::vector<std::uint64_t> values(count);  // key << 32 | place
      for (std::size_t i = 0; i < count; ++i) values[i] = std::uint64_t{random.below(keys)} << 32 | i;
      std::vector<std::uint64_t> expected = values, scratch(count);
      const auto less = [](std::uint64_t a, std::uint64_t b) { return a >> 32 < b >> 32; };
      std::stable_sort(expected.begin(), expected.end(), less);
      mara::merge_sort(values.data(), scratch.data(), count, less);
      INFO(count << " values of " << keys << " keys");
      CHECK(values == expected);
    }
  }
}

TEST_CASE("merge_sort keeps what is sorted and turns what is reversed", "[merge_sort]") {
  std::vector<int> up(777), down(777), scratch(777);
  for (int i = 0; i < 777; ++i) {
    up[static_cast<std::size_t>(i)] = i;
    down[static_cast<std::size_t>(i)] = 776 - i;
  }
  const std::vector<int> expected = up;
  mara::merge_sort(up.data(), scratch.data(), up.size(), [](int a, int b) { return a < b; });
  mara::merge_sort(down.data(), scratch.data(), down.size(), [](int a, int b) { return a < b; });
  CHECK(up == expected);
  CHECK(down == expected);
}
