// The guidance modes: value and gradient in closed form, what no weight means, and how they combine.
#include "mara/guidance/modes.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

using namespace mara;
using namespace mara::guidance;

namespace {

constexpr std::size_t kRows = 3, kOptions = 4;

/// Logits of three agents, everything a mode may look at, and the gradient it causes.
struct Policy {
  std::vector<float> logits, gradient = std::vector<float>(kRows * kOptions, 0.0f);
  std::vector<std::uint32_t> masks{0b1111, 0b0111, 0b1010};
  std::vector<std::int32_t> taken{2, 0, 3};
  std::vector<float> q{0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.0f, 0.5f, 0.0f, 0.0f, 0.25f, 0.0f, 0.75f};
  std::vector<float> signal{1.5f, -0.5f, 0.0f}, weight{0.5f, 0.25f, 0.25f};
  Tape<float> tape{};

  Policy() : logits(kRows * kOptions) {
    Random random(1);
    for (float& x : logits) x = static_cast<float>(random.normal());
  }

  /// The loss 0 * logits plus what the mode adds.
  template <class M>
  float loss(const M& mode) {
    tape.clear();
    std::fill(gradient.begin(), gradient.end(), 0.0f);
    const Var x = tape.variable(logits.data(), gradient.data(), kRows, kOptions);
    const Var log_p = tape.masked_log_softmax(x, masks.data());
    const Var log_taken = tape.gather(log_p, taken.data());
    const Var nothing = tape.scale(tape.sum(x), 0.0f);
    const Var total = mode.policy_loss(
        tape, nothing, {log_p, log_taken, q.data(), signal.data(), weight.data(), kRows, kOptions});
    REQUIRE(tape.status());
    tape.backward(total);
    return tape.scalar(total);
  }

  std::vector<double> probabilities(std::size_t row) const {
    std::vector<double> p(kOptions, 0.0);
    double sum = 0.0;
    for (std::size_t a = 0; a < kOptions; ++a)
      if ((masks[row] >> a) & 1u) sum += p[a] = std::exp(static_cast<double>(logits[row * kOptions + a]));
    for (double& x : p) x /= sum;
    return p;
  }
};

/// A mode as a struct with its weight set.
template <class M>
M with(float weight) {
  M mode;
  mode.weight = weight;
  return mode;
}

}  // namespace

static_assert(Mode<None> && Mode<AuxiliaryReward<>> && Mode<SampledRegulariser<LogLikelihood>> &&
              Mode<AllActionRegulariser>);
static_assert(Mode<CriticConstraint<Cosine>> && Mode<FlowInput> &&
              Mode<Combined<AllActionRegulariser, FlowInput>>);

TEST_CASE("the all-action regulariser is weight x cross-entropy, its gradient weight x (pi - q)", "[modes]") {
  Policy policy;
  const float loss = policy.loss(with<AllActionRegulariser>(3.0f));
  double expected = 0.0;
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto p = policy.probabilities(r);
    for (std::size_t a = 0; a < kOptions; ++a) {
      const double q = static_cast<double>(policy.q[r * kOptions + a]),
                   w = 3.0 * static_cast<double>(policy.weight[r]);
      if (q > 0.0) expected -= w * q * std::log(p[a]);
      CHECK(policy.gradient[r * kOptions + a] == Approx(w * (p[a] - q)).margin(1e-6));
    }
  }
  CHECK(loss == Approx(expected).epsilon(1e-5));
}

TEST_CASE("a row without a guided distribution (all zeros) is not guided", "[modes]") {
  Policy policy;
  std::fill(policy.q.begin(), policy.q.begin() + kOptions, 0.0f);
  policy.loss(with<AllActionRegulariser>(3.0f));
  for (std::size_t a = 0; a < kOptions; ++a) CHECK(policy.gradient[a] == 0.0f);
}

TEST_CASE("the sampled regulariser is -weight x g log pi(a), its gradient -weight g (e_a - pi)", "[modes]") {
  Policy policy;
  const float loss = policy.loss(with<SampledRegulariser<>>(0.4f));
  double expected = 0.0;
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto p = policy.probabilities(r);
    const double factor =
        -0.4 * static_cast<double>(policy.weight[r]) * static_cast<double>(policy.signal[r]);
    const auto taken = static_cast<std::size_t>(policy.taken[r]);
    expected += factor * std::log(p[taken]);
    for (std::size_t a = 0; a < kOptions; ++a) {
      const double legal = (policy.masks[r] >> a) & 1u;
      CHECK(policy.gradient[r * kOptions + a] == Approx(factor * legal * ((a == taken) - p[a])).margin(1e-6));
    }
  }
  CHECK(loss == Approx(expected).epsilon(1e-5));
}

