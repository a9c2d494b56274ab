// Properties of the platform engine under every kind of scheduler, on thousands of small random worlds. What
// is checked is recomputed from the records of a run, not read from the engine's ledger.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mara/cluster/platform_mig.hpp"
#include "mara/core/random.hpp"
#include "mara/schedule/backfill.hpp"
#include "mara/schedule/conservative_backfill.hpp"
#include "mara/schedule/discretised_las.hpp"
#include "mara/schedule/job_order.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/schedule/slot_window.hpp"
#include "platform_helpers.hpp"

using namespace mara;
using namespace platform_test;

namespace {

// --- schedulers chosen at run time, so that few templates are instantiated

template <bool Varies>
struct AnyOrder {
  int which = 0;
  static constexpr bool kVaries = Varies;
  static constexpr std::string_view name() noexcept { return "any-order"; }
  double key(const Dispatch& dispatch, const ActiveJob& job) const noexcept {
    switch (which) {
      case 0:
        return ArrivalJobOrder::key(dispatch, job);
      case 1:
        return ShortestJobOrder::key(dispatch, job);
      case 2:
        return ShortestRemainingOrder::key(dispatch, job);
      case 3:
        return ShortestServiceOrder::key(dispatch, job);
      case 4:
        return LongestJobOrder::key(dispatch, job);
      case 5:
        return SmallestJobOrder::key(dispatch, job);
      case 6:
        return LeastAttainedOrder::key(dispatch, job);
      case 7:
        return F1Order::key(dispatch, job);
      case 8:
        return EarliestDeadlineOrder::key(dispatch, job);
      case 9:
        return RandomJobOrder{7}.key(dispatch, job);
      case 10:
        return Wfp3Order::key(dispatch, job);
      case 11:
        return UnicefOrder::key(dispatch, job);
      case 12:
        return AgeingOrder{}.key(dispatch, job);
      default:
        return FinishTimeFairOrder{}.key(dispatch, job);
    }
  }
};
constexpr int kFixedOrders = 10, kOrders = 14;

struct AnyPlacing {
  std::variant<AnyDevices, Consolidated, ScoredPlacement<BestFitScoring>, ScoredPlacement<PackingScoring>,
               ScoredPlacement<SpreadingScoring>, ScoredPlacement<TetrisScoring>,
               ScoredPlacement<FragmentationScoring>, RandomPlacement>
      rule;
  static constexpr std::string_view name() noexcept { return "any-placing"; }
  bool place(const FreeResources& free, const PlacementDemand& demand, Placement& placement) {
    return std::visit([&](auto& r) { return r.place(free, demand, placement); }, rule);
  }
};
constexpr int kPlacings = 8;

AnyPlacing placing_of(int which) {
  AnyPlacing placing;
  switch (which) {
    case 0:
      placing.rule = AnyDevices{};
      break;
    case 1:
      placing.rule = Consolidated{};
      break;
    case 2:
      placing.rule = ScoredPlacement<BestFitScoring>{};
      break;
    case 3:
      placing.rule = ScoredPlacement<PackingScoring>{};
      break;
    case 4:
      placing.rule = ScoredPlacement<SpreadingScoring>{};
      break;
    case 5:
      placing.rule = ScoredPlacement<TetrisScoring>{};
      break;
    case 6: {
      PlacementDemand half, two;
      half.share = 500;
      half.cpu = Milli{1000};
      two.devices = 2;
      placing.rule = ScoredPlacement<FragmentationScoring>(
          FragmentationScoring({{half, 0.4}, {two, 0.3}, {PlacementDemand{}, 0.3}}));
      break;
    }
    default:
      placing.rule = RandomPlacement{3};
  }
  return placing;
}

/// No backfill, or EASY, which notes the first shadow time of each head.
struct AnyBackfill {
  bool on = false;
  EasyBackfill easy{};
  std::map<std::uint64_t, double>* shadows = nullptr;

  std::string_view name() const noexcept { return on ? easy.name() : std::string_view(); }
  template <class Placing>
  void fill(Dispatch& dispatch, WaitingQueue& queue, JobSlot head, Placing& placing) {
    if (!on) return;
    const std::int64_t free = dispatch.free().free_milli();
    const bool computed = queue.any_head([&](const WaitingQueue::Entry& entry) {
      return dispatch.job(entry.slot).demand.gpus().value <= free;
    });
    easy.fill(dispatch, queue, head, placing);
    if (computed) shadows->try_emplace(dispatch.job(head).sequence, easy.shadow_s());
  }
  void enter(Dispatch& dispatch, JobSlot slot) { easy.enter(dispatch, slot); }
  void leave(Dispatch& dispatch, JobSlot slot) { easy.leave(dispatch, slot); }
};

struct AnyScheduler {
  virtual ~AnyScheduler() = default;
  virtual void enter(Dispatch& dispatch, JobSlot slot) = 0;
  virtual void leave(Dispatch& dispatch, JobSlot slot) = 0;
  virtual void decide(Dispatch& dispatch) = 0;
  virtual double reserved_s(JobSlot) const { return kEndless; }
};

template <class S>
struct Erased : AnyScheduler {
  explicit Erased(S scheduler) : inner(std::move(scheduler)) {}
  void enter(Dispatch& dispatch, JobSlot slot) override { inner.enter(dispatch, slot); }
  void leave(Dispatch& dispatch, JobSlot slot) override { inner.leave(dispatch, slot); }
  void decide(Dispatch& dispatch) override { inner.decide(dispatch); }
  double reserved_s(JobSlot slot) const override {
    if constexpr (requires { inner.reserved_s(slot); }) return inner.reserved_s(slot);
    return kEndless;
  }
  S inner;
};

enum class Kind { kList, kConservative, kLas, kWindow };

struct Choice {
  Kind kind = Kind::kList;
  int order = 0, placing = 0;
  bool varies = false, easy = false;
  EasyBackfill easy_options{};
  ListOptions options{};
  std::size_t visible = 3, backlog = 4;

