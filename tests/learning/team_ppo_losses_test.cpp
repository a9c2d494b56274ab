// The pieces of PPO for teams against exact values.
#include "mara/learning/team_ppo_losses.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/critic/centralised_values.hpp"
#include "mara/critic/independent_values.hpp"
#include "mara/learning/team_advantages.hpp"
#include "mara/learning/team_ppo_gradients.hpp"
#include "mara/nn/pop_art.hpp"

using namespace mara;

namespace {

/// Six steps of one environment: step 2 terminates, step 4 is cut with V(final) = 4, after step 5 V = 2.5.
TeamRollout six_steps(std::size_t slots, bool per_agent) {
  GameShape shape{slots, 1, 1, ActionShape::discrete(2)};
  TeamRollout r;
  r.resize(shape, 6, per_agent, false);
  r.ends = {StepEnd::kContinues, StepEnd::kContinues, StepEnd::kTerminated,
            StepEnd::kContinues, StepEnd::kTruncated, StepEnd::kContinues};
  r.final_of = {-1, -1, -1, -1, 0, 1};
  r.finals = 2;
  const std::array<float, 6> rewards{1, 0, 2, -1, 1, 3}, values{0.5f, 1, 0.25f, 2, 0, 1.5f};
  for (std::size_t t = 0; t < 6; ++t)
    for (std::size_t c = 0; c < r.columns; ++c) {
      r.rewards[t * r.columns + c] = rewards[t];
      r.values[t * r.columns + c] = values[t];
    }
  std::fill(r.present.begin(), r.present.end(), std::uint8_t{1});
  r.final_stays.assign(2 * slots, 1);
  for (const std::size_t t : {std::size_t{0}, std::size_t{3}, std::size_t{5}})
    for (std::size_t i = 0; i < slots; ++i) r.arrived[t * slots + i] = 1;
  return r;
}

/// A batch of one agent without anything to see, one row per option; logits are the bias of its network.
struct Bandit {
  GameShape shape{1, 1, 1, ActionShape::discrete(3)};
  TeamActor actor = *TeamActor::create(TeamConfig{{.hidden = {}}}, BoxKind::kGaussian, shape);
  AlignedVector<float> storage = AlignedVector<float>(actor.stored());
  std::size_t bias = 0;

  explicit Bandit(std::array<float, 3> logits) {
    actor.team().visit(storage.data(), [&](const std::string& name, auto view) {
      if (!name.ends_with("bias")) return;
      bias = static_cast<std::size_t>(view.data - storage.data());
      for (std::size_t a = 0; a < 3; ++a) view.at(0, a) = logits[a];
    });
  }
  std::array<double, 3> probabilities() const {
    std::array<double, 3> p{};
    double sum = 0.0;
    for (std::size_t a = 0; a < 3; ++a) sum += p[a] = std::exp(static_cast<double>(storage[bias + a]));
    for (double& x : p) x /= sum;
    return p;
  }
  /// Gradient of the loss at the bias when option a has advantage[a] and its own probability as weight.
  std::array<double, 3> gradient(std::array<float, 3> advantage, float entropy_weight, TeamLossReport& report,
                                 OptionMask mask = 7u) const {
    TeamBatch b;
    b.steps = 1, b.count = 3;
    b.observations.assign(3, 0.0f);
    b.present.assign(3, 1), b.arrived.assign(3, 0);
    b.live = {0, 1, 2}, b.group_ends = {3};
    b.masks.assign(3, mask), b.options = {0, 1, 2};
    const auto p = probabilities();
    for (std::size_t a = 0; a < 3; ++a) {
      b.log_probabilities.push_back(static_cast<float>(std::log(p[a])));
      b.weights.push_back(static_cast<float>(p[a]));
      b.advantages.push_back(advantage[a]);
    }
    std::vector<float> gradients(actor.stored());
    Tape<float> tape;
    REQUIRE(team_policy_gradient(tape, actor, storage.data(), guidance::None{}, false, b,
                                 {0.2f, entropy_weight, 0.0f, 0.0f}, gradients, report));
    return {gradients[bias], gradients[bias + 1], gradients[bias + 2]};
  }
};

}  // namespace

