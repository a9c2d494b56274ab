#pragma once
// The scheduling game: every job in the system is an agent; each tick all agents request GPUs.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/environment/cluster_observation.hpp"
#include "mara/environment/concept.hpp"
#include "mara/environment/sequential_arbiter.hpp"
#include "mara/simulation/simulator.hpp"

namespace mara {

/// What a cluster environment is made of.
struct ClusterEnvironmentConfig {
  Cluster cluster;
  /// Jobs of the episode with this seed. They should outlast the episode: when no job is left, the game is
  /// over.
  std::function<Result<std::vector<Job>>(std::uint64_t seed)> workload;
  double time_unit_s = 300.0;  ///< seconds per step, and the unit of times in observations and rewards
  int episode_steps = 600;     ///< truncation
  /// Agents choose at every arrival and completion too; a step then ends at the next of those or tick.
  /// Otherwise steps all last time_unit_s.
  bool decide_at_events = false;
  Overheads overheads{};
  double reward_scale = 0.05;  ///< multiplies the sum over jobs
};

/// Agents choose at multiples of time_unit_s. Between them, at arrivals and completions, the arbiter keeps
/// every running job as it is and backfills free GPUs, so nothing idles for want of a decision. Team reward
/// of a step: reward_scale * sum over jobs of (ideal seconds of progress - seconds in the system) /
/// time_unit_s, where a job makes one ideal second of progress per second on its fastest type at the
/// requested size. Summed over an episode it is minus the total delay: a potential-based form of minus the
/// total completion time. Individual reward: the same for the agent's own job, unscaled.
template <int Types>
class ClusterEnvironment {
 public:
  using ActionSpace = TieredRequest<Types>;
  using Arbiter = SequentialArbiter<Types>;
  using Observation = ClusterObservation<Types>;
  using Config = ClusterEnvironmentConfig;
  static constexpr int kTypes = Types;
  static constexpr int kObservation = Observation::kSize;
  static constexpr int kGlobalState = Observation::kGlobal;
  static constexpr int kOptions = ActionSpace::kOptions;

  explicit ClusterEnvironment(Config config)
      : config_(std::move(config)), observation_(ObservationConfig{config_.time_unit_s}) {}

  /// Errors: a cluster of another number of types, a field of the configuration outside its domain, the
  /// workload's, and the simulator's about its jobs. After an error the environment is over until a reset
  /// succeeds.
  Status reset(std::uint64_t seed) {
    over_ = true, here_ = false;
    if (config_.cluster.type_count() != Types) {
      return Error{ErrorCode::kShapeMismatch, "cluster: " + std::to_string(config_.cluster.type_count()) +
                                                  " GPU types, the environment is compiled for " +
                                                  std::to_string(Types)};
    }
    if (!config_.workload) return Error{ErrorCode::kInvalidArgument, "workload: not set"};
    if (Status good = check_positive(config_.time_unit_s, "time_unit_s"); !good) return good;
    if (Status good = check_finite(config_.reward_scale, "reward_scale"); !good) return good;
    if (config_.episode_steps < 1) {
      return Error{ErrorCode::kInvalidArgument,
                   "episode_steps: must be at least 1, is " + std::to_string(config_.episode_steps)};
    }
    auto jobs = config_.workload(seed);
    if (!jobs) return jobs.error();
    SimulationConfig simulation;
    simulation.overheads = config_.overheads;
    simulation.tick_s = config_.time_unit_s;
    auto created = Simulator::create(config_.cluster, std::move(jobs).value(), simulation);
    if (!created) return created.error();
    simulator_ = std::make_unique<Simulator>(std::move(created).value());
    ideal_rate_.clear();
    for (const Job& job : simulator_->jobs()) ideal_rate_.push_back(ideal_rate(job));
    steps_ = 0;
    clock_s_ = 0.0;
    rewards_.clear();
    over_ = !simulator_->next_decision();
    refresh();
    return {};
  }