  /// Nobody waits who could start.
  bool greedy() const noexcept {
    if (placing == 7) return false;  // the order of nodes is drawn anew at each try
    if (kind == Kind::kLas) return true;
    return kind == Kind::kList &&
           (options.when_blocked == WhenBlocked::kSkip || options.preemption != Preemption::kNone);
  }
  /// A job that can never start may hold up those behind it.
  bool strict() const noexcept {
    if (kind == Kind::kWindow) return true;
    return kind == Kind::kList && options.preemption == Preemption::kNone &&
           options.when_blocked == WhenBlocked::kWait && !(easy && easy_options.may_outlast);
  }
  bool rejects() const noexcept {
    return kind == Kind::kWindow || (kind == Kind::kList && options.preemption == Preemption::kNone &&
                                     options.when_blocked == WhenBlocked::kDrop);
  }
  bool preempts() const noexcept {
    return kind == Kind::kLas || (kind == Kind::kList && options.preemption != Preemption::kNone);
  }
};

std::unique_ptr<AnyScheduler> scheduler_of(const Choice& choice, std::map<std::uint64_t, double>& shadows) {
  const AnyPlacing placing = placing_of(choice.placing);
  const AnyBackfill backfill{choice.easy, choice.easy_options, &shadows};
  const auto list = [&]<bool Varies>(AnyOrder<Varies> order) -> std::unique_ptr<AnyScheduler> {
    using List = ListDispatcher<AnyOrder<Varies>, AnyPlacing, AnyBackfill>;
    return std::make_unique<Erased<List>>(List(choice.options, order, placing, backfill));
  };
  switch (choice.kind) {
    case Kind::kList:
      if (choice.varies) return list(AnyOrder<true>{choice.order});
      return list(AnyOrder<false>{choice.order});
    case Kind::kConservative: {
      using Plan = ConservativeBackfill<AnyOrder<true>, AnyPlacing>;
      return std::make_unique<Erased<Plan>>(Plan({choice.order}, placing));
    }
    case Kind::kLas: {
      using Las = DiscretisedLas<AnyPlacing>;
      return std::make_unique<Erased<Las>>(Las({6.0, 17.5}, placing));
    }
    default: {
      using Window = SlotWindow<ShortnessScore, AnyPlacing>;
      return std::make_unique<Erased<Window>>(Window(choice.visible, choice.backlog, {}, placing));
    }
  }
}

// --- worlds

/// A third slower for each neighbour on the node.
struct Crowd {
  static constexpr bool kNone = false;
  static double of(std::size_t neighbours) noexcept {
    return 1.0 / (1.0 + 0.5 * static_cast<double>(neighbours));
  }
  double factor(const Platform&, const ActiveJob&, std::uint32_t,
                std::span<const ActiveJob* const> neighbours) const noexcept {
    return of(neighbours.size());
  }
};

struct World {
  Platform platform;
  std::vector<Submission> list;
  PlatformConfig config;
  Choice choice;
  double cost_s = 0.0;  // of every start, resumption and move
  bool crowd = false;
  TopologyNetwork network;
  bool honest = false;                            // no job ever runs longer than estimated
  std::map<std::int64_t, std::int32_t> profiles;  // by id, of the jobs that ask for slices
};

std::int32_t profile_of(const World& world, const Job& job) {
  const auto at = world.profiles.find(job.id);
  return at == world.profiles.end() ? kNoMigProfile : at->second;
}

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below64(static_cast<std::uint64_t>(high - low + 1)));
}
bool chance(Random& random, double p) {
  return random.uniform() < p;
}

Platform draw_platform(Random& random) {
  Platform platform;
  const auto types = static_cast<std::size_t>(between(random, 1, 3));
  for (std::size_t t = 0; t < types; ++t)
    platform.types.push_back({.name = "t" + std::to_string(t), .memory_mib = between(random, 1, 4) * 1000});
  const std::int64_t nodes = between(random, 1, 5);
  for (std::int64_t n = 0; n < nodes; ++n) {
    Node node;
    node.name = std::to_string(n);
    node.devices = static_cast<std::int32_t>(between(random, 0, 4));
    if (node.devices > 0)
      node.type = static_cast<std::int32_t>(between(random, 0, static_cast<std::int64_t>(types) - 1));
    node.cpu = Milli{between(random, 1, 16) * 500};
    node.memory_mib = between(random, 2, 16) * 100;
    node.rack = static_cast<std::int32_t>(between(random, 0, 1));
    node.numa_domains = static_cast<std::int32_t>(between(random, 1, 2));
    platform.nodes.push_back(node);
  }
  return platform;
}

Job draw_job(Random& random, std::int64_t id, double submit, bool whole_times, bool honest) {
  Job j;
  j.id = id;
  j.submit_s = submit;
  const double kind = random.uniform();
  if (kind < 0.15) {
    j.requested = Milli{0};
  } else if (kind < 0.45) {
    j.requested = Milli{between(random, 1, 9) * 100};
  } else {
    j.requested = Milli::whole(between(random, 1, chance(random, 0.2) ? 6 : 3));
  }
  j.max_gpus = static_cast<int>(std::max<std::int64_t>(1, j.requested.units()));
  if (chance(random, 0.5)) j.demand.cpu = Milli{between(random, 0, 6) * 400};
  if (chance(random, 0.5)) j.demand.memory_mib = between(random, 0, 6) * 70;
  if (chance(random, 0.3)) j.demand.gpu_memory_mib = between(random, 0, 3000);
  const double seconds = chance(random, 0.05) ? 0.0
                         : whole_times        ? static_cast<double>(between(random, 1, 20))
                                              : random.exponential(0.1);
  j.type_speed.fill(1.0);
  if (!honest) {
    for (double& speed : j.type_speed)
      speed = chance(random, 0.15) ? 0.0 : chance(random, 0.5) ? 1.0 : random.uniform(0.2, 3.0);
    if (chance(random, 0.3)) j.speed_up.parameter = random.uniform(0.3, 1.0);
    if (chance(random, 0.2)) j.speed_up.kind = SpeedUp::Kind::kAmdahl;
  }
  j.work = j.requested.value > 0 ? seconds * j.speed_up(j.requested.as_double()) : seconds;
  if (honest) {
    j.estimate_s = chance(random, 0.4) ? seconds : seconds * random.uniform(1.0, 3.0) + 1.0;
  } else if (chance(random, 0.8)) {
    j.estimate_s =
        chance(random, 0.1) ? 0.0 : seconds * (chance(random, 0.3) ? 1.0 : random.uniform(0.2, 3.0));
  }
  if (chance(random, 0.4)) j.deadline_s = submit + random.uniform(0.0, 60.0);
  j.priority = static_cast<int>(between(random, 0, 3));
  return j;
}

