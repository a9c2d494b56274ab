// The loss of value learners: gradients, targets against a plain computation, what must not count.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "q_learning_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

struct Case {
  SequenceShape shape;
  SequenceBatch batch;
};
/// Pieces of `steps` steps of the crowd game, with an importance of 1/2 for every third.
Case crowd(std::size_t steps, std::size_t memory, std::size_t count) {
  const GameMaker make = [](int) { return AnyGame(CrowdGame(0.15, 7)); };
  auto collector = SequenceCollector::create({5, 3, 0}, make, steps, memory).value();
  auto replay = SequenceReplay::create(collector.shape(), 100).value();
  ThreadPool pool(1);
  TeamConfig config;
  config.network.hidden = {4};
  config.network.recurrence = memory == 0 ? Recurrence::kNone : Recurrence::kGru;
  config.network.memory_units = std::max<std::size_t>(memory, 1);
  const AgentTeam team = AgentTeam::create(config, 3, 2, 3).value();
  std::vector<float> weights(team.stored());
  Random random(2);
  team.initialise(random, weights.data());
  REQUIRE(collector.play(
      pool, team, weights.data(), 40,
      [](std::size_t, const float* values, const OptionMask* masks, Random& stream, std::int32_t* options,
         float*) {
        *options = epsilon_greedy({values, 3}, masks[0], 0.8, stream);
        return true;
      },
      replay));
  Case made{collector.shape(), {}};
  REQUIRE(replay.sample(random, count, 1.0, made.batch));
  for (std::size_t b = 0; b < count; b += 3) made.batch.importance[b] = 0.5f;
  return made;
}

QLearningConfig loss_config(Recurrence recurrence) {
  QLearningConfig config;
  config.team.network.hidden = {5};
  config.team.network.activation = Activation::kTanh;  // no kinks
  config.team.network.recurrence = recurrence;
  config.team.network.memory_units = recurrence == Recurrence::kLstm ? 2 : 4;
  config.mixer.width = 3;
  config.mixer.central_hidden = {4};
  config.gamma = 0.9;
  config.optimistic_alpha = 0.3;
  config.bound_values = false;  // next values are those of random networks
  return config;
}

/// Networks with online and target parameters and gradients in S.
template <class M, class S>
struct Learner {
  QLearningConfig config;
  QNetworks<M> networks;
  std::vector<S> online, target, gradients;
  QLoss<M, S> loss;
  QGuidance guidance;
  double last = 0.0;

  explicit Learner(const QLearningConfig& c, QGuidance g = {}) : config(c), guidance(std::move(g)) {
    networks = QNetworks<M>::create(c.team, c.mixer, 3, 2, 3, 4 + guidance.features).value();
    online.resize(networks.stored());
    target.resize(networks.stored());
    gradients.resize(networks.stored());
    Random random(1);
    networks.initialise(random, online.data());
    networks.initialise(random, target.data());
  }
  Var record(Tape<S>& tape, const Case& c, S* to) {
    return loss.record(tape, networks, config, guidance, c.shape, c.batch, online.data(), target.data(), to);
  }
  void run(const Case& c) {
    Tape<S> tape;
    std::fill(gradients.begin(), gradients.end(), S(0));
    const Var total = record(tape, c, gradients.data());
    REQUIRE(tape.status());
    tape.backward(total);
    last = static_cast<double>(tape.scalar(total));
  }
};

/// Worst relative error of the gradient against central differences, over all parameters.
template <class M>
double worst_gradient(const QLearningConfig& config, const Case& c, const QGuidance& guidance = {}) {
  Learner<M, double> learner(config, guidance);
  learner.run(c);
  double worst = 0.0;
  const auto loss = [&] {
    Tape<double> tape;
    return tape.scalar(learner.record(tape, c, nullptr));
  };
  learner.networks.visit(learner.online.data(), [&](const std::string&, ParameterView<double> view) {
    for (std::size_t i = 0; i < view.size(); ++i) {
      double& x = view.at(i / view.cols, i % view.cols);
      const double before = x,
                   gradient = learner.gradients[static_cast<std::size_t>(&x - learner.online.data())];
      x = before + 1e-6;
      const double above = loss();
      x = before - 1e-6;
      const double difference = (above - loss()) / 2e-6;
      x = before;
      const double error =
          std::fabs(gradient - difference) / std::max({0.01, std::fabs(gradient), std::fabs(difference)});
      worst = std::isfinite(error) ? std::max(worst, error) : 1.0;
    }
  });
  return worst;
}

}  // namespace

