// Distributions of actions of any shape: cases A7, A8, A9, the tape against the plain functions, gradients.
#include "mara/action/action_distribution.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"

using mara::ActionDistribution;
using mara::ActionShape;
using mara::BoxKind;
using mara::OptionMask;
using mara::Random;
using mara::Tape;
using mara::Var;

namespace {

ActionShape hybrid() {
  return {{4, 3, 20}, {{-1.0f, 1.0f}, {0.0f, 10.0f}, {-2.5f, -0.5f}}};
}

/// Rows of outputs, masks, and actions drawn from them, all rows usable.
template <class S>
struct Drawn {
  std::size_t rows = 0;
  std::vector<S> outputs, log_std, latent, log_p;
  std::vector<OptionMask> masks, masks_by_head;
  std::vector<std::int32_t> options, options_by_head;

  Drawn(const ActionDistribution& distribution, std::size_t count, std::uint64_t seed) : rows(count) {
    const ActionShape& shape = distribution.shape();
    const std::size_t heads = shape.choices(), numbers = shape.numbers();
    Random random(seed);
    outputs.resize(rows * shape.outputs());
    for (S& x : outputs) x = static_cast<S>(1.5 * random.normal());
    log_std.resize(numbers);
    for (S& x : log_std) x = static_cast<S>(0.4 * random.normal() - 0.3);
    masks.resize(rows * heads);
    masks_by_head.resize(rows * heads);
    options.resize(rows * heads);
    options_by_head.resize(rows * heads);
    latent.resize(rows * numbers);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t h = 0; h < heads; ++h)
        masks_by_head[h * rows + r] = masks[r * heads + h] =
            random() | OptionMask{1} << random.below(static_cast<std::uint32_t>(shape.heads[h]));
      log_p.push_back(distribution.sample(outputs.data() + r * shape.outputs(), log_std.data(),
                                          masks.data() + r * heads, random, options.data() + r * heads,
                                          latent.data() + r * numbers));
      for (std::size_t h = 0; h < heads; ++h) options_by_head[h * rows + r] = options[r * heads + h];
    }
  }
  ActionDistribution::BatchOf<S> batch() const {
    return {rows, masks_by_head.data(), options_by_head.data(), latent.data()};
  }
};

template <class S>
void check_tape_against_plain(const ActionDistribution& distribution) {
  const ActionShape& shape = distribution.shape();
  Drawn<S> drawn(distribution, 67, 5);
  Tape<S> tape;
  const auto terms = distribution.terms(tape, tape.input(drawn.outputs.data(), drawn.rows, shape.outputs()),
                                        tape.input(drawn.log_std.data(), 1, shape.numbers()), drawn.batch());
  REQUIRE(tape.status());
  REQUIRE(terms.log_probabilities.size() == shape.choices());
  const auto log_p = tape.value(terms.log_probability), entropy = tape.value(terms.entropy);
  REQUIRE(log_p.size() == drawn.rows);
  REQUIRE(entropy.size() == drawn.rows);
  bool same = true, close = true;
  for (std::size_t r = 0; r < drawn.rows; ++r) {
    const S* outputs = drawn.outputs.data() + r * shape.outputs();
    const OptionMask* masks = drawn.masks.data() + r * shape.choices();
    const S again = distribution.log_probability(outputs, drawn.log_std.data(), masks,
                                                 drawn.options.data() + r * shape.choices(),
                                                 drawn.latent.data() + r * shape.numbers());
    same = same && std::isfinite(again) && again == drawn.log_p[r] && again == log_p[r];
    const S plain = distribution.entropy(outputs, drawn.log_std.data(), masks);
    close = close && std::fabs(plain - entropy[r]) < S(2e-6) * (S(1) + std::fabs(plain));
  }
  CHECK(same);  // the ratio before the first update is exactly 1
  CHECK(close);
}

}  // namespace