World draw_world(std::uint64_t seed) {
  Random random(seed, 1);
  World world;
  world.platform = draw_platform(random);
  world.honest = chance(random, 0.4);
  const bool whole_times = chance(random, 0.6);

  Choice& choice = world.choice;
  const double kind = random.uniform();
  choice.kind = kind < 0.6    ? Kind::kList
                : kind < 0.78 ? Kind::kConservative
                : kind < 0.9  ? Kind::kLas
                              : Kind::kWindow;
  choice.varies = chance(random, 0.5);
  choice.order = static_cast<int>(between(random, 0, (choice.varies ? kOrders : kFixedOrders) - 1));
  if (chance(random, 0.3)) choice.order = 0;
  choice.placing = static_cast<int>(between(random, 0, kPlacings - 1));
  choice.options.when_blocked = static_cast<WhenBlocked>(between(random, 0, 2));
  choice.options.preemption =
      chance(random, 0.5) ? Preemption::kNone : static_cast<Preemption>(between(random, 1, 2));
  choice.options.commit_to_head = chance(random, 0.2);
  choice.easy = choice.options.when_blocked == WhenBlocked::kWait && chance(random, 0.7);
  choice.easy_options.strict = chance(random, 0.2);
  choice.easy_options.may_outlast = chance(random, 0.7);
  choice.easy_options.by_submission = chance(random, 0.2);

  const std::int64_t jobs = between(random, 1, 12);
  double submit = 0.0;
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < jobs; ++i) ids.push_back(100 + i);
  for (std::int64_t i = 0; i < jobs; ++i) {
    if (!chance(random, 0.35))
      submit += whole_times ? static_cast<double>(between(random, 0, 6)) : random.exponential(0.3);
    world.list.push_back(
        {draw_job(random, ids[static_cast<std::size_t>(i)], submit, whole_times, world.honest), {}});
  }
  if (chance(random, 0.3)) {
    world.config.dependencies = true;
    random.shuffle(ids);  // a job may wait for those before it in this order: no circles
    for (std::size_t i = 1; i < ids.size(); ++i)
      while (chance(random, 0.3))
        world.list[static_cast<std::size_t>(ids[i] - 100)].after.push_back(ids[random.below64(i)]);
    if (chance(random, 0.1)) world.list.front().after.push_back(999);  // nobody's id
  }

  PlatformConfig& config = world.config;
  if (chance(random, 0.25)) config.batch = EventBatch::kArrivalsFirst;
  if (chance(random, 0.3))
    config.tick_s = whole_times ? static_cast<double>(between(random, 1, 5)) : random.uniform(0.5, 5.0);
  config.fixed_interval = config.tick_s > 0.0 && chance(random, 0.5);
  config.stall_ticks = 30;
  if (!world.honest && chance(random, 0.4)) {
    for (std::uint32_t n = 0; n < world.platform.nodes.size(); ++n) {
      double at = 0.0;
      while (chance(random, 0.5)) {
        at += whole_times ? static_cast<double>(between(random, 0, 20)) : random.exponential(0.1);
        Outage outage{n, at,
                      at + (whole_times ? static_cast<double>(between(random, 1, 15))
                                        : 0.01 + random.exponential(0.15)),
                      chance(random, 0.6) ? Outage::Kind::kFailure : Outage::Kind::kMaintenance};
        if (chance(random, 0.05)) outage.to_s = kEndless;
        config.outages.push_back(outage);
        at = outage.to_s;
        if (at == kEndless) break;
      }
    }
    random.shuffle(config.outages);
    if (chance(random, 0.5))
      config.checkpoint_interval_s =
          whole_times ? static_cast<double>(between(random, 1, 8)) : random.uniform(0.5, 8.0);
  }
  if (!world.honest) {
    // With ticks, costs and preemption jobs can take turns for ever without ever coming to work.
    const bool may_thrash = config.tick_s > 0.0 && choice.preempts();
    if (chance(random, 0.4) && !may_thrash)
      world.cost_s = whole_times ? static_cast<double>(between(random, 1, 3)) : random.uniform(0.1, 3.0);
    world.crowd = chance(random, 0.3);
    if (chance(random, 0.4)) world.network = {0.9, 0.75, 0.6};
  }
  return world;
}

