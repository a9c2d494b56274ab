#pragma once
// A trained actor inside someone's scheduler: weights in, feasible allocations out.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/libm.hpp"
#include "mara/deploy/actor_file.hpp"
#include "mara/deploy/reference_state.hpp"
#include "mara/environment/sequential_scheduler.hpp"
#include "mara/nn/mlp_inference.hpp"

namespace mara::deploy {

/// A Scheduler for clusters of `Types` GPU types: every job's observation goes through one shared network of
/// hidden widths `Hidden...`, and the sequential arbiter turns the answers into an allocation within all hard
/// limits. Needs no third-party header and none of the training code. Moves, does not copy; one thread at a
/// time.
template <int Types, std::size_t... Hidden>
class Actor {
 public:
  using Observation = ClusterObservation<Types>;
  using Request = TieredRequest<Types>;
  using Network = MlpInference<float, static_cast<std::size_t>(Observation::kSize), Hidden...,
                               static_cast<std::size_t>(Request::kOptions)>;
  static constexpr int kTypes = Types;
  static constexpr std::size_t kMostAgents = 1'000'000;

  /// An actor with the weights of `network`. `type_names`: the GPU types it was trained for, fastest first;
  /// empty when unknown. Errors: a weight that is not finite (with its index), a time unit that is not finite
  /// and positive, max_agents outside [1, kMostAgents], another number of names than Types.
  static Result<Actor> create(Network network, ObservationConfig config, std::size_t max_agents,
                              std::vector<std::string> type_names = {}) {
    const std::vector<float> parameters = network.exact_parameters();
    if (const Status finite = check_weights(parameters.data(), parameters.size()); !finite)
      return finite.error();
    if (const Status good = check_positive(config.time_unit_s, "time_unit_s"); !good) return good.error();
    if (max_agents < 1 || max_agents > kMostAgents)
      return Error{ErrorCode::kInvalidArgument, "max_agents = " + std::to_string(max_agents) +
                                                    ", must be in [1, " + std::to_string(kMostAgents) + "]"};
    if (!type_names.empty() && type_names.size() != static_cast<std::size_t>(Types))
      return Error{ErrorCode::kShapeMismatch, "type_names: " + std::to_string(type_names.size()) +
                                                  " names, the actor is compiled for " +
                                                  std::to_string(Types) + " GPU types"};
    return Actor(std::move(network), config, max_agents, std::move(type_names));
  }

  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  Actor(Actor&&) noexcept = default;
  Actor& operator=(Actor&&) noexcept = default;

  /// Reads what save() wrote. Errors start with the path: those of read_actor_file(); a file for another
  /// number of GPU types, of another shape, or for observations of another meaning than this version's.
  static Result<Actor> load(const FilePath& path, std::size_t max_agents) {
    auto read = read_actor_file(path);
    if (!read) return read.error();
    const auto fail = [&path](ErrorCode code, const std::string& what) {
      return Error{code, path.string() + ": " + what};
    };
    if (read->types != Types)
      return fail(ErrorCode::kShapeMismatch, "types = " + std::to_string(read->types) +
                                                 ", the actor is compiled for " + std::to_string(Types));
    if (read->sizes != sizes())
      return fail(ErrorCode::kShapeMismatch, "sizes = " + shape_text(read->sizes) +
                                                 ", the actor is compiled for " + shape_text(sizes()));
    const ObservationConfig config{read->time_unit_s};
    const std::vector<float> numbers = reference_numbers<Types>(config);
    if (read->reference_numbers.size() != numbers.size())
      return fail(ErrorCode::kShapeMismatch,
                  "reference_numbers: " + std::to_string(read->reference_numbers.size()) + ", expected " +
                      std::to_string(numbers.size()));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      // Other C libraries differ in the last bits of a logarithm, not here.
      if (libm::fabs(read->reference_numbers[i] - numbers[i]) <= 1e-4f * (1.0f + libm::fabs(numbers[i])))
        continue;
      return fail(ErrorCode::kShapeMismatch,
                  "was trained on other observations: number " +
                      std::to_string(i % static_cast<std::size_t>(Observation::kSize)) +
                      " of the reference state was " +
                      format_number(static_cast<double>(read->reference_numbers[i])) + ", is " +
                      format_number(static_cast<double>(numbers[i])));
    }
    Network network(read->hidden);
    network.set_parameters(read->parameters).value();  // the count was compared with the sizes
    auto actor = create(std::move(network), config, max_agents, std::move(read->type_names));
    if (!actor) return fail(actor.error().code, actor.error().message);
    return actor;
  }

  /// Writes the weights file. Errors: those of write_actor_file().
  Status save(const FilePath& path) const {
    const Network& network = brain_.front().network;
    return write_actor_file({Types, sizes(), network.hidden_activation(), config_.time_unit_s, type_names_,
                             network.exact_parameters(), reference_numbers<Types>(config_)},
                            path);
  }