TEST_CASE("Distribution of options: probabilities, entropy and illegal options", "[action_distribution]") {
  // Case A7.
  const ActionDistribution distribution(ActionShape::discrete(4));
  const std::vector<double> logits{1, 2, 3, 4};
  const OptionMask mask = 0b0101;
  const std::int32_t second = 2, illegal = 3, outside = 4;
  CHECK(distribution.log_probability(logits.data(), nullptr, &mask, &second, nullptr) ==
        Approx(-0.1269280110).margin(1e-9));
  CHECK(distribution.log_probability(logits.data(), nullptr, &mask, &illegal, nullptr) == -INFINITY);
  CHECK(distribution.log_probability(logits.data(), nullptr, &mask, &outside, nullptr) == -INFINITY);
  CHECK(distribution.entropy(logits.data(), nullptr, &mask) == Approx(0.3653338851).margin(1e-9));
  std::int32_t option = -1;
  REQUIRE(distribution.mode(logits.data(), &mask, &option, nullptr));
  CHECK(option == 2);
  // Ties give the lowest index.
  const std::vector<double> equal{7, 7, 7, 7};
  const OptionMask later = 0b1100;
  REQUIRE(distribution.mode(equal.data(), &later, &option, nullptr));
  CHECK(option == 2);

  SECTION("on the tape, with gradients on the legal logits alone") {
    std::vector<double> gradient(4, 0.0);
    Tape<double> tape;
    const auto terms = distribution.terms(tape, tape.variable(logits.data(), gradient.data(), 1, 4), Var{},
                                          {1, &mask, &second, nullptr});
    CHECK(tape.scalar(terms.log_probability) == Approx(-0.1269280110).margin(1e-9));
    CHECK(tape.scalar(terms.entropy) == Approx(0.3653338851).margin(1e-9));
    tape.backward(tape.add(terms.log_probability, terms.entropy));
    CHECK(gradient[1] == 0.0);
    CHECK(gradient[3] == 0.0);
    CHECK(gradient[0] != 0.0);
    CHECK(gradient[0] + gradient[2] == Approx(0.0).margin(1e-12));
  }
  SECTION("an absent agent adds nothing and gets no gradient") {
    const std::vector<double> two{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<double> gradient(8, 0.0);
    const OptionMask masks[2] = {0, 0b1111};
    const std::int32_t options[2] = {-1, 1};
    Tape<double> tape;
    const auto terms = distribution.terms(tape, tape.variable(two.data(), gradient.data(), 2, 4), Var{},
                                          {2, masks, options, nullptr});
    CHECK(tape.value(terms.log_probability)[0] == 0.0);
    CHECK(tape.value(terms.entropy)[0] == 0.0);
    tape.backward(tape.sum(tape.add(terms.log_probability, terms.entropy)));
    for (std::size_t a = 0; a < 4; ++a) CHECK(gradient[a] == 0.0);
    CHECK(gradient[5] != 0.0);
  }
}

TEST_CASE("Distribution of numbers: density, entropy, divergence", "[action_distribution]") {
  // Case A8.
  const std::vector<double> means{0.5, -1}, latent{0.7, 0.5}, log_std{std::log(0.2), std::log(1.5)};
  const std::vector<double> others{0.4, -0.5}, other_log_std{std::log(0.3), 0.0};
  const ActionShape shape = ActionShape::numbers_within({{-1.0f, 1.0f}, {-1.0f, 1.0f}});
  const ActionDistribution normal(shape, BoxKind::kGaussian), squashed(shape);
  CHECK(normal.log_probability(means.data(), log_std.data(), nullptr, nullptr, latent.data()) ==
        Approx(-1.6339042621).margin(1e-9));
  CHECK(normal.entropy(means.data(), log_std.data(), nullptr) == Approx(1.6339042621).margin(1e-9));
  CHECK(normal.kl_divergence(means.data(), log_std.data(), others.data(), other_log_std.data(), nullptr) ==
        Approx(0.5277777778).margin(1e-9));
  CHECK(squashed.log_probability(means.data(), log_std.data(), nullptr, nullptr, latent.data()) ==
        Approx(-0.9391347895).margin(1e-9));
  std::vector<double> numbers(2);
  squashed.to_numbers(latent.data(), numbers.data());
  CHECK(numbers[0] == Approx(0.6043678).margin(1e-7));
  CHECK(numbers[1] == Approx(0.4621172).margin(1e-7));

  Tape<double> tape;
  const auto terms = squashed.terms(tape, tape.input(means.data(), 1, 2), tape.input(log_std.data(), 1, 2),
                                    {1, nullptr, nullptr, latent.data()});
  CHECK(tape.scalar(terms.log_probability) == Approx(-0.9391347895).margin(1e-9));
  CHECK(tape.scalar(terms.entropy) == Approx(1.6339042621).margin(1e-9));

  SECTION("in float") {
    const float m[2] = {0.5f, -1}, u[2] = {0.7f, 0.5f};
    const float s[2] = {std::log(0.2f), std::log(1.5f)};
    CHECK(normal.log_probability(m, s, nullptr, nullptr, u) == Approx(-1.6339042621).epsilon(1e-5));
    CHECK(squashed.log_probability(m, s, nullptr, nullptr, u) == Approx(-0.9391347895).epsilon(1e-5));
  }
  SECTION("the density is that of the numbers within the bounds: it integrates to 1 over them") {
    const ActionDistribution stretched(ActionShape::numbers_within({{-3.0f, 5.0f}}));
    const double mean = 0.3, log_deviation = -0.2;
    double total = 0.0, last = -3.0, last_density = 0.0;
    for (int i = -8000; i <= 8000; ++i) {
      const double u = i * 1e-3;
      double x = 0.0;
      stretched.to_numbers(&u, &x);
      const double density = std::exp(stretched.log_probability(&mean, &log_deviation, nullptr, nullptr, &u));
      total += 0.5 * (density + last_density) * (x - last);
      last = x;
      last_density = density;
    }
    CHECK(total == Approx(1.0).margin(1e-5));
  }
  SECTION("far out the slope of tanh keeps its digits and the numbers stay inside") {
    for (const double u : {-400.0, -30.0, 30.0, 400.0})
      CHECK(ActionDistribution(ActionShape::numbers_within({{-1.0f, 1.0f}})).log_slope(&u) ==
            Approx(2 * (std::log(2.0) - std::fabs(u))).epsilon(1e-12));
    const ActionDistribution odd(ActionShape::numbers_within({{0.1f, 0.7f}}));
    for (const float u : {-50.0f, -1.0f, 0.0f, 3.0f, 50.0f}) {
      float x = 0;
      odd.to_numbers(&u, &x);
      CHECK(x >= 0.1f);
      CHECK(x <= 0.7f);
    }
  }
  SECTION("bounds cut a Gaussian, not its density") {
    const float u[2] = {3.0f, -0.25f};
    float x[2];
    normal.to_numbers(u, x);
    CHECK(x[0] == 1.0f);
    CHECK(x[1] == -0.25f);
  }
}

TEST_CASE("Distribution of actions: rollout and tape agree bit for bit", "[action_distribution]") {
  for (const BoxKind kind : {BoxKind::kGaussian, BoxKind::kTanhGaussian}) {
    check_tape_against_plain<float>(ActionDistribution(hybrid(), kind));
    check_tape_against_plain<double>(ActionDistribution(hybrid(), kind));
    check_tape_against_plain<float>(
        ActionDistribution(ActionShape::numbers_within(std::vector<mara::ActionBounds>(19)), kind));
  }
  check_tape_against_plain<float>(ActionDistribution(ActionShape::discrete(5)));
  check_tape_against_plain<float>(ActionDistribution(ActionShape::multi_discrete({32, 2, 1})));
}

TEST_CASE("Distribution of actions: gradients of its terms", "[action_distribution]") {
  for (const BoxKind kind : {BoxKind::kGaussian, BoxKind::kTanhGaussian}) {
    const ActionDistribution distribution(hybrid(), kind);
    Drawn<double> drawn(distribution, 3, 9);
    const std::size_t outputs = distribution.shape().outputs();
    std::vector<double> parameters = drawn.outputs;
    parameters.insert(parameters.end(), drawn.log_std.begin(), drawn.log_std.end());
    const std::vector<double> weights{0.7, -1.3, 0.4};
    const double worst = mara::gradient_check(parameters, [&](Tape<double>& tape, double* gradient) {
      const Var of = tape.variable(parameters.data(), gradient, 3, outputs);
      const Var log_std =
          tape.variable(parameters.data() + 3 * outputs, gradient + 3 * outputs, 1, drawn.log_std.size());
      const auto terms = distribution.terms(tape, of, log_std, drawn.batch());
      return tape.add(tape.dot(tape.square(terms.log_probability), weights.data()),
                      tape.dot(terms.entropy, weights.data()));
    });
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("Distribution of actions: a constant added to the logits of a head changes nothing",
          "[action_distribution]") {
  const ActionDistribution distribution(ActionShape::multi_discrete({3, 4}));
  const double logits[7] = {0.2, -1, 0.7, 1, 2, 3, 4};
  double shifted[7];
  for (std::size_t i = 0; i < 7; ++i) shifted[i] = logits[i] + (i < 3 ? 100.0 : -7.0);
  const OptionMask masks[2] = {0b111, 0b0110};
  const std::int32_t options[2] = {1, 2};
  CHECK(distribution.log_probability(logits, nullptr, masks, options, nullptr) ==
        Approx(distribution.log_probability(shifted, nullptr, masks, options, nullptr)).margin(1e-12));
  CHECK(distribution.entropy(logits, nullptr, masks) ==
        Approx(distribution.entropy(shifted, nullptr, masks)).margin(1e-12));
  CHECK(distribution.kl_divergence(logits, nullptr, shifted, nullptr, masks) == Approx(0.0).margin(1e-12));
}

TEST_CASE("Distribution of actions: gradients of the expected reward", "[action_distribution]") {
  // Case A9.
  const ActionDistribution distribution(ActionShape::discrete(3));
  const std::vector<double> logits{0.2, -0.5, 1}, rewards{1, 2, -1};
  const std::vector<double> slope{0.28543617, 0.27515783, -0.560594};
  const OptionMask masks[3] = {0b111, 0b111, 0b111};
  std::vector<double> gradient(3, 0.0);
  const std::int32_t first = 0;
  Tape<double> tape;
  const Var x = tape.variable(logits.data(), gradient.data(), 1, 3);
  const auto terms = distribution.terms(tape, x, Var{}, {1, masks, &first, nullptr});
  const Var p = tape.exp(terms.log_probabilities[0]);
  const Var expected = tape.dot(p, rewards.data());
  const std::vector<double> pi{0.26866364, 0.13341442, 0.59792194};
  for (std::size_t a = 0; a < 3; ++a) CHECK(tape.value(p)[a] == Approx(pi[a]).margin(1e-8));
  CHECK(tape.scalar(expected) == Approx(-0.0624294574).margin(1e-9));
  CHECK(tape.scalar(terms.entropy) == Approx(0.9293476152).margin(1e-9));
  tape.backward(expected);
  for (std::size_t a = 0; a < 3; ++a) CHECK(gradient[a] == Approx(slope[a]).margin(1e-8));
  std::fill(gradient.begin(), gradient.end(), 0.0);
  tape.backward(terms.entropy);
  const std::vector<double> entropy_slope{0.10342139, 0.14474763, -0.24816902};
  for (std::size_t a = 0; a < 3; ++a) CHECK(gradient[a] == Approx(entropy_slope[a]).margin(1e-8));

  // REINFORCE: the mean of reward * d log p is that gradient, within three standard errors.
  const int draws = 200000;
  std::vector<double> sum(3, 0.0), squares(3, 0.0), scores(9, 0.0);
  for (std::int32_t a = 0; a < 3; ++a) {
    Tape<double> one;
    one.backward(distribution
                     .terms(one, one.variable(logits.data(), scores.data() + 3 * a, 1, 3), Var{},
                            {1, masks, &a, nullptr})
                     .log_probability);
  }
  Random random(11);
  for (int i = 0; i < draws; ++i) {
    std::int32_t option = -1;
    const double log_p = distribution.sample(logits.data(), nullptr, masks, random, &option, nullptr);
    REQUIRE(std::isfinite(log_p));
    const auto a = static_cast<std::size_t>(option);
    for (std::size_t k = 0; k < 3; ++k) {
      const double g = rewards[a] * scores[3 * a + k];
      sum[k] += g;
      squares[k] += g * g;
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const double mean = sum[k] / draws;
    const double error = std::sqrt((squares[k] / draws - mean * mean) / draws);
    CAPTURE(k, mean, slope[k], error);
    CHECK(std::fabs(mean - slope[k]) < 3 * error);
  }
}

TEST_CASE("Distribution of actions: draws follow it", "[action_distribution]") {
  const ActionDistribution distribution(ActionShape{{3}, {{-1.0f, 1.0f}}}, BoxKind::kGaussian);
  const float outputs[4] = {0.5f, 9.0f, -0.5f, 2.0f}, log_std = std::log(0.3f);
  const OptionMask mask = 0b101;
  Random random(3);
  const int draws = 100000;
  double firsts = 0, sum = 0, squares = 0;
  for (int i = 0; i < draws; ++i) {
    std::int32_t option;
    float latent;
    distribution.sample(outputs, &log_std, &mask, random, &option, &latent);
    REQUIRE(option != 1);
    firsts += option == 0 ? 1.0 : 0.0;
    sum += latent;
    squares += static_cast<double>(latent) * latent;
  }
  const double p = 1 / (1 + std::exp(-1.0)), mean = sum / draws;
  CHECK(std::fabs(firsts / draws - p) < 3 * std::sqrt(p * (1 - p) / draws));
  CHECK(std::fabs(mean - 2.0) < 3 * 0.3 / std::sqrt(draws));
  CHECK(std::sqrt(squares / draws - mean * mean) == Approx(0.3).epsilon(0.01));
  // One seed, one sequence: two words for each head and each number.
  CHECK(random.state().position == 4u * draws);
}

TEST_CASE("Distribution of actions: what cannot be used is refused", "[action_distribution]") {
  const ActionDistribution distribution(ActionShape{{3}, {{-1.0f, 1.0f}}});
  const float fine[4] = {0.5f, 1.0f, -0.5f, 2.0f}, log_std = 0.0f, bad_log_std = NAN;
  const OptionMask all = 0b111, none = 0b11000, two = 0b101;
  Random random(1);
  std::int32_t option = 77;
  float latent = 77;
  CHECK(std::isnan(distribution.sample(fine, &log_std, &none, random, &option, &latent)));
  CHECK_FALSE(distribution.mode(fine, &none, &option, &latent));
  CHECK(std::isnan(distribution.sample(fine, &bad_log_std, &all, random, &option, &latent)));
  for (const float wrong : {static_cast<float>(NAN), static_cast<float>(INFINITY)}) {
    float outputs[4] = {0.5f, wrong, -0.5f, 2.0f};
    CHECK(std::isnan(distribution.sample(outputs, &log_std, &all, random, &option, &latent)));
    CHECK(std::isnan(distribution.entropy(outputs, &log_std, &all)));
    CHECK(std::isfinite(distribution.entropy(outputs, &log_std, &two)));  // the wrong one is illegal
    float means[4] = {0.5f, 0.0f, -0.5f, wrong};
    CHECK(std::isnan(distribution.sample(means, &log_std, &all, random, &option, &latent)));
    CHECK_FALSE(distribution.mode(means, &all, &option, &latent));
  }
  CHECK(option == 77);
  CHECK(latent == 77.0f);
  CHECK(random.state().position == 0);

  Tape<float> tape;
  distribution.terms(tape, tape.input(fine, 1, 3), tape.input(&log_std, 1, 1), {1, &all, &option, &latent});
  REQUIRE_FALSE(tape.status());
  CHECK(tape.status().error().message.find("1 x 4") != std::string::npos);
}