/// The same world with some types in slices, and jobs that ask for them.
World draw_sliced_world(std::uint64_t seed) {
  World world = draw_world(seed);
  Random random(seed, 2);
  std::vector<std::size_t> plain;
  for (std::size_t t = 0; t < world.platform.types.size(); ++t) {
    DeviceType& type = world.platform.types[t];
    const double kind = random.uniform();
    if (kind < 0.45) {
      type.mig = mig_a100_40gb();
    } else if (kind < 0.65) {
      type.mig = mig_a30();
    } else if (kind < 0.8) {
      type.mig = MigTable{"odd", 3, 5, {{"2g", 1, 2, {0, 2, 3}}, {"all", 3, 5, {0}}, {"1g", 1, 1, {4, 0}}}};
    } else {
      plain.push_back(t);
    }
  }
  const auto profiles = static_cast<std::int64_t>(mig_profiles(world.platform).size());
  for (Submission& submission : world.list) {
    Job& job = submission.job;
    const bool fraction = job.requested.value > 0 && job.requested.value < 1000;
    bool somewhere = !fraction;  // a fraction must have a type that gives fractions
    for (const std::size_t t : plain) somewhere = somewhere || job.type_speed[t] > 0.0;
    if (profiles > 0 && job.requested.value > 0 && (!somewhere || chance(random, 0.6))) {
      job.requested = Milli::whole(between(random, 1, chance(random, 0.3) ? 5 : 2));
      job.max_gpus = static_cast<int>(job.requested.units());
      submission.mig_profile = static_cast<std::int32_t>(between(random, 0, profiles - 1));
      world.profiles[job.id] = submission.mig_profile;
      // Estimates that are kept: of the slowest slices of that profile.
      double slowest = kEndless;
      for (std::size_t t = 0; t < world.platform.types.size(); ++t)
        if (const double part =
                mig_speed(world.platform, static_cast<std::int32_t>(t), submission.mig_profile);
            part > 0.0)
          slowest = std::min(slowest, part);
      if (world.honest)
        job.estimate_s = job.work / (slowest * job.speed_up(job.requested.as_double())) * (1.0 + 1e-9);
    } else if (!somewhere) {
      job.requested = Milli::whole(1);
    }
  }
  return world;
}

// --- what is checked while the run goes on

/// Between the engine and a scheduler: checks what the engine tells it, what it did, and that the ledger
/// agrees with the placements.
class Watched {
 public:
  Watched(const World& world, std::unique_ptr<AnyScheduler> inner)
      : world_(world), inner_(std::move(inner)), placing_(placing_of(world.choice.placing)) {}

  static std::string_view name() noexcept { return "watched"; }
  void enter(Dispatch& dispatch, JobSlot slot) {
    const ActiveJob& job = dispatch.job(slot);
    if (job.running || !job.placement.empty()) fail("a running job entered");
    if (!waiting_.insert(slot).second) fail("a job entered that waits already");
    present_.insert(slot);
    most_ = std::max(most_, present_.size());
    if (!world_.config.dependencies && slot >= most_) fail("a slot was not used again");
    inner_->enter(dispatch, slot);
  }
  void leave(Dispatch& dispatch, JobSlot slot) {
    if (present_.erase(slot) == 0) fail("a job left that is not there");
    waiting_.erase(slot);
    booked_.erase(slot);
    inner_->leave(dispatch, slot);
  }
  void decide(Dispatch& dispatch) {
    inner_->decide(dispatch);
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const bool runs = dispatch.job(*at).running;
      if (runs) booked_.erase(*at);
      at = runs ? waiting_.erase(at) : std::next(at);
    }
    for (const JobSlot slot : present_)
      if (!dispatch.job(slot).running) waiting_.insert(slot);  // preempted
    check_ledger(dispatch);
    if (world_.choice.greedy())
      for (const JobSlot slot : waiting_)
        if (placing_.place(dispatch.free(), dispatch.job(slot).demand, placement_))
          fail("a job waits that fits");
    if (world_.choice.kind == Kind::kConservative && world_.honest && world_.choice.placing != 7 &&
        !world_.config.fixed_interval && world_.config.batch == EventBatch::kTogether) {
      for (const JobSlot slot : waiting_) {
        const double at = inner_->reserved_s(slot);
        const auto [known, first] = booked_.try_emplace(slot, at);
        if (!first && at > known->second * (1.0 + 1e-12)) fail("a reservation moved back");
        known->second = at;
      }
    }
  }

  const std::string& problem() const noexcept { return problem_; }

 private:
  void fail(const char* what) {
    if (problem_.empty()) problem_ = what;
  }
  void check_ledger(const Dispatch& dispatch) {
    FreeResources all(world_.platform);
    std::size_t running = 0;
    for (const JobSlot slot : present_) {
      const ActiveJob& job = dispatch.job(slot);
      if (!job.running) continue;
      ++running;
      if (!all.claim(job.placement)) fail("running jobs do not fit together");
    }
    if (running != dispatch.running().size()) fail("the list of running jobs is wrong");
    for (std::size_t n = 0; n < all.size(); ++n) {
      const FreeResources& free = dispatch.free();
      if (free.cpu(n) != all.cpu(n) || free.memory_mib(n) != all.memory_mib(n) ||
          !std::ranges::equal(free.device_free(n), all.device_free(n)))
        fail("the ledger disagrees with the placements");
      for (int d = 0; free.mig_table(n) != nullptr && d < free.devices(n); ++d)
        if (free.mig_use(n, d) != all.mig_use(n, d)) fail("the ledger disagrees with the slices");
      if (free.up(n) && free.fingerprint(n) != all.fingerprint(n)) fail("fingerprints disagree");
      if (free.whole(n) != (free.up(n) ? all.whole(n) : 0)) fail("wholly free devices are wrong");
    }
  }

  const World& world_;
  std::unique_ptr<AnyScheduler> inner_;
  AnyPlacing placing_;
  Placement placement_;
  std::set<JobSlot> waiting_, present_;
  std::map<JobSlot, double> booked_;
  std::size_t most_ = 0;
  std::string problem_;
};

struct Played {
  Recorder recorder;
  std::map<std::uint64_t, double> shadows;
  std::string problem;
};

Played simulate(const World& world, const std::vector<Submission>& list, const PlatformConfig& config) {
  Played result;
  Watched scheduler(world, scheduler_of(world.choice, result.shadows));
  const FixedOverhead overhead{world.cost_s, world.cost_s, world.cost_s, 0.0};
  SubmissionSource source(list);
  if (world.crowd) {
    PlatformSimulator<FixedOverhead, Crowd, TopologyNetwork> simulator(world.platform, config, overhead, {},
                                                                       world.network);
    result.recorder.run = simulator.run(source, scheduler, result.recorder);
  } else {
    PlatformSimulator<FixedOverhead, NoInterference, TopologyNetwork> simulator(world.platform, config,
                                                                                overhead, {}, world.network);
    result.recorder.run = simulator.run(source, scheduler, result.recorder);
  }
  result.problem = scheduler.problem();
  return result;
}

