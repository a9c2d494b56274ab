// Mixers: known values, monotonicity, agreement of joint and single choices, gradients.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/critic/no_mixing.hpp"
#include "mara/critic/optimistic_mixing.hpp"
#include "mara/critic/sum_mixing.hpp"

using namespace mara;

namespace {

/// Q_tot and its gradient by the values of the agents, from given outputs of the networks of the state.
std::vector<double> combined(const std::vector<double>& q) {
  const std::vector<double> w1{1, -2, -0.5, 3}, b1{0.1, -4}, w2{-1.5, 2}, value{0.7};
  std::vector<double> slope(2);
  Tape<double> tape;
  const Var total = critic::MonotonicMixing::combine(
      tape, tape.variable(q.data(), slope.data(), 1, 2), tape.input(w1.data(), 1, 4),
      tape.input(b1.data(), 1, 2), tape.input(w2.data(), 1, 2), tape.input(value.data(), 1, 1));
  tape.backward(total);
  return {tape.scalar(total), slope[0], slope[1]};
}

template <class M>
struct Made {
  M mixer;
  std::vector<double> parameters;
  Made(std::size_t slots, std::size_t state, std::uint64_t seed, const MixerConfig& config = {})
      : mixer(M::create(config, slots, state).value()), parameters(mixer.stored()) {
    Random random(seed);
    mixer.initialise(random, parameters.data());
  }
  double operator()(const std::vector<double>& q, const std::vector<double>& state,
                    std::vector<double>* slope = nullptr) const {
    Tape<double> tape;
    std::vector<double> unused(q.size());
    const Var total =
        mixer.mix(tape, parameters.data(), nullptr,
                  tape.variable(q.data(), (slope == nullptr ? unused : *slope).data(), 1, q.size()),
                  tape.input(state.data(), 1, state.size()));
    tape.backward(total);
    return tape.scalar(total);
  }
};

std::vector<double> numbers(Random& random, std::size_t count, double scale) {
  std::vector<double> values(count);
  for (double& x : values) x = scale * random.normal();
  return values;
}

template <class M>
double worst_gradient(const MixerConfig& config) {
  constexpr std::size_t kRows = 6, kSlots = 3, kState = 4;
  Made<M> made(kSlots, kState, 11, config);
  Random random(5);
  std::vector<double> q = numbers(random, kRows * kSlots, 1.0), dq(q.size());
  const std::vector<double> state = numbers(random, kRows * kState, 1.0), y = numbers(random, kRows, 2.0);
  std::vector<double> gradients(made.parameters.size());
  const auto loss = [&](Tape<double>& tape, double* parameter_gradients, double* q_gradients) {
    const Var total = made.mixer.mix(tape, made.parameters.data(), parameter_gradients,
                                     tape.variable(q.data(), q_gradients, kRows, kSlots),
                                     tape.input(state.data(), kRows, kState));
    return tape.mean(tape.square(tape.sub(total, tape.input(y.data(), kRows, 1))));
  };
  const double by_parameters =
      gradient_check(std::span(made.parameters), std::span(gradients),
                     [&](Tape<double>& tape) { return loss(tape, gradients.data(), nullptr); });
  const double by_values = gradient_check(std::span(q), std::span(dq),
                                          [&](Tape<double>& tape) { return loss(tape, nullptr, dq.data()); });
  return std::max(by_parameters, by_values);
}

}  // namespace

TEST_CASE("the mixer of QMIX: known values (A13)", "[critic]") {
  const std::vector<double> first = combined({1, -0.5}), second = combined({-2, 3});
  CHECK(std::fabs(first[0] - 0.0353947668) < 1e-9);
  CHECK(std::fabs(first[1] - 1.6207895) < 1e-6);
  CHECK(std::fabs(first[2] - 0.9311843) < 1e-6);
  CHECK(std::fabs(second[0] - 2.2054800691) < 1e-9);
  CHECK(std::fabs(second[1] - 5.0054801) < 1e-6);
  CHECK(std::fabs(second[2] - 6.5027400) < 1e-6);
}