  std::size_t agents() const noexcept { return here_ ? simulator_->view().active.size() : 0; }
  /// Number of the agent's job in the episode's workload: agents keep it while they are there.
  std::uint64_t agent_id(std::size_t agent) const noexcept { return simulator_->view().active[agent].job; }
  void observe(float* rows) const noexcept {
    if (here_) observation_.write_agents(simulator_->view(), rows);
  }
  void global_state(float* row) const noexcept { observation_.write_global(row); }
  std::span<const std::uint32_t> turn_order() const noexcept {
    return here_ ? observation_.order() : std::span<const std::uint32_t>{};
  }
  OptionMask mask(std::size_t agent) const noexcept {
    return Arbiter::mask(simulator_->view(), agent, simulator_->allocation());
  }
  OptionMask possible(std::size_t agent) const noexcept {
    return ActionSpace::possible(simulator_->view().job(agent), config_.cluster);
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
      rewards_.clear();
      outcome.terminated = true;
      return outcome;
    }
    const double until_s = clock_s_ + config_.time_unit_s;
    team_ = 0.0;
    agent_jobs_.clear();
    for (std::size_t i = 0; i < agents(); ++i) agent_jobs_.push_back(simulator_->view().active[i].job);
    rewards_.assign(agent_jobs_.size(), 0.0f);
    if (here_) {
      Arbiter::backfill(simulator_->view(), observation_.order(), simulator_->allocation());
      advance();
    }
    while (!config_.decide_at_events && !over_ &&
           simulator_->now_s() < until_s - 1e-6 * config_.time_unit_s) {
      claim_held(simulator_->view(), simulator_->allocation());
      observation_.prepare(simulator_->view());
      Arbiter::backfill(simulator_->view(), observation_.order(), simulator_->allocation());
      advance();
    }
    clock_s_ = config_.decide_at_events ? simulator_->now_s() : until_s;
    ++steps_;
    outcome.team_reward = static_cast<float>(config_.reward_scale * team_);
    outcome.terminated = over_;
    outcome.truncated = !over_ && steps_ >= config_.episode_steps;
    refresh();
    return outcome;
  }

  std::span<const float> rewards() const noexcept { return rewards_; }
  /// The view for schedulers that play in this environment (experts); valid while there are agents.
  const DecisionView& view() const noexcept { return simulator_->view(); }
  const Cluster& cluster() const noexcept { return config_.cluster; }
  const Config& config() const noexcept { return config_; }

 private:
  static double ideal_rate(const Job& job) noexcept {
    double best = 0.0;
    for (int t = 0; t < Types; ++t) best = std::max(best, job.rate(Grant{t, job.requested}));
    return std::max(1e-12, best);
  }

  /// Whether the simulator stands at this step's time (it may be ahead when the system is empty), and its
  /// summary.
  void refresh() {
    here_ = !over_ && simulator_->now_s() < clock_s_ + 1e-6 * config_.time_unit_s;
    if (here_) {
      observation_.prepare(simulator_->view());
    } else {
      observation_.prepare_empty(config_.cluster);
    }
  }

  /// Runs the committed allocation to the next decision point and books what every job gained and lost.
  void advance() {
    before_.clear();
    for (const JobState& state : simulator_->view().active)
      before_.push_back({state.job, state.remaining_work});
    const double from_s = simulator_->now_s();
    simulator_->commit();
    over_ = !simulator_->next_decision();
    const auto active = over_ ? std::span<const JobState>{} : simulator_->view().active;
    const double now_s = simulator_->now_s();
    std::size_t cursor = 0, agent = 0;  // all lists keep the order of submission
    for (const Before& b : before_) {
      double left = 0.0, present_s = now_s - from_s;
      if (cursor < active.size() && active[cursor].job == b.job) {
        left = active[cursor++].remaining_work;
      } else {
        present_s = simulator_->records()[b.job].end_s - from_s;
      }
      const double gain = ((b.remaining_work - left) / ideal_rate_[b.job] - present_s) / config_.time_unit_s;
      team_ += gain;
      while (agent < agent_jobs_.size() && agent_jobs_[agent] < b.job) ++agent;
      if (agent < agent_jobs_.size() && agent_jobs_[agent] == b.job)
        rewards_[agent] += static_cast<float>(gain);
    }
  }

  struct Before {
    std::uint32_t job;
    double remaining_work;
  };

  Config config_;
  Observation observation_;
  std::unique_ptr<Simulator> simulator_;
  std::vector<double> ideal_rate_;  // per job
  std::vector<Before> before_;
  std::vector<std::uint32_t> agent_jobs_;
  std::vector<float> rewards_;
  double clock_s_ = 0.0, team_ = 0.0;
  int steps_ = 0;
  bool over_ = true, here_ = false;
};

}  // namespace mara