// --- what is checked afterwards, from the records

using Interval = Recorder::Interval;
using Outcome = Recorder::Outcome;

std::string check_capacity(const World& world, const Recorder& r) {
  struct Use {
    std::vector<std::int64_t> devices;
    std::vector<std::uint64_t> slices;  // memory slices in use
    std::vector<int> compute;
    std::int64_t cpu = 0, memory = 0;
  };
  for (const Interval& probe : r.intervals) {  // use can only be highest where something begins
    std::vector<Use> use(world.platform.nodes.size());
    for (std::size_t n = 0; n < use.size(); ++n) {
      const auto devices = static_cast<std::size_t>(world.platform.nodes[n].devices);
      use[n].devices.resize(devices);
      use[n].slices.resize(devices);
      use[n].compute.resize(devices);
    }
    for (const Interval& i : r.intervals) {
      if (i.start_s > probe.start_s || i.end_s <= probe.start_s) continue;
      for (const NodeShare& share : i.placement.shares) {
        if (share.node >= use.size()) return "a node that is not there";
        Use& u = use[share.node];
        u.cpu += share.cpu.value;
        u.memory += share.memory_mib;
        for (int d = 0; d < 64; ++d) {
          if ((share.devices >> d & 1) == 0) continue;
          if (static_cast<std::size_t>(d) >= u.devices.size()) return "a device that is not there";
          u.devices[static_cast<std::size_t>(d)] += share.share;
          const std::int32_t type = world.platform.nodes[share.node].type;
          const auto& mig = world.platform.types[static_cast<std::size_t>(type)].mig;
          if (!mig) continue;
          int first = 0, memory = mig->memory, compute = mig->compute;  // all of it
          if (share.profile != kNoMigProfile) {
            const MigProfile* profile = mig_profile(world.platform, type, share.profile);
            if (profile == nullptr) return "a profile that the type has not";
            if (std::count(profile->starts.begin(), profile->starts.end(), share.start) == 0)
              return "an illegal start";
            first = share.start;
            memory = profile->memory;
            compute = profile->compute;
          }
          const std::uint64_t bits = ((std::uint64_t{1} << memory) - 1) << first;
          if ((u.slices[static_cast<std::size_t>(d)] & bits) != 0) return "slices overlap";
          u.slices[static_cast<std::size_t>(d)] |= bits;
          u.compute[static_cast<std::size_t>(d)] += compute;
          if (u.compute[static_cast<std::size_t>(d)] > mig->compute) return "compute slices over capacity";
        }
      }
    }
    for (std::size_t n = 0; n < use.size(); ++n) {
      if (use[n].cpu > world.platform.nodes[n].cpu.value) return "CPU over capacity";
      if (use[n].memory > world.platform.nodes[n].memory_mib) return "memory over capacity";
      for (const std::int64_t milli : use[n].devices)
        if (milli > 1000) return "a device over capacity";
    }
  }
  return {};
}

std::string check_placement(const World& world, const Job& job, const Placement& placement) {
  std::int64_t milli = 0, devices = 0, cpu = 0, memory = 0;
  std::set<std::uint32_t> nodes;
  std::set<std::int32_t> types;
  const std::int32_t asked = profile_of(world, job);
  for (const NodeShare& share : placement.shares) {
    if (!nodes.insert(share.node).second && asked == kNoMigProfile) return "a node twice";
    if (share.profile != asked) return "another profile than asked for";
    cpu += share.cpu.value;
    memory += share.memory_mib;
    if (share.devices == 0) continue;
    devices += share.device_count();
    milli += std::int64_t{share.device_count()} * share.share;
    const std::int32_t type = world.platform.nodes[share.node].type;
    types.insert(type);
    const auto t = static_cast<std::size_t>(type);
    if (world.platform.types[t].mig && asked == kNoMigProfile && share.share != 1000)
      return "a fraction of a device in slices";
    if (!(job.type_speed[t] > 0.0)) return "a type that cannot run the job";
    if (job.demand.gpu_memory_mib > world.platform.types[t].memory_mib)
      return "too little memory on the device";
  }
  if (asked != kNoMigProfile) {
    if (devices != job.requested.units()) return "not the slices asked for";
    if (!std::is_sorted(placement.shares.begin(), placement.shares.end(),
                        [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; }))
      return "nodes out of order";
  } else if (milli != job.requested.value) {
    return "not the GPUs asked for";
  }
  if (job.requested.value < 1000 && devices > 1) return "a fraction on several devices";
  if (types.size() > 1) return "mixed types";
  if (cpu < job.demand.cpu.value || memory < job.demand.memory_mib) return "too little CPU or memory";
  return {};
}

double full_rate(const World& world, const Job& job, const Placement& placement) {
  double milli = 0.0, slowest = kEndless;
  for (const NodeShare& share : placement.shares) {
    if (share.devices == 0) continue;
    const auto type = static_cast<std::size_t>(world.platform.nodes[share.node].type);
    double speed = job.type_speed[type];
    if (share.profile == kNoMigProfile) {
      milli += share.device_count() * share.share;
    } else {
      const MigTable& table = *world.platform.types[type].mig;
      const int at = table.find(mig_profiles(world.platform)[static_cast<std::size_t>(share.profile)]);
      milli += 1000.0;  // the speed-up counts slices
      speed *= table.profiles[static_cast<std::size_t>(at)].compute / static_cast<double>(table.compute);
    }
    slowest = std::min(slowest, speed);
  }
  const double base = milli == 0.0 ? 1.0 : slowest * job.speed_up(milli / 1000.0);
  return base * world.network.factor(world.platform, job, placement);
}

bool on_node(const Interval& interval, std::uint32_t node) {
  return std::any_of(interval.placement.shares.begin(), interval.placement.shares.end(),
                     [node](const NodeShare& share) { return share.node == node; });
}

