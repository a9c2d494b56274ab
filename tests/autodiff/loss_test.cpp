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

namespace {
/// QMIX's mixer (Rashid et al. 2018) on the tape: |w2| . elu(q |w1| + b1) + v, one mixer a row.
Var mix(Tape<double>& t, Var q, Var w1, Var b1, Var w2, Var v) {
  const Var hidden = t.elu(t.add(t.row_matmul(q, t.abs(w1)), b1));
  return t.add(t.row_matmul(hidden, t.abs(w2)), v);
}

std::vector<double> normal_numbers(std::size_t count, std::uint64_t seed) {
  mara::Random random(seed);
  std::vector<double> x(count);
  for (double& v : x) v = random.normal();
  return x;
}
}  // namespace

TEST_CASE("the mixer of QMIX: known values and slopes", "[autodiff]") {  // case A13
  const double w1[4] = {1, -2, -0.5, 3}, b1[2] = {0.1, -4}, w2[2] = {-1.5, 2}, v = 0.7;
  const double cases[2][5] = {{1, -0.5, 0.0353947668, 1.6207895, 0.9311843},
                              {-2, 3, 2.2054800691, 5.0054801, 6.5027400}};
  for (const auto& c : cases) {
    double dq[2] = {};
    Tape<double> t;
    const Var total = mix(t, t.variable(c, dq, 1, 2), t.input(w1, 1, 4), t.input(b1, 1, 2), t.input(w2, 1, 2),
                          t.input(&v, 1, 1));
    CHECK(t.scalar(total) == Approx(c[2]).margin(1e-9));
    t.backward(total);
    CHECK(dq[0] == Approx(c[3]).margin(1e-6));
    CHECK(dq[1] == Approx(c[4]).margin(1e-6));
  }
}

TEST_CASE("whole losses of the other learners pass the gradient check", "[autodiff]") {
  constexpr std::size_t kRows = 6, kState = 3, kAgents = 2, kHidden = 3;
  const auto state = normal_numbers(kRows * kState, 21), target = normal_numbers(kRows * kAgents, 22);
  const double alive[kRows] = {1, 1, 0, 1, 1, 1};
  SECTION("QMIX: temporal difference through hypernetworks, Huber, padding masked") {
    mara::Mlp<double, kState, 5, kAgents * kHidden + 2 * kHidden + 1> hyper;
    mara::Random random(3);
    hyper.initialise(random, 1.0);
    const std::int32_t actions[kRows * kAgents] = {0, 2, 1, 1, 0, 0, 2, 1, 2, 2, 0, 1};
    auto q = normal_numbers(kRows * kAgents * 3, 23);
    std::vector<double> dq(q.size());
    const auto build = [&](Tape<double>& t) {
      const Var x = hyper.forward(t, t.input(state.data(), kRows, kState));
      const Var values = t.variable(q.data(), dq.data(), kRows * kAgents, 3);
      const Var chosen = t.reshape(t.gather(values, actions), kRows, kAgents);
      const Var total = mix(t, chosen, t.slice_cols(x, 0, 6), t.slice_cols(x, 6, 3), t.slice_cols(x, 9, 3),
                            t.slice_cols(x, 12, 1));
      return t.weighted_mean(t.huber(t.sub(total, t.input(target.data(), kRows, 1)), 1.0), alive);
    };
    CHECK(mara::gradient_check(hyper.parameters(), hyper.gradients(), build) < 1e-6);
    CHECK(mara::gradient_check(q, dq, build) < 1e-6);
  }
  SECTION("MADDPG: an actor through a critic of all actions") {
    mara::Mlp<double, kState, 6, kAgents> actor;
    mara::Mlp<double, kState + kAgents, 6, 1> critic;
    mara::Random random(4);
    actor.initialise(random, 1.0);
    critic.initialise(random, 1.0);
    CHECK(mara::gradient_check(actor.parameters(), actor.gradients(), [&](Tape<double>& t) {
            const Var x = t.input(state.data(), kRows, kState), a = t.tanh(actor.forward(t, x));
            return t.neg(t.weighted_mean(critic.forward(t, t.concat(x, a)), alive));
          }) < 1e-6);
  }
  SECTION("guidance: the cosine to a flow, and log-probabilities weighted by it") {
    mara::Mlp<double, kState, 6, kAgents> actor;
    mara::Random random(5);
    actor.initialise(random, 1.0);
    const std::int32_t actions[kRows] = {0, 1, -1, 1, 0, 0};
    const auto noise = normal_numbers(kRows, 26);
    CHECK(mara::gradient_check(actor.parameters(), actor.gradients(), [&](Tape<double>& t) {
            const Var y = actor.forward(t, t.input(state.data(), kRows, kState));
            const Var g = t.row_cosine(t.softmax(y), t.input(target.data(), kRows, kAgents), 1e-6);
            const Var weighted = t.mul(t.gather(t.log_softmax(y), actions),
                                       t.stop_gradient(t.square(t.input(noise.data(), kRows, 1))));
            return t.weighted_mean(t.sub(weighted, g), alive);
          }) < 1e-6);
  }
  SECTION("flow matching: the velocity from noise to data") {
    mara::Mlp<double, kAgents + 1, 6, kAgents> field;
    mara::Random random(6);
    field.initialise(random, 1.0);
    const auto noise = normal_numbers(kRows * kAgents, 24);
    const double time[kRows] = {0.1, 0.3, 0.5, 0.6, 0.8, 0.9};
    CHECK(mara::gradient_check(field.parameters(), field.gradients(), [&](Tape<double>& t) {
            const Var x0 = t.input(noise.data(), kRows, kAgents), x1 = t.input(target.data(), kRows, kAgents);
            const Var velocity = t.sub(x1, x0), at = t.input(time, kRows, 1);
            const Var x = t.add(x0, t.mul_rows(velocity, at));
            return t.mean(t.square(t.sub(field.forward(t, t.concat(x, at)), velocity)));
          }) < 1e-6);
  }
}

