// The table of proofs: learners on games with known answers. Sources of the answers: the docstrings of the
// games.

#include "game_cases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "format.hpp"
#include "mara/environment/game_registry.hpp"
#include "mara/environment/joint_game.hpp"
#include "mara/learning/exact_evaluation.hpp"
#include "mara/learning/small_game_configs.hpp"

namespace lab {
namespace {

using mara::AnyTrainer;
using mara::GameMaker;
using mara::matrix_game_q;
using mara::Result;
using mara::small_game_maddpg;
using mara::small_game_q;
using Judge = std::function<bool(double)>;
using Measure = std::function<Result<double>(const AnyTrainer&)>;

Judge about(double value, double tolerance = 1e-4) {
  return [=](double got) { return std::abs(got - value) <= tolerance; };
}
Judge at_least(double value) {
  return [=](double got) { return got >= value; };
}

GameMaker joint(const GameMaker& inner, mara::JointAction kind) {
  return [inner, kind](int i) { return mara::AnyGame(mara::JointGame::create(inner(i), kind).value()); };
}

/// Mean team return of the policy over some episodes.
Measure team_return(const GameMaker& make, std::size_t episodes) {
  return [=](const AnyTrainer& trainer) -> Result<double> {
    auto policy = trainer.policy(trainer.weights());
    mara::EvaluationConfig config;
    config.episodes = episodes;
    const auto played = mara::evaluate_policy(make, policy, config);
    if (!played) return played.error();
    return mara::mean_team_return(*played);
  };
}
/// A measure of the policy and the shape of its game.
template <class F>
Measure of_policy(const GameMaker& make, F measure) {
  return [make, measure](const AnyTrainer& trainer) -> Result<double> {
    auto policy = trainer.policy(trainer.weights());
    return measure(policy, make(0).shape());
  };
}

/// Largest distance from the best values at the empty and the full queues, in percent.
Measure dyn_a_gap(const GameMaker& make) {
  return of_policy(make, [](auto& policy, const mara::GameShape& shape) -> Result<double> {
    const auto values = mara::dynamic_allocation_values(policy, shape);
    if (!values) return values.error();
    const auto best = mara::DynamicAllocationGame::optimal_values();
    double worst = 0.0;
    for (const std::size_t s : {std::size_t{0}, std::size_t{8}})
      worst = std::max(worst, 100.0 * ((*values)[s] / best[s] - 1.0));
    return worst;
  });
}

/// With a small critic, and exploration that lasts for a while.
template <class Config>
Config small_ppo() {
  auto c = mara::small_game_ppo<Config>();
  c.critic.network.hidden = {32};
  c.entropy_initial = 0.1;
  return c;
}

/// Collects cases of one game.
class Cases {
 public:
  explicit Cases(std::vector<GameCase>& to, std::string env) : to_(to), env_(std::move(env)) {
    make_ = mara::make_game(env_).value();
    play_ = make_;
  }
  const GameMaker& game() const { return make_; }
  /// From here on one agent decides for all.
  void together(mara::JointAction kind) { play_ = joint(make_, kind); }
  void apart() { play_ = make_; }
  const GameMaker& played() const { return play_; }

  template <class Config>
  void add(std::string learner, const Config& config, std::int64_t steps, std::string measure,
           std::string expected, Measure result, Judge passes) {
    const GameMaker make = play_;
    Config timed = config;
    if constexpr (requires { timed.total_steps; }) timed.total_steps = steps;
    push(std::move(learner), steps, std::move(measure), std::move(expected), std::move(result),
         std::move(passes), [timed, make](std::uint64_t seed) {
           Config c = timed;
           c.seed = seed;
           return begin(c, make);
         });
  }
  void add_q(std::string learner, LearnerName kind, const mara::QLearningConfig& config, std::int64_t steps,
             std::string measure, std::string expected, Measure result, Judge passes) {
    const GameMaker make = play_;
    push(std::move(learner), steps, std::move(measure), std::move(expected), std::move(result),
         std::move(passes), [config, kind, make](std::uint64_t seed) {
           mara::QLearningConfig c = config;
           c.seed = seed;
           return begin(c, kind, make);
         });
  }