/// Work done in [from, to) of an interval.
double work_in(const World& world, const Recorder& r, const Job& job, const Interval& interval, double from,
               double to) {
  if (!(from < to)) return 0.0;
  const double rate = full_rate(world, job, interval.placement);
  if (!world.crowd) return (to - from) * rate;
  std::set<double> cuts{from, to};
  for (const Interval& other : r.intervals)
    for (const double at : {other.start_s, other.end_s})
      if (at > from && at < to) cuts.insert(at);
  double work = 0.0;
  for (auto a = cuts.begin(), b = std::next(a); b != cuts.end(); ++a, ++b) {
    double factor = 1.0;
    for (const NodeShare& share : interval.placement.shares) {
      std::size_t neighbours = 0;
      for (const Interval& other : r.intervals)
        if (other.sequence != interval.sequence && other.start_s <= *a && *a < other.end_s &&
            on_node(other, share.node))
          ++neighbours;
      factor = std::min(factor, Crowd::of(neighbours));
    }
    work += (*b - *a) * rate * factor;
  }
  return work;
}

/// Replays a job from its intervals: what it did, paid and lost must be what was reported.
std::string check_work(const World& world, const Recorder& r, const Outcome& o) {
  double left = o.job.work, paid = 0.0, lost = 0.0, executed = 0.0, attained = 0.0;
  int failures = 0;
  double before = -1.0;
  const std::vector<Interval> intervals = r.intervals_of(o.job.id);
  for (const Interval& interval :
       intervals) {  // maintenance and failure at one instant: the first one counts
    bool failure = false, maintenance = false;
    for (const Outage& outage : world.config.outages)
      if (outage.from_s == interval.end_s && on_node(interval, outage.node))
        (outage.kind == Outage::Kind::kFailure ? failure : maintenance) = true;
    if (failure && maintenance) return {};
  }
  for (std::size_t k = 0; k < intervals.size(); ++k) {
    const Interval& interval = intervals[k];
    const double length = interval.end_s - interval.start_s;
    if (!(length > 0.0)) return "an empty interval";
    if (interval.start_s < before) return "intervals of a job overlap";
    before = interval.end_s;
    executed += length;
    attained += length * interval.placement.gpus().as_double();
    const double cost = std::min(length, world.cost_s);
    paid += cost;
    left -= work_in(world, r, o.job, interval, interval.start_s + cost, interval.end_s);
    if (o.finished && k + 1 == intervals.size()) continue;
    for (const Outage& outage : world.config.outages) {
      if (outage.from_s != interval.end_s || outage.kind != Outage::Kind::kFailure ||
          !on_node(interval, outage.node))
        continue;
      ++failures;
      const double every = world.config.checkpoint_interval_s;
      if (every > 0.0) {
        const double since = std::fmod(length - cost, every);
        if (since < 1e-6 * every || since > (1.0 - 1e-6) * every) return {};  // rounding decides
        if (world.crowd) return {};  // the engine takes the last rate for all of what is lost
        lost += since;
        left += work_in(world, r, o.job, interval, interval.end_s - since, interval.end_s);
      }
      break;
    }
  }
  const auto close = [](double a, double b, double scale) {
    return std::fabs(a - b) <= 1e-9 * (1.0 + scale);
  };
  std::ostringstream text;
  text.precision(17);
  if (!close(executed, o.executed_s, executed)) text << "executed " << o.executed_s << " for " << executed;
  if (!close(attained, o.attained_gpu_s, attained))
    text << "attained " << o.attained_gpu_s << " for " << attained;
  if (world.config.batch == EventBatch::kTogether) {
    if (failures != o.failures) text << "failures " << o.failures << " for " << failures;
    if (!close(paid, o.overhead_s, paid)) text << "overhead " << o.overhead_s << " for " << paid;
    if (!close(lost, o.lost_s, lost)) text << "lost " << o.lost_s << " for " << lost;
    if (o.finished && !close(left, 0.0, o.job.work)) text << "work left at the end: " << left;
    if (!o.finished && left < -1e-9 * (1.0 + o.job.work)) text << "more work done than there is: " << left;
  }
  return text.str();
}

std::string check_records(const World& world, const Played& result) {
  const Recorder& r = result.recorder;
  const PlatformRun& run = r.run;
  if (!result.problem.empty()) return result.problem;
  if (run.submitted != world.list.size()) return "not all jobs were submitted";
  if (r.outcomes.size() != world.list.size()) return "a job was not reported, or twice";
  if (run.finished + run.rejected + run.unfinished != run.submitted) return "counts do not add up";
  std::map<std::int64_t, const Outcome*> by_id;
  std::uint64_t finished = 0, rejected = 0;
  for (const Outcome& o : r.outcomes) {
    if (!by_id.emplace(o.job.id, &o).second) return "a job was reported twice";
    finished += o.finished ? 1 : 0;
    rejected += o.rejected ? 1 : 0;
    if (o.finished && o.rejected) return "finished and rejected";
  }
  if (finished != run.finished || rejected != run.rejected) return "counts disagree with reports";
  if (rejected > 0 && !world.choice.rejects()) return "a job was rejected";
  if (auto problem = check_capacity(world, r); !problem.empty()) return problem;

  for (const Interval& interval : r.intervals)
    for (const Outage& outage : world.config.outages)
      if (on_node(interval, outage.node) && interval.start_s < outage.to_s && interval.end_s > outage.from_s)
        return "a job ran on a node that was down";
  bool stuck = false;  // a job that can never start is left
  std::vector<const Outcome*> startable;
  for (const Submission& submission : world.list) {
    const Outcome& o = *by_id.at(submission.job.id);
    const std::vector<Interval> intervals = r.intervals_of(o.job.id);
    const std::string name = "job " + std::to_string(o.job.id) + ": ";
    double ready = o.job.submit_s;
    bool could_enter = true;
    for (const std::int64_t id : submission.after) {
      if (!world.config.dependencies) break;
      const auto other = by_id.find(id);
      if (other == by_id.end() || !other->second->finished) {
        could_enter = false;
      } else {
        ready = std::max(ready, other->second->end_s);
      }
    }
    if (!could_enter && (o.started || o.finished || o.rejected)) return name + "ran before what it waits for";
    if (o.started && o.start_s < ready) return name + "started too early";
    if (o.started && could_enter && o.entered_s > o.start_s) return name + "started before it entered";
    for (const Interval& interval : intervals) {
      if (interval.start_s < o.start_s) return name + "ran before its start";
      if (interval.end_s > o.end_s) return name + "ran after its end";
      if (auto problem = check_placement(world, o.job, interval.placement); !problem.empty())
        return name + problem;
    }
    if (o.finished && !o.started) return name + "finished without a start";
    // A job may lose its place when all that is left of it is rounding.
    if (o.finished && !world.choice.preempts() && o.job.work > 0.0 &&
        (intervals.empty() || intervals.back().end_s != o.end_s))
      return name + "did not run to its end";
    if (!world.choice.preempts() && world.config.outages.empty()) {
      if (o.preemptions + o.migrations + o.failures != 0 || intervals.size() > 1) return name + "was moved";
    }
    if (static_cast<int>(intervals.size()) > 1 + o.preemptions + o.migrations + o.failures)
      return name + "has more intervals than moves";
    if (auto problem = check_work(world, r, o); !problem.empty()) return name + problem;
    if (o.finished || o.rejected || !could_enter) continue;
    // Left over. Could it start on an empty platform?
    FreeResources free(world.platform);
    for (const Outage& outage : world.config.outages)
      if (outage.to_s == kEndless) free.set_up(outage.node, false);
    AnyPlacing placing = placing_of(world.choice.placing);
    Placement placement;
    if (placing.place(free, demand_of(world.platform, o.job, -1, profile_of(world, o.job)), placement)) {
      startable.push_back(&o);
    } else {
      stuck = true;
    }
  }
  if (!startable.empty() && !(world.choice.strict() && stuck))
    return "job " + std::to_string(startable.front()->job.id) + " could run and did not finish";
  if (run.stalled != (run.unfinished > 0)) return "stalled is wrong";
  return {};
}

