#pragma once
// mara-lab simulate: what goes into a run of a policy, what comes out of it, and how that is shown.

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mara/cluster/platform.hpp"
#include "mara/core/result.hpp"
#include "mara/schedule/fragmentation.hpp"
#include "mara/simulation/muri_overhead.hpp"
#include "mara/simulation/platform_metrics.hpp"
#include "mara/simulation/platform_models.hpp"
#include "mara/simulation/platform_records.hpp"
#include "mara/workload/rigid_jobs.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/trace_format.hpp"
#include "options.hpp"
#include "policies.hpp"
#include "simulate_usage.hpp"

namespace lab {

/// Any of the overheads that can be named: --overhead none is a fixed one of zeros.
using AnyOverhead = std::variant<mara::FixedOverhead, mara::MuriOverhead>;

/// The jobs and the cluster that every policy is run on.
struct SimulationInput {
  mara::TraceFormat format{};
  std::size_t skipped_rows = 0;
  std::vector<std::string> tenants, sla_classes;  ///< names, as in the trace
  mara::Platform platform;
  mara::RigidJobs jobs;
  AnyOverhead overhead;
  std::vector<mara::TypicalDemand> mix;  ///< of the jobs, for fragmentation
  double load = 0.0;                     ///< GPU-seconds asked for per second and GPU; 0 when there is no GPU
  std::optional<double> lower_bound_s;   ///< no scheduler's mean JCT is below it
  std::vector<std::string> notes;        ///< sentences on what was left out or taken for granted
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
std::string render_simulation_table(const SimulationInput& input, const std::vector<PolicyRun>& runs);
/// summary.json: the same for two runs with one seed, apart from its member `timing`.
nlohmann::ordered_json simulation_json(const SimulateOptions& options, const SimulationInput& input,
                                       const std::vector<PolicyRun>& runs,
                                       const std::vector<std::string>& files);

/// Names of the figures that draw_simulation would make of these policies.
std::vector<std::string> simulation_figures(const std::vector<std::string>& policies);
/// Draws them into `folder`. Errors: those of run_gnuplot and draw.
mara::Status draw_simulation(const SimulationInput& input, const std::vector<PolicyRun>& runs,
                             const std::filesystem::path& folder);

}  // namespace lab
