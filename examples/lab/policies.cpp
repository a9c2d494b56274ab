#include "policies.hpp"

#include <algorithm>

#include "mara/core/check_finite.hpp"
#include "mara/schedule/conservative_backfill.hpp"
#include "mara/schedule/discretised_las.hpp"
#include "mara/schedule/fair_share_dispatcher.hpp"
#include "mara/schedule/fragmentation.hpp"
#include "mara/schedule/hesrpt.hpp"
#ifdef MARA_WITH_CBC
#include "mara/interop/cbc.hpp"
#include "mara/schedule/max_min_dispatcher.hpp"
#include "mara/schedule/optimal_dispatcher.hpp"
#endif
#include "mara/schedule/optimus.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/schedule/pooled_dispatcher.hpp"
#include "mara/schedule/tetris_dispatcher.hpp"
#include "mara/simulation/active_job.hpp"

namespace lab {
namespace {

using namespace mara;  // NOLINT: the table speaks mara's words

Error bad_choice(const char* option, std::string_view policy, const std::string& what) {
  return Error{ErrorCode::kInvalidArgument,
               std::string("--") + option + ": policy '" + std::string(policy) + "' " + what};
}

/// A list policy before it is made: how jobs behind a blocked one and running ones are treated when nobody
/// says.
struct ListTraits {
  Preemption preemption = Preemption::kNone;
  bool strict = false;
};

template <class Order>
Result<AnyScheduler> make_list(std::string_view name, Order order, const ListTraits& traits,
                               const PolicySetup& setup) {
  auto placement = make_placement(setup);
  if (!placement) return placement.error();
  const BackfillKind backfill = setup.backfill.value_or(BackfillKind::kNone);
  ListOptions options;
  // Who asks for backfill wants a queue that is served without preemption.
  options.preemption =
      setup.preemption.value_or(backfill == BackfillKind::kNone ? traits.preemption : Preemption::kNone);
  if (backfill != BackfillKind::kNone && options.preemption != Preemption::kNone)
    return bad_choice("backfill", name, "cannot backfill and preempt; leave out --preempt");
  if (traits.strict && options.preemption != Preemption::kNone)
    return bad_choice("preempt", name, "serves strictly in order and does not preempt");
  const std::string label(name.substr(0, name.find("-strict")));
  if (backfill == BackfillKind::kConservative)
    return AnyScheduler(ConservativeBackfill<AnyJobOrder<true>, AnyPlacement>(
        AnyJobOrder<true>(label, std::move(order)), std::move(*placement)));
  AnyBackfill rule{NoBackfill{}};
  if (backfill == BackfillKind::kEasy) rule = AnyBackfill{EasyBackfill{}};
  options.when_blocked =
      traits.strict || backfill == BackfillKind::kEasy ? WhenBlocked::kWait : WhenBlocked::kSkip;
  return AnyScheduler(ListDispatcher<AnyJobOrder<Order::kVaries>, AnyPlacement, AnyBackfill>(
      options, AnyJobOrder<Order::kVaries>(label, std::move(order)), std::move(*placement), std::move(rule)));
}

template <class Order>
Policy list(std::string_view name, std::string_view about, ListTraits traits = {}) {
  return {name, about, [name, traits](const PolicySetup& setup) {
            if constexpr (std::same_as<Order, RandomJobOrder>)
              return make_list(name, Order{setup.seed}, traits, setup);
            else
              return make_list(name, Order{}, traits, setup);
          }};
}

/// A policy that serves and preempts in a way of its own; make(placement, setup) gives the scheduler.
template <class Make>
Policy own_way(std::string_view name, std::string_view about, Make make) {
  return {name, about, [name, make](const PolicySetup& setup) -> Result<AnyScheduler> {
            if (setup.backfill.value_or(BackfillKind::kNone) != BackfillKind::kNone)
              return bad_choice("backfill", name, "has no queue to backfill");
            if (setup.preemption) return bad_choice("preempt", name, "preempts in its own way");
            auto placement = make_placement(setup);
            if (!placement) return placement.error();
            return AnyScheduler(make(std::move(*placement), setup), name);
          }};
}

// Elastic rules are at full strength only where fragmentation does not hold them up.
constexpr PooledOptions kRepacked{.overheads = {.start_s = 0.0, .restart_s = 0.0}, .repack = true};
constexpr std::string_view kGavel = "max-min fairness over GPU types, in rounds",
                           kIlp = "an integer linear program at each decision";

/// A rule that decides how many GPUs of which type each job gets, preemptive and elastic.
template <class Rule>
Policy pooled(std::string_view name, std::string_view about) {
  return own_way(name, about, [](AnyPlacement placement, const PolicySetup&) {
    return PooledDispatcher<Rule, AnyPlacement>(Rule{}, kRepacked, std::move(placement));
  });
}

#ifdef MARA_WITH_CBC
constexpr CbcLimits kPerDecision{.seconds = 10.0};

Policy gavel() {
  return own_way("gavel", kGavel, [](AnyPlacement placement, const PolicySetup&) {
    return MaxMinDispatcher<ClpSolver, AnyPlacement>(MaxMinFair<ClpSolver>({}, MaxMinOptions{}),
                                                     PooledOptions{}, std::move(placement));
  });
}
/// The integer program, and how well it was solved.
struct ReportingIlp : OptimalDispatcher<CbcSolver, AnyPlacement> {
  using OptimalDispatcher<CbcSolver, AnyPlacement>::OptimalDispatcher;
  std::string note() const {
    const OptimalReport& report = rule().report();
    return std::to_string(report.programs) + " programs, " + std::to_string(report.optimal) +
           " solved to the end, " + std::to_string(report.cut_off) + " cut off, " +
           std::to_string(report.fallbacks) + " without a solution; worst gap " +
           format_number(report.worst_gap) + ", mean " + format_number(report.mean_gap());
  }
};
Policy ilp() {
  return own_way("ilp", kIlp, [](AnyPlacement placement, const PolicySetup&) {
    return ReportingIlp(OptimalAllocation<CbcSolver>(CbcSolver(kPerDecision), OptimalOptions{}), kRepacked,
                        std::move(placement));
  });
}
#else
Policy without_solver(std::string_view name, std::string_view about) {
  return {name, about, [name](const PolicySetup&) -> Result<AnyScheduler> {
            return bad_choice("policy", name,
                              "needs COIN-OR Clp and Cbc, and mara-lab was built without them");
          }};
}
Policy gavel() {
  return without_solver("gavel", kGavel);
}
Policy ilp() {
  return without_solver("ilp", kIlp);
}
#endif

constexpr ListTraits kPreempts{Preemption::kKeep, false}, kStrict{Preemption::kNone, true};

const std::vector<Policy>& table() {
  static const std::vector<Policy> all = {
      list<ArrivalJobOrder>("fcfs", "first come first served; who fits may overtake"),
      list<ArrivalJobOrder>("fcfs-strict", "first come first served; nobody overtakes", kStrict),
      list<ShortestJobOrder>("sjf", "shortest job first"),
      list<LongestJobOrder>("ljf", "longest job first"),
      list<ShortestRemainingOrder>("srtf", "shortest remaining time first", kPreempts),
      list<ShortestServiceOrder>("srsf", "shortest remaining time x GPUs first", kPreempts),
      own_way("las", "least attained service in Tiresias' queues",
              [](AnyPlacement placement, const PolicySetup&) {
                return DiscretisedLas<AnyPlacement>({3250.0, 7200.0}, std::move(placement));
              }),
      list<LeastAttainedOrder>("las-exact", "least attained service, without queues", kPreempts),
      list<SmallestJobOrder>("smallest", "fewest GPUs first"),
      list<F1Order>("f1", "F1 of Carastan-Santos & de Camargo"),
      list<Wfp3Order>("wfp3", "WFP3 of Tang et al."),
      list<UnicefOrder>("unicef", "UNICEF of Tang et al."),
      list<EarliestDeadlineOrder>("edf", "earliest deadline first"),
      list<AgeingOrder>("priority", "highest priority first, with ageing"),
      list<FinishTimeFairOrder>("themis", "worst finish-time fairness first"),
      list<RandomJobOrder>("random", "in random order"),
      own_way("drf", "dominant resource fairness over tenants",
              [](AnyPlacement placement, const PolicySetup&) {
                FairShareOptions options;
                options.look_further = true;
                return FairShareDispatcher<ArrivalJobOrder, AnyPlacement>(options, {}, std::move(placement));
              }),
      own_way("tetris", "Tetris, which places in its own way",
              [](AnyPlacement, const PolicySetup&) { return TetrisDispatcher(); }),
      pooled<Optimus>("optimus", "GPUs where they shorten most"),
      pooled<Hesrpt>("hesrpt", "heSRPT, for jobs that speed up as a power of their GPUs"),
      gavel(),
      ilp(),
  };
  return all;
}

struct PlacementEntry {
  std::string_view name;
  AnyPlacement (*make)(const PolicySetup&);
};

/// FGD with the mix of the jobs to come.
AnyPlacement make_fgd(const PolicySetup& setup) {
  std::vector<PlacementDemand> demands;
  for (std::size_t i = 0; i < setup.jobs->jobs.size(); ++i)
    demands.push_back(demand_of(*setup.platform, setup.jobs->jobs[i], -1, setup.jobs->mig_profile(i)));
  return AnyPlacement(ScoredPlacement<FragmentationScoring>(FragmentationScoring(typical_mix(demands))));
}
template <class Scoring>
AnyPlacement make_scored(const PolicySetup&) {
  return AnyPlacement(ScoredPlacement<Scoring>());
}

constexpr PlacementEntry kPlacements[] = {
    {"consolidated", [](const PolicySetup&) { return AnyPlacement(Consolidated{}); }},
    {"any", [](const PolicySetup&) { return AnyPlacement(AnyDevices{}); }},
    {"bestfit", make_scored<BestFitScoring>},
    {"packing", make_scored<PackingScoring>},
    {"spreading", make_scored<SpreadingScoring>},
    {"tetris", make_scored<TetrisScoring>},
    {"fgd", make_fgd},
    {"random", [](const PolicySetup& setup) { return AnyPlacement(RandomPlacement(setup.seed)); }},
};

template <class Entries>
std::string names_of(const Entries& entries) {
  std::string text;
  for (const auto& entry : entries) text += (text.empty() ? "" : ", ") + std::string(entry.name);
  return text;
}

}  // namespace

std::span<const Policy> policies() {
  return table();
}
std::string policy_names() {
  return names_of(table());
}
std::string placement_names() {
  return names_of(kPlacements);
}

Result<AnyPlacement> make_placement(const PolicySetup& setup) {
  for (const PlacementEntry& entry : kPlacements)
    if (entry.name == setup.placement) return entry.make(setup);
  return Error{ErrorCode::kInvalidArgument,
               "--placement: must be one of " + placement_names() + ", got '" + setup.placement + "'"};
}

Result<AnyScheduler> make_scheduler(std::string_view name, const PolicySetup& setup) {
  for (const Policy& policy : policies())
    if (policy.name == name) return policy.make(setup);
  return Error{ErrorCode::kInvalidArgument,
               "--policy: must be of " + policy_names() + ", got '" + std::string(name) + "'"};
}

}  // namespace lab
