#pragma once
// The models of mara-lab simulate as values: what the options choose, behind one type of each kind, so that
// the engine is compiled four times (overhead charged at decisions or not, jobs that feel each other or not)
// whatever may be chosen.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/active_job.hpp"
#include "mara/simulation/interference.hpp"
#include "mara/simulation/muri_overhead.hpp"
#include "mara/simulation/outage.hpp"
#include "mara/simulation/platform_models.hpp"
#include "mara/workload/gavel_throughputs.hpp"
#include "mara/workload/job.hpp"
#include "mara/workload/rigid_jobs.hpp"
#include "options.hpp"

namespace lab {

/// An overhead, and the time that a decision takes on top of it (as in mara::FixedOverhead).
template <mara::OverheadModel Model>
struct DelayedOverhead {
  Model model;
  double decision_s = 0.0;

  static constexpr bool kChargesDecisions = Model::kChargesDecisions;
  double start_s(const mara::Job& job, const mara::Placement& placement) const noexcept {
    return decision_s + model.start_s(job, placement);
  }
  double resume_s(const mara::Job& job, const mara::Placement& placement) const noexcept {
    return decision_s + model.resume_s(job, placement);
  }
  double migrate_s(const mara::Job& job, const mara::Placement& from,
                   const mara::Placement& to) const noexcept {
    return decision_s + model.migrate_s(job, from, to);
  }
  double decision_loss_s(const mara::Job& job) const noexcept { return model.decision_loss_s(job); }
};

/// Any of the overheads that can be named: --overhead none is a fixed one of zeros.
using AnyOverhead = std::variant<mara::FixedOverhead, DelayedOverhead<mara::MuriOverhead>>;

/// Any of the interference models that can be named.
class AnyInterference {
 public:
  static constexpr bool kNone = false;

  template <mara::InterferenceModel Model>
  requires(!std::same_as<Model, AnyInterference>) explicit AnyInterference(Model model)
      : model_(std::move(model)) {}

  double factor(const mara::Platform& platform, const mara::ActiveJob& job, std::uint32_t node,
                std::span<const mara::ActiveJob* const> neighbours) const noexcept {
    return std::visit([&](const auto& model) { return model.factor(platform, job, node, neighbours); },
                      model_);
  }

 private:
  std::variant<mara::TimeSharing, mara::BandwidthInterference, mara::MeasuredPairs> model_;
};

/// When nodes cannot be used. Times in seconds, on the trace's clock.
struct Outages {
  std::vector<mara::Outage> list;  ///< as mara::merge_outages makes it
  /// Nothing is drawn or planned from here on; infinity when that leaves nothing out.
  double until_s = std::numeric_limits<double>::infinity();
};

/// --failures and --maintenance for jobs that are submitted from `first_s` on: to the time at which they
/// would all be done one after another at the latest, or to the millionth outage. Errors name the option and
/// the value.
mara::Result<Outages> make_outages(const SimulateOptions& options, const mara::Platform& platform,
                                   const mara::RigidJobs& jobs);
/// --checkpoint, in seconds: 0 when it is not given, infinity for never. Errors as above.
mara::Result<double> parse_checkpoint(const SimulateOptions& options);

/// --topology; sets the NUMA domains of the platform's nodes. Without it distance costs nothing. Errors as
/// above.
mara::Result<mara::TopologyNetwork> make_network(const SimulateOptions& options, mara::Platform& platform);

/// --overhead and --decision-time. Errors as above.
mara::Result<AnyOverhead> make_overhead(const SimulateOptions& options, const mara::RigidJobs& jobs);

/// --interference and --bandwidth, which sets bandwidths of the platform; nothing for none
/// (simulate_interference.cpp). `throughputs` may
/// be null. Sentences on what the model does not know go to `notes`. Errors as above.
mara::Result<std::optional<AnyInterference>> make_interference(const SimulateOptions& options,
                                                               const mara::RigidJobs& jobs,
                                                               const mara::GavelThroughputs* throughputs,
                                                               mara::Platform& platform,
                                                               std::vector<std::string>& notes);

}  // namespace lab
