#pragma once
// Hyper-parameters of MADDPG.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/action/exploration.hpp"
#include "mara/core/result.hpp"
#include "mara/learning/game_trainer.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// Networks of the actors by default: hidden layers of 64 and 64 units (Lowe et al. 2017), and a small last
/// layer, which keeps first actions off the flat ends of tanh (Lillicrap et al. 2016, section 7).
inline TeamConfig maddpg_actors() {
  TeamConfig actors;
  actors.network.hidden = {64, 64};
  actors.network.output_gain = 0.01f;
  return actors;
}

/// Deterministic actors under a central critic. Plain aggregate. The defaults are MADDPG with the three
/// additions of TD3 (Fujimoto, van Hoof and Meger, "Addressing function approximation error in actor-critic
/// methods", ICML 2018): twin critics, delayed actors, smoothed targets; the docstring of MaddpgTrainer says
/// how to do without. Unless a comment names TD3, defaults are those of Lowe et al., "Multi-agent
/// actor-critic for mixed cooperative-competitive environments", NeurIPS 2017, appendix, and of the code
/// published with it.
struct MaddpgConfig {
  std::uint64_t seed = 1;
  int threads = 1;  ///< play and gradients; results do not depend on it
  int environments = 1;
  int episode_steps = 0;  ///< time limit; 0: the game's own only

  /// The paper has a network for each agent: groups = separate_groups(slots).
  TeamConfig actors = maddpg_actors();
  std::vector<std::size_t> critic_hidden{64, 64};  ///< may be empty
  Activation critic_activation = Activation::kRelu;
  bool twin_critics = true;  ///< two critics, targets from the smaller value (TD3, section 4.2)

  RewardKind rewards = RewardKind::kTeam;
  double reward_scale = 1.0;  ///< rewards are multiplied by it for learning; reports show them as they are
  double gamma = 0.95;
  double tau = 0.01;  ///< target += tau (network - target) at every actor step

  double learning_rate = 0.01, critic_learning_rate = 0.01;
  double final_rate = 1.0;      ///< share of both rates that is left after rate_steps, along a line
  std::int64_t rate_steps = 0;  ///< environment steps; 0: rates stay as they are
  double adam_epsilon = 1e-8;
  double max_gradient_norm = 0.5;   ///< of all actors together, of the critics together; 0: off
  double logit_regulariser = 1e-3;  ///< times the mean square of the logits around their mean
  int batch = 1024;                 ///< transitions per optimiser step
  std::size_t replay = 1'000'000;   ///< transitions kept; memory grows as they come
  int round_steps = 100;            ///< steps of each environment per update()
  int round_updates = 1;            ///< critic steps per update()
  int policy_delay = 2;             ///< critic steps per step of actors and targets (TD3, section 5.2)
  /// Each agent's gradient takes the other agents' actions from the replay (Lowe et al., eq. 6); when true,
  /// all actions are the actors' at once (Peng et al., "FACMAC", NeurIPS 2021, section 3.2). Team reward
  /// only.
  bool joint_policy_update = false;

  /// On the target actors' numbers, in units of half the width of their bounds (TD3, section 5.3).
  GaussianNoise target_noise = GaussianNoise::target_smoothing();
  /// The target actors' options are drawn; when false, they are the most probable ones.
  bool sample_target_options = true;
  double temperature = 1.0;      ///< of the Gumbel-softmax
  bool straight_through = true;  ///< the critic sees one option, the gradient passes as for the soft ones;
                                 ///< false: it sees the soft ones in the actors' loss

  /// Environment steps in which actions are uniform and nothing is learnt (TD3, section 6.1).
  std::int64_t random_steps = 1'000;
  /// Standard deviation of the noise on numbers when playing, in the units of target_noise, along a line over
  /// noise_steps environment steps (TD3, section 6.1: .1). Options are drawn from their softmax.
  double noise_initial = 0.1, noise_final = 0.1;
  std::int64_t noise_steps = 0;
  ParameterNoise parameter_noise{};  ///< of what is played with after the random steps; off by default
};

/// The first field outside its domain, if any. Errors: kInvalidArgument; extents of networks are looked at by
/// MaddpgTrainer::create().
inline Status check_maddpg_config(const MaddpgConfig& c) {
  const auto bad = [](const char* field, double value, const char* rule) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("maddpg: ") + field + " = " + std::to_string(value) + ", " + rule};
  };
  const std::pair<const char*, int> counts[] = {
      {"threads", c.threads},         {"environments", c.environments},   {"batch", c.batch},
      {"round_steps", c.round_steps}, {"round_updates", c.round_updates}, {"policy_delay", c.policy_delay}};
  for (const auto& [field, value] : counts)
    if (value < 1) return bad(field, value, "must be at least 1");
  if (c.batch > 1 << 19) return bad("batch", c.batch, "must be at most 2^19");
  if (c.replay < 1) return bad("replay", 0.0, "must be at least 1");
  if (c.replay > kLargestCount) return bad("replay", static_cast<double>(c.replay), "must be at most 2^31");
  const std::pair<const char*, std::int64_t> lengths[] = {{"episode_steps", c.episode_steps},
                                                          {"random_steps", c.random_steps},
                                                          {"noise_steps", c.noise_steps},
                                                          {"rate_steps", c.rate_steps}};
  for (const auto& [field, value] : lengths)
    if (value < 0) return bad(field, static_cast<double>(value), "must not be negative");
  const std::pair<const char*, double> positive[] = {{"learning_rate", c.learning_rate},
                                                     {"critic_learning_rate", c.critic_learning_rate},
                                                     {"adam_epsilon", c.adam_epsilon},
                                                     {"reward_scale", c.reward_scale},
                                                     {"temperature", c.temperature}};
  for (const auto& [field, value] : positive)
    if (!(value > 0.0) || !std::isfinite(value)) return bad(field, value, "must be positive and finite");
  const std::pair<const char*, double> weights[] = {{"max_gradient_norm", c.max_gradient_norm},
                                                    {"logit_regulariser", c.logit_regulariser},
                                                    {"noise_initial", c.noise_initial},
                                                    {"noise_final", c.noise_final}};
  for (const auto& [field, value] : weights)
    if (!(value >= 0.0) || !std::isfinite(value)) return bad(field, value, "is negative or not finite");
  if (!(c.final_rate > 0.0 && c.final_rate <= 1.0)) return bad("final_rate", c.final_rate, "not in (0, 1]");
  if (!(c.gamma >= 0.0 && c.gamma <= 1.0)) return bad("gamma", c.gamma, "not in [0, 1]");
  if (!(c.tau > 0.0 && c.tau <= 1.0)) return bad("tau", c.tau, "not in (0, 1]");
  if (const Status noise = c.target_noise.check(); !noise)
    return Error{noise.error().code, std::string("maddpg: target_noise: ") + noise.error().message};
  if (const Status noise = c.parameter_noise.check(); !noise)
    return Error{noise.error().code, std::string("maddpg: ") + noise.error().message};
  if (any_network(c.actors, [](const AgentNetworkConfig& n) { return n.recurrence != Recurrence::kNone; }))
    return Error{
        ErrorCode::kInvalidArgument,
        "maddpg: actors: recurrence: only feed-forward actors, a replay does not hold what these would "
        "remember"};
  if (any_network(c.actors, [](const AgentNetworkConfig& n) { return n.dueling; }))
    return bad("actors.dueling", 1.0, "actors have no values");
  if (c.joint_policy_update && c.rewards != RewardKind::kTeam)
    return bad("joint_policy_update", 1.0, "needs the team reward");
  return {};
}

}  // namespace mara
