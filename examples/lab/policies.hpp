#pragma once
// The policies of `mara-lab simulate` by name. To add one: a line in the table of policies.cpp.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mara/cluster/free_resources.hpp"
#include "mara/cluster/placement.hpp"
#include "mara/cluster/platform.hpp"
#include "mara/core/result.hpp"
#include "mara/schedule/backfill.hpp"
#include "mara/schedule/job_order.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/place.hpp"
#include "mara/simulation/dispatch.hpp"
#include "mara/workload/rigid_jobs.hpp"
#include "options.hpp"

namespace lab {

/// Any order of service. Two types, since orders whose keys vary are sorted anew at each decision.
template <bool kVarying>
class AnyJobOrder {
 public:
  static constexpr bool kVaries = kVarying;

  template <mara::JobOrder Order>
  explicit AnyJobOrder(std::string name, Order order)
      : name_(std::move(name)),
        key_([order = std::move(order)](const mara::Dispatch& dispatch, const mara::ActiveJob& job) mutable {
          return static_cast<double>(order.key(dispatch, job));
        }) {}

  const std::string& name() const noexcept { return name_; }
  double key(const mara::Dispatch& dispatch, const mara::ActiveJob& job) { return key_(dispatch, job); }

 private:
  std::string name_;
  std::function<double(const mara::Dispatch&, const mara::ActiveJob&)> key_;
};

/// Any placement rule. Moves, does not copy.
class AnyPlacement {
 public:
  template <mara::PlacementRule Rule>
  explicit AnyPlacement(Rule rule) : rule_(std::make_unique<Model<Rule>>(std::move(rule))) {}

  std::string_view name() const { return rule_->name(); }
  bool place(const mara::FreeResources& free, const mara::PlacementDemand& demand,
             mara::Placement& placement) {
    return rule_->place(free, demand, placement);
  }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual std::string_view name() const = 0;
    virtual bool place(const mara::FreeResources&, const mara::PlacementDemand&, mara::Placement&) = 0;
  };
  template <class Rule>
  struct Model final : Base {
    explicit Model(Rule r) : rule(std::move(r)) {}
    std::string_view name() const override { return rule.name(); }
    bool place(const mara::FreeResources& free, const mara::PlacementDemand& demand,
               mara::Placement& placement) override {
      return rule.place(free, demand, placement);
    }
    Rule rule;
  };
  std::unique_ptr<Base> rule_;
};

/// Any of the backfill rules.
class AnyBackfill {
 public:
  template <class Rule>
  explicit AnyBackfill(Rule rule) : rule_(std::move(rule)) {}

  std::string_view name() const {
    return std::visit([](const auto& rule) { return std::string_view(rule.name()); }, rule_);
  }
  template <class Placing>
  void fill(mara::Dispatch& dispatch, mara::WaitingQueue& queue, mara::JobSlot head, Placing& placing) {
    std::visit([&](auto& rule) { rule.fill(dispatch, queue, head, placing); }, rule_);
  }
  void enter(mara::Dispatch& dispatch, mara::JobSlot slot) {
    std::visit([&](auto& rule) { rule.enter(dispatch, slot); }, rule_);
  }
  void leave(mara::Dispatch& dispatch, mara::JobSlot slot) {
    std::visit([&](auto& rule) { rule.leave(dispatch, slot); }, rule_);
  }

 private:
  std::variant<mara::NoBackfill, mara::EasyBackfill> rule_;
};

/// Any scheduler of a platform, with the name it has in tables. Moves, does not copy.
class AnyScheduler {
 public:
  template <mara::PlatformScheduler Scheduler>
  explicit AnyScheduler(Scheduler scheduler)
      : scheduler_(std::make_unique<Model<Scheduler>>(std::move(scheduler))), name_(scheduler_->name()) {}
  /// With a name of the caller's.
  template <mara::PlatformScheduler Scheduler>
  AnyScheduler(Scheduler scheduler, std::string_view name) : AnyScheduler(std::move(scheduler)) {
    name_ = name;
  }

  const std::string& name() const noexcept { return name_; }
  void enter(mara::Dispatch& dispatch, mara::JobSlot slot) { scheduler_->enter(dispatch, slot); }
  void leave(mara::Dispatch& dispatch, mara::JobSlot slot) { scheduler_->leave(dispatch, slot); }
  void decide(mara::Dispatch& dispatch) { scheduler_->decide(dispatch); }
  /// What it has to say of itself after a run; mostly nothing.
  std::string note() const { return scheduler_->note(); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual std::string name() const = 0;
    virtual std::string note() const = 0;
    virtual void enter(mara::Dispatch&, mara::JobSlot) = 0;
    virtual void leave(mara::Dispatch&, mara::JobSlot) = 0;
    virtual void decide(mara::Dispatch&) = 0;
  };
  template <class Scheduler>
  struct Model final : Base {
    explicit Model(Scheduler s) : scheduler(std::move(s)) {}
    std::string name() const override { return std::string(scheduler.name()); }
    std::string note() const override {
      if constexpr (requires { scheduler.note(); })
        return scheduler.note();
      else
        return "";
    }
    void enter(mara::Dispatch& dispatch, mara::JobSlot slot) override { scheduler.enter(dispatch, slot); }
    void leave(mara::Dispatch& dispatch, mara::JobSlot slot) override { scheduler.leave(dispatch, slot); }
    void decide(mara::Dispatch& dispatch) override { scheduler.decide(dispatch); }
    Scheduler scheduler;
  };
  std::unique_ptr<Base> scheduler_;
  std::string name_;
};

/// What a policy is made with.
struct PolicySetup {
  const mara::Platform* platform = nullptr;
  const mara::RigidJobs* jobs = nullptr;
  std::string placement = "consolidated";
  std::optional<BackfillKind> backfill;        ///< nothing: the policy's own way
  std::optional<mara::Preemption> preemption;  ///< the same
  std::uint64_t seed = 1;
};

/// A policy of the table.
struct Policy {
  std::string_view name;
  std::string_view about;  ///< a few words
  std::function<mara::Result<AnyScheduler>(const PolicySetup&)> make;
};

/// All policies, in the order of the help.
std::span<const Policy> policies();
/// The names, separated by commas.
std::string policy_names();
std::string placement_names();

/// The placement rule called setup.placement. Errors: kInvalidArgument, naming the option and the value.
mara::Result<AnyPlacement> make_placement(const PolicySetup& setup);
/// The scheduler called `name`. Errors: kInvalidArgument, naming the option and the value, for an unknown
/// name and for choices that the policy cannot follow.
mara::Result<AnyScheduler> make_scheduler(std::string_view name, const PolicySetup& setup);

}  // namespace lab