TEST_CASE("team ppo losses: advantages with termination and truncation", "[team_ppo]") {
  const struct {
    float gamma, lambda;
    std::array<double, 6> advantage, returned;
  } rows[] = {{0.9f, 0.8f, {1.7492, 0.485, 1.75, 0.312, 4.6, 3.75}, {2.2492, 1.485, 2, 2.312, 4.6, 5.25}},
              {0.99f,
               0.95f,
               {2.330219, 0.893375, 1.75, 1.66488, 4.96, 3.975},
               {2.830219, 1.893375, 2, 3.66488, 4.96, 5.475}},
              {0.9f, 0, {1.4, -0.775, 1.75, -3, 4.6, 3.75}, {1.9, 0.225, 2, -1, 4.6, 5.25}},
              {0.9f, 1, {2.12, 0.8, 1.75, 1.14, 4.6, 3.75}, {2.62, 1.8, 2, 3.14, 4.6, 5.25}},
              {1, 1, {2.5, 1, 1.75, 2, 5, 4}, {3, 2, 2, 4, 5, 5.5}}};
  for (const auto& row : rows)
    for (const bool per_agent : {false, true}) {
      TeamRollout r = six_steps(2, per_agent);
      const auto check = [&](auto& work) {
        for (const float v : {4.0f, 2.5f}) work.final_values.insert(work.final_values.end(), r.columns, v);
        estimate_team_advantages(row.gamma, row.lambda, r, work);
      };
      if (per_agent) {
        TeamValueWorkspace<critic::IndependentValues> work;
        check(work);
      } else {
        TeamValueWorkspace<critic::CentralisedValues> work;
        check(work);
      }
      for (std::size_t t = 0; t < 6; ++t)
        for (std::size_t c = 0; c < r.columns; ++c) {
          CAPTURE(row.gamma, row.lambda, t, c);
          CHECK(r.advantages[t * r.columns + c] == Approx(row.advantage[t]).margin(2e-6));
          CHECK(r.returns[t * r.columns + c] == Approx(row.returned[t]).margin(2e-6));
        }
      if (row.lambda != 0.8f) continue;
      // Known faults: a truncation that counts as termination, a bootstrap from the state after the reset, a
      // recursion across the boundary.
      const double third = static_cast<double>(r.advantages[3 * r.columns]),
                   fourth = static_cast<double>(r.advantages[4 * r.columns]);
      for (const auto& [a, b] : {std::pair{-2.28, 1.0}, {-1.308, 2.35}, {2.256, 7.3}}) {
        CHECK(std::abs(third - a) > 1.0);
        CHECK(std::abs(fourth - b) > 1.0);
      }
    }
}

TEST_CASE("team ppo losses: who leaves has terminated for itself", "[team_ppo]") {
  TeamRollout r = six_steps(3, true);
  const auto set = [&](std::vector<std::uint8_t>& of, std::size_t t, std::size_t slot, std::uint8_t value) {
    of[t * 3 + slot] = value;
  };
  set(r.present, 1, 0, 0), set(r.present, 2, 0, 0);  // slot 0 leaves after step 0
  set(r.arrived, 1, 1, 1);                           // slot 1 is another agent from step 1 on
  r.final_stays = {1, 1, 0, 0, 1, 1};                // slot 2 leaves as the episode is cut, slot 0 at the end
  TeamValueWorkspace<critic::IndependentValues> work;
  work.final_values = {4, 4, 4, 2.5f, 2.5f, 2.5f};
  estimate_team_advantages(0.9f, 0.8f, r, work);
  const auto advantage = [&](std::size_t t, std::size_t slot) { return r.advantages[t * 3 + slot]; };
  CHECK(advantage(0, 0) == Approx(0.5));  // 1 - .5
  CHECK(advantage(1, 0) == 0.0f);
  CHECK(advantage(2, 0) == 0.0f);
  CHECK(r.counted[3] == 0);
  CHECK(advantage(5, 0) == Approx(1.5));  // 3 - 1.5
  CHECK(advantage(0, 1) == Approx(0.5));
  CHECK(advantage(1, 1) == Approx(0.485));
  CHECK(advantage(4, 1) == Approx(4.6));
  CHECK(advantage(4, 2) == Approx(1.0));
  CHECK(advantage(5, 2) == Approx(3.75));
  CHECK(advantage(3, 2) == Approx(-3.0 + 0.72));
}

