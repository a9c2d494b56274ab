// The clipped surrogate, entropy, guidance and value losses: exact values, gradients, and rows that do not
// count.
#include "mara/learning/mappo_losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "mara/critic/centralised.hpp"

using namespace mara;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct OneNumber {
  static constexpr int kGlobalState = 1;
};

/// A batch whose rows all have the same weight.
struct Batch : PolicyBatch {
  void add(std::vector<float> input, OptionMask mask, int option, float old_log_probability, float advantage,
           std::vector<float> q = {}, float signal = 0.0f) {
    inputs.insert(inputs.end(), input.begin(), input.end());
    distribution.insert(distribution.end(), q.begin(), q.end());
    masks.push_back(mask);
    options.push_back(option);
    log_probabilities.push_back(old_log_probability);
    advantages.push_back(advantage);
    signals.push_back(signal);
    ++rows;
    row_weight.assign(rows, 1.0f / static_cast<float>(rows));
  }
};

using Two = Mlp<float, 1, 2>;  // logits = w x + b
constexpr std::size_t kBias = Two::Shape::bias_offset(0);

/// Logits (l, 0) for every agent.
Two two(float l) {
  Two actor;
  actor.parameters()[kBias] = l;
  return actor;
}

using Deep = Mlp<float, 3, 8, 4>;

struct RandomBatch {
  Deep actor;
  Batch batch;
  explicit RandomBatch(std::uint64_t seed, std::size_t rows = 12) {
    Random random(seed);
    actor.initialise(random, 1.0f);
    for (std::size_t r = 0; r < rows; ++r) {
      std::vector<float> x(3), q(4, 0.0f);
      for (float& value : x) value = static_cast<float>(random.normal());
      const OptionMask mask = 1u | random.below(16);
      float logits[4];
      Deep::Workspace work;
      actor.forward(x.data(), 1, logits, work);
      const MaskedCategorical<4> policy(logits, mask);
      const int option = policy.sample(random);
      float sum = 0.0f;
      for (std::size_t a = 0; a < 4; ++a)
        if ((mask >> a) & 1u) sum += q[a] = static_cast<float>(random.uniform(0.1, 1.0));
      for (float& value : q) value /= sum;
      // Old probabilities away from the kinks of the clip.
      const float ratio = std::vector<float>{0.6f, 0.95f, 1.05f, 1.4f}[random.below(4)];
      batch.add(x, mask, option, policy.log_probability(option) - std::log(ratio),
                static_cast<float>(random.normal()), q, static_cast<float>(random.normal()));
    }
  }
};

template <class Actor, class Guidance>
PolicyLossReport gradient_of(const Actor& actor, const Guidance& guidance, const PolicyBatch& batch,
                             float entropy_weight, std::vector<float>& gradient) {
  Tape<float> tape;
  gradient.assign(Actor::kStored, 0.0f);
  const PolicyLossReport report =
      policy_gradient(tape, actor, guidance, batch, 0.2f, entropy_weight, gradient);
  REQUIRE(tape.status());
  return report;
}

template <class Guidance>
void check_by_differences(const Guidance& guidance, float entropy_weight) {
  RandomBatch problem(7);
  std::vector<float> gradient, unused;
  gradient_of(problem.actor, guidance, problem.batch, entropy_weight, gradient);
  const std::span<float> parameters = problem.actor.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const float before = parameters[p], step = 5e-3f;
    parameters[p] = before + step;
    const double above = gradient_of(problem.actor, guidance, problem.batch, entropy_weight, unused).loss;
    parameters[p] = before - step;
    const double below = gradient_of(problem.actor, guidance, problem.batch, entropy_weight, unused).loss;
    parameters[p] = before;
    INFO("parameter " << p);
    CHECK(static_cast<double>(gradient[p]) ==
          Approx((above - below) / (2.0 * static_cast<double>(step))).margin(1e-3).epsilon(1e-2));
  }
}

}  // namespace

