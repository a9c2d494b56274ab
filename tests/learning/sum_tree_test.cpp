#include "mara/learning/sum_tree.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;

TEST_CASE("a sum tree finds the place of a point", "[learning]") {
  SumTree tree(5);
  CHECK(tree.total() == 0.0);
  CHECK(tree.smallest() == 0.0);
  tree.set(0, 1.0);
  tree.set(2, 3.0);
  tree.set(4, 0.5);
  CHECK(tree.total() == 4.5);
  CHECK(tree.smallest() == 0.5);
  CHECK(tree.find(0.0) == 0);
  CHECK(tree.find(0.999) == 0);
  CHECK(tree.find(1.0) == 2);
  CHECK(tree.find(3.999) == 2);
  CHECK(tree.find(4.0) == 4);
  // Past the end, as rounding may have it: the last place with a priority.
  CHECK(tree.find(4.5) == 4);
  CHECK(tree.find(100.0) == 4);
  tree.set(4, 0.0);
  CHECK(tree.find(100.0) == 2);
  CHECK(tree.smallest() == 1.0);
}

TEST_CASE("a sum tree agrees with a plain list", "[learning]") {
  Random random(1);
  for (const int places : {1, 2, 3, 7, 64, 100}) {
    const auto capacity = static_cast<std::size_t>(places);
    SumTree tree(capacity);
    std::vector<double> plain(capacity);
    for (int change = 0; change < 500; ++change) {
      const auto place = static_cast<std::size_t>(random.below64(capacity));
      // Quarters are exact, so sums are, too.
      plain[place] = static_cast<double>(random.below(9)) / 4.0;
      tree.set(place, plain[place]);
      double total = 0.0, smallest = 0.0;
      for (const double p : plain) {
        total += p;
        if (p > 0.0 && (smallest == 0.0 || p < smallest)) smallest = p;
      }
      REQUIRE(tree.total() == total);
      REQUIRE(tree.smallest() == smallest);
      if (total == 0.0) continue;
      const double at = random.uniform() * total;
      std::size_t expected = 0;
      for (double left = at; left >= plain[expected]; ++expected) left -= plain[expected];
      REQUIRE(tree.find(at) == expected);
    }
  }
}

TEST_CASE("a sum tree takes no bad priorities", "[learning]") {
  SumTree tree(3);
  tree.set(0, 2.0);
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    tree.set(1, bad);
    CHECK(tree.priority(1) == 0.0);
    CHECK(tree.total() == 2.0);
  }
}
