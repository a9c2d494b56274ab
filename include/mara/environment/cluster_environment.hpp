#pragma once
// The scheduling game: every job in the system is an agent; each tick all agents request GPUs.

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mara/environment/cluster_observation.hpp"
#include "mara/environment/concept.hpp"
#include "mara/environment/sequential_arbiter.hpp"
#include "mara/simulation/simulator.hpp"

namespace mara {

/// What a cluster environment is made of.
struct ClusterEnvironmentConfig {
  Cluster cluster;
  /// Jobs of the episode with this seed. They should outlast the episode: when no job is left, the game is over.
  std::function<Result<std::vector<Job>>(std::uint64_t seed)> workload;
  double time_unit_s = 300.0;  ///< seconds per tick, and the unit of times in observations and rewards
  int episode_steps = 400;     ///< truncation
  Overheads overheads{};
  double reward_scale = 0.05;  ///< multiplies the sum over jobs
};

/// Team reward of a step: reward_scale * sum over jobs of (ideal seconds of progress - seconds in the system) /
/// time_unit_s, where a job makes one ideal second of progress per second on its fastest type at the requested size.
/// Summed over an episode it is minus the total delay: a potential-based form of minus the total completion time.
/// Individual reward: the same for the agent's own job, unscaled.
template <int Types>
class ClusterEnvironment {
 public:
  using ActionSpace = TieredRequest<Types>;
  using Arbiter = SequentialArbiter<Types>;
  using Observation = ClusterObservation<Types>;
  using Config = ClusterEnvironmentConfig;
  static constexpr int kObservation = Observation::kSize;
  static constexpr int kGlobalState = Observation::kGlobal;
  static constexpr int kOptions = ActionSpace::kOptions;

  explicit ClusterEnvironment(Config config)
      : config_(std::move(config)), observation_(ObservationConfig{config_.time_unit_s}) {}

  /// Errors: the workload's, and the simulator's about its jobs.
  Status reset(std::uint64_t seed) {
    if (config_.cluster.type_count() != Types) {
      return Error{ErrorCode::kShapeMismatch, "cluster has " + std::to_string(config_.cluster.type_count()) +
                                                  " GPU types, the environment is compiled for " +
                                                  std::to_string(Types)};
    }
    if (!config_.workload) return Error{ErrorCode::kInvalidArgument, "workload is not set"};
    auto jobs = config_.workload(seed);
    if (!jobs) return jobs.error();
    SimulationConfig simulation;
    simulation.overheads = config_.overheads;
    simulation.tick_s = config_.time_unit_s;
    simulation.fixed_interval = true;
    auto created = Simulator::create(config_.cluster, std::move(jobs).value(), simulation);
    if (!created) return created.error();
    simulator_ = std::make_unique<Simulator>(std::move(created).value());
    steps_ = 0;
    over_ = !simulator_->next_decision();
    if (!over_) observation_.prepare(simulator_->view());
    rewards_.clear();
    return {};
  }

  std::size_t agents() const noexcept { return over_ ? 0 : simulator_->view().active.size(); }
  void observe(float* rows) const noexcept {
    if (!over_) observation_.write_agents(simulator_->view(), rows);
  }
  void global_state(float* row) const noexcept { observation_.write_global(row); }
  std::span<const std::uint32_t> turn_order() const noexcept {
    return over_ ? std::span<const std::uint32_t>{} : observation_.order();
  }
  OptionMask mask(std::size_t agent) const noexcept {
    return Arbiter::mask(simulator_->view(), agent, simulator_->allocation());
  }
  void act(std::size_t agent, int option) noexcept {
    Arbiter::claim(simulator_->view(), agent, option, simulator_->allocation());
  }
  int current_option(std::size_t agent) const noexcept {
    return ActionSpace::option_of(simulator_->view().job(agent), simulator_->view().active[agent].held);
  }

  StepOutcome step() {
    StepOutcome outcome;
    if (over_) {
      outcome.terminated = true;
      return outcome;
    }
    const DecisionView& view = simulator_->view();
    Arbiter::backfill(view, observation_.order(), simulator_->allocation());
    const double before_s = view.now_s;
    before_.clear();
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      before_.push_back({view.active[i].job, view.active[i].remaining_work, ideal_rate(view.job(i))});
    }
    simulator_->commit();
    over_ = !simulator_->next_decision();
    ++steps_;
    settle(before_s, outcome);
    outcome.terminated = over_;
    outcome.truncated = !over_ && steps_ >= config_.episode_steps;
    if (!over_) observation_.prepare(simulator_->view());
    return outcome;
  }

  std::span<const float> rewards() const noexcept { return rewards_; }
  /// The view for schedulers that play in this environment (experts); valid between steps.
  const DecisionView& view() const noexcept { return simulator_->view(); }
  const Config& config() const noexcept { return config_; }

 private:
  struct Before {
    std::uint32_t job;
    double remaining_work, ideal_rate;
  };

  double ideal_rate(const Job& job) const noexcept {
    double best = 0.0;
    for (int t = 0; t < Types; ++t) best = std::max(best, job.rate(Grant{t, job.requested}));
    return std::max(1e-12, best);
  }

  void settle(double before_s, StepOutcome& outcome) {
    rewards_.assign(before_.size(), 0.0f);
    const auto active = over_ ? std::span<const JobState>{} : simulator_->view().active;
    const double now = simulator_->now_s();
    double sum = 0.0;
    std::size_t cursor = 0;  // both lists keep the order of submission
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const Before& b = before_[i];
      double left = 0.0, present_s = 0.0;
      if (cursor < active.size() && active[cursor].job == b.job) {
        left = active[cursor++].remaining_work;
        present_s = now - before_s;
      } else {
        present_s = simulator_->records()[b.job].end_s - before_s;
      }
      const double gain = ((b.remaining_work - left) / b.ideal_rate - present_s) / config_.time_unit_s;
      rewards_[i] = static_cast<float>(gain);
      sum += gain;
    }
    for (; cursor < active.size(); ++cursor) {  // arrived since: waiting that nobody chose, the same for all policies
      sum -= (now - simulator_->jobs()[active[cursor].job].submit_s) / config_.time_unit_s;
    }
    outcome.team_reward = static_cast<float>(config_.reward_scale * sum);
  }

  Config config_;
  Observation observation_;
  std::unique_ptr<Simulator> simulator_;
  std::vector<Before> before_;
  std::vector<float> rewards_;
  int steps_ = 0;
  bool over_ = true;
};

}  // namespace mara
