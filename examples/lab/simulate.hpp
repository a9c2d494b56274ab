#pragma once
// mara-lab simulate: what goes into a run of a policy, what comes out of it, and how that is shown.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mara/cluster/platform.hpp"
#include "mara/core/result.hpp"
#include "mara/schedule/fragmentation.hpp"
#include "mara/simulation/platform_metrics.hpp"
#include "mara/simulation/platform_models.hpp"
#include "mara/simulation/platform_records.hpp"
#include "mara/workload/rigid_jobs.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/trace_format.hpp"
#include "options.hpp"
#include "policies.hpp"
#include "simulate_models.hpp"
#include "simulate_usage.hpp"

namespace lab {

/// The jobs and the cluster that every policy is run on.
struct SimulationInput {
  mara::TraceFormat format{};
  std::size_t skipped_rows = 0;
  std::vector<std::string> tenants, sla_classes;  ///< names, as in the trace
  mara::Platform platform;
  mara::RigidJobs jobs;
  AnyOverhead overhead;
  mara::TopologyNetwork network;
  std::optional<AnyInterference> interference;
  Outages outages;
  double checkpoint_interval_s = 0.0;    ///< as in mara::PlatformConfig
  std::vector<mara::TypicalDemand> mix;  ///< of the jobs, for fragmentation
  double load = 0.0;                     ///< GPU-seconds asked for per second and GPU; 0 when there is no GPU
  std::optional<double> lower_bound_s;   ///< no scheduler's mean JCT is below it
  std::vector<std::string> notes;        ///< sentences on what was left out or taken for granted
};

/// What outages did to a run.
struct OutageEffects {
  std::uint64_t failures = 0, maintenances = 0;  ///< of nodes, that began before its end
  std::optional<double> down_share;              ///< of the nodes' time from the first submission to its end
  std::uint64_t restarts = 0;                    ///< resumptions of jobs after a preemption or a failure
  std::optional<double> restarts_per_job;        ///< that started
  double lost_gpu_hours = 0.0;                   ///< held for work that failures threw away
};

/// What a policy did.
struct PolicyRun {
  std::string name;
  mara::PlatformRun run;
  mara::PlatformMetrics metrics;
  std::vector<double> jct_s;  ///< of the jobs that finished
  UsageProfile usage;
  /// Share of the free GPU-time that was of no use to the typical job (FragmentationWatch).
  std::optional<double> fragmentation;
  OutageEffects outages;
  std::string note;      ///< the policy's own words; may be empty
  double seconds = 0.0;  ///< of wall-clock time

  /// Mean JCT over the lower bound; nothing unless all jobs finished.
  std::optional<double> over_bound(const SimulationInput& input) const {
    const bool all = metrics.finished == input.jobs.jobs.size();
    if (!all || !metrics.jct_s.mean || !input.lower_bound_s) return std::nullopt;
    return *metrics.jct_s.mean / *input.lower_bound_s;
  }
};

/// Reads and checks everything that the options name (simulate_input.cpp). Errors name the option.
mara::Result<SimulationInput> read_simulation_input(const SimulateOptions& options);

/// Runs `scheduler` once. `jobs` and `intervals`, where not null, get the lines of CsvLog without a header.
mara::Result<PolicyRun> run_policy(const SimulationInput& input, AnyScheduler scheduler, std::ostream* jobs,
                                   std::ostream* intervals);

/// The table for a terminal: aligned, ending in a line break.
std::string render_simulation_table(const SimulateOptions& options, const SimulationInput& input,
                                    const std::vector<PolicyRun>& runs);
/// summary.json: the same for two runs with one seed, apart from its member `timing`.
nlohmann::ordered_json simulation_json(const SimulateOptions& options, const SimulationInput& input,
                                       const std::vector<PolicyRun>& runs,
                                       const std::vector<std::string>& files);

/// Names of the figures that draw_simulation would make of these policies.
std::vector<std::string> simulation_figures(const std::vector<std::string>& policies);
/// Whether a figure of some policy that there is could have this name.
bool is_simulation_figure(const std::string& name);
/// Draws them into `folder`. Errors: those of run_gnuplot and draw.
mara::Status draw_simulation(const SimulationInput& input, const std::vector<PolicyRun>& runs,
                             const std::filesystem::path& folder);

}  // namespace lab