/// EASY with honest estimates, first come first served: a head starts by its first shadow time.
std::string check_shadows(const World& world, const Played& result) {
  const Choice& choice = world.choice;
  if (!choice.easy || choice.kind != Kind::kList || choice.preempts() || choice.order != 0 || !world.honest ||
      choice.placing == 7 || world.config.fixed_interval ||
      world.config.dependencies)  // who enters late may come before the head
    return {};
  for (const auto& [sequence, shadow] : result.shadows)
    for (const Outcome& o : result.recorder.outcomes)
      if (o.sequence == sequence && shadow < kEndless && (!o.started || o.start_s > shadow * (1.0 + 1e-12)))
        return "job " + std::to_string(o.job.id) + ": a reservation was not kept";
  return {};
}

bool same_outcome(const Outcome& a, const Outcome& b) {
  return a.job.id == b.job.id && a.started == b.started && a.finished == b.finished &&
         a.rejected == b.rejected && a.entered_s == b.entered_s && a.start_s == b.start_s &&
         a.end_s == b.end_s && a.executed_s == b.executed_s && a.attained_gpu_s == b.attained_gpu_s &&
         a.overhead_s == b.overhead_s && a.lost_s == b.lost_s && a.preemptions == b.preemptions &&
         a.migrations == b.migrations && a.failures == b.failures && a.last == b.last;
}
bool same_interval(const Interval& a, const Interval& b) {
  return a.id == b.id && a.placement == b.placement && a.start_s == b.start_s && a.end_s == b.end_s;
}
bool same(const Recorder& a, const Recorder& b) {
  return std::equal(a.outcomes.begin(), a.outcomes.end(), b.outcomes.begin(), b.outcomes.end(),
                    same_outcome) &&
         std::equal(a.intervals.begin(), a.intervals.end(), b.intervals.begin(), b.intervals.end(),
                    same_interval) &&
         a.run.end_s == b.run.end_s && a.run.decisions == b.run.decisions &&
         a.run.job_events == b.run.job_events;
}

std::string describe(std::uint64_t seed, const World& world) {
  const Choice& c = world.choice;
  std::ostringstream text;
  text << "seed " << seed << " kind " << static_cast<int>(c.kind) << " order " << c.order << " placing "
       << c.placing << " varies " << c.varies << " easy " << c.easy << " blocked "
       << static_cast<int>(c.options.when_blocked) << " preemption " << static_cast<int>(c.options.preemption)
       << " commit " << c.options.commit_to_head << " jobs " << world.list.size() << " nodes "
       << world.platform.nodes.size() << " batch " << static_cast<int>(world.config.batch) << " tick "
       << world.config.tick_s << " fixed " << world.config.fixed_interval << " outages "
       << world.config.outages.size() << " checkpoint " << world.config.checkpoint_interval_s
       << " dependencies " << world.config.dependencies << " cost " << world.cost_s << " crowd "
       << world.crowd << " honest " << world.honest;
  return text.str();
}

constexpr std::uint64_t kWorlds = 20'000;

}  // namespace

TEST_CASE("Properties of the engine on random worlds: capacity, arrivals, dependencies, work, completion",
          "[property]") {
  std::size_t unfinished = 0, outages = 0, preempted = 0;
  int reported = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const World world = draw_world(seed);
    const bool good = check_platform(world.platform) && check_config(world.config, world.platform);
    if (!good) FAIL("a world of the generator is refused");
    const Played result = simulate(world, world.list, world.config);
    std::string problem = check_records(world, result);
    if (problem.empty()) problem = check_shadows(world, result);
    if (problem.empty() && !same(result.recorder, simulate(world, world.list, world.config).recorder))
      problem = "the same input gave another result";
    if (!problem.empty()) {
      UNSCOPED_INFO(describe(seed, world));
      CHECK(problem == "");
      if (++reported == 20) FAIL("and so on");
    }
    unfinished += result.recorder.run.unfinished;
    outages += world.config.outages.size();
    for (const Outcome& o : result.recorder.outcomes)
      preempted += static_cast<std::size_t>(o.preemptions + o.migrations + o.failures);
  }
  // The worlds are of some interest.
  CHECK(unfinished > 1000);
  CHECK(outages > 1000);
  CHECK(preempted > 1000);
}

