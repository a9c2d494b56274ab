#pragma once
// Measures of a platform simulation, taken as its results stream by.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mara/cluster/platform.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/math/statistics.hpp"
#include "mara/simulation/metrics.hpp"
#include "mara/simulation/platform_metrics_fairness.hpp"
#include "mara/simulation/platform_metrics_values.hpp"
#include "mara/simulation/platform_records.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// A sink that measures. Jobs and intervals may come interleaved or one kind after the other: the measures
/// depend only on the order among jobs and that among intervals, so that the replay of a log gives the same
/// bits. Memory: 56 bytes a job, and a few sums a node, tenant and class.
class PlatformMeter {
 public:
  /// The platform must pass check_platform and outlive the meter.
  explicit PlatformMeter(const Platform& platform)
      : platform_(&platform), nodes_(platform.nodes.size()), gpus_(platform.devices()) {}

  void job(const JobOutcome& outcome) {
    const Job& job = *outcome.job;
    if (!sound(outcome)) return;
    first_submit_s_ = times_.empty() ? job.submit_s : std::min(first_submit_s_, job.submit_s);
    end_s_ = times_.empty() ? outcome.end_s : std::max(end_s_, outcome.end_s);
    times_.push_back({job.submit_s, outcome.end_s});

    if (outcome.started) ++started_;
    preemptions_ += static_cast<std::uint64_t>(outcome.preemptions);
    migrations_ += static_cast<std::uint64_t>(outcome.migrations);
    failures_ += static_cast<std::uint64_t>(outcome.failures);
    executed_s_ += outcome.executed_s;
    overhead_s_ += outcome.overhead_s;
    held_gpu_s_ += outcome.attained_gpu_s;
    if (outcome.executed_s > 0.0) {
      const double useful = outcome.executed_s - outcome.overhead_s - outcome.lost_s;
      useful_gpu_s_ += outcome.attained_gpu_s * std::max(0.0, useful / outcome.executed_s);
    }

    Class& service = classes_[job.sla];
    Tenant& tenant = tenants_[job.tenant];
    ++service.jobs;
    ++tenant.jobs;
    tenant.held_gpu_s += outcome.attained_gpu_s;
    if (std::isfinite(job.deadline_s) &&
        (outcome.finished || outcome.rejected || outcome.end_s >= job.deadline_s)) {
      ++service.deadline_jobs;
      if (!outcome.finished || outcome.end_s > job.deadline_s) ++service.deadline_misses;
    }
    if (outcome.rejected) ++rejected_;
    if (!outcome.finished) return;

    const double jct = outcome.end_s - job.submit_s;
    const double ideal =
        std::max(ideal_s(*platform_, job, outcome.mig_profile).value_or(0.0), kShortestIdeal);
    const double speed = jct > 0.0 ? ideal / jct : 1.0;  // a job of no work that ends as it comes
    const double gpus = static_cast<double>(gpus_);
    finished_.push_back({job.submit_s, outcome.end_s, outcome.start_s - outcome.entered_s, ideal,
                         gpus > 0.0 ? asked_gpus(*platform_, job, outcome.mig_profile) / gpus : 0.0,
                         job.sla});
    last_completion_s_ = finished_.size() == 1 ? outcome.end_s : std::max(last_completion_s_, outcome.end_s);
    slowdown_ += jct / ideal;
    bounded_ += std::max(1.0, jct / std::max(ideal, kSlowdownBound));
    speed_ += speed;
    speed_squares_ += speed * speed;
    ++service.finished;
    service.jct_s += jct;
    ++tenant.finished;
    tenant.jct_s += jct;
    tenant.speed += speed;
  }

  void interval(const PlacedInterval& interval) {
    const double length = interval.end_s - interval.start_s;
    if (!std::isfinite(length) || length < 0.0) {
      refuse("an interval", "length", length);
      return;
    }
    for (const NodeShare& share : interval.placement->shares) {
      if (share.node >= nodes_.size()) {
        refuse("an interval", "node", share.node);
        return;
      }
      Held& held = nodes_[share.node];
      held.gpu_s += length * Milli{std::int64_t{share.device_count()} * share.share}.as_double();
      held.cpu_s += length * share.cpu.as_double();
      held.memory_mib_s += length * static_cast<double>(share.memory_mib);
    }
  }

  /// JCTs of the jobs that finished, in order of their ends. Seconds.
  std::vector<double> completion_times() const {
    std::vector<double> jct;
    jct.reserve(finished_.size());
    for (const Finished& job : finished_) jct.push_back(job.end_s - job.submit_s);
    return jct;
  }

