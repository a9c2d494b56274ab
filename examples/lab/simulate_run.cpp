// Runs a policy of mara-lab simulate.

#include <chrono>
#include <string>
#include <utility>

#include "mara/schedule/fragmentation_watch.hpp"
#include "mara/simulation/platform_log.hpp"
#include "mara/simulation/platform_simulator.hpp"
#include "simulate.hpp"

namespace lab {

mara::Result<PolicyRun> run_policy(const SimulationInput& input, AnyScheduler scheduler, std::ostream* jobs,
                                   std::ostream* intervals) {
  PolicyRun result;
  result.name = scheduler.name();
  result.usage = UsageProfile(input.platform, input.jobs.jobs.front().submit_s);
  mara::PlatformMeter meter(input.platform);
  mara::CsvLog log(jobs, intervals, result.name, false);
  mara::TeeSink measured(meter, result.usage);
  mara::TeeSink sink(measured, log);
  mara::RigidSource source(input.jobs);
  mara::FragmentationWatch watch(scheduler, input.mix);
  mara::PlatformConfig config;
  config.dependencies = input.jobs.has_dependencies();

  const auto begin = std::chrono::steady_clock::now();
  std::visit(
      [&](const auto& overhead) {
        mara::PlatformSimulator simulator(input.platform, config, overhead);
        result.run = simulator.run(source, watch, sink);
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
  result.usage.align(result.metrics.end_s);
  return result;
}

}  // namespace lab