TEST_CASE("losses of value learners: gradients agree with differences", "[learning]") {
  const Case plain = crowd(3, 0, 5), remembered = crowd(3, 4, 5);
  QLearningConfig config = loss_config(Recurrence::kNone);
  CHECK(worst_gradient<critic::NoMixing>(config, plain) < 1e-6);
  CHECK(worst_gradient<critic::SumMixing>(config, plain) < 1e-6);
  CHECK(worst_gradient<critic::MonotonicMixing>(config, plain) < 1e-6);
  CHECK(worst_gradient<critic::OptimisticMixing>(config, plain) < 1e-6);
  config.team.groups = {0, 1, 0};
  config.team.agent_ids = true;
  config.team.network.dueling = true;
  config.huber = 0.7;
  CHECK(worst_gradient<critic::MonotonicMixing>(config, plain) < 1e-6);
  config = loss_config(Recurrence::kGru);
  config.n_step = 2;
  CHECK(worst_gradient<critic::MonotonicMixing>(config, remembered) < 1e-6);
  CHECK(worst_gradient<critic::NoMixing>(config, remembered) < 1e-6);
  config.team.network.recurrence = Recurrence::kLstm;
  config.team.network.memory_units = 2;
  config.lambda = 0.5;
  CHECK(worst_gradient<critic::OptimisticMixing>(config, remembered) < 1e-6);
  QGuidance guidance;
  guidance.features = 2;
  guidance.describe = [](const QMoment& moment, float* out) {
    out[0] = moment.observations[0];
    out[1] = moment.present[1] != 0 ? 1.0f : -1.0f;
  };
  guidance.constraint = 0.4;
  guidance.value = [](const QMoment& moment) {
    return moment.present[2] != 0 ? moment.state[0] : std::numeric_limits<float>::quiet_NaN();
  };
  CHECK(worst_gradient<critic::MonotonicMixing>(loss_config(Recurrence::kNone), plain, guidance) < 1e-6);
  CHECK(worst_gradient<critic::NoMixing>(loss_config(Recurrence::kNone), plain, guidance) < 1e-6);
}

TEST_CASE("targets of independent learners and of sums, computed plainly", "[learning]") {
  for (const Recurrence recurrence : {Recurrence::kNone, Recurrence::kGru}) {
    const Case c = crowd(3, recurrence == Recurrence::kGru ? 4 : 0, 40);
    QLearningConfig config = loss_config(recurrence);
    for (const bool double_q : {true, false}) {
      config.double_q = double_q;
      Learner<critic::SumMixing, float> sum(config);
      config.reward = RewardKind::kIndividual;
      Learner<critic::NoMixing, float> own(config);
      config.reward = RewardKind::kTeam;
      sum.run(c);
      own.run(c);
      const SequenceBatch& batch = c.batch;
      const AgentTeam& team = sum.networks.team();
      int ended = 0, left = 0, cut = 0;
      for (std::size_t b = 0; b < batch.count; ++b) {
        std::vector<float> memories[2], values[2];
        for (auto& memory : memories)
          memory.assign(batch.memory.begin() + static_cast<std::ptrdiff_t>(b * 3 * team.memory()),
                        batch.memory.begin() + static_cast<std::ptrdiff_t>((b + 1) * 3 * team.memory()));
        AgentTeam::Workspace workspace;
        for (std::size_t t = 0; t <= batch.lengths[b]; ++t) {
          const std::size_t at = (t * batch.count + b) * 3;
          for (int which = 0; which < 2; ++which) {
            values[which].resize(9);
            team.step((which == 0 ? sum.online : sum.target).data(), batch.observations.data() + at * 2, 1,
                      memories[which].data(), batch.arrived.data() + at, values[which].data(), workspace);
          }
          if (t == 0) continue;
          const std::size_t before = (t - 1) * batch.count + b;
          const auto end = static_cast<StepEnd>(batch.ends[before]);
          float total = 0.0f;
          for (std::size_t i = 0; i < 3; ++i) {
            float next = 0.0f;
            if (batch.present[at + i] != 0) {
              const float* by = values[double_q ? 0 : 1].data() + 3 * i;
              int best = -1;
              for (int a = 0; a < 3; ++a)
                if ((batch.masks[at + i] >> a & 1u) != 0 && (best < 0 || by[a] > by[best])) best = a;
              next = values[1][3 * i + static_cast<std::size_t>(best)];
            }
            total += next;
            if (batch.present[before * 3 + i] == 0) {
              CHECK(own.loss.weights()[before * 3 + i] == 0.0f);
              continue;
            }
            const bool gone = batch.present[at + i] == 0 || batch.arrived[at + i] != 0;
            left += gone ? 1 : 0;
            const float y =
                batch.rewards[before * 3 + i] + (end == StepEnd::kTerminated || gone ? 0.0f : 0.9f * next);
            CHECK(std::fabs(own.loss.targets()[before * 3 + i] - y) < 1e-5f);
          }
          ended += end == StepEnd::kTerminated ? 1 : 0;
          cut += end == StepEnd::kTruncated ? 1 : 0;
          const float y = batch.team_rewards[before] + (end == StepEnd::kTerminated ? 0.0f : 0.9f * total);
          CHECK(std::fabs(sum.loss.targets()[before] - y) < 1e-5f);
        }
      }
      CHECK(ended > 3);
      CHECK(cut > 0);
      CHECK(left > 10);
    }
  }
}

