// The lanes of a timeline: which devices a job is drawn on.

#include "lab/lanes.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

namespace {

using lab::LaneBox;
using mara::GrantInterval;
using mara::Milli;

mara::Cluster two_types() {
  mara::Cluster cluster;
  for (const char* name : {"fast", "slow"}) {
    mara::GpuType type;
    type.name = name;
    type.nodes = 2;
    type.gpus_per_node = 4;
    cluster.types.push_back(type);
  }
  return cluster;
}

GrantInterval interval(std::uint32_t job, int type, std::int64_t milli, double start_s, double end_s) {
  GrantInterval result;
  result.job = job;
  result.grant.type = type;
  result.grant.gpus = Milli{milli};
  result.start_s = start_s;
  result.end_s = end_s;
  return result;
}

/// Intervals that never ask for more than there is: jobs come, hold GPUs of a type for a while and go.
std::vector<GrantInterval> random_intervals(std::uint64_t seed, bool fractions) {
  mara::Random random(seed);
  std::vector<GrantInterval> intervals;
  for (std::uint32_t job = 0; intervals.size() < 120; ++job) {
    const auto type = static_cast<int>(random.below(2));
    const std::int64_t milli = fractions ? 100 * (1 + random.below(5)) : 1000 * (1 + random.below(4));
    const double start = random.below(200), length = 1 + random.below(30);
    std::map<double, std::int64_t> changes;  // of the GPUs in use while the new one would run
    std::int64_t held = milli;
    for (const GrantInterval& other : intervals) {
      if (other.grant.type != type || other.end_s <= start || other.start_s >= start + length) continue;
      held += other.grant.gpus.value;
    }
    // Half of the pool for fractions, which pack: every device can then take another one.
    if (held <= (fractions ? 4000 : 8000))
      intervals.push_back(interval(job, type, milli, start, start + length));
  }
  return intervals;
}

bool overlap(const LaneBox& a, const LaneBox& b) {
  constexpr double kHair = 1e-9;
  return a.type == b.type && a.start_s < b.end_s - kHair && b.start_s < a.end_s - kHair &&
         a.lane < b.lane + b.height - kHair && b.lane < a.lane + a.height - kHair;
}

double area(const std::vector<LaneBox>& boxes) {
  double sum = 0.0;
  for (const LaneBox& box : boxes) sum += box.height * (box.end_s - box.start_s);
  return sum;
}

}  // namespace

TEST_CASE("boxes never overlap, stay on the devices, and cover what was held") {
  const mara::Cluster cluster = two_types();
  for (const bool fractions : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      INFO((fractions ? "fractions, seed " : "whole GPUs, seed ") << seed);
      const auto intervals = random_intervals(seed, fractions);
      const auto boxes = lab::assign_lanes(cluster, intervals);
      double held = 0.0;
      for (const GrantInterval& i : intervals) held += i.grant.gpus.as_double() * (i.end_s - i.start_s);
      CHECK(area(boxes) == Approx(held));
      std::size_t overlaps = 0;
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        CHECK(boxes[i].lane >= 0.0);
        CHECK(boxes[i].lane + boxes[i].height <= 8.0 + 1e-9);
        for (std::size_t j = 0; j < i; ++j) overlaps += overlap(boxes[i], boxes[j]);
      }
      CHECK(overlaps == 0);
    }
  }
}

TEST_CASE("a job that goes on keeps its devices, a new one takes neighbours") {
  const std::vector<GrantInterval> intervals = {interval(0, 0, 2000, 0, 10), interval(1, 0, 2000, 0, 20),
                                                interval(0, 0, 4000, 10, 20), interval(2, 0, 2000, 10, 20)};
  const auto boxes = lab::assign_lanes(two_types(), intervals);
  std::vector<double> first;
  for (const LaneBox& box : boxes) {
    if (box.job == 0) first.push_back(box.lane);
    if (box.job == 1) CHECK(box.lane == 2.0);
    if (box.job == 2) CHECK(box.height == 2.0);
  }
  REQUIRE(first.size() == 3);  // devices 0 and 1, then 0 and 1 again with 4 and 5
  CHECK(first[0] == 0.0);
  CHECK(first[1] == 0.0);
  CHECK(first[2] == 4.0);
}

TEST_CASE("thinned boxes keep the extent and the long jobs") {
  std::vector<LaneBox> boxes;
  for (std::uint32_t i = 0; i < 10000; ++i)
    boxes.push_back({0, static_cast<double>(i % 4), 1.0, i * 0.1, i * 0.1 + 0.05, i});
  boxes.push_back({1, 0.0, 1.0, 0.0, 900.0, 99999});
  const auto thin = lab::thin_boxes(boxes, 1000.0, 500);
  CHECK(thin.size() <= 500);
  CHECK(std::any_of(thin.begin(), thin.end(),
                    [](const LaneBox& box) { return box.job == 99999 && box.end_s == 900.0; }));
  const auto by_end = [](const LaneBox& a, const LaneBox& b) { return a.end_s < b.end_s; };
  CHECK(std::max_element(thin.begin(), thin.end(), by_end)->end_s ==
        std::max_element(boxes.begin(), boxes.end(), by_end)->end_s);
  CHECK(lab::thin_boxes(boxes, 1000.0, 20000).size() == boxes.size());
}

TEST_CASE("odd intervals draw nothing and break nothing") {
  CHECK(lab::assign_lanes(two_types(), {}).empty());
  const std::vector<GrantInterval> intervals = {interval(0, -1, 1000, 0, 1), interval(1, 2, 1000, 0, 1),
                                                interval(2, 0, 0, 0, 1)};
  CHECK(lab::assign_lanes(two_types(), intervals).empty());
  const std::vector<GrantInterval> too_many = {interval(0, 0, 99000, 0, 1)};
  CHECK(area(lab::assign_lanes(two_types(), too_many)) == Approx(8.0));
}