TEST_CASE("the critic constraint is a hinge: only violations cost, in both directions", "[modes]") {
  std::vector<float> value{1.0f, 1.0f, 1.0f, 1.0f, 1.0f}, next{3.0f, 0.0f, 3.0f, 0.0f, 0.0f};
  std::vector<float> g{0.5f, 0.5f, -0.5f, -0.5f, 0.0f}, weight{0.2f, 0.2f, 0.2f, 0.2f, 0.2f};
  std::vector<float> dv(5, 0.0f), dn(5, 0.0f);
  Tape<float> tape;
  const Var v = tape.variable(value.data(), dv.data(), 5, 1), n = tape.variable(next.data(), dn.data(), 5, 1);
  const Var zero = tape.scale(tape.sum(v), 0.0f);
  const Var loss = with<CriticConstraint<>>(2.0f).critic_loss(tape, zero, {v, n, g.data(), weight.data(), 5});
  REQUIRE(tape.status());
  tape.backward(loss);
  // Row 1: moved with the flow, value fell by 1: .5. Row 2: moved against it, value rose by 2: 1.
  CHECK(tape.scalar(loss) == Approx(2.0 * 0.2 * (0.5 + 1.0)));
  const float expected[] = {0.0f, 0.5f, -0.5f, 0.0f, 0.0f};
  for (std::size_t r = 0; r < 5; ++r) {
    CHECK(dv[r] == Approx(2.0 * 0.2 * static_cast<double>(expected[r])).margin(1e-7));
    CHECK(dn[r] == Approx(-2.0 * 0.2 * static_cast<double>(expected[r])).margin(1e-7));
  }
}

TEST_CASE("weight 0 leaves the very same loss", "[modes]") {
  Tape<float> tape;
  const std::vector<float> numbers(kRows * kOptions, 0.5f);
  const Var loss = tape.input(numbers.data(), 1, 1);
  const Var log_p = tape.input(numbers.data(), kRows, kOptions),
            column = tape.input(numbers.data(), kRows, 1);
  const PolicyTerms policy{log_p, column, numbers.data(), numbers.data(), numbers.data(), kRows, kOptions};
  const CriticTerms critic{column, column, numbers.data(), numbers.data(), kRows};
  const std::size_t nodes = tape.size();
  const auto same = [&](const auto& mode) {
    CHECK(mode.policy_loss(tape, loss, policy) == loss);
    CHECK(mode.critic_loss(tape, loss, critic) == loss);
    CHECK(mode.auxiliary_reward(3.0f) == 0.0f);
    CHECK(tape.size() == nodes);
  };
  same(None{});
  same(with<AuxiliaryReward<>>(0.0f));
  same(with<SampledRegulariser<>>(0.0f));
  same(with<AllActionRegulariser>(0.0f));
  same(with<CriticConstraint<>>(0.0f));
  same(FlowInput{});
}

TEST_CASE("modes combine: losses and rewards add, capabilities are united, the first gives the signal",
          "[modes]") {
  using All = Combined<AllActionRegulariser, SampledRegulariser<Cosine>, AuxiliaryReward<Cosine>, FlowInput>;
  STATIC_REQUIRE(All::kUsesField);
  STATIC_REQUIRE(All::kActorInput);
  STATIC_REQUIRE_FALSE(All::kConstrainsCritic);
  STATIC_REQUIRE(Combined<None, CriticConstraint<>>::kConstrainsCritic);
  STATIC_REQUIRE_FALSE(Combined<None>::kUsesField);
  STATIC_REQUIRE(std::is_same_v<All::SignalType, LogLikelihood>);
  STATIC_REQUIRE(std::is_same_v<Combined<SampledRegulariser<Cosine>, None>::SignalType, Cosine>);
  All all;
  std::get<0>(all.modes).weight = 2.0f;
  std::get<1>(all.modes).weight = 0.3f;
  std::get<2>(all.modes).weight = 0.25f;
  CHECK(all.auxiliary_reward(2.0f) == 0.5f);
  Policy policy;
  const float together = policy.loss(all);
  const std::vector<float> gradient = policy.gradient;
  const float first = policy.loss(std::get<0>(all.modes));
  const std::vector<float> first_gradient = policy.gradient;
  const float second = policy.loss(std::get<1>(all.modes));
  CHECK(together == Approx(first + second).epsilon(1e-5));
  for (std::size_t i = 0; i < gradient.size(); ++i)
    CHECK(gradient[i] == Approx(first_gradient[i] + policy.gradient[i]).margin(1e-6));
}