TEST_CASE("a constant added to all logits leaves every categorical loss as it is",
          "[autodiff]") {  // case A15
  const auto logits = normal_numbers(20, 25);
  const std::uint32_t masks[5] = {0b1111, 0b0101, 0b0010, 0b1110, 0b0111};
  const std::int32_t actions[5] = {3, 2, 1, 1, 0};
  const auto run = [&](double shift) {
    std::vector<double> gradient(20);
    Tape<double> t;
    const Var x = t.add_scalar(t.variable(logits.data(), gradient.data(), 5, 4), shift);
    const Var l = t.log_softmax(x), p = t.softmax(x), m = t.masked_log_softmax(x, masks);
    const Var policy = t.add(t.mean(t.gather(l, actions)), t.mean(t.gather(m, actions)));
    const Var entropy =
        t.add(t.sum(t.mul(t.exp(m), m)), t.sum(t.square(t.add(p, t.masked_softmax(x, masks)))));
    const Var regret = t.mean(t.sub(t.log_sum_exp(x), t.row_max(x)));
    const Var loss = t.add(t.add(policy, entropy), regret);
    t.backward(loss);
    gradient.push_back(t.scalar(loss));
    return gradient;
  };
  const auto plain = run(0.0), shifted = run(-7.25);
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(shifted[i] == Approx(plain[i]).margin(1e-12));
}

TEST_CASE("the mean squared error in one sweep is that of three operations", "[autodiff][gradient]") {
  mara::Random random(12);
  for (const std::size_t rows : {std::size_t{1}, std::size_t{7}, std::size_t{33}}) {
    std::vector<double> x(rows * 5), y(rows * 5), dy(rows * 5), gradient_x(rows * 5), gradient_y(rows * 5);
    for (double& v : x) v = random.normal();
    for (double& v : y) v = random.normal();
    const double error = mara::gradient_check(x, [&](mara::Tape<double>& tape, double* dx) {
      return tape.mean_squared_error(tape.variable(x.data(), dx, rows, 5),
                                     tape.variable(y.data(), dy.data(), rows, 5));
    });
    CHECK(error < 1e-6);
    mara::Tape<double> tape;
    const mara::Var a = tape.variable(x.data(), gradient_x.data(), rows, 5);
    const mara::Var b = tape.variable(y.data(), gradient_y.data(), rows, 5);
    const mara::Var loss = tape.mean_squared_error(a, b);
    CHECK(tape.scalar(loss) == Approx(tape.scalar(tape.mean(tape.square(tape.sub(a, b))))));
    tape.backward(loss);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = 2.0 * (x[i] - y[i]) / static_cast<double>(x.size());
      CHECK(gradient_x[i] == Approx(expected));
      CHECK(gradient_y[i] == Approx(-expected));
    }
  }
  mara::Tape<float> tape;
  const float three[3] = {1, 2, 3};
  CHECK_FALSE(tape.mean_squared_error(tape.input(three, 1, 3), tape.input(three, 3, 1)).valid());
  CHECK(tape.status().error().message == "mean_squared_error: shapes differ: 1 x 3 and 3 x 1");
}