 private:
  void push(std::string learner, std::int64_t steps, std::string measure, std::string expected,
            Measure result, Judge passes, std::function<Result<AnyTrainer>(std::uint64_t)> begin) {
    to_.push_back({env_, std::move(learner), std::move(measure), std::move(expected), steps, play_,
                   std::move(begin), std::move(result), std::move(passes)});
  }
  std::vector<GameCase>& to_;
  std::string env_;
  GameMaker make_, play_;
};

void two_step(std::vector<GameCase>& to) {
  Cases cases(to, "two-step");
  const auto returns = [&] { return team_return(cases.played(), 1); };
  mara::QLearningConfig q = small_game_q();
  q.collect_steps = 2;
  q.learning_start = 128;
  cases.add_q("iql", LearnerName::kIql, q, 5000, "return", "7", returns(), about(7.0));
  cases.add_q("vdn", LearnerName::kVdn, q, 5000, "return", "7", returns(), about(7.0));
  cases.add_q("qmix", LearnerName::kQmix, q, 8000, "return", "8", returns(), about(8.0));
  cases.add_q("ow-qmix", LearnerName::kOwQmix, q, 8000, "return", "8", returns(), about(8.0));
  auto mappo = small_ppo<MappoConfig>();
  mappo.actor.agent_ids = true;
  cases.add("mappo", mappo, 10'000, "return", "8", returns(), about(8.0));
  mara::MaddpgConfig maddpg = small_game_maddpg(2);
  maddpg.gamma = 0.99;
  maddpg.random_steps = 1'000;
  maddpg.policy_delay = 1;
  cases.add("maddpg", maddpg, 6'000, "return", "8", returns(), about(8.0));
  cases.together(mara::JointAction::kFlat);
  q.team.agent_ids = false;
  cases.add_q("dqn", LearnerName::kDqn, q, 8000, "return", "8", returns(), about(8.0));
  cases.together(mara::JointAction::kHeads);
  cases.add("ppo", small_ppo<IppoConfig>(), 10'000, "return", "8", returns(), about(8.0));
}

void matrices(std::vector<GameCase>& to) {
  {
    Cases cases(to, "climbing");
    cases.add_q("iql", LearnerName::kIql, matrix_game_q(), 40'000, "return", "5",
                team_return(cases.game(), 1), about(5.0));
    cases.add_q("vdn", LearnerName::kVdn, matrix_game_q(), 40'000, "return", "5",
                team_return(cases.game(), 1), about(5.0));
  }
  {
    Cases cases(to, "penalty");
    cases.add_q("iql", LearnerName::kIql, matrix_game_q(), 40'000, "return", "2",
                team_return(cases.game(), 1), about(2.0));
  }
  {
    Cases cases(to, "qtran");
    const Measure result = team_return(cases.game(), 1);
    cases.add_q("vdn", LearnerName::kVdn, matrix_game_q(), 40'000, "return", "0", result, about(0.0));
    cases.add_q("qmix", LearnerName::kQmix, matrix_game_q(), 48'000, "return", "0 or 8", result,
                [](double got) { return got == 0.0 || got == 8.0; });
    cases.add_q("ow-qmix", LearnerName::kOwQmix, matrix_game_q(), 40'000, "return", "8", result, about(8.0));
  }
  {
    Cases cases(to, "nearly-monotone");
    const Measure result = team_return(cases.game(), 1);
    cases.add_q("vdn", LearnerName::kVdn, matrix_game_q(), 40'000, "return", "12", result, about(12.0));
    cases.add_q("qmix", LearnerName::kQmix, matrix_game_q(), 40'000, "return", "12", result, about(12.0));
  }
  {
    Cases cases(to, "allocation");
    const Measure result = team_return(cases.game(), 1);
    cases.add_q("iql", LearnerName::kIql, matrix_game_q(), 40'000, "return", "8", result, about(8.0));
    cases.add_q("vdn", LearnerName::kVdn, matrix_game_q(), 40'000, "return", "8", result, about(8.0));
    auto mappo = small_ppo<MappoConfig>();
    mappo.actor.groups = mara::separate_groups(3);
    cases.add("mappo", mappo, 10'000, "return", "8", result, about(8.0));
    cases.together(mara::JointAction::kFlat);
    mara::QLearningConfig dqn = matrix_game_q();
    dqn.team.agent_ids = false;
    cases.add_q("dqn", LearnerName::kDqn, dqn, 40'000, "return", "8", team_return(cases.played(), 1),
                about(8.0));
    cases.together(mara::JointAction::kHeads);
    cases.add("ppo", small_ppo<IppoConfig>(), 20'000, "return", "at least 7", team_return(cases.played(), 1),
              at_least(7.0));
  }
}

void dyn_a(std::vector<GameCase>& to) {
  Cases cases(to, "dyn-a");
  auto mappo = small_ppo<MappoConfig>();
  mappo.rollout_steps = 64;
  mappo.minibatch_steps = 512;
  mappo.gamma = 0.9;
  mappo.actor.agent_ids = true;
  mappo.entropy_initial = 0.05, mappo.entropy_final = 0.0;
  const char *what = "gap to V*, %", *expected = "at most 1";
  const Judge passes = [](double got) { return got <= 1.0; };
  cases.add("mappo", mappo, 60'000, what, expected, dyn_a_gap(cases.played()), passes);
  mara::QLearningConfig q = small_game_q();
  q.gamma = 0.9;
  q.environments = 16;
  q.replay_pieces = 20'000;
  q.batch = 128;
  q.learning_rate = 2e-3;
  q.learning_start = 1000;
  q.target_tau = 0.01;
  q.team.network.hidden = {32};
  mara::QLearningConfig qmix = q;
  qmix.updates = 2;
  qmix.mixer.width = 32;
  qmix.learning_rate = 5e-3;
  qmix.target_tau = 0.03;
  cases.add_q("iql", LearnerName::kIql, q, 48'000, what, expected, dyn_a_gap(cases.played()), passes);
  cases.add_q("vdn", LearnerName::kVdn, q, 48'000, what, expected, dyn_a_gap(cases.played()), passes);
  cases.add_q("qmix", LearnerName::kQmix, qmix, 96'000, what, expected, dyn_a_gap(cases.played()), passes);
  cases.together(mara::JointAction::kFlat);
  q.team.agent_ids = false;
  cases.add_q("dqn", LearnerName::kDqn, q, 48'000, what, expected, dyn_a_gap(cases.played()), passes);
}

void numbers(std::vector<GameCase>& to) {
  {
    Cases cases(to, "quadratic");
    const Measure result = of_policy(cases.game(), [](auto& policy, const mara::GameShape& shape) {
      return mara::quadratic_team_value(policy, shape);
    });
    const double best = mara::QuadraticTeam::kBestValue;
    auto mappo = small_ppo<MappoConfig>();
    mappo.actor.groups = mara::separate_groups(2);
    mappo.entropy_initial = mappo.entropy_final = 0.0;
    mappo.final_rate = 0.1;
    mappo.initial_log_std = -1.5;
    cases.add("mappo", mappo, 20'000, "J", "at least .8406", result, at_least(best - 0.005));
    mara::MaddpgConfig maddpg = small_game_maddpg(2);
    maddpg.noise_initial = 0.2;
    maddpg.policy_delay = 1;
    maddpg.replay = 2'000;
    maddpg.joint_policy_update = true;
    cases.add("maddpg", maddpg, 20'000, "J", "at least .8406", result, at_least(best - 0.005));
  }
  {
    Cases cases(to, "lq");
    const Measure result =
        of_policy(cases.game(), [](auto& policy, const mara::GameShape& shape) -> Result<double> {
          const auto value = mara::linear_quadratic_value(policy, shape);
          if (!value) return value.error();
          return value->expected_return;
        });
    const double bound = 1.03 * mara::LinearQuadraticTeam::kBestReturn;
    auto mappo = small_ppo<MappoConfig>();
    mappo.rollout_steps = 128;
    mappo.gamma = mara::LinearQuadraticTeam::kDiscount;
    mappo.lambda = 0.9;
    mappo.learning_rate = mappo.critic_learning_rate = 1e-3;
    mappo.episode_steps = 8;
    mappo.actor.groups = mara::separate_groups(2);
    mappo.actor.network.activation = mappo.critic.network.activation = mara::Activation::kTanh;
    mappo.entropy_initial = mappo.entropy_final = 0.0;
    mappo.final_rate = 0.05;
    mappo.initial_log_std = -1.0, mappo.least_log_std = -2.0;
    cases.add("mappo", mappo, 100'000, "J", "at least -.6815", result, at_least(bound));
    mara::MaddpgConfig maddpg = small_game_maddpg(2);
    maddpg.gamma = mara::LinearQuadraticTeam::kDiscount;
    maddpg.actors.network.hidden = {};  // tanh of a linear function
    maddpg.critic_hidden = {32, 32};
    maddpg.critic_activation = mara::Activation::kElu;
    maddpg.twin_critics = false;
    maddpg.target_noise = mara::GaussianNoise{0.0};
    maddpg.noise_initial = maddpg.noise_final = 0.5;
    maddpg.max_gradient_norm = 10.0;
    maddpg.replay = 5'000;
    maddpg.round_updates = 10;
    maddpg.final_rate = 0.02;
    maddpg.rate_steps = 30'000;
    maddpg.episode_steps = 10;
    cases.add("maddpg", maddpg, 30'000, "J", "at least -.6815", result, at_least(bound));
  }
}

void single(std::vector<GameCase>& to) {
  {
    Cases cases(to, "chain");
    const Measure result = of_policy(cases.game(), [](auto& policy, const mara::GameShape& shape) {
      return mara::chain_value(policy, shape);
    });
    auto ppo = small_ppo<IppoConfig>();
    ppo.rollout_steps = 64;
    ppo.minibatch_steps = 512;
    ppo.gamma = 0.95;
    ppo.entropy_initial = 0.05, ppo.entropy_final = 0.0;
    cases.add("ppo", ppo, 60'000, "V(0)", "2", result, about(2.0));
    mara::QLearningConfig dqn = small_game_q();
    dqn.environments = 8;
    dqn.replay_pieces = 20'000;
    dqn.gamma = 0.95;
    dqn.target_tau = 0.01;
    dqn.learning_rate = 1e-3;
    dqn.team.agent_ids = false;
    cases.add_q("dqn", LearnerName::kDqn, dqn, 60'000, "V(0)", "2", result, about(2.0));
  }
  {
    Cases cases(to, "identity");
    auto ppo = small_ppo<IppoConfig>();
    ppo.environments = 1;
    ppo.rollout_steps = 256;
    ppo.minibatch_steps = 64;
    ppo.epochs = 4;
    ppo.gamma = 0.4;
    ppo.max_gradient_norm = 0.5;
    ppo.advantages = mara::AdvantageScope::kMinibatch;
    ppo.normalise_values = false;
    ppo.value_clip = ppo.huber_delta = 0.0;
    ppo.entropy_initial = ppo.entropy_final = 0.0;
    ppo.actor.network.hidden = ppo.critic.network.hidden = {64, 64};
    ppo.actor.network.activation = ppo.critic.network.activation = mara::Activation::kTanh;
    cases.add("ppo", ppo, 1200, "return", "at least 90", team_return(cases.game(), 10), at_least(90.0));
    mara::QLearningConfig dqn = small_game_q();
    dqn.team.agent_ids = false;
    dqn.gamma = 0.4;
    dqn.learning_rate = 2e-3;
    dqn.epsilon = mara::EpsilonSchedule::linear(1.0, 0.05, 600);
    cases.add_q("dqn", LearnerName::kDqn, dqn, 1200, "return", "at least 90", team_return(cases.game(), 10),
                at_least(90.0));
  }
  Cases cases(to, "cue");
  const Measure result = team_return(cases.game(), 40);
  const std::pair<const char*, mara::Recurrence> cells[] = {{"ippo, gru", mara::Recurrence::kGru},
                                                            {"ippo, lstm", mara::Recurrence::kLstm}};
  auto ippo = small_ppo<IppoConfig>();
  ippo.rollout_steps = 60;
  ippo.sequence_steps = 12;
  ippo.minibatch_steps = 240;
  ippo.epochs = 5;
  ippo.actor.network.hidden = {16};
  ippo.actor.network.memory_units = 16;
  ippo.entropy_initial = ippo.entropy_final = 0.01;
  for (const auto& [name, cell] : cells) {
    ippo.actor.network.recurrence = cell;
    cases.add(name, ippo, 40'000, "return", "1", result, about(1.0));
  }
  ippo.actor.network.recurrence = mara::Recurrence::kNone;
  cases.add("ippo, no memory", ippo, 40'000, "return", "about 0", result, about(0.0, 0.6));
}

void crowd(std::vector<GameCase>& to) {
  Cases cases(to, "congestion");
  auto ippo = small_ppo<IppoConfig>();
  ippo.actor.groups = mara::separate_groups(10);
  ippo.actor.network.hidden = ippo.critic.network.hidden = {16};
  ippo.critic.agent_ids = true;
  ippo.entropy_initial = 0.02, ippo.entropy_final = 0.0;
  const Measure result = team_return(cases.game(), 1);
  cases.add("ippo, team reward", ippo, 16'000, "return", "-7.5", result, about(-7.5));
  ippo.rewards = mara::RewardKind::kIndividual;
  cases.add("ippo, own rewards", ippo, 8000, "return", "at most -9", result,
            [](double got) { return got <= -9.0 + 1e-4; });
}

}  // namespace

std::vector<GameCase> game_cases() {
  std::vector<GameCase> cases;
  two_step(cases);
  matrices(cases);
  dyn_a(cases);
  numbers(cases);
  single(cases);
  crowd(cases);
  return cases;
}

}  // namespace lab
