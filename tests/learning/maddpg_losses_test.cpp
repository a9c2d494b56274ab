// What the critic of MADDPG sees, its targets by hand, and gradients of both losses against central
// differences.

#include "mara/learning/maddpg_losses.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"

namespace mara::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

MaddpgPlan plan_of(const GameShape& shape, MaddpgConfig config = {}) {
  auto plan = MaddpgPlan::create(config, shape);
  REQUIRE(plan);
  return std::move(plan).value();
}

GameShape hybrid_shape(std::size_t slots) {
  return {slots, 2, 3, {{3, 2}, {{-1.0f, 3.0f}, {0.0f, 0.5f}}}};
}

/// Random transitions of a plan, in double; slot s is absent in transition b where (b + s) % 4 == 3.
struct RandomBatch {
  std::size_t count = 5;
  std::vector<double> states, observations, inputs, uniforms, targets, weights;
  std::vector<std::uint8_t> present;
  std::vector<OptionMask> masks;
  std::vector<std::int32_t> options;
  std::vector<float> numbers;

  RandomBatch(const MaddpgPlan& plan, std::uint64_t seed, std::size_t present_slots) {
    Random random(seed);
    const std::size_t slots = plan.slots(), rows = count * slots, heads = plan.heads();
    const auto draw = [&random](std::vector<double>& values, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) values.push_back(random.normal());
    };
    draw(states, count * plan.game.state);
    draw(targets, count * plan.values());
    masks.assign(rows * heads, 1);
    options.assign(rows * heads, 0);
    numbers.assign(rows * plan.game.action.numbers(), 0.0f);
    observations.assign(rows * plan.game.observation, 0.0);
    uniforms.assign(rows * plan.game.action.options(), 0.0);
    present.assign(rows, 0);
    double agents = 0.0;
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t s = 0; s < present_slots; ++s) {
        const std::size_t r = b * slots + s;
        if ((b + s) % 4 == 3) continue;
        present[r] = 1;
        agents += 1.0;
        for (std::size_t i = 0; i < plan.game.observation; ++i)
          observations[r * plan.game.observation + i] = random.normal();
        std::size_t at = 0;
        for (std::size_t h = 0; h < heads; ++h) {
          const auto n = static_cast<std::size_t>(plan.game.action.heads[h]);
          options[r * heads + h] = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(n)));
          // Every other agent must not take the last option.
          masks[r * heads + h] = r % 2 == 0 ? (1u << n) - 1u : (1u << (n - 1)) - 1u;
          for (std::size_t i = 0; i < n; ++i) uniforms[at * rows + r * n + i] = random.uniform();
          at += n;
        }
        for (std::size_t k = 0; k < plan.game.action.numbers(); ++k)
          numbers[r * plan.game.action.numbers() + k] =
              static_cast<float>(random.uniform(static_cast<double>(plan.game.action.box[k].low),
                                                static_cast<double>(plan.game.action.box[k].high)));
      }
    inputs.resize(count * plan.inputs());
    encode_joint_actions(plan, count, states.data(), present.data(), options.data(), numbers.data(),
                         inputs.data());
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t i = 0; i < plan.values(); ++i) {
        const bool individual = plan.rewards == RewardKind::kIndividual;
        weights.push_back(!individual                   ? 1.0 / static_cast<double>(count)
                          : present[b * slots + i] != 0 ? 1.0 / agents
                                                        : 0.0);
      }
    share = 1.0 / agents;
  }
  MaddpgActorBatch<double> actor_batch() const {
    return {count, observations.data(), inputs.data(), present.data(), masks.data(), uniforms.data()};
  }
  double share = 1.0;
};

std::vector<double> random_critic(const MaddpgPlan& plan, std::uint64_t seed) {
  std::vector<double> storage(plan.critic_stored());
  Random random(seed);
  for (std::size_t c = 0; c < plan.critics; ++c)
    plan.critic.initialise(random, storage.data() + c * plan.critic.stored());
  return storage;
}
std::vector<double> random_actors(const MaddpgPlan& plan, std::uint64_t seed) {
  std::vector<double> storage(plan.actors.stored());
  Random random(seed);
  plan.actors.initialise(random, storage.data());
  return storage;
}