TEST_CASE("clipped surrogate: the exact table of values and gradients", "[mappo losses]") {
  const struct {
    float ratio, advantage;
    double objective, slope;  // slope: d objective / d log pi
  } rows[] = {{1.5f, 2, 2.4, 0},   {1.5f, -2, -3, -3},     {0.5f, 2, 1, 1},
              {0.5f, -2, -1.6, 0}, {1.1f, -1, -1.1, -1.1}, {0.85f, 3, 2.55, 2.55}};
  const Two actor = two(0.5f);
  const double p = 1.0 / (1.0 + std::exp(-0.5));
  for (const auto& row : rows) {
    INFO("ratio " << row.ratio << ", advantage " << row.advantage);
    Batch batch;
    batch.add({0.0f}, 0b11, 0, static_cast<float>(std::log(p)) - std::log(row.ratio), row.advantage);
    std::vector<float> gradient;
    const PolicyLossReport report = gradient_of(actor, guidance::None{}, batch, 0.0f, gradient);
    CHECK(report.loss == Approx(-row.objective).epsilon(1e-5));
    CHECK(report.approximate_kl == Approx(-std::log(static_cast<double>(row.ratio))).margin(1e-5));
    // d log pi(0) / d logits = (1 - p, -(1 - p)).
    CHECK(gradient[kBias] == Approx(-row.slope * (1.0 - p)).margin(1e-5));
    CHECK(gradient[kBias + 1] == Approx(row.slope * (1.0 - p)).margin(1e-5));
  }
}

TEST_CASE("entropy: value over legal options, and the gradient of its bonus", "[mappo losses]") {
  Mlp<float, 1, 4> actor;
  const std::vector<float> logits{1, 2, 3, 4};
  constexpr std::size_t kLogits = decltype(actor)::Shape::bias_offset(0);
  std::copy(logits.begin(), logits.end(), actor.parameters().begin() + kLogits);
  Batch batch;
  batch.add({0.0f}, 0b0101, 2, -0.126928f, 0.0f);
  std::vector<float> gradient;
  const PolicyLossReport report = gradient_of(actor, guidance::None{}, batch, 0.5f, gradient);
  CHECK(report.entropy == Approx(0.3653338851).epsilon(1e-5));
  CHECK(report.loss == Approx(-0.5 * 0.3653338851).epsilon(1e-5));
  // dH/dl_a = -p_a (log p_a + H) over the legal options, 0 elsewhere.
  const double p = 0.1192029220, h = 0.3653338851, slope = -p * (std::log(p) + h);
  CHECK(gradient[kLogits] == Approx(-0.5 * slope).margin(1e-5));
  CHECK(gradient[kLogits + 1] == 0.0f);
  CHECK(gradient[kLogits + 2] == Approx(0.5 * slope).margin(1e-5));
  CHECK(gradient[kLogits + 3] == 0.0f);
}

TEST_CASE("gradients of the whole policy loss against differences", "[mappo losses]") {
  check_by_differences(guidance::None{}, 0.1f);
  guidance::AllActionRegulariser all;
  all.weight = 2.0f;
  check_by_differences(all, 0.05f);
  guidance::SampledRegulariser<> sampled;
  sampled.weight = 0.5f;
  check_by_differences(sampled, 0.0f);
}

TEST_CASE("a constant added to all logits changes no loss", "[mappo losses]") {
  RandomBatch problem(8);
  guidance::AllActionRegulariser guidance;
  std::vector<float> gradient, shifted_gradient;
  const auto report = gradient_of(problem.actor, guidance, problem.batch, 0.1f, gradient);
  for (std::size_t a = 0; a < 4; ++a) problem.actor.parameters()[Deep::Shape::bias_offset(1) + a] += 3.0f;
  const auto shifted = gradient_of(problem.actor, guidance, problem.batch, 0.1f, shifted_gradient);
  CHECK(report.loss == Approx(shifted.loss).epsilon(1e-5));
  for (std::size_t p = 0; p < gradient.size(); ++p)
    CHECK(gradient[p] == Approx(shifted_gradient[p]).margin(1e-5));
}

TEST_CASE("rows of weight 0 change nothing, whatever they hold; and without rows there is no loss",
          "[mappo losses]") {
  RandomBatch problem(9);
  guidance::AllActionRegulariser guidance;
  std::vector<float> gradient, padded_gradient;
  const auto report = gradient_of(problem.actor, guidance, problem.batch, 0.1f, gradient);
  Batch padded = problem.batch;
  padded.add({1.0f, 2.0f, 3.0f}, 0b1111, 1, -1e30f, kNan, {0.25f, 0.25f, 0.25f, 0.25f}, kNan);
  padded.row_weight = problem.batch.row_weight;
  padded.row_weight.push_back(0.0f);
  const auto same = gradient_of(problem.actor, guidance::None{}, padded, 0.1f, padded_gradient);
  const auto plain = gradient_of(problem.actor, guidance::None{}, problem.batch, 0.1f, gradient);
  CHECK(same.loss == Approx(plain.loss).epsilon(1e-6));
  CHECK(std::isfinite(report.loss));

  const Batch empty;
  const auto nothing = gradient_of(problem.actor, guidance, empty, 0.1f, gradient);
  CHECK(nothing.loss == 0.0);
  CHECK(std::all_of(gradient.begin(), gradient.end(), [](float g) { return g == 0.0f; }));
}

