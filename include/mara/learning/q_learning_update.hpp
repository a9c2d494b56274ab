#pragma once
// Bodies of QTrainer: construction, rounds, optimiser steps.

#include "mara/learning/q_learning.hpp"

namespace mara {

template <Mixing M>
Result<std::unique_ptr<QTrainer<M>>> QTrainer<M>::create(const QLearningConfig& config, const GameMaker& make,
                                                         QGuidance guidance) {
  const auto bad = [](const std::string& what) {
    return Error{ErrorCode::kInvalidArgument, "q learning: " + what};
  };
  if (const Status valid = validate(config); !valid) return valid.error();
  if (guidance.features > 0 && !guidance.describe)
    return bad("guidance.describe is missing, features = " + std::to_string(guidance.features));
  if (!(guidance.constraint >= 0.0) || !std::isfinite(guidance.constraint))
    return bad("guidance.constraint = " + std::to_string(guidance.constraint) + " must not be negative");
  if (guidance.constraint > 0.0 && !guidance.value) return bad("guidance.value is missing");

  std::unique_ptr<QTrainer> made(new QTrainer(config, std::move(guidance)));
  const GameShape game = make(0).shape();
  if (const Status shape = check_action_shape(game.action); !shape) return shape.error();
  if (game.action.numbers() != 0)
    return bad("actions with " + std::to_string(game.action.numbers()) + " numbers have no list of options");
  auto options = FlatOptions::create(game.action.heads);
  if (!options) return bad("actions of " + options.error().message);
  made->options_ = std::move(*options);
  const GameMaker flat = game.action.choices() == 1 ? make : GameMaker([make](int environment) {
    auto one = FlatGame::create(make(environment));
    return one ? AnyGame(std::move(*one)) : make(environment);  // a game of another shape, which is refused
  });
  auto networks = QNetworks<M>::create(config.team, config.mixer, game.agents, game.observation,
                                       static_cast<std::size_t>(made->options_.count()),
                                       game.state + made->guidance_.features);
  if (!networks) return Error{networks.error().code, "q learning: " + networks.error().message};
  made->networks_ = std::move(*networks);
  made->parameters_.assign(made->networks_.stored(), 0.0f);
  Random random(config.seed, 1);
  made->networks_.initialise(random, made->parameters_.data());
  made->target_ = made->parameters_;
  made->gradients_.assign(made->parameters_.size(), 0.0f);
  made->optimiser_ = made->make_optimiser();

  auto collector = SequenceCollector::create({config.seed, config.environments, config.episode_steps}, flat,
                                             config.sequence_steps, made->networks_.team().memory());
  if (!collector) return Error{collector.error().code, "q learning: " + collector.error().message};
  made->collector_ = std::move(*collector);
  auto replay = SequenceReplay::create(made->collector_.shape(), config.replay_pieces, config.priority_alpha);
  if (!replay) return Error{replay.error().code, "q learning: " + replay.error().message};
  made->replay_ = std::move(*replay);
  return made;
}

template <Mixing M>
Result<TrainingReport> QTrainer<M>::update() {
  const double epsilon = this->epsilon();
  const std::size_t options = networks_.team().outputs();
  const auto played = collector_.play(
      pool_, networks_.team(), noisy_.weights(networks_.team(), weights(), env_steps_).data(),
      config_.collect_steps,
      [&](std::size_t, const float* values, const OptionMask* masks, Random& random, std::int32_t* chosen,
          float*) {
        *chosen = epsilon_greedy({values, options}, masks[0], epsilon, random);
        return *chosen >= 0;
      },
      replay_);
  if (!played) return played.error();
  env_steps_ += played->env_steps;
  TrainingReport report;
  double loss = 0.0, value = 0.0, target = 0.0, norm = 0.0;
  std::size_t learnt = 0;
  if (env_steps_ >= config_.learning_start && replay_.size() > 0) {
    for (; learnt < config_.updates; ++learnt) {
      if (Status status = learn(); !status) return status.error();
      if (learnt == 0) noisy_.adapt(networks_.team(), weights(), batch_, true, env_steps_);
      loss += last_loss_;
      value += loss_.report().value;
      target += loss_.report().target;
      norm += std::visit([](const auto& optimiser) { return optimiser.gradient_norm(); }, optimiser_);
    }
  }
  report.env_steps = env_steps_;
  report.updates = updates_;
  report.episodes = played->episodes;
  report.episode_return = played->mean_return();
  const double share =
      learnt == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0 / static_cast<double>(learnt);
  report.values = {{"td_loss", share * loss},  {"value", share * value},
                   {"target", share * target}, {"gradient_norm", share * norm},
                   {"epsilon", epsilon},       {"replay_pieces", static_cast<double>(replay_.size())}};
  if (noisy_.on()) report.values.emplace_back("parameter_noise", noisy_.deviation());
  return report;
}

template <Mixing M>
Status QTrainer<M>::learn() {
  if (Status drawn = replay_.sample(draw_, config_.batch, beta(), batch_); !drawn) return drawn;
  std::fill(gradients_.begin(), gradients_.end(), 0.0f);
  tape_.clear();
  const Var loss = loss_.record(tape_, networks_, config_, guidance_, replay_.shape(), batch_,
                                parameters_.data(), target_.data(), gradients_.data());
  if (!tape_.status()) return tape_.status();
  last_loss_ = static_cast<double>(tape_.scalar(loss));
  if (!std::isfinite(last_loss_))
    return Error{ErrorCode::kNumerical, "q learning: td_loss = " + std::to_string(last_loss_)};
  tape_.backward(loss);
  const double progress =
      std::min(1.0, static_cast<double>(env_steps_) / static_cast<double>(config_.rate_steps));
  Status stepped = std::visit(
      [&](auto& optimiser) {
        optimiser.set_learning_rate(config_.learning_rate * (1.0 - progress * (1.0 - config_.final_rate)));
        return optimiser.step(std::span<float>(parameters_), std::span<const float>(gradients_));
      },
      optimiser_);
  if (!stepped) return Error{ErrorCode::kNumerical, "q learning: td_loss: " + stepped.error().message};
  ++updates_;
  replay_.set_priorities(batch_.places, loss_.report().priority);
  if (config_.target_tau > 0.0) {
    soft_update<float>(parameters_, static_cast<float>(config_.target_tau), target_);
  } else if (updates_ % config_.target_period == 0) {
    target_ = parameters_;
  }
  return {};
}

static_assert(GameTrainer<QTrainer<critic::NoMixing>> && GameTrainer<QTrainer<critic::OptimisticMixing>>);

}  // namespace mara