  std::string_view name() const noexcept { return "mara"; }
  std::size_t max_agents() const noexcept { return scheduler_.max_agents(); }
  double time_unit_s() const noexcept { return config_.time_unit_s; }
  const std::vector<std::string>& type_names() const noexcept { return type_names_; }

  /// Whether the actor was trained for such a cluster; to be asked once, before it decides. Errors: another
  /// number of GPU types; where the names are known, another name or order.
  Status check(const Cluster& cluster) const {
    if (cluster.type_count() != Types)
      return Error{ErrorCode::kShapeMismatch, "cluster: " + std::to_string(cluster.type_count()) +
                                                  " GPU types, the actor is compiled for " +
                                                  std::to_string(Types)};
    for (std::size_t t = 0; t < type_names_.size(); ++t)
      if (cluster.types[t].name != type_names_[t])
        return Error{ErrorCode::kInvalidArgument,
                     "cluster: type " + std::to_string(t) + " is '" + cluster.types[t].name +
                         "', the actor was trained for '" + type_names_[t] + "'"};
    return {};
  }

  /// Decides for all active jobs. Allocates nothing. "No change" (every job keeps what it holds, nothing
  /// starts) when the view cannot be trusted: more than max_agents jobs, another number of GPU types, a time
  /// or amount that is not finite or negative, or a network whose answer is not finite.
  void decide(const DecisionView& view, Allocation& allocation) noexcept {
    if (!usable(view)) return keep(view, allocation);
    scheduler_.decide(view, allocation);
    if (brain_.front().finite) return;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) allocation.release(agent);
    keep(view, allocation);
  }

  /// How many decisions were "no change" for want of a view or an answer that can be trusted.
  std::uint64_t refusals() const noexcept { return refusals_; }

 private:
  /// What evaluates the network; stays in place when the actor moves.
  struct Brain {
    Brain(Network n, std::size_t max_agents)
        : network(std::move(n)), logits(max_agents * static_cast<std::size_t>(Request::kOptions)) {}
    Network network;
    std::vector<float> logits;
    bool finite = true;  ///< the answers of the last decision were
  };

  struct Head {
    Brain* brain;
    void prepare(const PolicyInput& input) noexcept {
      float* logits = brain->logits.data();
      brain->network.forward(input.observations, input.agents, logits);
      brain->finite = true;
      for (std::size_t i = 0; i < input.agents * static_cast<std::size_t>(Request::kOptions); ++i)
        brain->finite = brain->finite && libm::isfinite(logits[i]);
    }
    const float* logits(std::size_t agent, OptionMask) noexcept {
      return &brain->logits[agent * static_cast<std::size_t>(Request::kOptions)];
    }
  };

  Actor(Network network, ObservationConfig config, std::size_t max_agents,
        std::vector<std::string> type_names)
      : brain_(1, Brain(std::move(network), max_agents)),
        config_(config),
        type_names_(std::move(type_names)),
        scheduler_("mara", Head{brain_.data()}, config, max_agents) {}

  static std::vector<std::uint64_t> sizes() {
    return {static_cast<std::uint64_t>(Observation::kSize), Hidden...,
            static_cast<std::uint64_t>(Request::kOptions)};
  }

  bool usable(const DecisionView& view) const noexcept {
    if (view.active.size() > scheduler_.max_agents() || view.cluster == nullptr ||
        view.cluster->type_count() != Types || !libm::isfinite(view.now_s))
      return false;
    const auto amount = [](double value) { return libm::isfinite(value) && value >= 0.0; };
    for (const JobState& state : view.active) {
      if (state.job >= view.jobs.size()) return false;
      const Job& job = view.jobs[state.job];
      bool good = amount(state.remaining_work) && amount(state.overhead_left_s) && amount(job.work) &&
                  libm::isfinite(job.submit_s) && job.requested.value > 0 && amount(job.speed_up.parameter);
      for (std::size_t t = 0; t < static_cast<std::size_t>(Types); ++t)
        good = good && amount(job.type_speed[t]);
      if (!good) return false;
    }
    return true;
  }

  void keep(const DecisionView& view, Allocation& allocation) noexcept {
    ++refusals_;
    for (std::size_t agent = 0; agent < view.active.size(); ++agent) {
      const JobState& state = view.active[agent];
      if (state.job < view.jobs.size()) allocation.claim(agent, view.jobs[state.job].demand, state.held);
    }
  }

  std::vector<Brain> brain_;  // of one: stays where it is when the actor moves
  ObservationConfig config_;
  std::vector<std::string> type_names_;
  SequentialScheduler<Types, Head> scheduler_;
  std::uint64_t refusals_ = 0;
};

}  // namespace mara::deploy