MaddpgConfig smooth(bool separate, std::size_t slots) {
  MaddpgConfig config;
  config.critic_hidden = {7, 5};
  config.critic_activation = Activation::kTanh;
  config.actors.network.hidden = {6};
  config.actors.network.activation = Activation::kTanh;
  config.actors.network.output_gain = 1.0f;
  if (separate) config.actors.groups = separate_groups(slots);
  return config;
}

MaddpgActorLossConfig relaxed(const RandomBatch& batch, bool joint) {
  return {joint, false, 0.7, 0.05, joint ? 1.0 / static_cast<double>(batch.count) : batch.share, batch.share};
}

std::vector<double> actor_gradient(const MaddpgPlan& plan, const std::vector<double>& actors,
                                   const std::vector<double>& critic, const RandomBatch& batch,
                                   const MaddpgActorLossConfig& how) {
  std::vector<double> gradient(actors.size());
  Tape<double> tape;
  const auto of = batch.actor_batch();
  tape.backward(maddpg_actor_loss(tape, plan, actors.data(), gradient.data(), critic.data(), of, how));
  REQUIRE(tape.status());
  return gradient;
}

}  // namespace

TEST_CASE("the critic sees one-hots, numbers within [-1, 1], and zeros for absent agents") {
  const MaddpgPlan plan = plan_of(hybrid_shape(2));
  REQUIRE(plan.width() == 7);
  REQUIRE(plan.inputs() == 3 + 14);
  REQUIRE(plan.values() == 1);
  const float states[] = {5.0f, 6.0f, 7.0f};
  const std::uint8_t both[] = {1, 1}, first[] = {1, 0};
  const std::int32_t options[] = {2, 0, 1, 1};
  const float numbers[] = {3.0f, 0.125f, 1.0f, 0.0f};
  std::vector<float> row(plan.inputs(), 99.0f);
  encode_joint_actions(plan, 1, states, both, options, numbers, row.data());
  CHECK(row == std::vector<float>{5, 6, 7, 0, 0, 1, 1, 0, 1, -0.5f, 0, 1, 0, 0, 1, 0, -1});
  encode_joint_actions(plan, 1, states, first, options, numbers, row.data());
  CHECK(row == std::vector<float>{5, 6, 7, 0, 0, 1, 1, 0, 1, -0.5f, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("targets by hand: time limits, terminations, the smaller critic, agents that leave") {
  MaddpgConfig config;
  config.twin_critics = false;
  const GameShape shape{2, 1, 1, ActionShape::discrete(2)};
  const float rewards[] = {1.0f, 1.0f, 1.0f};
  const std::uint8_t ends[] = {static_cast<std::uint8_t>(StepEnd::kContinues),
                               static_cast<std::uint8_t>(StepEnd::kTruncated),
                               static_cast<std::uint8_t>(StepEnd::kTerminated)};
  const std::uint8_t there[] = {1, 1, 1, 1, 1, 1}, nobody[6] = {};
  float targets[6] = {};
  SECTION("case A3: where every step pays 1 and nothing terminates, 100 is the fixed point, not 9.17") {
    const float next[] = {100.0f, 100.0f, kNan};
    maddpg_targets(plan_of(shape, config), 3, {rewards, nullptr, ends, there, nobody}, next, 1.0f, 0.99f,
                   targets);
    CHECK(targets[0] == Approx(100.0));
    CHECK(targets[1] == Approx(100.0));  // a time limit is no end
    CHECK(targets[2] == 1.0f);           // the reward of the terminal transition counts
    maddpg_targets(plan_of(shape, config), 3, {rewards, nullptr, ends, there, nobody}, next, 0.5f, 0.99f,
                   targets);
    CHECK(targets[2] == 0.5f);
  }
  SECTION("two critics: the smaller value, element by element; a NaN of either stays") {
    config.twin_critics = true;
    const MaddpgPlan plan = plan_of(shape, config);
    const float next[] = {2.0f, 5.0f, 0.0f, 3.0f, 4.0f, 0.0f};
    maddpg_targets(plan, 3, {rewards, nullptr, ends, there, nobody}, next, 1.0f, 0.9f, targets);
    CHECK(targets[0] == Approx(1.0 + 0.9 * 2.0));
    CHECK(targets[1] == Approx(1.0 + 0.9 * 4.0));
    const float broken[] = {kNan, 5.0f, 0.0f, 3.0f, kNan, 0.0f};
    maddpg_targets(plan, 3, {rewards, nullptr, ends, there, nobody}, broken, 1.0f, 0.9f, targets);
    CHECK(std::isnan(targets[0]));
    CHECK(std::isnan(targets[1]));
    CHECK(targets[2] == 1.0f);
  }
  SECTION("own rewards: no value after leaving, also where somebody else took the slot") {
    config.rewards = RewardKind::kIndividual;
    const MaddpgPlan plan = plan_of(shape, config);
    REQUIRE(plan.values() == 2);
    const float own[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, next[] = {10, 20, 30, 40, 50, 60};
    const std::uint8_t next_present[] = {1, 0, 1, 1, 1, 1}, next_arrived[] = {0, 0, 1, 0, 0, 0};
    maddpg_targets(plan, 3, {rewards, own, ends, next_present, next_arrived}, next, 1.0f, 0.5f, targets);
    CHECK(std::vector<float>(targets, targets + 6) == std::vector<float>{1 + 5, 2, 3, 4 + 20, 5, 6});
  }
}

TEST_CASE("actions of target actors: masks, smoothing, absent agents") {
  const GameShape shape{2, 1, 1, {{4}, {{-1.0f, 3.0f}}}};
  const MaddpgPlan plan = plan_of(shape);
  const float state[] = {1.0f};
  const float outputs[] = {9.0f, 1.0f, 0.0f, -1.0f, 0.3f, 0.0f, 0.0f, 0.0f, 0.0f, 5.0f};
  const OptionMask masks[] = {0b1110, 0b1111};
  const std::uint8_t both[] = {1, 1}, second[] = {0, 1};
  std::vector<float> row(plan.inputs());
  Random random(1);
  SECTION("the most probable legal options and tanh of the numbers without noise") {
    encode_target_actions(plan, 1, state, both, masks, outputs, {GaussianNoise{0.0}, false}, random,
                          row.data());
    CHECK(row == std::vector<float>{1, 0, 1, 0, 0, static_cast<float>(std::tanh(0.3f)), 1, 0, 0, 0,
                                    static_cast<float>(std::tanh(5.0))});
  }
  SECTION("drawn options follow the masked softmax (case A11), noise is cut twice") {
    std::vector<int> counts(4);
    constexpr int kDraws = 100'000;
    float least = 2.0f, most = -2.0f, top = -2.0f;
    for (int i = 0; i < kDraws; ++i) {
      encode_target_actions(plan, 1, state, both, masks, outputs, {GaussianNoise{0.2, 0.5}, true}, random,
                            row.data());
      for (std::size_t a = 0; a < 4; ++a)
        if (row[1 + a] == 1.0f) ++counts[a];
      least = std::min(least, row[5]);
      most = std::max(most, row[5]);
      top = std::max(top, row[10]);
    }
    CHECK(counts[0] == 0);
    const double p[] = {0.66524096, 0.24472847, 0.09003057};
    for (std::size_t a = 0; a < 3; ++a)
      CHECK(std::fabs(counts[a + 1] / double(kDraws) - p[a]) < 3.0 * std::sqrt(p[a] * (1 - p[a]) / kDraws));
    CHECK(least == Approx(std::tanh(0.3) - 0.5));
    CHECK(most == Approx(std::tanh(0.3) + 0.5));
    CHECK(top == 1.0f);
  }
  SECTION("an absent agent takes no random number and leaves zeros") {
    Random alone(1), pair(1);
    std::vector<float> other(plan.inputs());
    const MaddpgPlan one = plan_of({1, 1, 1, shape.action});
    std::vector<float> single(one.inputs());
    encode_target_actions(plan, 1, state, second, masks, outputs, {}, pair, other.data());
    encode_target_actions(one, 1, state, both, masks + 1, outputs + 5, {}, alone, single.data());
    CHECK(alone.state() == pair.state());
    CHECK(std::vector<float>(other.begin() + 1, other.begin() + 6) == std::vector<float>(5, 0.0f));
    CHECK(std::equal(single.begin() + 1, single.end(), other.begin() + 6));
  }
  SECTION("what is not finite stays so") {
    float broken[10] = {};
    broken[1] = kNan;
    broken[9] = kNan;
    encode_target_actions(plan, 1, state, both, masks, broken, {}, random, row.data());
    CHECK(std::isnan(row[1]));
    CHECK(std::isnan(row[10]));
  }
}

TEST_CASE("gradient of the critics' loss against central differences") {
  for (const RewardKind rewards : {RewardKind::kTeam, RewardKind::kIndividual}) {
    MaddpgConfig config = smooth(false, 3);
    config.rewards = rewards;
    const MaddpgPlan plan = plan_of(hybrid_shape(3), config);
    const RandomBatch batch(plan, 3, 3);
    std::vector<double> critic = random_critic(plan, 4);
    CHECK(gradient_check(critic, [&](Tape<double>& tape, double* gradient) {
            return maddpg_critic_loss(tape, plan, critic.data(), gradient, batch.inputs.data(), batch.count,
                                      batch.targets.data(), batch.weights.data())
                .loss;
          }) < 1e-6);
  }
}

TEST_CASE("gradient of the actors' loss against central differences") {
  for (const bool separate : {false, true})
    for (const bool joint : {false, true})
      for (const RewardKind rewards : {RewardKind::kTeam, RewardKind::kIndividual}) {
        if (joint && rewards == RewardKind::kIndividual) continue;
        MaddpgConfig config = smooth(separate, 3);
        config.rewards = rewards;
        const MaddpgPlan plan = plan_of(hybrid_shape(3), config);
        const RandomBatch batch(plan, 5, 3);
        const std::vector<double> critic = random_critic(plan, 6);
        std::vector<double> actors = random_actors(plan, 7);
        const auto of = batch.actor_batch();
        CHECK(gradient_check(actors, [&](Tape<double>& tape, double* gradient) {
                return maddpg_actor_loss(tape, plan, actors.data(), gradient, critic.data(), of,
                                         relaxed(batch, joint));
              }) < 1e-6);
      }
}

TEST_CASE("straight-through: one option forward, the gradient of the soft ones") {
  // With a linear critic the gradient at the critic's input is the same for both.
  MaddpgConfig config = smooth(true, 3);
  config.critic_hidden = {};
  const MaddpgPlan plan = plan_of({3, 2, 3, ActionShape::multi_discrete({3, 4})}, config);
  const RandomBatch batch(plan, 8, 3);
  const std::vector<double> critic = random_critic(plan, 9), actors = random_actors(plan, 10);
  MaddpgActorLossConfig how = relaxed(batch, false);
  const std::vector<double> soft = actor_gradient(plan, actors, critic, batch, how);
  how.straight_through = true;
  const std::vector<double> hard = actor_gradient(plan, actors, critic, batch, how);
  double size = 0.0;
  for (std::size_t i = 0; i < soft.size(); ++i) {
    CHECK(hard[i] == Approx(soft[i]).margin(1e-12));
    size += std::fabs(soft[i]);
  }
  CHECK(size > 0.01);
  Tape<double> tape;
  const auto of = batch.actor_batch();
  const Var outputs = plan.actors.forward(tape, actors.data(), nullptr, batch.observations.data(), 1,
                                          batch.count, nullptr, nullptr);
  const auto actions = tape.value(maddpg_fresh_actions(tape, plan, outputs, of, how).actions);
  for (std::size_t r = 0; r < batch.count * 3; ++r) {
    const bool there = batch.present[r] != 0;
    double sum = 0.0;
    for (std::size_t a = 0; a < 7; ++a) {
      const double x = actions[r * 7 + a];
      CHECK((x == 0.0 || x == 1.0));
      sum += x;
    }
    CHECK(sum == (there ? 2.0 : 0.0));
    if (there && (batch.masks[r * 2] & 4u) == 0) {
      CHECK(actions[r * 7 + 2] == 0.0);
      CHECK(actions[r * 7 + 6] == 0.0);
    }
  }
}

TEST_CASE("a constant added to all logits of a head changes no loss") {
  MaddpgConfig config = smooth(false, 2);
  const MaddpgPlan plan = plan_of({2, 2, 3, ActionShape::discrete(3)}, config);
  const RandomBatch batch(plan, 11, 2);
  const std::vector<double> critic = random_critic(plan, 12);
  std::vector<double> actors = random_actors(plan, 13);
  const auto of = batch.actor_batch();
  const auto loss = [&] {
    Tape<double> tape;
    return tape.scalar(
        maddpg_actor_loss(tape, plan, actors.data(), nullptr, critic.data(), of, relaxed(batch, false)));
  };
  const double before = loss();
  plan.actors.visit(actors.data(), [](const std::string& name, ParameterView<double> view) {
    if (name != "head.bias") return;
    for (std::size_t c = 0; c < view.cols; ++c) view.at(0, c) += 100.0;
  });
  CHECK(loss() == Approx(before).epsilon(1e-10));
}

TEST_CASE("an agent's gradient takes the others' actions from the replay, jointly nobody's") {
  MaddpgConfig config = smooth(true, 2);
  const MaddpgPlan plan = plan_of({2, 2, 3, ActionShape::numbers_within({{-1.0f, 1.0f}})}, config);
  const std::size_t of_one = plan.actors.network().stored();
  RandomBatch batch(plan, 14, 2);
  batch.present.assign(batch.present.size(), 1);
  const std::vector<double> critic = random_critic(plan, 15), actors = random_actors(plan, 16);
  const auto changed = [&](bool joint, std::size_t whose) {
    RandomBatch other = batch;
    for (std::size_t b = 0; b < batch.count; ++b) other.inputs[b * plan.inputs() + 3 + whose] += 0.5;
    const auto before = actor_gradient(plan, actors, critic, batch, relaxed(batch, joint));
    const auto after = actor_gradient(plan, actors, critic, other, relaxed(batch, joint));
    std::vector<bool> moved(2);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (std::fabs(before[i] - after[i]) > 1e-6) moved[i / of_one] = true;
    return moved;
  };
  CHECK(changed(false, 0) == std::vector<bool>{false, true});
  CHECK(changed(false, 1) == std::vector<bool>{true, false});
  CHECK(changed(true, 0) == std::vector<bool>{false, false});
  CHECK(changed(true, 1) == std::vector<bool>{false, false});
}

TEST_CASE("absent agents change no loss and no gradient") {
  // A third slot, always empty: the critic's first layer has rows for it, all else is the same.
  for (const RewardKind rewards : {RewardKind::kTeam, RewardKind::kIndividual}) {
    MaddpgConfig config = smooth(false, 2);
    config.rewards = rewards;
    const MaddpgPlan two = plan_of(hybrid_shape(2), config), three = plan_of(hybrid_shape(3), config);
    const RandomBatch small(two, 17, 2), large(three, 17, 2);
    const std::vector<double> actors = random_actors(two, 18);
    std::vector<double> critic = random_critic(two, 19), wide = random_critic(three, 20);
    std::vector<ParameterView<double>> narrow;
    for (std::size_t c = 0; c < 2; ++c)
      two.critic.visit(critic.data() + c * two.critic.stored(), "",
                       [&](const std::string&, ParameterView<double> view) { narrow.push_back(view); });
    std::size_t next = 0;
    for (std::size_t c = 0; c < 2; ++c)
      three.critic.visit(wide.data() + c * three.critic.stored(), "",
                         [&](const std::string&, ParameterView<double> view) {
                           const ParameterView<double> from = narrow[next++];
                           for (std::size_t r = 0; r < from.rows; ++r)
                             for (std::size_t k = 0; k < from.cols; ++k) view.at(r, k) = from.at(r, k);
                         });
    // Draws of one agent do not depend on how many slots there are.
    REQUIRE(small.share == large.share);
    RandomBatch padded = large;
    padded.states = small.states;
    for (std::size_t b = 0; b < small.count; ++b)
      for (std::size_t s = 0; s < 2; ++s) {
        const std::size_t from = b * 2 + s, to = b * 3 + s;
        for (std::size_t i = 0; i < 2; ++i) {
          padded.observations[to * 2 + i] = small.observations[from * 2 + i];
          padded.options[to * 2 + i] = small.options[from * 2 + i];
          padded.masks[to * 2 + i] = small.masks[from * 2 + i];
          padded.numbers[to * 2 + i] = small.numbers[from * 2 + i];
        }
        std::size_t at = 0;
        for (const std::size_t n : {std::size_t{3}, std::size_t{2}}) {
          for (std::size_t i = 0; i < n; ++i)
            padded.uniforms[at * small.count * 3 + to * n + i] =
                small.uniforms[at * small.count * 2 + from * n + i];
          at += n;
        }
      }
    encode_joint_actions(three, padded.count, padded.states.data(), padded.present.data(),
                         padded.options.data(), padded.numbers.data(), padded.inputs.data());
    if (rewards == RewardKind::kTeam) padded.targets = small.targets;
    if (rewards == RewardKind::kIndividual)
      for (std::size_t b = 0; b < small.count; ++b)
        for (std::size_t s = 0; s < 2; ++s) padded.targets[b * 3 + s] = small.targets[b * 2 + s];

    const auto first = actor_gradient(two, actors, critic, small, relaxed(small, false));
    const auto second = actor_gradient(three, actors, wide, padded, relaxed(padded, false));
    for (std::size_t i = 0; i < first.size(); ++i) CHECK(second[i] == Approx(first[i]).margin(1e-12));

    Tape<double> tape;
    std::vector<double> gradient(critic.size()), wide_gradient(wide.size());
    const Var a = maddpg_critic_loss(tape, two, critic.data(), gradient.data(), small.inputs.data(),
                                     small.count, small.targets.data(), small.weights.data())
                      .loss;
    const Var b = maddpg_critic_loss(tape, three, wide.data(), wide_gradient.data(), padded.inputs.data(),
                                     padded.count, padded.targets.data(), padded.weights.data())
                      .loss;
    tape.backward(a);
    tape.backward(b);
    CHECK(tape.scalar(b) == Approx(tape.scalar(a)).epsilon(1e-12));
    narrow.clear();
    for (std::size_t c = 0; c < 2; ++c)
      two.critic.visit(gradient.data() + c * two.critic.stored(), "",
                       [&](const std::string&, ParameterView<double> view) { narrow.push_back(view); });
    next = 0;
    for (std::size_t c = 0; c < 2; ++c)
      three.critic.visit(wide_gradient.data() + c * three.critic.stored(), "",
                         [&](const std::string&, ParameterView<double> view) {
                           const ParameterView<double> from = narrow[next++];
                           for (std::size_t r = 0; r < view.rows; ++r)
                             for (std::size_t k = 0; k < view.cols; ++k) {
                               const bool shared = r < from.rows && k < from.cols;
                               CHECK(view.at(r, k) == Approx(shared ? from.at(r, k) : 0.0).margin(1e-12));
                             }
                         });
  }
}

TEST_CASE("a batch in which nobody is present has an actors' loss of 0 and no gradient") {
  const MaddpgPlan plan = plan_of(hybrid_shape(2), smooth(false, 2));
  const RandomBatch batch(plan, 21, 0);
  const std::vector<double> critic = random_critic(plan, 22), actors = random_actors(plan, 23);
  MaddpgActorLossConfig how = relaxed(batch, false);
  how.row_share = how.agent_share = 1.0;
  for (const double g : actor_gradient(plan, actors, critic, batch, how)) CHECK(g == 0.0);
}

}  // namespace mara::test
