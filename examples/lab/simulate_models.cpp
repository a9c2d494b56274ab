// What mara-lab simulate is told of failures, distance and costs.

#include "simulate_models.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "mara/simulation/failures.hpp"
#include "simulate_option_text.hpp"

namespace lab {
namespace {

using namespace mara;  // NOLINT

constexpr double kLongest = 1e12;     // seconds that an option may say
constexpr double kMostOutages = 1e6;  // more would take more memory than the jobs

Result<FailureModel> parse_failures(const SimulateOptions& options) {
  const auto values = numbers(options.failures, kLongest);
  if (!values || values->size() != 2 || !((*values)[0] > 0.0) || !((*values)[1] > 0.0))
    return refuse_option(
        "failures",
        "must be MTBF,MTTR (mean seconds from a node's repair to its next failure, and to repair it, "
        "above 0)",
        options.failures);
  FailureModel model;
  model.mtbf_s = (*values)[0];
  model.mttr_s = (*values)[1];
  // Above every --seed, so that random policies draw other numbers.
  model.seed = (std::uint64_t{1} << 32) + options.seed;
  return model;
}

Result<Maintenance> parse_maintenance(const SimulateOptions& options) {
  auto values = numbers(options.maintenance, kLongest);
  if (!values || values->size() < 2 || values->size() > 4 || !((*values)[1] > 0.0))
    return refuse_option("maintenance", "must be FIRST,LENGTH[,EVERY[,STAGGER]] (seconds, LENGTH above 0)",
                         options.maintenance);
  values->resize(4, 0.0);
  const Maintenance plan{(*values)[0], (*values)[1], (*values)[2], (*values)[3]};
  if (plan.every_s > 0.0 && plan.every_s < plan.length_s)
    return refuse_option("maintenance", "EVERY must be 0 (once) or at least LENGTH", options.maintenance);
  return plan;
}

/// Seconds that all jobs take one after another, each on the slowest type that serves it.
double serial_s(const RigidJobs& jobs) {
  double sum = 0.0;
  for (const Job& job : jobs.jobs) {
    double slowest = std::numeric_limits<double>::infinity();
    for (const double speed : job.type_speed)
      if (speed > 0.0) slowest = std::min(slowest, speed);
    sum += job.requested.value == 0 || !std::isfinite(slowest)
               ? job.work
               : job.work / (slowest * job.speed_up(job.requested.as_double()));
  }
  return sum;
}

}  // namespace

Result<double> parse_checkpoint(const SimulateOptions& options) {
  if (options.checkpoint.empty()) return 0.0;
  if (options.failures.empty())
    return refuse_option("checkpoint", "means nothing without --failures", options.checkpoint);
  if (options.checkpoint == "never") return std::numeric_limits<double>::infinity();
  const auto values = numbers(options.checkpoint, kLongest);
  if (!values || values->size() != 1 || !((*values)[0] > 0.0))
    return refuse_option("checkpoint", "must be seconds above 0, or never", options.checkpoint);
  return (*values)[0];
}

Result<Outages> make_outages(const SimulateOptions& options, const Platform& platform,
                             const RigidJobs& jobs) {
  Outages outages;
  const std::size_t nodes = platform.nodes.size();
  const double first_s = jobs.jobs.front().submit_s;
  double length_s = jobs.jobs.back().submit_s - first_s + serial_s(jobs);
  std::optional<FailureModel> failures;
  std::optional<Maintenance> maintenance;
  double each_s = 0.0;  // outages of a node per second
  if (!options.failures.empty()) {
    auto parsed = parse_failures(options);
    if (!parsed) return parsed.error();
    failures = *parsed;
    each_s += 1.0 / (failures->mtbf_s + failures->mttr_s);
  }
  if (!options.maintenance.empty()) {
    auto parsed = parse_maintenance(options);
    if (!parsed) return parsed.error();
    maintenance = *parsed;
    if (maintenance->every_s > 0.0) each_s += 1.0 / maintenance->every_s;
  }
  if (each_s > 0.0) {
    length_s = std::min(length_s, kMostOutages / (each_s * static_cast<double>(nodes)));
    outages.until_s = first_s + length_s;
  }
  std::vector<Outage> all;
  if (failures) {
    auto drawn = draw_failures(*failures, nodes, length_s);
    if (!drawn) return at_option("failures", drawn.error());
    all = std::move(*drawn);
  }
  if (maintenance) {
    std::vector<std::uint32_t> list;
    for (std::uint32_t n = 0; n < nodes; ++n) list.push_back(n);
    // What is planned once takes place, however late.
    const double last_s = maintenance->first_s + maintenance->stagger_s * static_cast<double>(nodes) + 1.0;
    auto planned = plan_maintenance(*maintenance, list, maintenance->every_s > 0.0 ? length_s : last_s);
    if (!planned) return at_option("maintenance", planned.error());
    all.insert(all.end(), planned->begin(), planned->end());
  }
  for (Outage& outage : all) {
    outage.from_s += first_s;
    outage.to_s += first_s;
    // The clock may be too coarse for a short one.
    outage.to_s = std::max(outage.to_s, std::nextafter(outage.from_s, HUGE_VAL));
  }
  outages.list = merge_outages(std::move(all));
  if (auto sound = check_outages(outages.list, nodes); !sound)
    return at_option(failures ? "failures" : "maintenance", sound.error());
  return outages;
}

Result<TopologyNetwork> make_network(const SimulateOptions& options, Platform& platform) {
  TopologyNetwork network;
  if (options.topology.empty()) return network;
  std::int32_t domains = 1;
  std::vector<std::string_view> seen;
  for (const std::string_view part : split_at_commas(options.topology)) {
    const auto set = setting(part);
    double* factor = !set                  ? nullptr
                     : set->name == "numa" ? &network.across_domains
                     : set->name == "node" ? &network.across_nodes
                     : set->name == "rack" ? &network.across_racks
                                           : nullptr;
    const auto number = set ? numbers(set->value, kMaxDevicesPerNode) : std::nullopt;
    const bool one = number && number->size() == 1;
    if (set && set->name == "domains" && one && (*number)[0] >= 1.0 &&
        (*number)[0] == std::floor((*number)[0])) {
      domains = static_cast<std::int32_t>((*number)[0]);
    } else if (factor != nullptr && one && (*number)[0] > 0.0 && (*number)[0] <= 1.0) {
      *factor = (*number)[0];
    } else {
      return refuse_option(
          "topology",
          "must be numa=X, node=X and rack=X (speed above 0 and at most 1), domains=N (1 to " +
              std::to_string(kMaxDevicesPerNode) + "), between commas",
          part);
    }
    if (std::find(seen.begin(), seen.end(), set->name) != seen.end())
      return refuse_option("topology", "says '" + std::string(set->name) + "' twice", options.topology);
    seen.push_back(set->name);
  }
  if (network.across_domains < 1.0 && domains == 1)
    return refuse_option("topology", "numa means nothing without domains=N, the NUMA domains of a node",
                         options.topology);
  for (Node& node : platform.nodes) node.numa_domains = domains;
  return network;
}

Result<AnyOverhead> make_overhead(const SimulateOptions& options, const RigidJobs& jobs) {
  const std::string& text = options.overhead;
  if (text == "none") return AnyOverhead(FixedOverhead{0.0, 0.0, 0.0, options.decision_time});
  if (text == "muri") {
    auto muri = MuriOverhead::make(jobs.models);
    if (!muri) return at_option("overhead", muri.error());
    for (const Job& job : jobs.jobs)
      if (job.profile < 0)
        return Error{ErrorCode::kInvalidArgument, "--overhead: muri needs the model of every job, and job " +
                                                      std::to_string(job.id) + " has none"};
    return AnyOverhead(DelayedOverhead<MuriOverhead>{std::move(*muri), options.decision_time});
  }
  const auto seconds = text.starts_with("fixed:") ? numbers(std::string_view(text).substr(6), 1e9)
                                                  : std::optional<std::vector<double>>();
  if (!seconds || seconds->size() != 3)
    return refuse_option("overhead", "must be none, muri or fixed:START,RESUME,MIGRATE (seconds)", text);
  return AnyOverhead(FixedOverhead{(*seconds)[0], (*seconds)[1], (*seconds)[2], options.decision_time});
}

}  // namespace lab
