#pragma once
// The random policy of a team: networks, distributions of actions, learnt standard deviations.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mara/action/action_distribution.hpp"
#include "mara/environment/game.hpp"
#include "mara/learning/evaluate.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// A plan like AgentTeam: parameters lie in a storage that the caller owns, the networks' first, then the
/// logarithms of the standard deviations, a row of action.numbers() for every group of slots.
class TeamActor {
 public:
  /// Errors: those of AgentTeam and of check_action_shape().
  static Result<TeamActor> create(const TeamConfig& config, BoxKind box, const GameShape& shape) {
    if (const Status fine = check_action_shape(shape.action); !fine) return fine.error();
    auto team = AgentTeam::create(config, shape.agents, shape.observation, shape.action.outputs());
    if (!team) return team.error();
    std::vector<int> groups = config.groups;
    if (groups.empty() || shape.action.numbers() == 0) groups.assign(shape.agents, 0);
    return TeamActor(std::move(*team), ActionDistribution(shape.action, box), shape, std::move(groups));
  }

  const AgentTeam& team() const noexcept { return team_; }
  const ActionDistribution& distribution() const noexcept { return distribution_; }
  const GameShape& shape() const noexcept { return shape_; }
  /// Groups of slots that share standard deviations: those of the networks; one where no action has numbers.
  std::size_t groups() const noexcept { return group_count_; }
  std::size_t group(std::size_t slot) const noexcept { return static_cast<std::size_t>(group_[slot]); }
  std::size_t memory() const noexcept { return shape_.agents * team_.memory(); }  ///< numbers per team
  std::size_t stored() const noexcept { return log_std_at() + group_count_ * shape_.action.numbers(); }
  std::size_t log_std_at() const noexcept { return team_.stored(); }  ///< place of the deviations
  const float* log_std(const float* storage, std::size_t slot) const noexcept {
    return storage + log_std_at() + group(slot) * shape_.action.numbers();
  }

  /// Fills zeroed storage[stored()].
  void initialise(Random& random, float initial_log_std, float* storage) const {
    team_.initialise(random, storage);
    std::fill(storage + log_std_at(), storage + stored(), initial_log_std);
  }

 private:
  TeamActor(AgentTeam team, ActionDistribution distribution, GameShape shape, std::vector<int> groups)
      : team_(std::move(team)),
        distribution_(std::move(distribution)),
        shape_(std::move(shape)),
        group_(std::move(groups)),
        group_count_(static_cast<std::size_t>(*std::max_element(group_.begin(), group_.end())) + 1) {}

  AgentTeam team_;
  ActionDistribution distribution_;
  GameShape shape_;
  std::vector<int> group_;
  std::size_t group_count_;
};

/// Acts with fixed weights: the most probable options and the means, or draws when `random_actions`. Fulfils
/// GamePolicy.
class TeamPolicy {
 public:
  TeamPolicy(std::shared_ptr<const TeamActor> actor, std::span<const float> weights, bool random_actions)
      : actor_(std::move(actor)),
        weights_(weights),
        random_actions_(random_actions),
        memory_(actor_->memory()),
        outputs_(actor_->shape().agents * actor_->team().outputs()),
        latent_(actor_->shape().action.numbers()) {}

  void begin(std::uint64_t seed) {
    random_ = Random(seed, 0x706f6c6963790000ull);
    std::fill(memory_.begin(), memory_.end(), 0.0f);
  }
  void look(const GameFrame& frame) {
    actor_->team().step(weights_.data(), frame.observations.data(), 1, memory_.data(), frame.arrived.data(),
                        outputs_.data(), workspace_);
  }
  bool choose(std::size_t slot, const OptionMask* masks, std::int32_t* options, float* numbers) {
    const float* outputs = outputs_.data() + slot * actor_->team().outputs();
    const ActionDistribution& distribution = actor_->distribution();
    if (random_actions_) {
      if (std::isnan(distribution.sample(outputs, actor_->log_std(weights_.data(), slot), masks, random_,
                                         options, latent_.data())))
        return false;
    } else if (!distribution.mode(outputs, masks, options, latent_.data())) {
      return false;
    }
    distribution.to_numbers(latent_.data(), numbers);
    return true;
  }

 private:
  std::shared_ptr<const TeamActor> actor_;
  std::span<const float> weights_;
  bool random_actions_;
  Random random_{0};
  std::vector<float> memory_, outputs_, latent_;
  AgentTeam::Workspace workspace_;
};

static_assert(GamePolicy<TeamPolicy>);

}  // namespace mara