  /// The measures of what has come so far. Errors: kNumerical for a number that came and is not finite or
  /// negative, naming job and field; kCapacityExceeded when more of a node was held than there is (case S16),
  /// naming node and resource.
  Result<PlatformMetrics> measure() const {
    if (fault_) return *fault_;
    PlatformMetrics m;
    m.finished = finished_.size();
    m.rejected = rejected_;
    m.unfinished = times_.size() - m.finished - m.rejected;
    m.first_submit_s = first_submit_s_;
    m.end_s = end_s_;
    if (m.finished > 0) m.makespan_s = last_completion_s_ - first_submit_s_;
    summarise_jobs(m);
    summarise_groups(m);
    if (auto held = summarise_nodes(m); !held) return held.error();

    m.gpu_hours = held_gpu_s_ / 3600.0;
    m.goodput = ratio(useful_gpu_s_, held_gpu_s_);
    m.overhead_share = ratio(overhead_s_, executed_s_);
    m.preemptions = preemptions_;
    m.migrations = migrations_;
    m.failures = failures_;
    const auto started = static_cast<double>(started_);
    m.preemptions_per_job = ratio(static_cast<double>(preemptions_), started);
    m.migrations_per_job = ratio(static_cast<double>(migrations_), started);
    m.failures_per_job = ratio(static_cast<double>(failures_), started);
    return m;
  }

 private:
  struct Finished {
    double submit_s, end_s, queueing_s, ideal_s;
    double part;  // of the platform's GPUs that it asks for
    int sla;
  };
  struct Class {
    std::uint64_t jobs = 0, finished = 0, deadline_jobs = 0, deadline_misses = 0;
    double jct_s = 0.0;
  };
  struct Tenant {
    std::uint64_t jobs = 0, finished = 0;
    double held_gpu_s = 0.0, jct_s = 0.0, speed = 0.0;
  };
  struct Held {
    double gpu_s = 0.0, cpu_s = 0.0, memory_mib_s = 0.0;
  };

  static std::optional<double> ratio(double part, double whole) noexcept {
    if (!(whole > 0.0)) return std::nullopt;
    return part / whole;
  }

  void refuse(const std::string& what, const char* field, double value) {
    if (!fault_) fault_ = Error{ErrorCode::kNumerical, what + ": " + field + " is " + format_number(value)};
  }
  bool sound(const JobOutcome& outcome) {
    const std::string name = "job " + std::to_string(outcome.job->id);
    const auto number = [&](const char* field, double value) {
      if (std::isfinite(value) && value >= 0.0) return true;
      refuse(name, field, value);
      return false;
    };
    return number("submit_s", outcome.job->submit_s) && number("end_s", outcome.end_s) &&
           number("end_s - submit_s", outcome.end_s - outcome.job->submit_s) &&
           number("executed_s", outcome.executed_s) && number("attained_gpu_s", outcome.attained_gpu_s) &&
           number("overhead_s", outcome.overhead_s) && number("lost_s", outcome.lost_s) &&
           (!outcome.started || number("start_s - entered_s", outcome.start_s - outcome.entered_s));
  }

  void summarise_jobs(PlatformMetrics& m) const {
    std::vector<double> values = completion_times();
    m.jct_s = summarise_times(values);
    for (std::size_t i = 0; i < finished_.size(); ++i) values[i] = finished_[i].queueing_s;
    m.queueing_s = summarise_times(values);
    const auto count = static_cast<double>(finished_.size());
    m.mean_slowdown = ratio(slowdown_, count);
    m.mean_bounded_slowdown = ratio(bounded_, count);
    if (m.finished > 0) m.jain = speed_ > 0.0 ? speed_ * speed_ / (count * speed_squares_) : 1.0;
    if (times_.empty()) return;
    const Population population(times_);
    m.mean_jobs = population.mean(m.first_submit_s, m.end_s);
    double rho_sum = 0.0, rho_most = 0.0;
    for (const Finished& job : finished_) {
      const double jobs = std::max(1.0, population.mean(job.submit_s, job.end_s).value_or(1.0));
      const double alone_s = job.ideal_s * std::max(1.0, jobs * job.part);
      const double rho = (job.end_s - job.submit_s) / alone_s;
      rho_sum += rho;
      rho_most = std::max(rho_most, rho);
    }
    m.mean_rho = ratio(rho_sum, count);
    if (m.finished > 0) m.max_rho = rho_most;
  }