TEST_CASE("the order of agents does not matter, and chunks add up to the whole", "[mappo losses]") {
  RandomBatch problem(10);
  guidance::AllActionRegulariser guidance;
  std::vector<float> gradient, other;
  const auto report = gradient_of(problem.actor, guidance, problem.batch, 0.1f, gradient);

  const PolicyBatch& b = problem.batch;
  std::vector<std::size_t> order(b.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(1);
  random.shuffle(order);
  const auto pick = [&](std::span<const std::size_t> rows) {
    Batch part;
    for (const std::size_t r : rows) {
      part.add({&b.inputs[r * 3], &b.inputs[r * 3] + 3}, b.masks[r], b.options[r], b.log_probabilities[r],
               b.advantages[r], {&b.distribution[r * 4], &b.distribution[r * 4] + 4}, b.signals[r]);
    }
    part.row_weight.assign(part.rows, 1.0f / static_cast<float>(b.rows));
    return part;
  };
  const auto permuted = gradient_of(problem.actor, guidance, pick(order), 0.1f, other);
  CHECK(permuted.loss == Approx(report.loss).epsilon(1e-5));
  for (std::size_t p = 0; p < gradient.size(); ++p) CHECK(other[p] == Approx(gradient[p]).margin(1e-6));

  std::vector<float> first, second;
  const auto rows = std::span<const std::size_t>(order);
  const double sum = gradient_of(problem.actor, guidance, pick(rows.first(5)), 0.1f, first).loss +
                     gradient_of(problem.actor, guidance, pick(rows.subspan(5)), 0.1f, second).loss;
  CHECK(sum == Approx(report.loss).epsilon(1e-5));
  for (std::size_t p = 0; p < gradient.size(); ++p)
    CHECK(first[p] + second[p] == Approx(gradient[p]).margin(1e-6));
}

TEST_CASE("the value loss is the weighted mean square, with the gradient of a mean", "[mappo losses]") {
  using Critic = critic::Centralised<>::Model<OneNumber>;  // V = w s + b
  Random random(1);
  Critic critic(random);
  REQUIRE(critic.network().set_parameters(std::vector<float>{2.0f, 0.5f}));
  ValueBatch batch;
  batch.rows = 2;
  batch.states = {1.0f, -1.0f};
  batch.next_states = {3.0f, 0.0f};
  batch.targets = {2.0f, 0.0f};
  batch.alignment = {0.0f, 0.0f};
  batch.row_weight = {0.5f, 0.5f};
  constexpr std::size_t kValueBias = Critic::Network::Shape::bias_offset(0);
  Tape<float> tape;
  critic.network().zero_gradients();
  // V = 2.5, -1.5; errors .5, -1.5.
  CHECK(value_gradient(tape, critic, guidance::None{}, batch) == Approx(0.5 * (0.25 + 2.25)));
  CHECK(critic.network().gradients()[0] == Approx(0.5 * 2.0 * (0.5 + 1.5)));
  CHECK(critic.network().gradients()[kValueBias] == Approx(0.5 * 2.0 * (0.5 - 1.5)));

  guidance::CriticConstraint<> constraint;
  constraint.weight = 2.0f;
  batch.alignment = {-1.0f, 1.0f};
  critic.network().zero_gradients();
  // V(s') = 6.5, .5: row 0 moved against the flow, value rose by 4: violation 4; row 1 with it, rose: none.
  CHECK(value_gradient(tape, critic, constraint, batch) == Approx(1.25 + 2.0 * 0.5 * 4.0));
  // d violation / d w = s' - s = 2 in row 0.
  CHECK(critic.network().gradients()[0] == Approx(2.0 + 2.0 * 0.5 * 2.0));
  CHECK(critic.network().gradients()[kValueBias] == Approx(-1.0).margin(1e-6));
  constraint.weight = 0.0f;
  critic.network().zero_gradients();
  CHECK(value_gradient(tape, critic, constraint, batch) == Approx(1.25));
  CHECK(critic.network().gradients()[0] == Approx(2.0));
}