TEST_CASE("team ppo losses: the clipped objective and its gradient", "[team_ppo]") {
  const std::vector<double> ratio{1.5, 1.5, 0.5, 0.5, 1.1, 0.85}, advantage{2, -2, 2, -2, -1, 3};
  const std::vector<double> objective{2.4, -3, 1, -1.6, -1.1, 2.55}, slope{0, -3, 1, 0, -1.1, 2.55};
  std::vector<double> log_ratio, gradient(6);
  for (const double x : ratio) log_ratio.push_back(std::log(x));
  Tape<double> tape;
  const Var x = tape.variable(log_ratio.data(), gradient.data(), 6, 1);
  const Var y = clipped_objective(tape, x, tape.input(advantage.data(), 6, 1), 0.2);
  tape.backward(tape.sum(y));
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(tape.value(y)[i] == Approx(objective[i]).margin(1e-12));
    CHECK(gradient[i] == Approx(slope[i]).margin(1e-12));
  }
}

TEST_CASE("team ppo losses: the clipped value error and its gradient", "[team_ppo]") {
  const std::vector<double> value{2, 2, 1.1}, old(3, 1.0), target{3, 0, 3};
  const std::vector<double> error{3.24, 4, 3.61}, slope{0, 4, -3.8};
  std::vector<double> gradient(3);
  const auto run = [&](double clip, double huber) {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    Tape<double> tape;
    const Var y =
        clipped_value_error(tape, tape.variable(value.data(), gradient.data(), 3, 1),
                            tape.input(old.data(), 3, 1), tape.input(target.data(), 3, 1), clip, huber);
    tape.backward(tape.sum(y));
    return std::vector<double>(tape.value(y).begin(), tape.value(y).end());
  };
  const std::vector<double> clipped = run(0.2, 0.0);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(clipped[i] == Approx(error[i]).margin(1e-12));
    CHECK(gradient[i] == Approx(slope[i]).margin(1e-12));
  }
  const std::vector<double> whole = run(0.0, 0.0);
  CHECK(whole[0] == Approx(1.0));
  CHECK(gradient[0] == Approx(-2.0));
  const std::vector<double> huber = run(0.0, 1.0);  // e = -1, 2, -1.9
  CHECK(huber[0] == Approx(0.5));
  CHECK(huber[1] == Approx(1.5));
  CHECK(huber[2] == Approx(1.4));
  CHECK(gradient[1] == Approx(1.0));
}

TEST_CASE("team ppo losses: divergence and clip fraction from ratios", "[team_ppo]") {
  std::vector<double> log_ratio;
  for (const double r : {1.2, 0.7, 1.05, 0.9}) log_ratio.push_back(std::log(r));
  const std::vector<double> weights(4, 0.25);
  const RatioStatistics s = ratio_statistics<double>(log_ratio, weights, 0.1 + 1e-12);
  CHECK(s.kl == Approx(0.0202309347).margin(1e-9));
  CHECK(s.clip_fraction == 0.5);
}

TEST_CASE("team ppo losses: advantages are normalised over the living", "[team_ppo]") {
  const std::vector<double> a{1, 4, 2, 0, 3, 100};
  const std::vector<std::uint8_t> alive{1, 1, 1, 1, 1, 0};
  const AdvantageMoments m = moments_of_alive<double>(a, alive);
  CHECK(m.count == 5);
  CHECK(m.mean == Approx(2.0));
  CHECK(m.deviation == Approx(1.4142135624).margin(1e-9));
  CHECK(normalised_advantage(4.0f, m) == Approx(std::sqrt(2.0)));
  const AdvantageMoments none = moments_of_alive<double>(a, std::vector<std::uint8_t>(6, 0));
  CHECK(none.count == 0);
  CHECK(normalised_advantage(3.0f, none) == 3.0f);
  CHECK(normalised_advantage(3.0f, AdvantageMoments{3.0, 0.0, 5}) == 0.0f);
}

