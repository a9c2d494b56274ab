#include "mara/core/resource.hpp"

#include "catch.hpp"

using mara::Demand;
using mara::Grant;
using mara::Milli;

static_assert(Milli::whole(3).value == 3000);
static_assert(Milli{}.value == 0);
static_assert(Grant{}.empty());

TEST_CASE("milli amounts add exactly", "[resource]") {
  Milli sum{};
  for (int i = 0; i < 10; ++i) sum += Milli{100};  // ten times 0.1 is not 1.0 in binary floating point
  CHECK(sum == Milli::whole(1));
  CHECK(sum - Milli{460} == Milli{540});
  CHECK(Milli{460} + Milli{540} == Milli::whole(1));
  sum -= Milli{1};
  CHECK(sum.value == 999);
}

TEST_CASE("milli amounts know whole units", "[resource]") {
  CHECK(Milli{2000}.is_whole());
  CHECK_FALSE(Milli{2001}.is_whole());
  CHECK(Milli{2999}.units() == 2);
  CHECK(Milli{999}.units() == 0);
  CHECK(Milli{460}.as_double() == 0.46);
  CHECK(Milli::whole(std::int64_t{1} << 40).units() == std::int64_t{1} << 40);
}

TEST_CASE("milli amounts are ordered", "[resource]") {
  CHECK(Milli{1} < Milli{2});
  CHECK(Milli{2} >= Milli{2});
  CHECK(Milli{-1} < Milli{});
  CHECK(Milli{3} != Milli{4});
}

TEST_CASE("grants and demands compare by value", "[resource]") {
  CHECK(Grant{} == Grant{});
  CHECK_FALSE(Grant{0, Milli::whole(1)}.empty());
  CHECK_FALSE(Grant{0, Milli::whole(1)} == Grant{1, Milli::whole(1)});
  CHECK_FALSE(Grant{0, Milli::whole(1)} == Grant{0, Milli{500}});
  CHECK(Demand{} == Demand{0, Milli{}, 0});
  CHECK_FALSE(Demand{16384, Milli::whole(4), 1024} == Demand{16384, Milli::whole(4), 1025});
}