TEST_CASE("the mixer of QMIX is monotone, and the best of each is the best of all", "[critic]") {
  Random random(3);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    MixerConfig config{.width = 1 + seed % 9};
    if (seed % 3 == 0) config.hyper_hidden = {5};
    const Made<critic::MonotonicMixing> made(3, 4, seed, config);
    const std::vector<double> state = numbers(random, 4, 2.0);
    std::vector<double> slope(3), values = numbers(random, 9, 2.0);
    made({values[0], values[3], values[6]}, state, &slope);
    for (const double s : slope) REQUIRE(s >= 0.0);
    double best = -std::numeric_limits<double>::infinity(), of_each = 0.0;
    for (std::size_t joint = 0; joint < 27; ++joint) {
      const std::size_t a = joint / 9, b = joint / 3 % 3, c = joint % 3;
      best = std::max(best, made({values[a], values[3 + b], values[6 + c]}, state));
    }
    of_each = made({*std::max_element(values.begin(), values.begin() + 3),
                    *std::max_element(values.begin() + 3, values.begin() + 6),
                    *std::max_element(values.begin() + 6, values.end())},
                   state);
    REQUIRE(std::fabs(of_each - best) < 1e-12 * (1.0 + std::fabs(best)));
  }
}

TEST_CASE("an unrestricted mixer is not monotone", "[critic]") {
  Random random(3);
  int falling = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Made<critic::CentralMixing> made(3, 4, seed, {.central_hidden = {8}});
    std::vector<double> slope(3);
    made(numbers(random, 3, 1.0), numbers(random, 4, 1.0), &slope);
    for (const double s : slope) falling += s < 0.0 ? 1 : 0;
  }
  CHECK(falling > 5);
}

TEST_CASE("a sum is a sum, no mixer mixes nothing", "[critic]") {
  const Made<critic::SumMixing> sum(3, 2, 1);
  CHECK(sum.mixer.stored() == 0);
  CHECK(sum({1, -2, 4.5}, {7, 8}) == 3.5);
  const std::vector<double> q{1, 2, 3, 4};
  Tape<double> tape;
  const Var in = tape.input(q.data(), 2, 2);
  CHECK(critic::NoMixing{}.mix(tape, nullptr, nullptr, in, in) == in);
}

TEST_CASE("mixers: gradients agree with differences", "[critic]") {
  CHECK(worst_gradient<critic::SumMixing>({}) < 1e-6);
  CHECK(worst_gradient<critic::MonotonicMixing>({.width = 5}) < 1e-6);
  CHECK(worst_gradient<critic::MonotonicMixing>({.width = 5, .hyper_hidden = {6}}) < 1e-6);
  CHECK(worst_gradient<critic::CentralMixing>({.central_hidden = {7, 5}}) < 1e-6);
}

TEST_CASE("a state of zeros trains the mixer as well", "[critic]") {
  const Made<critic::MonotonicMixing> made(2, 3, 1, {.width = 4});
  std::vector<double> slope(2);
  made({1, 1}, {0, 0, 0}, &slope);
  CHECK(slope[0] > 0.0);
  CHECK(slope[1] > 0.0);
}

TEST_CASE("mixers name all their parameters", "[critic]") {
  const Made<critic::MonotonicMixing> made(2, 3, 1, {.width = 4});
  std::vector<std::string> names;
  std::size_t count = 0;
  made.mixer.visit(made.parameters.data(), "mixer.", [&](const std::string& name, auto view) {
    names.push_back(name);
    count += view.size();
  });
  // W1 3 x 8 + 8, b1 3 x 4 + 4, w2 3 x 4 + 4, V 3 x 4 + 4 + 4 + 1.
  CHECK(count == 32 + 16 + 16 + 21);
  CHECK(names.front() == "mixer.first.weights.head.weight");
  CHECK(names.back() == "mixer.value.head.bias");
}

TEST_CASE("mixers refuse what they cannot be", "[critic]") {
  CHECK(critic::MonotonicMixing::create({}, 0, 3).error().message == "mixer: slots = 0");
  CHECK(critic::MonotonicMixing::create({}, 2, 0).error().message.find("mixer: inputs = 0") == 0);
  CHECK(critic::MonotonicMixing::create({.width = 0}, 2, 3).error().message.find("mixer: outputs = 0") == 0);
  CHECK(critic::OptimisticMixing::create({.width = 0}, 2, 3).error().code == ErrorCode::kInvalidArgument);
  CHECK(critic::CentralMixing::create({.central_hidden = {0}}, 2, 3)
            .error()
            .message.find("mixer: hidden[0] = 0") == 0);
}
