#pragma once
// What an agent (a job) and the central critic see of a cluster, as numbers of order one.

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mara/action/tiered_request.hpp"
#include "mara/core/extremes.hpp"
#include "mara/core/libm.hpp"
#include "mara/core/merge_sort.hpp"
#include "mara/simulation/decision.hpp"

namespace mara {

/// Times enter as logarithms of multiples of `time_unit_s`, so that a policy trained at one time scale can be
/// used at another.
struct ObservationConfig {
  double time_unit_s = 300.0;
};

/// Encoder for clusters of `Types` GPU types. Stateless apart from buffers: the same view gives the same
/// numbers. A row is the agent's own features (kOwn), then the summary of the cluster (kCluster).
template <int Types>
class ClusterObservation {
 public:
  using Request = TieredRequest<Types>;
  static constexpr int kOwn = 7 * Types + 15;
  static constexpr int kCluster = 2 * Types + 16;
  static constexpr int kSize = kOwn + kCluster;
  static constexpr int kGlobal = kCluster + Types + 6;

  explicit ClusterObservation(ObservationConfig config) : unit_(config.time_unit_s) {}

  /// Makes room for `agents` agents; encode() allocates only beyond that.
  void reserve(std::size_t agents) {
    facts_.resize(agents);  // not reserve(): a copy must have the room too
    order_.resize(agents);
    scratch_.resize(agents);
  }

  /// Prepares for `view`: fixes the order of turns (ties: lower index). Must precede the calls
  /// below.
  void prepare(const DecisionView& view);
  /// Prepares for an empty system.
  void prepare_empty(const Cluster& cluster) {
    DecisionView view;
    view.cluster = &cluster;
    prepare(view);
  }
  /// Agents in the order in which they choose: about shortest remaining ideal time first, see prepare().
  std::span<const std::uint32_t> order() const noexcept { return {order_.data(), order_.size()}; }
  /// Writes one row of kSize numbers per active agent.
  void write_agents(const DecisionView& view, float* rows) const noexcept;
  /// Writes kGlobal numbers for the critic.
  void write_global(float* row) const noexcept {
    for (std::size_t i = 0; i < global_.size(); ++i) row[i] = global_[i];
  }

 private:
  struct Facts {
    double ideal_rate = 1.0;   // on the best type at the requested size
    double remaining_s = 0.0;  // at that rate
    double total_s = 1.0;
    double turn_key = 0.0;   // order of turns
    double requested = 1.0;  // GPUs
    double speed_up = 1.0;   // at the requested size
    double best_speed = 0.0;
    double age_s = 0.0;
    std::uint32_t class_mask = 0;  // types it can run on
    bool running = false;
  };

  float log_time(double seconds) const noexcept {
    return static_cast<float>(0.25 * libm::log(0.05 + seconds / unit_));
  }
  static float log_count(double x) noexcept { return static_cast<float>(0.25 * libm::log1p(x)); }
  void summarise(const DecisionView& view);

