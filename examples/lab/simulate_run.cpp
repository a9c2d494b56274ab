// Runs a policy of mara-lab simulate.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "format.hpp"
#include "mara/schedule/fragmentation_watch.hpp"
#include "mara/simulation/platform_log.hpp"
#include "mara/simulation/platform_simulator.hpp"
#include "simulate.hpp"

namespace lab {
namespace {

/// A sink that counts what outages did to jobs.
class OutageMeter {
 public:
  void job(const mara::JobOutcome& outcome) {
    if (outcome.started) ++started_;
    // Every preemption and failure led to a restart, but the last of a job that still waits.
    const int ended = outcome.preemptions + outcome.failures;
    const bool waits = ended > 0 && !outcome.finished && outcome.last->empty();
    restarts_ += static_cast<std::uint64_t>(ended - (waits ? 1 : 0));
    if (outcome.executed_s > 0.0)
      lost_gpu_s_ += outcome.attained_gpu_s * (outcome.lost_s / outcome.executed_s);
  }
  void interval(const mara::PlacedInterval&) noexcept {}

  /// With the outages that began before the end of a run.
  OutageEffects measure(const SimulationInput& input, const mara::PlatformMetrics& metrics) const {
    OutageEffects effects;
    effects.restarts = restarts_;
    if (started_ > 0)
      effects.restarts_per_job = static_cast<double>(restarts_) / static_cast<double>(started_);
    effects.lost_gpu_hours = lost_gpu_s_ / 3600.0;
    double down_s = 0.0;
    for (const mara::Outage& outage : input.outages.list) {
      if (!(outage.from_s < metrics.end_s)) continue;
      ++(outage.kind == mara::Outage::Kind::kFailure ? effects.failures : effects.maintenances);
      down_s += std::min(outage.to_s, metrics.end_s) - outage.from_s;
    }
    const double span_s = metrics.end_s - metrics.first_submit_s;
    if (span_s > 0.0)
      effects.down_share = down_s / (span_s * static_cast<double>(input.platform.nodes.size()));
    return effects;
  }

 private:
  std::uint64_t started_ = 0, restarts_ = 0;
  double lost_gpu_s_ = 0.0;
};

}  // namespace

mara::Result<PolicyRun> run_policy(const SimulationInput& input, AnyScheduler scheduler, std::ostream* jobs,
                                   std::ostream* intervals) {
  PolicyRun result;
  result.name = scheduler.name();
  result.usage = UsageProfile(input.platform, input.jobs.jobs.front().submit_s);
  mara::PlatformMeter meter(input.platform);
  mara::CsvLog log(jobs, intervals, result.name, false);
  OutageMeter outages;
  mara::TeeSink measured(meter, result.usage);
  mara::TeeSink counted(measured, outages);
  mara::TeeSink sink(counted, log);
  mara::RigidSource source(input.jobs);
  mara::FragmentationWatch watch(scheduler, input.mix);
  mara::PlatformConfig config;
  config.dependencies = input.jobs.has_dependencies();
  config.outages = input.outages.list;
  config.checkpoint_interval_s = input.checkpoint_interval_s;

  const auto begin = std::chrono::steady_clock::now();
  std::visit(
      [&](const auto& overhead) {
        const auto run = [&](const auto& interference) {
          mara::PlatformSimulator simulator(input.platform, config, overhead, interference, input.network);
          result.run = simulator.run(source, watch, sink);
        };
        if (input.interference)
          run(*input.interference);
        else
          run(mara::NoInterference{});
      },
      input.overhead);
  if (result.run.error) return *result.run.error;
  result.fragmentation = watch.mean_share();
  result.note = scheduler.note();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  if (auto written = log.finish(); !written)
    return mara::Error{written.error().code, "policy '" + result.name + "': " + written.error().message};
  auto metrics = meter.measure();
  if (!metrics)
    return mara::Error{mara::ErrorCode::kState, "policy '" + result.name + "': " + metrics.error().message};
  result.metrics = std::move(*metrics);
  result.jct_s = meter.completion_times();
  result.outages = outages.measure(input, result.metrics);
  if (result.metrics.end_s > input.outages.until_s)
    result.note += std::string(result.note.empty() ? "" : "; ") +
                   "the run went on after the last outage that was drawn or planned, " +
                   format_duration(input.outages.until_s - result.metrics.first_submit_s) +
                   " after the first submission";
  result.usage.align(result.metrics.end_s);
  return result;
}

}  // namespace lab