TEST_CASE("team ppo losses: a batch without anybody", "[team_ppo]") {
  const Bandit bandit({0.2f, -0.5f, 1.0f});
  TeamBatch b;
  b.steps = 1, b.count = 2;
  b.observations.assign(2, 0.0f);
  b.present.assign(2, 0), b.arrived.assign(2, 0);
  b.group_ends = {0};
  std::vector<float> gradients(bandit.actor.stored());
  Tape<float> tape;
  TeamLossReport report;
  REQUIRE(team_policy_gradient(tape, bandit.actor, bandit.storage.data(), guidance::None{}, false, b,
                               {0.2f, 0.1f, 0.0f, 0.0f}, gradients, report));
  CHECK(report.policy_loss == 0.0);
  CHECK(report.entropy == 0.0);
  for (const float g : gradients) CHECK(g == 0.0f);
}

TEST_CASE("team ppo losses: at ratio 1 the gradient is that of the expected reward", "[team_ppo]") {
  const Bandit bandit({0.2f, -0.5f, 1.0f});
  TeamLossReport report;
  const auto g = bandit.gradient({1, 2, -1}, 0.0f, report);
  CHECK(report.policy_loss == Approx(0.0624294574).margin(1e-6));  // minus J
  CHECK(report.entropy == Approx(0.9293476152).margin(1e-6));
  CHECK(report.ratios.kl == Approx(0.0).margin(1e-6));
  const std::array<double, 3> exact{0.28543617, 0.27515783, -0.560594};
  for (std::size_t a = 0; a < 3; ++a) CHECK(-g[a] == Approx(exact[a]).margin(1e-6));
  TeamLossReport again;
  const auto h = bandit.gradient({0, 0, 0}, 1.0f, again);
  const std::array<double, 3> entropy{0.10342139, 0.14474763, -0.24816902};
  for (std::size_t a = 0; a < 3; ++a) CHECK(-h[a] == Approx(entropy[a]).margin(1e-6));
  // A constant on all logits changes nothing.
  TeamLossReport shifted;
  const auto moved = Bandit({5.2f, 4.5f, 6.0f}).gradient({1, 2, -1}, 0.3f, shifted);
  TeamLossReport unshifted;
  const auto still = bandit.gradient({1, 2, -1}, 0.3f, unshifted);
  CHECK(shifted.policy_loss == Approx(unshifted.policy_loss).margin(1e-5));
  for (std::size_t a = 0; a < 3; ++a) CHECK(moved[a] == Approx(still[a]).margin(1e-5));
}

TEST_CASE("team ppo losses: gradients of two agents in the penalty game", "[team_ppo]") {
  constexpr std::array<std::array<double, 3>, 3> kPayoff{{{-25, 0, 10}, {0, 2, 0}, {10, 0, -25}}};
  const Bandit first({0.1f, 0.0f, -0.2f}), second({0.0f, 0.3f, 0.1f});
  const auto p = first.probabilities(), q = second.probabilities();
  std::array<float, 3> of_first{}, of_second{};
  double value = 0.0;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      of_first[a] += static_cast<float>(q[b] * kPayoff[a][b]);
      of_second[b] += static_cast<float>(p[a] * kPayoff[a][b]);
      value += p[a] * q[b] * kPayoff[a][b];
    }
  CHECK(value == Approx(-2.687458559).margin(1e-6));
  TeamLossReport report;
  const auto g = first.gradient(of_first, 0.0f, report), h = second.gradient(of_second, 0.0f, report);
  const std::array<double, 3> g1{-0.5101339, 1.18637581, -0.67624191},
      g2{-1.14669463, 1.31721492, -0.17052029};
  for (std::size_t a = 0; a < 3; ++a) {
    CHECK(-g[a] == Approx(g1[a]).margin(1e-5));
    CHECK(-h[a] == Approx(g2[a]).margin(1e-5));
  }
}