  double unit_;
  std::vector<Facts> facts_;
  std::vector<std::uint32_t> order_, scratch_;
  std::array<double, kMaxGpuTypes> capacity_{};
  double total_ = 1.0;
  std::array<float, kGlobal> global_{};
};

template <int Types>
void ClusterObservation<Types>::prepare(const DecisionView& view) {
  const std::size_t n = view.active.size();
  facts_.resize(n);
  order_.resize(n);
  scratch_.resize(n);
  total_ = 0.0;
  double demand = 0.0;
  for (int t = 0; t < Types; ++t) {
    const auto i = static_cast<std::size_t>(t);
    capacity_[i] = t < view.cluster->type_count() ? view.cluster->types[i].gpus() : 0.0;
    total_ += capacity_[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const JobState& state = view.active[i];
    const Job& job = view.job(i);
    Facts& f = facts_[i];
    f = Facts{};
    f.requested = job.requested.as_double();
    f.speed_up = job.speed_up(f.requested);
    for (int t = 0; t < Types; ++t) {
      const double speed = job.type_speed[static_cast<std::size_t>(t)];
      if (!(speed > 0.0) || capacity_[static_cast<std::size_t>(t)] < f.requested) continue;
      f.class_mask |= 1u << t;
      f.best_speed = larger(f.best_speed, speed);
    }
    f.ideal_rate = larger(1e-12, f.best_speed * f.speed_up);
    f.remaining_s = state.remaining_work / f.ideal_rate;
    f.age_s = larger(0.0, view.now_s - job.submit_s);
    f.running = !state.held.empty();
    f.total_s = larger(1.0, job.work / f.ideal_rate);
    demand += f.requested;
  }
  const double load = smaller(3.0, demand / larger(1.0, total_));
  // Weights of the order of turns, rounded from those of the tuned expert: under load small requests go
  // first, running jobs are not overtaken lightly, and jobs that few types can run come before those with a
  // choice.
  for (Facts& f : facts_) {
    f.turn_key = libm::log(f.remaining_s / unit_ + 0.05) * 1.3 + 0.3 * load * libm::log(f.requested) -
                 (f.running ? 0.45 : 0.0) - (std::popcount(f.class_mask) == 1 ? .45 : 0.0) -
                 (std::popcount(f.class_mask) == 2 ? .12 : 0.0) - .1 * libm::log1p(f.age_s / f.total_s);
  }
  for (Facts& f : facts_)
    if (libm::isnan(f.turn_key))
      f.turn_key =
          std::numeric_limits<double>::infinity();  // a broken reading goes last; sorting needs an order
  for (std::size_t i = 0; i < n; ++i) order_[i] = static_cast<std::uint32_t>(i);
  // Stable, so that the lower index comes first among equals.
  merge_sort(order_.data(), scratch_.data(), n,
             [this](std::uint32_t a, std::uint32_t b) { return facts_[a].turn_key < facts_[b].turn_key; });
  summarise(view);
}

template <int Types>
void ClusterObservation<Types>::summarise(const DecisionView& view) {
  const std::size_t n = facts_.size();
  std::array<double, Types> held{}, on_type{}, class_count{};
  double waiting = 0, demand = 0, waiting_demand = 0, captive = 0, recent = 0, older = 0, work = 0,
         exponent = 0, size = 0, remaining = 0, waiting_remaining = 0, age = 0, relative_age = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Facts& f = facts_[i];
    const JobState& state = view.active[i];
    demand += f.requested;
    if (f.running && state.held.type < Types) {
      held[static_cast<std::size_t>(state.held.type)] += state.held.gpus.as_double();
      on_type[static_cast<std::size_t>(state.held.type)] += 1.0;
    } else {
      waiting += 1.0;
      waiting_demand += f.requested;
      waiting_remaining += f.remaining_s;
    }
    const int types = std::popcount(f.class_mask);
    if (types == 1) captive += f.requested;
    if (types >= 1) class_count[static_cast<std::size_t>(types - 1)] += 1.0;
    recent += f.age_s < 4.0 * unit_;
    older += f.age_s < 16.0 * unit_;
    work += f.remaining_s * f.requested;
    exponent += libm::log2(view.job(i).speed_up(2.0));
    size += libm::log2(larger(0.125, f.requested));
    remaining += f.remaining_s;
    age += f.age_s;
    relative_age += libm::log1p(f.age_s / larger(1.0, view.job(i).work / f.ideal_rate));
  }
  const double count = larger(1.0, static_cast<double>(n));
  const double total = larger(1.0, total_);
  float* out = global_.data();
  for (int t = 0; t < Types; ++t) {
    const double capacity = larger(1.0, capacity_[static_cast<std::size_t>(t)]);
    *out++ = static_cast<float>(1.0 - held[static_cast<std::size_t>(t)] / capacity);
  }
  for (int t = 0; t < Types; ++t)
    *out++ = static_cast<float>(class_count[static_cast<std::size_t>(t)] / count);
  *out++ = log_count(static_cast<double>(n));
  *out++ = log_count(waiting);
  *out++ = static_cast<float>(libm::log1p(demand / total));
  *out++ = static_cast<float>(libm::log1p(waiting_demand / total));
  *out++ = static_cast<float>(libm::log1p(captive / total));
  for (const double q : {0.1, 0.25, 0.5, 0.75, 0.9}) {
    const auto at = static_cast<std::size_t>(q * static_cast<double>(n));
    *out++ = n == 0 ? 0.0f : log_time(facts_[order_[smaller(at, n - 1)]].remaining_s);
  }
  *out++ = log_count(recent);
  *out++ = log_count(older);
  *out++ = log_count(work / total / unit_);
  *out++ = static_cast<float>(exponent / count);
  *out++ = static_cast<float>(size / count / 3.0);
  *out++ = static_cast<float>((count - waiting) / count);
  // Beyond the agents' summary: what a critic needs to predict the delays to come.
  for (int t = 0; t < Types; ++t) *out++ = log_count(on_type[static_cast<std::size_t>(t)]);
  *out++ = log_count(remaining / unit_);
  *out++ = log_count(waiting_remaining / unit_);
  *out++ = log_count(age / unit_);
  *out++ = static_cast<float>(0.5 * relative_age / count);
  *out++ = log_count(relative_age);
  *out++ = log_count(larger(0.0, demand - total));
  for (float& value : global_)
    if (!libm::isfinite(value)) value = 0.0f;  // one broken reading must not blind all agents
}

template <int Types>
void ClusterObservation<Types>::write_agents(const DecisionView& view, float* rows) const noexcept {
  const std::size_t n = facts_.size();
  const double total = larger(1.0, total_);
  std::array<double, Types> held_total{}, held_before{};
  for (std::size_t i = 0; i < n; ++i) {
    const Grant held = view.active[i].held;
    if (!held.empty() && held.type < Types)
      held_total[static_cast<std::size_t>(held.type)] += held.gpus.as_double();
  }
  std::array<double, std::size_t{1} << Types> class_ahead{};
  double demand_ahead = 0.0;
  for (std::size_t rank = 0; rank < n; ++rank) {
    const std::size_t i = order_[rank];
    const Facts& f = facts_[i];
    const JobState& state = view.active[i];
    const Job& job = view.job(i);
    float* out = rows + i * kSize;
    float* const begin = out;
    for (int t = 0; t < Types; ++t) {
      const bool feasible = (f.class_mask >> t) & 1u;
      *out++ =
          feasible
              ? log_time(state.remaining_work / (job.type_speed[static_cast<std::size_t>(t)] * f.speed_up))
              : 1.5f;
    }
    for (int t = 0; t < Types; ++t) {
      const bool feasible = (f.class_mask >> t) & 1u;
      *out++ =
          feasible ? static_cast<float>(job.type_speed[static_cast<std::size_t>(t)] / f.best_speed) : 0.0f;
    }
    const double total_s = job.work / f.ideal_rate;
    *out++ = log_time(total_s);
    *out++ = static_cast<float>(libm::log2(larger(0.125, f.requested)) / 3.0);
    *out++ = static_cast<float>(libm::log2(job.speed_up(2.0)));
    const int option = Request::option_of(job, state.held);
    for (int a = 0; a < Request::kOptions; ++a) *out++ = a == option ? 1.0f : 0.0f;
    *out++ = static_cast<float>(0.5 * libm::log1p(f.age_s / larger(1.0, total_s)));
    *out++ = log_count(f.age_s / unit_);
    *out++ = static_cast<float>(static_cast<double>(rank) / static_cast<double>(n));
    *out++ = static_cast<float>(libm::log1p(demand_ahead / total));
    for (int t = 0; t < Types; ++t) {
      const auto k = static_cast<std::size_t>(t);
      *out++ = static_cast<float>(held_before[k] / larger(1.0, capacity_[k]));
    }
    if (f.running && state.held.type < Types) {
      held_before[static_cast<std::size_t>(state.held.type)] += state.held.gpus.as_double();
    }
    for (int t = 0; t < Types; ++t) {
      const auto k = static_cast<std::size_t>(t);
      *out++ = static_cast<float>((held_total[k] - held_before[k]) / larger(1.0, capacity_[k]));
    }
    double class_capacity = 0.0;
    for (int t = 0; t < Types; ++t)
      if ((f.class_mask >> t) & 1u) class_capacity += capacity_[static_cast<std::size_t>(t)];
    *out++ = static_cast<float>(libm::log1p(class_ahead[f.class_mask] / larger(1.0, class_capacity)));
    *out++ = tier_gpus(job, static_cast<int>(Tier::kHalf)).value > 0 ? 1.0f : 0.0f;
    *out++ = tier_gpus(job, static_cast<int>(Tier::kDouble)).value > 0 ? 1.0f : 0.0f;
    *out++ = static_cast<float>(state.overhead_left_s / unit_);
    *out++ = state.started ? 1.0f : 0.0f;
    *out++ = static_cast<float>(0.5 * libm::log1p(static_cast<double>(state.restarts)));
    *out++ = log_count(static_cast<double>(rank));
    for (std::size_t k = 0; k < static_cast<std::size_t>(kCluster); ++k) out[k] = global_[k];
    for (float* value = begin; value != begin + kOwn; ++value)
      if (!libm::isfinite(*value))
        *value = 0.0f;  // a broken reading must not spread through the shared network
    demand_ahead += f.requested;
    class_ahead[f.class_mask] += f.requested;
  }
}

}  // namespace mara
