// Slices of a device: legal starts, the choice among them, and nothing ever lost.
#include "mara/cluster/mig.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace mara;

namespace {

constexpr int k1g = 0, k2g = 1, k3g = 2, k4g = 3, k7g = 4;

/// What an independent reader of the rules would say: all free starts of a profile.
std::vector<int> legal(const MigDevice& device, int profile) {
  const MigProfile& p = device.table().profiles[static_cast<std::size_t>(profile)];
  std::vector<int> starts;
  for (const int start : p.starts) {
    bool free = device.used_compute() + p.compute <= device.table().compute;
    for (int s = start; s < start + p.memory; ++s) free = free && (device.used_memory() >> s & 1) == 0;
    if (free) starts.push_back(start);
  }
  return starts;
}

}  // namespace

TEST_CASE("S15: the table of an A100-40GB") {
  const MigTable table = mig_a100_40gb();
  REQUIRE(check_mig_table(table));
  CHECK(table.compute == 7);
  CHECK(table.memory == 8);
  CHECK(table.find("3g") == k3g);
  CHECK(table.find("5g") == -1);
  CHECK(MigDevice(table).possibilities() == 7 + 3 + 2 + 1 + 1);
}

TEST_CASE("S15: legal starts count, not free slices") {
  MigDevice device(mig_a100_40gb());
  for (const int start : {0, 1, 5}) REQUIRE(device.place_at(k1g, start));
  CHECK_FALSE(device.find(k3g));  // five memory slices are free
  CHECK_FALSE(device.find(k4g));
  CHECK_FALSE(device.find(k7g));
  CHECK(legal(device, k2g) == std::vector<int>{2});
  CHECK(device.place(k2g) == 2);
  CHECK_FALSE(device.place(k2g));
  CHECK_FALSE(device.place_at(k1g, 7));  // not a legal start
}

TEST_CASE("S15: small slices go where they leave most possible: 1g, 1g, 1g, 4g all fit") {
  MigDevice device(mig_a100_40gb());
  std::set<int> ones;
  for (int i = 0; i < 3; ++i) {
    const auto start = device.place(k1g);
    REQUIRE(start);
    ones.insert(*start);
  }
  CHECK(ones == std::set<int>{4, 5, 6});
  CHECK(device.place(k4g) == 0);
  CHECK(device.used_compute() == 7);
  for (int profile = 0; profile < 5; ++profile) CHECK_FALSE(device.place(profile));
}

TEST_CASE("S15: 3g, 3g fill the memory, at 0 and 4; freed in any order the answers are the same") {
  for (const int first_freed : {0, 4}) {
    MigDevice device(mig_a100_40gb());
    for (int again = 0; again < 3; ++again) {
      CHECK(device.place(k3g) == 4);  // a 4g can still come to 0
      CHECK(device.place(k3g) == 0);
      CHECK_FALSE(device.place(k1g));
      CHECK(device.release(first_freed));
      CHECK(device.release(4 - first_freed));
      CHECK(device.empty());
      CHECK(device.used_compute() == 0);
    }
  }
}

TEST_CASE("S15: compute runs out before memory") {
  MigDevice device(mig_a100_40gb());
  CHECK(device.place(k4g) == 0);
  CHECK(device.place(k3g) == 4);
  CHECK(device.used_compute() == 7);
  CHECK(device.used_memory() == 0xffu);
  CHECK(device.release(0));
  CHECK(device.place(k3g) == 0);  // 6 of 7 compute
  CHECK(device.used_compute() == 6);
}

TEST_CASE("S15, S17: unknown profiles, and releases of what is not held, change nothing") {
  MigDevice device(mig_a100_40gb());
  REQUIRE(device.place(k2g));
  const int start = device.held(0) == k2g ? 0 : device.held(2) == k2g ? 2 : 4;
  for (const int profile : {-1, 5, 1000}) {
    CHECK_FALSE(device.place(profile));
    CHECK_FALSE(device.place_at(profile, 0));
  }
  for (const int bad : {-1, 8, 100, start + 1}) CHECK_FALSE(device.release(bad));
  CHECK(device.release(start));
  CHECK_FALSE(device.release(start));
  CHECK(device.empty());
}