TEST_CASE("team ppo losses: the policy's loss agrees with central differences", "[team_ppo]") {
  // Discrete and numeric parts, two groups of parameters, an absent agent; away from the kinks of the clip.
  GameShape shape{3, 2, 1, {{3, 2}, {{-1.0f, 1.0f}, {0.0f, 2.0f}}}};
  TeamConfig config;
  config.network.hidden = {4};
  config.network.activation = Activation::kTanh;
  config.groups = {0, 1, 0};
  const TeamActor actor = *TeamActor::create(config, BoxKind::kTanhGaussian, shape);
  AlignedVector<float> storage(actor.stored());
  Random random(3);
  actor.initialise(random, -0.3f, storage.data());
  TeamBatch b;
  b.steps = 1, b.count = 2;
  b.present = {1, 1, 0, 1, 1, 1}, b.arrived.assign(6, 0);
  for (int i = 0; i < 12; ++i) b.observations.push_back(static_cast<float>(random.normal()));
  b.live = {0, 3, 5, 1, 4}, b.group_ends = {3, 5};
  b.masks = {7, 5, 7, 3, 3, 3, 6, 7, 3, 1};
  b.options = {0, 2, 1, 0, 1, 1, 1, 2, 0, 0};
  for (int i = 0; i < 10; ++i) b.latents.push_back(static_cast<float>(0.5 * random.normal()));
  b.weights.assign(5, 0.2f);
  b.advantages = {1.0f, -2.0f, 0.5f, 1.5f, -0.7f};
  const auto run = [&](TeamLossReport& report, std::vector<float>* gradients) {
    std::vector<float> sink(actor.stored());
    Tape<float> tape;
    REQUIRE(team_policy_gradient(tape, actor, storage.data(), guidance::None{}, false, b,
                                 {0.2f, 0.3f, 0.0f, 0.0f}, gradients == nullptr ? sink : *gradients, report));
  };
  // Old log-probabilities close to the present ones.
  for (std::size_t i = 0; i < 5; ++i) {
    const auto row = static_cast<std::size_t>(b.live[i]), first = i < 3 ? std::size_t{0} : std::size_t{3};
    const std::size_t rows = i < 3 ? 3 : 2;
    std::vector<float> outputs(3 * actor.team().outputs());
    AgentTeam::Workspace work;
    actor.team().step(storage.data(), b.observations.data() + row / 3 * 6, 1, nullptr, nullptr,
                      outputs.data(), work);
    const std::array<OptionMask, 2> masks{b.masks[first * 2 + i - first],
                                          b.masks[first * 2 + rows + i - first]};
    const std::array<std::int32_t, 2> options{b.options[first * 2 + i - first],
                                              b.options[first * 2 + rows + i - first]};
    const float now = actor.distribution().log_probability(
        outputs.data() + row % 3 * actor.team().outputs(), actor.log_std(storage.data(), row % 3),
        masks.data(), options.data(), b.latents.data() + i * 2);
    REQUIRE(std::isfinite(now));
    b.log_probabilities.push_back(now + (i % 2 == 0 ? 0.05f : -0.05f));
  }
  TeamLossReport report;
  std::vector<float> gradients(actor.stored());
  run(report, &gradients);
  double largest = 0.0;
  std::size_t checked = 0;
  for (std::size_t i = 0; i < storage.size(); ++i) {
    if (gradients[i] == 0.0f) continue;
    const float kept = storage[i], h = 4e-3f;
    TeamLossReport up, down;
    storage[i] = kept + h;
    run(up, nullptr);
    storage[i] = kept - h;
    run(down, nullptr);
    storage[i] = kept;
    const double difference = (up.policy_loss - down.policy_loss) / (2.0 * static_cast<double>(h));
    largest = std::max(largest, std::abs(difference - static_cast<double>(gradients[i])));
    ++checked;
  }
  CHECK(checked > 60);
  CHECK(largest < 2e-3);
}

TEST_CASE("team ppo losses: PopArt keeps what is said", "[team_ppo]") {
  std::vector<double> weight{2, -1}, bias{0.5};
  const std::vector<double> h{0.7, 0.2};
  const ParameterView<double> w{weight.data(), 2, 1}, b{bias.data(), 1, 1};
  const auto said = [&](double mean, double deviation) {
    return (h[0] * weight[0] + h[1] * weight[1] + bias[0]) * deviation + mean;
  };
  CHECK(said(1, 2) == Approx(4.4));
  pop_art_rescale(w, b, 1.0, 2.0, 3.0, 4.0);
  CHECK(weight[0] == Approx(1.0));
  CHECK(weight[1] == Approx(-0.5));
  CHECK(bias[0] == Approx(-0.25));
  CHECK(said(3, 4) == Approx(4.4));
}
