// MADDPG of mara-lab train.

#include "game_configuration.hpp"
#include "game_families.hpp"
#include "mara/learning/maddpg.hpp"

namespace lab {

mara::Result<mara::AnyTrainer> begin(const mara::MaddpgConfig& config, const mara::GameMaker& make) {
  return any_trainer<mara::MaddpgTrainer>(config, make);
}

mara::Result<Learner> maddpg_learner(const TrainOptions& options, const mara::GameMaker& make) {
  mara::MaddpgConfig c;
  c.actors = team_of(options, c.actors, make(0).shape().agents);
  c.critic_hidden = hidden_widths(options);
  c.episode_steps = options.episode_steps;
  c.rewards = options.reward;
  set(c.environments, options.environments);
  set(c.reward_scale, options.reward_scale);
  set(c.gamma, options.gamma);
  set(c.learning_rate, options.learning_rate);
  set(c.critic_learning_rate, options.learning_rate);
  set(c.round_steps, options.collect_steps);
  set(c.batch, options.batch);
  set(c.round_updates, options.updates);
  set(c.replay, options.replay);
  set(c.tau, options.tau);
  Learner learner;
  learner.configuration = {
      {"environments", c.environments},
      {"episode_steps", c.episode_steps},
      {"actors", team_record(c.actors)},
      {"critic_hidden", c.critic_hidden},
      {"critic_activation", mara::name_of(c.critic_activation)},
      {"twin_critics", c.twin_critics},
      {"rewards", std::string(mara::enum_name(c.rewards))},
      {"reward_scale", c.reward_scale},
      {"gamma", c.gamma},
      {"tau", c.tau},
      {"learning_rate", c.learning_rate},
      {"critic_learning_rate", c.critic_learning_rate},
      {"final_rate", c.final_rate},
      {"rate_steps", c.rate_steps},
      {"adam_epsilon", c.adam_epsilon},
      {"max_gradient_norm", c.max_gradient_norm},
      {"logit_regulariser", c.logit_regulariser},
      {"batch", c.batch},
      {"replay", c.replay},
      {"round_steps", c.round_steps},
      {"round_updates", c.round_updates},
      {"policy_delay", c.policy_delay},
      {"joint_policy_update", c.joint_policy_update},
      {"target_noise", {{"deviation", c.target_noise.deviation}, {"limit", c.target_noise.limit}}},
      {"sample_target_options", c.sample_target_options},
      {"temperature", c.temperature},
      {"straight_through", c.straight_through},
      {"random_steps", c.random_steps},
      {"noise_initial", c.noise_initial},
      {"noise_final", c.noise_final},
      {"noise_steps", c.noise_steps},
      {"parameter_noise", noise_record(c.parameter_noise)}};
  learner.round_steps = std::int64_t{c.environments} * c.round_steps;
  learner.begin = [c, make](std::uint64_t seed, int threads) {
    mara::MaddpgConfig config = c;
    config.seed = seed;
    config.threads = threads;
    return begin(config, make);
  };
  return learner;
}

}  // namespace lab
