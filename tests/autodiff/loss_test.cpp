// Whole losses on the tape: PPO pieces with known values, and a PPO loss against central differences.
#include <cmath>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"
#include "mara/nn/mlp.hpp"

namespace {
using mara::Tape;
using mara::Var;

constexpr std::size_t kBatch = 6, kObservation = 5, kActions = 4;

/// PPO's loss over a batch in which one agent is absent: clipped surrogate, clipped value loss, entropy
/// bonus.
struct PpoBatch {
  std::vector<double> observations, old_log_probability, advantages, old_values, returns, alive;
  std::vector<std::uint32_t> masks{0b1111, 0b0111, 0b1011, 0b0001, 0, 0b1100};
  std::vector<std::int32_t> actions{3, 1, 0, 0, -1, 2};

  PpoBatch() {
    mara::Random random(4);
    for (std::size_t i = 0; i < kBatch * kObservation; ++i) observations.push_back(random.normal());
    for (std::size_t i = 0; i < kBatch; ++i) {
      old_log_probability.push_back(-1.2 + 0.3 * random.normal());
      advantages.push_back(random.normal());
      old_values.push_back(random.normal());
      returns.push_back(random.normal());
      alive.push_back(i == 4 ? 0.0 : 1.0 / 5.0);
    }
  }

  template <class Actor, class Critic>
  Var loss(Tape<double>& t, Actor& actor, Critic& critic, double shift = 0.0) {
    const Var x = t.input(observations.data(), kBatch, kObservation);
    const auto column = [&](const std::vector<double>& v) { return t.input(v.data(), kBatch, 1); };
    const Var logits = t.add_scalar(actor.forward(t, x), shift);
    const Var log_p = t.masked_log_softmax(logits, masks.data());
    const Var ratio = t.exp(t.sub(t.gather(log_p, actions.data()), column(old_log_probability)));
    const Var advantage = column(advantages);
    const Var surrogate = t.minimum(t.mul(ratio, advantage), t.mul(t.clamp(ratio, 0.8, 1.2), advantage));
    const Var entropy = t.scale(t.row_sum(t.mul(t.exp(log_p), log_p)), -1.0);
    const Var v = critic.forward(t, x), old = column(old_values), target = column(returns);
    const Var held = t.add(old, t.clamp(t.sub(v, old), -0.2, 0.2));
    const Var value_loss = t.maximum(t.huber(t.sub(v, target), 1.0), t.huber(t.sub(held, target), 1.0));
    const Var per_agent = t.sub(t.scale(value_loss, 0.5), t.add(surrogate, t.scale(entropy, 0.01)));
    return t.dot(per_agent, alive.data());
  }
};
}  // namespace

TEST_CASE("clipped surrogate: known objectives and gradients", "[autodiff]") {  // case A4
  const double cases[6][4] = {{1.5, 2, 2.4, 0},   {1.5, -2, -3, -3},     {0.5, 2, 1, 1},
                              {0.5, -2, -1.6, 0}, {1.1, -1, -1.1, -1.1}, {0.85, 3, 2.55, 2.55}};
  for (const auto& c : cases) {
    const double log_ratio = std::log(c[0]), advantage = c[1];
    double gradient = 0.0;
    Tape<double> t;
    const Var ratio = t.exp(t.variable(&log_ratio, &gradient, 1, 1)), a = t.input(&advantage, 1, 1);
    const Var objective = t.minimum(t.mul(ratio, a), t.mul(t.clamp(ratio, 0.8, 1.2), a));
    CHECK(t.scalar(objective) == Approx(c[2]));
    t.backward(objective);
    CHECK(gradient == Approx(c[3]).margin(1e-12));
  }
}

TEST_CASE("a whole PPO loss passes the gradient check", "[autodiff]") {
  mara::Mlp<double, kObservation, 7, 6, kActions> actor;
  mara::Mlp<double, kObservation, 8, 1> critic;
  mara::Random random(9);
  actor.initialise(random, 0.8);
  critic.initialise(random, 1.0);
  PpoBatch batch;
  const auto build = [&](Tape<double>& tape) { return batch.loss(tape, actor, critic); };
  CHECK(mara::gradient_check(actor.parameters(), actor.gradients(), build) < 1e-6);
  CHECK(mara::gradient_check(critic.parameters(), critic.gradients(), build) < 1e-6);

  SECTION("a constant added to all logits changes nothing") {
    Tape<double> tape;
    const double plain = tape.scalar(build(tape));
    CHECK(tape.scalar(batch.loss(tape, actor, critic, 3.5)) == Approx(plain).margin(1e-12));
  }
  SECTION("an absent agent changes neither loss nor gradient") {
    const auto run = [&] {
      Tape<double> tape;
      actor.zero_gradients();
      critic.zero_gradients();
      const Var loss = build(tape);
      tape.backward(loss);
      std::vector<double> all{tape.scalar(loss)};
      all.insert(all.end(), actor.gradients().begin(), actor.gradients().end());
      all.insert(all.end(), critic.gradients().begin(), critic.gradients().end());
      return all;
    };
    const auto before = run();
    batch.returns[4] = 1e6;
    batch.advantages[4] = -50.0;
    for (std::size_t i = 0; i < kObservation; ++i) batch.observations[4 * kObservation + i] = 3.0;
    CHECK(run() == before);
  }
}

TEST_CASE("the gradient check notices a wrong gradient", "[autodiff]") {
  std::vector<double> x = {0.3, -0.7};
  const double wrong = mara::gradient_check(x, [&](Tape<double>& t, double* dx) {
    // The gradient stops in one factor: half of it is missing.
    const Var v = t.variable(x.data(), dx, 1, 2);
    return t.sum(t.mul(t.stop_gradient(v), v));
  });
  CHECK(wrong > 0.1);
  CHECK(std::isinf(mara::gradient_check(
      x, [&](Tape<double>& t, double* dx) { return t.sum(t.log(t.variable(x.data(), dx, 1, 2))); })));
}