TEST_CASE("The same properties with devices in slices: legal starts, no overlap, slices at their speeds",
          "[property]") {
  std::size_t on_slices = 0, several = 0, preempted = 0;
  int reported = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds / 2; ++seed) {
    const World world = draw_sliced_world(seed + 3'000'000);
    if (!check_platform(world.platform)) FAIL("a world of the generator is refused");
    const Played result = simulate(world, world.list, world.config);
    std::string problem =
        result.recorder.run.error ? result.recorder.run.error->message : check_records(world, result);
    if (problem.empty()) problem = check_shadows(world, result);
    if (problem.empty() && !same(result.recorder, simulate(world, world.list, world.config).recorder))
      problem = "the same input gave another result";
    if (!problem.empty()) {
      UNSCOPED_INFO(describe(seed + 3'000'000, world));
      CHECK(problem == "");
      if (++reported == 20) FAIL("and so on");
    }
    for (const Outcome& o : result.recorder.outcomes) {
      preempted += static_cast<std::size_t>(o.preemptions + o.migrations + o.failures);
      if (o.last.empty() || o.last.shares.front().profile == kNoMigProfile) continue;
      ++on_slices;
      several += o.last.shares.size() > 1 ? 1 : 0;
    }
  }
  CHECK(on_slices > 10'000);
  CHECK(several > 1000);
  CHECK(preempted > 1000);
}

TEST_CASE("Up to the horizon a run is the beginning of the run without one", "[property]") {
  int reported = 0;
  for (std::uint64_t seed = 1; seed <= 4'000; ++seed) {
    const World world = draw_world(seed + 1'000'000);
    const Played whole = simulate(world, world.list, world.config);
    PlatformConfig config = world.config;
    Random random(seed, 9);
    config.horizon_s = random.uniform(0.0, 1.2) * whole.recorder.run.end_s;
    if (chance(random, 0.3) && !whole.recorder.intervals.empty())
      config.horizon_s = whole.recorder.intervals[random.below64(whole.recorder.intervals.size())].end_s;
    const Played cut = simulate(world, world.list, config);
    std::string problem = cut.problem;
    if (!whole.recorder.run.stalled && cut.recorder.run.end_s != config.horizon_s &&
        cut.recorder.run.unfinished > 0)
      problem = "did not reach the horizon";
    std::size_t finished = 0;
    for (const Outcome& o : cut.recorder.outcomes) {
      const Outcome& other = whole.recorder.of(o.job.id);
      if (o.finished) {
        ++finished;
        if (o.end_s > config.horizon_s) problem = "a job finished after the horizon";
        // Arrivals first: without a horizon something may still happen before the completion at that instant.
        const bool at_the_edge = config.batch == EventBatch::kArrivalsFirst && o.end_s == config.horizon_s;
        if (!at_the_edge && !same_outcome(o, other)) problem = "a job that finished has another history";
      } else if (!o.rejected && other.finished && other.end_s <= config.horizon_s &&
                 !(other.end_s == config.horizon_s &&
                   (o.job.work == 0.0 || config.batch == EventBatch::kArrivalsFirst))) {
        problem = "a job did not finish that ends by the horizon";
      }
    }
    for (const Interval& i : cut.recorder.intervals)
      if (i.end_s > config.horizon_s) problem = "an interval beyond the horizon";
    if (finished != cut.recorder.run.finished) problem = "counts";
    if (!problem.empty()) {
      UNSCOPED_INFO(describe(seed + 1'000'000, world) << " horizon " << config.horizon_s);
      CHECK(problem == "");
      if (++reported == 10) FAIL("and so on");
    }
  }
}

TEST_CASE("Jobs of one instant: their order in the input counts only where the order of service is a tie",
          "[property]") {
  int reported = 0;
  std::size_t permuted = 0;
  for (std::uint64_t seed = 1; seed <= 4'000; ++seed) {
    World world = draw_world(seed + 2'000'000);
    Choice& choice = world.choice;
    if (choice.kind == Kind::kLas || choice.kind == Kind::kWindow) choice.kind = Kind::kList;
    if (choice.placing == 7) choice.placing = 1;  // what is drawn depends on who asks first
    // Keys without ties: SJF, LJF and EDF on numbers that are all different.
    static constexpr int kOrderless[] = {1, 4, 8};
    choice.order = kOrderless[seed % 3];
    choice.easy_options.by_submission = false;
    world.config.batch = EventBatch::kTogether;
    world.config.tick_s = 0.0;
    world.config.fixed_interval = false;
    Random random(seed, 10);
    for (Submission& submission : world.list) {
      submission.job.estimate_s = random.uniform(1.0, 30.0);
      submission.job.deadline_s = random.uniform(0.0, 100.0);
    }
    std::vector<Submission> other = world.list;
    for (std::size_t begin = 0; begin < other.size();) {
      std::size_t end = begin;
      while (end < other.size() && other[end].job.submit_s == other[begin].job.submit_s) ++end;
      std::span<Submission> equal(other.data() + begin, end - begin);
      random.shuffle(equal);
      permuted += end - begin > 1 ? 1 : 0;
      begin = end;
    }
    // Conservative plans book arrivals in the order of the source: that is their tie rule.
    if (choice.kind == Kind::kConservative) continue;
    const Played a = simulate(world, world.list, world.config), b = simulate(world, other, world.config);
    std::string problem;
    for (const Outcome& o : a.recorder.outcomes)
      if (!same_outcome(o, b.recorder.of(o.job.id)))
        problem = "job " + std::to_string(o.job.id) + " has another history";
    if (!problem.empty()) {
      UNSCOPED_INFO(describe(seed + 2'000'000, world));
      CHECK(problem == "");
      if (++reported == 10) FAIL("and so on");
    }
  }
  CHECK(permuted > 3000);
}
