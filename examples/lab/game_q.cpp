// The value-based learners of mara-lab train.

#include <algorithm>

#include "game_configuration.hpp"
#include "game_families.hpp"
#include "mara/learning/q_learning.hpp"

namespace lab {

mara::Result<mara::AnyTrainer> begin(const mara::QLearningConfig& config, LearnerName kind,
                                     const mara::GameMaker& make) {
  using namespace mara::critic;
  switch (kind) {
    case LearnerName::kVdn:
      return any_trainer<mara::QTrainer<SumMixing>>(config, make);
    case LearnerName::kQmix:
      return any_trainer<mara::QTrainer<MonotonicMixing>>(config, make);
    case LearnerName::kOwQmix:
      return any_trainer<mara::QTrainer<OptimisticMixing>>(config, make);
    default:
      return any_trainer<mara::QTrainer<NoMixing>>(config, make);
  }
}

mara::Result<Learner> q_learner(const TrainOptions& options, const mara::GameMaker& make,
                                std::int64_t schedule_steps) {
  mara::QLearningConfig c;
  c.team = team_of(options, c.team, make(0).shape().agents);
  c.team.network.dueling = options.dueling;
  c.episode_steps = options.episode_steps;
  c.reward = options.reward;
  // Pieces of one step hold nothing to remember, no later rewards and no later values.
  const int n_step = options.n_step.value_or(1);
  if (options.recurrence != mara::Recurrence::kNone || n_step > 1 || options.lambda.value_or(0.0) > 0.0)
    c.sequence_steps = static_cast<std::size_t>(std::max(10, n_step));
  // Half of the training explores less and less, the other half little.
  c.epsilon.anneal_steps = static_cast<std::uint64_t>(std::max<std::int64_t>(1, schedule_steps / 2));
  c.learning_start = std::min<std::int64_t>(500, schedule_steps / 10);
  set(c.environments, options.environments);
  set(c.reward_scale, options.reward_scale);
  set(c.gamma, options.gamma);
  set(c.learning_rate, options.learning_rate);
  set(c.lambda, options.lambda);
  set(c.collect_steps, options.collect_steps);
  set(c.sequence_steps, options.sequence_steps);
  set(c.batch, options.batch);
  set(c.updates, options.updates);
  set(c.replay_pieces, options.replay);
  set(c.n_step, options.n_step);
  set(c.epsilon.finish, options.epsilon_end);
  set(c.epsilon.anneal_steps, options.epsilon_steps);
  set(c.target_period, options.target_period);
  set(c.target_tau, options.tau);
  Learner learner;
  learner.configuration = {{"environments", c.environments},
                           {"episode_steps", c.episode_steps},
                           {"collect_steps", c.collect_steps},
                           {"updates", c.updates},
                           {"learning_start", c.learning_start},
                           {"sequence_steps", c.sequence_steps},
                           {"replay_pieces", c.replay_pieces},
                           {"batch", c.batch},
                           {"burn_in", c.burn_in},
                           {"priority_alpha", c.priority_alpha},
                           {"priority_beta", c.priority_beta},
                           {"priority_beta_steps", c.priority_beta_steps},
                           {"gamma", c.gamma},
                           {"n_step", c.n_step},
                           {"lambda", c.lambda},
                           {"double_q", c.double_q},
                           {"reward", std::string(mara::enum_name(c.reward))},
                           {"reward_scale", c.reward_scale},
                           {"bound_values", c.bound_values},
                           {"huber", c.huber},
                           {"team", team_record(c.team)}};
  nlohmann::ordered_json& record = learner.configuration;
  if (options.learner == LearnerName::kQmix || options.learner == LearnerName::kOwQmix)
    record["mixer"] = {{"width", c.mixer.width},
                       {"hyper_hidden", c.mixer.hyper_hidden},
                       {"central_hidden", c.mixer.central_hidden}};
  if (options.learner == LearnerName::kOwQmix) record["optimistic_alpha"] = c.optimistic_alpha;
  record["optimiser"] = c.optimiser == mara::OptimiserKind::kAdam ? "adam" : "rmsprop";
  record["learning_rate"] = c.learning_rate;
  record["final_rate"] = c.final_rate;
  record["rate_steps"] = c.rate_steps;
  record["max_gradient_norm"] = c.max_gradient_norm;
  record["target_period"] = c.target_period;
  record["target_tau"] = c.target_tau;
  record["epsilon"] = epsilon_record(c.epsilon);
  record["parameter_noise"] = noise_record(c.parameter_noise);
  learner.round_steps = static_cast<std::int64_t>(c.environments * c.collect_steps);
  learner.begin = [c, make, kind = options.learner](std::uint64_t seed, int threads) {
    mara::QLearningConfig config = c;
    config.seed = seed;
    config.threads = threads;
    return begin(config, kind, make);
  };
  return learner;
}

}  // namespace lab