  void summarise_groups(PlatformMetrics& m) const {
    std::map<int, std::vector<double>> jct;
    for (const Finished& job : finished_) jct[job.sla].push_back(job.end_s - job.submit_s);
    for (const auto& [sla, service] : classes_) {
      ClassMetrics& metrics = m.classes.emplace_back();
      metrics.sla = sla;
      metrics.jobs = service.jobs;
      metrics.finished = service.finished;
      metrics.mean_jct_s = ratio(service.jct_s, static_cast<double>(service.finished));
      metrics.p99_jct_s = quantile(jct[sla], 0.99);
      metrics.deadline_jobs = service.deadline_jobs;
      metrics.deadline_misses = service.deadline_misses;
      m.deadline_jobs += service.deadline_jobs;
      m.deadline_misses += service.deadline_misses;
    }
    m.deadline_miss_rate =
        ratio(static_cast<double>(m.deadline_misses), static_cast<double>(m.deadline_jobs));
    std::vector<double> speeds;
    for (const auto& [index, tenant] : tenants_) {
      TenantMetrics& metrics = m.tenants.emplace_back();
      const auto count = static_cast<double>(tenant.finished);
      metrics.tenant = index;
      metrics.jobs = tenant.jobs;
      metrics.finished = tenant.finished;
      metrics.gpu_hours = tenant.held_gpu_s / 3600.0;
      metrics.mean_jct_s = ratio(tenant.jct_s, count);
      metrics.mean_speed = ratio(tenant.speed, count);
      if (metrics.mean_speed) speeds.push_back(*metrics.mean_speed);
    }
    m.tenant_jain = jain_index(speeds);
  }

  Status summarise_nodes(PlatformMetrics& m) const {
    const double span = m.end_s - m.first_submit_s;
    constexpr double kRounding = 1e-9;  // sums of many intervals are not exact
    const std::size_t types = platform_->types.size();
    std::vector<double> there(types, 0.0), held(types, 0.0);
    double cpu = 0.0, cpu_s = 0.0, memory = 0.0, memory_s = 0.0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = platform_->nodes[n];
      const auto over = [&](const char* what, double used, double most) -> Status {
        if (used <= most * span * (1.0 + kRounding)) return {};
        return Error{ErrorCode::kCapacityExceeded,
                     "node '" + node.name + "': over-committed: " + format_number(used) + " " + what +
                         "-seconds held of " + format_number(most * span)};
      };
      const double node_memory = static_cast<double>(node.memory_mib);
      if (auto ok = over("GPU", nodes_[n].gpu_s, node.devices); !ok) return ok;
      if (auto ok = over("CPU", nodes_[n].cpu_s, node.cpu.as_double()); !ok) return ok;
      if (auto ok = over("MiB", nodes_[n].memory_mib_s, node_memory); !ok) return ok;
      if (node.type >= 0) {
        there[static_cast<std::size_t>(node.type)] += node.devices;
        held[static_cast<std::size_t>(node.type)] += nodes_[n].gpu_s;
      }
      cpu += node.cpu.as_double();
      cpu_s += nodes_[n].cpu_s;
      memory += node_memory;
      memory_s += nodes_[n].memory_mib_s;
    }
    const auto share = [&](double used, double most) -> std::optional<double> {
      const auto part = ratio(used, most * span);
      return part ? std::optional(std::min(1.0, *part)) : std::nullopt;  // above 1 by rounding alone
    };
    double all_there = 0.0, all_held = 0.0, joules = 0.0;
    for (std::size_t t = 0; t < types; ++t) {
      const DeviceType& type = platform_->types[t];
      m.type_utilisation.push_back(share(held[t], there[t]));
      all_there += there[t];
      all_held += held[t];
      joules += type.idle_w * there[t] * span + (type.busy_w - type.idle_w) * held[t];
      m.cost += type.price_per_hour * held[t] / 3600.0;
    }
    m.energy_kwh = joules / 3.6e6;
    m.gpu_utilisation = share(all_held, all_there);
    m.cpu_utilisation = share(cpu_s, cpu);
    m.memory_utilisation = share(memory_s, memory);
    return {};
  }

  const Platform* platform_;
  std::vector<Held> nodes_;
  std::int64_t gpus_;
  std::optional<Error> fault_;
  std::vector<JobSpan> times_;  // of all jobs
  std::vector<Finished> finished_;
  std::map<int, Class> classes_;
  std::map<int, Tenant> tenants_;
  std::uint64_t rejected_ = 0, started_ = 0, preemptions_ = 0, migrations_ = 0, failures_ = 0;
  double first_submit_s_ = 0.0, end_s_ = 0.0, last_completion_s_ = 0.0;
  double executed_s_ = 0.0, overhead_s_ = 0.0, held_gpu_s_ = 0.0, useful_gpu_s_ = 0.0;
  double slowdown_ = 0.0, bounded_ = 0.0, speed_ = 0.0, speed_squares_ = 0.0;
};

}  // namespace mara
