#pragma once
// Outages drawn at random, and planned ones.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/libm.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/outage.hpp"

namespace mara {

/// How nodes fail, each by itself: times up and times down in turn, beginning with a node that has just been
/// repaired. Both are Weibull; shape 1 is exponential, below 1 failures come in bursts, above 1 with age.
/// In the long run a node is up for mtbf_s / (mtbf_s + mttr_s) of the time (renewal theory).
struct FailureModel {
  double mtbf_s = 0.0;  ///< mean time up, from a repair to the next failure
  double mttr_s = 0.0;  ///< mean time to repair
  double mtbf_shape = 1.0, mttr_shape = 1.0;
  std::uint64_t seed = 1;
};

namespace detail {

/// Weibull with a mean: by inversion, from an exponential.
class Weibull {
 public:
  Weibull(double mean, double shape) : scale_(mean / std::tgamma(1.0 + 1.0 / shape)), power_(1.0 / shape) {}
  double operator()(Random& random) const noexcept {
    const double e = random.exponential(1.0);
    return scale_ * (power_ == 1.0 ? e : libm::pow(e, power_));
  }

 private:
  double scale_, power_;
};

}  // namespace detail

/// Failures of `nodes` nodes that begin before `until_s`, in order of node and time. What a node does depends
/// on the seed and its number alone. Errors name the field: a mean that is not positive and finite, a shape
/// outside [0.1, 100], a time that is negative or not finite, or more than 10^8 failures to be expected.
inline Result<std::vector<Outage>> draw_failures(const FailureModel& model, std::size_t nodes,
                                                 double until_s) {
  if (auto ok = check_positive(model.mtbf_s, "failures: mtbf_s"); !ok) return ok.error();
  if (auto ok = check_positive(model.mttr_s, "failures: mttr_s"); !ok) return ok.error();
  if (auto ok = check_range(model.mtbf_shape, 0.1, 100.0, "failures: mtbf_shape"); !ok) return ok.error();
  if (auto ok = check_range(model.mttr_shape, 0.1, 100.0, "failures: mttr_shape"); !ok) return ok.error();
  if (auto ok = check_non_negative(until_s, "failures: until_s"); !ok) return ok.error();
  const double expected = static_cast<double>(nodes) * (until_s / (model.mtbf_s + model.mttr_s));
  if (!(expected <= 1e8))
    return Error{ErrorCode::kInvalidArgument,
                 "failures: " + format_number(expected) + " are to be expected, at most 1e8"};
  const detail::Weibull up(model.mtbf_s, model.mtbf_shape), down(model.mttr_s, model.mttr_shape);
  std::vector<Outage> outages;
  for (std::size_t n = 0; n < nodes; ++n) {
    Random random(model.seed, n);
    for (double time = up(random); time < until_s; time += up(random)) {
      Outage outage;
      outage.node = static_cast<std::uint32_t>(n);
      outage.from_s = time;
      // At least the shortest time that the clock can show.
      outage.to_s =
          std::max(time + down(random), std::nextafter(time, std::numeric_limits<double>::infinity()));
      time = outage.to_s;
      outages.push_back(outage);
    }
  }
  return outages;
}

/// Planned maintenance: every node of a list, one `stagger_s` after the other.
struct Maintenance {
  double first_s = 0.0;    ///< when the first node goes down
  double length_s = 0.0;   ///< how long each is down
  double every_s = 0.0;    ///< again after so long; 0: once
  double stagger_s = 0.0;  ///< between a node and the next of the list; 0: all together
};

/// The outages of a maintenance that begin before `until_s`, in order of time. Errors name the field: a
/// length that is not positive, other times that are negative, anything not finite, a period shorter than the
/// length (other than 0).
inline Result<std::vector<Outage>> plan_maintenance(const Maintenance& plan,
                                                    std::span<const std::uint32_t> nodes, double until_s) {
  if (auto ok = check_non_negative(plan.first_s, "maintenance: first_s"); !ok) return ok.error();
  if (auto ok = check_positive(plan.length_s, "maintenance: length_s"); !ok) return ok.error();
  if (auto ok = check_non_negative(plan.every_s, "maintenance: every_s"); !ok) return ok.error();
  if (auto ok = check_non_negative(plan.stagger_s, "maintenance: stagger_s"); !ok) return ok.error();
  if (auto ok = check_non_negative(until_s, "maintenance: until_s"); !ok) return ok.error();
  if (plan.every_s > 0.0 && plan.every_s < plan.length_s)
    return Error{ErrorCode::kInvalidArgument,
                 "maintenance: every_s is " + format_number(plan.every_s) + ", shorter than length_s"};
  if (plan.every_s > 0.0 && until_s / plan.every_s > 1e7)
    return Error{ErrorCode::kInvalidArgument,
                 "maintenance: every_s is " + format_number(plan.every_s) + ": too often"};
  std::vector<Outage> outages;
  for (double round = 0.0;; round += 1.0) {
    const double begin = plan.first_s + round * plan.every_s;
    if (!(begin < until_s)) break;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double from = begin + static_cast<double>(i) * plan.stagger_s;
      if (from < until_s)
        outages.push_back({nodes[i], from, from + plan.length_s, Outage::Kind::kMaintenance});
    }
    if (plan.every_s == 0.0) break;
  }
  std::stable_sort(outages.begin(), outages.end(),
                   [](const Outage& a, const Outage& b) { return a.from_s < b.from_s; });
  return outages;
}

/// Outages of several origins as one list that check_outages accepts, in order of node and time: those of one
/// node that overlap become one, of the kind of the first to begin (what fails while it is down hits nobody;
/// at one instant a failure comes before maintenance).
inline std::vector<Outage> merge_outages(std::vector<Outage> outages) {
  std::sort(outages.begin(), outages.end(), [](const Outage& a, const Outage& b) {
    if (a.node != b.node) return a.node < b.node;
    if (a.from_s != b.from_s) return a.from_s < b.from_s;
    return a.kind < b.kind;
  });
  std::vector<Outage> merged;
  for (const Outage& outage : outages) {
    if (!merged.empty() && merged.back().node == outage.node && outage.from_s < merged.back().to_s)
      merged.back().to_s = std::max(merged.back().to_s, outage.to_s);
    else
      merged.push_back(outage);
  }
  return merged;
}

}  // namespace mara