namespace {
/// Nonsense wherever nothing should be read: absent agents, padding.
Case disturbed(Case c) {
  SequenceBatch& batch = c.batch;
  const std::size_t steps = c.shape.steps;
  for (std::size_t t = 0; t <= steps; ++t)
    for (std::size_t b = 0; b < batch.count; ++b) {
      const std::size_t at = t * batch.count + b;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t row = at * 3 + i;
        if (batch.present[row] != 0) continue;
        batch.observations[row * 2] = 123.0f;
        batch.observations[row * 2 + 1] = -55.0f;
        batch.masks[row] = 6u;
        if (t < steps) batch.options[row] = 2;
        // Rewards of absent agents are 0 by contract; those of padding are nobody's.
        if (t < steps && !batch.valid(t, b)) batch.rewards[row] = 77.0f;
      }
      if (t < steps && !batch.valid(t, b)) {
        batch.team_rewards[at] = 1000.0f;
        batch.ends[at] = 2;
      }
      if (t > batch.lengths[b])
        for (std::size_t k = 0; k < 4; ++k) batch.states[at * 4 + k] = 31.0f;
    }
  return c;
}
template <class M>
void check_undisturbed(Recurrence recurrence) {
  const Case c = crowd(3, recurrence == Recurrence::kNone ? 0 : 4, 12);
  Learner<M, float> learner(loss_config(recurrence)), other(loss_config(recurrence));
  learner.run(c);
  other.run(disturbed(c));
  CHECK(learner.last > 0.0);
  CHECK(other.last == learner.last);
  CHECK(other.gradients == learner.gradients);
}
}  // namespace

TEST_CASE("absent agents and padding change no loss and no gradient (C3)", "[learning]") {
  for (const Recurrence recurrence : {Recurrence::kNone, Recurrence::kGru}) {
    check_undisturbed<critic::NoMixing>(recurrence);
    check_undisturbed<critic::SumMixing>(recurrence);
    check_undisturbed<critic::MonotonicMixing>(recurrence);
    check_undisturbed<critic::OptimisticMixing>(recurrence);
  }
}

TEST_CASE("without anybody there is no loss and no gradient", "[learning]") {
  Case c = crowd(2, 0, 4);
  std::fill(c.batch.present.begin(), c.batch.present.end(), std::uint8_t{0});
  Learner<critic::NoMixing, float> learner(loss_config(Recurrence::kNone));
  learner.run(c);
  CHECK(learner.last == 0.0);
  for (const float g : learner.gradients) CHECK(g == 0.0f);
}

TEST_CASE("burn-in: only the later steps of a piece count, unless it begins an episode", "[learning]") {
  const Case c = crowd(4, 4, 20);
  QLearningConfig config = loss_config(Recurrence::kGru);
  config.burn_in = 2;
  Learner<critic::SumMixing, float> learner(config);
  learner.run(c);
  std::size_t early = 0, fresh = 0, counted = 0;
  for (std::size_t t = 0; t < 4; ++t)
    for (std::size_t b = 0; b < 20; ++b) {
      const bool counts = c.batch.valid(t, b) && (t >= 2 || c.batch.fresh[b] != 0);
      CHECK((learner.loss.weights()[t * 20 + b] > 0.0f) == counts);
      counted += counts ? 1 : 0;
      early += t < 2 && c.batch.fresh[b] == 0 ? 1 : 0;
      fresh += t < 2 && c.batch.fresh[b] != 0 ? 1 : 0;
    }
  CHECK(early > 0);
  CHECK(fresh > 0);
  // The mean over what counts, pieces weighted by importance.
  CHECK(std::fabs(static_cast<double>(learner.loss.weights()[3 * 20 + 1]) * static_cast<double>(counted) -
                  (c.batch.valid(3, 1) ? 1.0 : 0.0)) < 1e-5);
}