TEST_CASE("S15: all sequences of six asks and releases: no slice is lost, history does not matter") {
  std::map<std::pair<std::uint32_t, int>, std::array<std::optional<int>, 5>> answers;
  std::size_t sequences = 0, states = 0;
  // Actions: ask for one of five profiles, or release the slice at one of eight starts.
  const auto explore = [&](const auto& self, const MigDevice& device, int left) -> void {
    ++sequences;
    std::uint32_t memory = 0;
    int compute = 0;
    for (int start = 0; start < 8; ++start) {
      const int profile = device.held(start);
      if (profile < 0) continue;
      const MigProfile& p = device.table().profiles[static_cast<std::size_t>(profile)];
      const std::uint32_t bits = ((1u << p.memory) - 1) << start;
      if ((memory & bits) != 0) FAIL("slices overlap");
      memory |= bits;
      compute += p.compute;
    }
    if (memory != device.used_memory() || compute != device.used_compute() || compute > 7)
      FAIL("the slices held do not add up");
    std::array<std::optional<int>, 5> now;
    for (int profile = 0; profile < 5; ++profile) {
      const auto p = static_cast<std::size_t>(profile);
      now[p] = device.find(profile);
      const std::vector<int> starts = legal(device, profile);
      if (now[p].has_value() != !starts.empty()) FAIL("fits where it does not, or the reverse");
      if (!now[p]) continue;
      // No other start leaves more possible.
      int best = -1, chosen = -1;
      for (const int start : starts) {
        MigDevice copy = device;
        if (!copy.place_at(profile, start)) FAIL("a legal start was refused");
        best = std::max(best, copy.possibilities());
        if (start == *now[p]) chosen = copy.possibilities();
      }
      if (chosen != best) FAIL("another start leaves more possible");
    }
    const auto [known, first] = answers.try_emplace({device.used_memory(), device.used_compute()}, now);
    states += first ? 1 : 0;
    if (known->second != now) FAIL("equal occupancy, another answer");
    if (left == 0) return;
    for (int profile = 0; profile < 5; ++profile) {
      MigDevice next = device;
      if (next.place(profile)) self(self, next, left - 1);
    }
    for (int start = 0; start < 8; ++start) {
      MigDevice next = device;
      if (next.release(start)) self(self, next, left - 1);
    }
  };
  explore(explore, MigDevice(mig_a100_40gb()), 6);
  CHECK(sequences > 5000);
  CHECK(states > 30);
}

TEST_CASE("Another device is another table; bad tables are refused by name") {
  MigTable halves{"halves", 2, 2, {{"half", 1, 1, {0, 1}}, {"whole", 2, 2, {0}}}};
  REQUIRE(check_mig_table(halves));
  MigDevice device(halves);
  CHECK(device.place(0) == 0);
  CHECK_FALSE(device.place(1));
  CHECK(device.place(0) == 1);

  const auto message = [](const MigTable& table) {
    const Status status = check_mig_table(table);
    return status ? std::string() : status.error().message;
  };
  MigTable bad = halves;
  bad.memory = 33;
  CHECK(message(bad) == "MIG table 'halves': memory is 33");
  bad = halves;
  bad.compute = 0;
  CHECK(message(bad) == "MIG table 'halves': compute is 0");
  bad = halves;
  bad.profiles[1].starts = {1};
  CHECK(message(bad) == "MIG table 'halves': profile 'whole': start is 1");
  bad.profiles[1].starts = {};
  CHECK(message(bad) == "MIG table 'halves': profile 'whole': number of starts is 0");
  bad.profiles[1] = {"whole", 3, 2, {0}};
  CHECK(message(bad) == "MIG table 'halves': profile 'whole': compute is 3");
  bad.profiles[1] = {"whole", 2, 3, {0}};
  CHECK(message(bad) == "MIG table 'halves': profile 'whole': memory is 3");
}