TEST_CASE("weighted QMIX: what is above its target weighs alpha", "[learning]") {
  const Case c = crowd(1, 0, 64);
  Learner<critic::OptimisticMixing, float> weighted(loss_config(Recurrence::kNone));
  weighted.run(c);
  int low = 0, high = 0;
  for (std::size_t b = 0; b < 64; ++b) {
    const double w =
        static_cast<double>(weighted.loss.weights()[b]) * 64.0 / static_cast<double>(c.batch.importance[b]);
    low += std::fabs(w - 0.3) < 1e-5 ? 1 : 0;
    high += std::fabs(w - 1.0) < 1e-5 ? 1 : 0;
  }
  CHECK(low + high == 64);
  CHECK(low > 0);
  CHECK(high > 0);
}

TEST_CASE("priorities: nine tenths of the largest error, one tenth of the mean", "[learning]") {
  for (const std::size_t steps : {std::size_t{1}, std::size_t{3}}) {
    Case c = crowd(steps, 0, 1);
    c.batch.importance[0] = 1.0f;
    Learner<critic::SumMixing, double> learner(loss_config(Recurrence::kNone));
    learner.run(c);
    const double priority = learner.loss.report().priority[0];
    if (steps == 1) CHECK(std::fabs(priority * priority - learner.last) < 1e-9);
    // The loss is the mean square over at most three steps.
    CHECK(priority * priority <= 3.0 * learner.last);
    CHECK(priority * priority >= 0.81 * learner.last);
  }
}

namespace {
/// Targets of the case with networks whose values are far outside of what its rewards allow, held or not.
template <class M>
void check_bounds(double gamma, double scale, double reward_sign) {
  Case c = crowd(4, 0, 24);
  for (float& r : c.batch.team_rewards)
    r = static_cast<float>(reward_sign * std::fabs(static_cast<double>(r)));
  for (float& r : c.batch.rewards) r = static_cast<float>(reward_sign * std::fabs(static_cast<double>(r)));
  QLearningConfig config = loss_config(Recurrence::kNone);
  config.gamma = gamma;
  config.reward_scale = scale;
  const auto targets_of = [&](bool bounded) {
    config.bound_values = bounded;
    Learner<M, float> learner(config);
    for (float& x : learner.target) x *= 40.0f;
    learner.run(c);
    return std::pair(std::vector<float>(learner.loss.targets().begin(), learner.loss.targets().end()),
                     learner.loss.reward_range());
  };
  const auto free = targets_of(false).first;
  const auto [held, range] = targets_of(true);
  const std::size_t columns = M::kPerAgent ? 3 : 1;
  float lowest = 0.0f, highest = 0.0f;
  for (std::size_t at = 0; at < 4 * c.batch.count; ++at)
    if (c.batch.valid(at / c.batch.count, at % c.batch.count)) {
      lowest = std::min(lowest, c.batch.team_rewards[at]);
      highest = std::max(highest, c.batch.team_rewards[at]);
    }
  CHECK(range.lowest == lowest);
  CHECK(range.highest == highest);
  const auto for_ever = [&](float reward) {
    return reward == 0.0f ? 0.0 : scale * static_cast<double>(reward) / (1.0 - gamma);
  };
  int below = 0, within = 0, above = 0;
  for (std::size_t at = 0; at < 4 * c.batch.count; ++at) {
    if (!c.batch.valid(at / c.batch.count, at % c.batch.count)) continue;
    const double reward = scale * static_cast<double>(c.batch.team_rewards[at]);
    for (std::size_t column = 0; column < columns; ++column) {
      const auto next = (static_cast<double>(free[at * columns + column]) - reward) / gamma;
      const double expected = reward + gamma * std::clamp(next, for_ever(lowest), for_ever(highest));
      CHECK(std::fabs(static_cast<double>(held[at * columns + column]) - expected) <
            1e-4 * (1.0 + std::fabs(expected)));
      ++(next < for_ever(lowest) ? below : next > for_ever(highest) ? above : within);
    }
  }
  CHECK(within > 0);
  if (std::isfinite(for_ever(lowest)) && !M::kPerAgent) CHECK(below + above > 0);
}
}  // namespace

TEST_CASE("next values are held within what the rewards seen allow", "[learning]") {
  for (const double sign : {-1.0, 1.0}) {
    check_bounds<critic::SumMixing>(0.5, 1.0, sign);
    check_bounds<critic::MonotonicMixing>(0.5, 1.0, sign);
    check_bounds<critic::MonotonicMixing>(0.9, 0.1, sign);
    check_bounds<critic::NoMixing>(0.5, 2.0, sign);
    check_bounds<critic::SumMixing>(1.0, 1.0, sign);  // for ever without discount: bounded on one side
  }
}
