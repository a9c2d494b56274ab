// GRU and LSTM: case A15, sequences with resets, gradients through time.
#include "mara/nn/recurrent.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/network.hpp"
#include "numbers.hpp"

using mara::Gru;
using mara::Lstm;
using mara::Random;
using mara::Tape;
using mara::Var;
using mara_test::copy_of;
using mara_test::normal_numbers;

namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

template <class S, std::size_t kIn, std::size_t kHidden>
void check_twins() {
  constexpr std::size_t kSteps = 4, kBatch = 49;
  Random random(kIn + kHidden);
  Gru<S, kIn, kHidden> gru;
  Lstm<S, kIn, kHidden> lstm;
  gru.initialise(random);
  lstm.initialise(random);
  const auto x = normal_numbers<S>(kSteps * kBatch * kIn, 1);
  auto h = normal_numbers<S>(kBatch * kHidden, 2), c = normal_numbers<S>(kBatch * kHidden, 3);
  std::vector<std::uint8_t> resets(kSteps * kBatch);
  for (std::size_t i = 0; i < resets.size(); ++i) resets[i] = i % 5 == 3;
  Tape<S> tape;
  const Var in = tape.input(x.data(), kSteps * kBatch, kIn), h0 = tape.input(h.data(), kBatch, kHidden),
            c0 = tape.input(c.data(), kBatch, kHidden);
  const auto of_gru = copy_of(tape.value(gru.forward(tape, in, h0, resets.data())));
  const auto states = lstm.forward(tape, in, h0, c0, resets.data());
  const auto of_lstm = copy_of(tape.value(states.hidden)), cells = copy_of(tape.value(states.cell));
  auto gru_copy = gru.inference();
  auto lstm_copy = lstm.inference();
  std::vector<S> state = h, lstm_state = h, cell = c;
  bool same = true;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const S* now = x.data() + t * kBatch * kIn;
    gru_copy.step(now, kBatch, state.data(), resets.data() + t * kBatch);
    lstm_copy.step(now, kBatch, lstm_state.data(), cell.data(), resets.data() + t * kBatch);
    for (std::size_t i = 0; i < kBatch * kHidden; ++i)
      same = same && state[i] == of_gru[t * kBatch * kHidden + i] &&
             lstm_state[i] == of_lstm[t * kBatch * kHidden + i] && cell[i] == cells[t * kBatch * kHidden + i];
  }
  CAPTURE(kIn, kHidden);
  CHECK(same);
  // A row alone has the bits it has among others.
  std::vector<S> alone(h.begin() + 7 * static_cast<std::ptrdiff_t>(kHidden),
                       h.begin() + 8 * static_cast<std::ptrdiff_t>(kHidden));
  typename Gru<S, kIn, kHidden>::Workspace workspace;
  gru.step(x.data() + 7 * kIn, 1, alone.data(), resets.data() + 7, workspace);
  for (std::size_t i = 0; i < kHidden; ++i) CHECK(alone[i] == of_gru[7 * kHidden + i]);
}

template <class Cell>
auto states_of(Cell& cell, Tape<double>& tape, Var x, Var state, Var memory, const std::uint8_t* resets) {
  if constexpr (requires { cell.forward(tape, x, state, resets); }) {
    return cell.forward(tape, x, state, resets);
  } else {
    const auto states = cell.forward(tape, x, state, memory, resets);
    return tape.concat(states.hidden, states.cell);
  }
}

template <class Cell>
void check_gradients() {
  constexpr std::size_t kSteps = 5, kBatch = 3, kIn = Cell::kInputs, kHidden = Cell::kHidden;
  Random random(11);
  Cell cell;
  cell.initialise(random);
  for (double& p : cell.parameters()) p += 0.1 * random.normal();
  auto x = normal_numbers<double>(kSteps * kBatch * kIn + 2 * kBatch * kHidden, 2);
  // Sequence 1 begins anew in the middle, sequence 2 at the first step.
  std::vector<std::uint8_t> resets(kSteps * kBatch);
  resets[2 * kBatch + 1] = 1;
  resets[2] = 1;
  std::vector<double> weights, more;
  const auto build = [&](Tape<double>& tape, double* dx) {
    const std::size_t h = kSteps * kBatch * kIn, c = h + kBatch * kHidden;
    const auto part = [&](std::size_t at, std::size_t rows, std::size_t cols) {
      return dx == nullptr ? tape.input(x.data() + at, rows, cols)
                           : tape.variable(x.data() + at, dx + at, rows, cols);
    };
    const Var in = part(0, kSteps * kBatch, kIn), h0 = part(h, kBatch, kHidden),
              c0 = part(c, kBatch, kHidden);
    const Var out = states_of(cell, tape, in, h0, c0, resets.data());
    return tape.add(mara_test::weigh(tape, out, weights), mara_test::weigh(tape, in, more));
  };
  CAPTURE(kIn, kHidden);
  if (Cell::kParameters < 6000)  // more would take seconds
    CHECK(mara::gradient_check(cell.parameters(), cell.gradients(),
                               [&](Tape<double>& tape) { return build(tape, nullptr); }) < 1e-6);
  CHECK(mara::gradient_check(x, build) < 1e-6);
}

}  // namespace

TEST_CASE("GRU: known values", "[nn][recurrent]") {
  Gru<double, 1, 1> gru;
  STATIC_REQUIRE(decltype(gru)::kParameters == 12);
  mara_test::set_parameter(gru, "input.weight", std::vector<double>{1, -1, .5});
  mara_test::set_parameter(gru, "hidden.weight", std::vector<double>{.2, .4, -.6});
  mara_test::set_parameter(gru, "input.bias", std::vector<double>{.1, 0, .2});
  mara_test::set_parameter(gru, "hidden.bias", std::vector<double>{0, .1, -.1});
  const double x = .5;
  double h = -.3;
  Tape<double> tape;
  const Var out = gru.forward(tape, tape.input(&x, 1, 1), tape.input(&h, 1, 1));
  CHECK(tape.scalar(out) == Approx(.1782288062).margin(1e-9));
  gru.inference().step(&x, 1, &h);
  CHECK(h == tape.scalar(out));
  // The gates themselves.
  const double x_gates[3] = {.6, -.5, .45}, h_gates[3] = {-.06, -.02, .08}, before = -.3;
  double after, kept[4];
  mara::math::gru_gates(x_gates, h_gates, &before, 1, 1, &after, kept);
  CHECK(kept[0] == Approx(.6318124177).margin(1e-9));
  CHECK(kept[1] == Approx(.3728522337).margin(1e-9));
  CHECK(kept[2] == Approx(.4625456581).margin(1e-9));
  CHECK(after == Approx(.1782288062).margin(1e-9));
}

TEST_CASE("LSTM against its equations", "[nn][recurrent]") {
  constexpr std::size_t kHidden = 3;
  Lstm<double, 2, kHidden> lstm;
  Random random(4);
  lstm.initialise(random);
  for (double& p : lstm.parameters()) p += 0.2 * random.normal();
  const std::vector<double> x = {.3, -.8}, h = {.1, -.2, .4}, c = {-.5, .6, .05};
  std::vector<double> state = h, cell = c;
  lstm.inference().step(x.data(), 1, state.data(), cell.data());
  const auto gates = [&](const char* part, const std::vector<double>& from) {
    return mara_test::affine(from, mara_test::parameter<double>(lstm, std::string(part) + ".weight"),
                             mara_test::parameter<double>(lstm, std::string(part) + ".bias"));
  };
  const auto u = gates("input", x), v = gates("hidden", h);
  for (std::size_t k = 0; k < kHidden; ++k) {
    const double i = sigmoid(u[k] + v[k]), f = sigmoid(u[3 + k] + v[3 + k]),
                 g = std::tanh(u[6 + k] + v[6 + k]), o = sigmoid(u[9 + k] + v[9 + k]),
                 next = f * c[k] + i * g;
    CHECK(cell[k] == Approx(next).margin(1e-12));
    CHECK(state[k] == Approx(o * std::tanh(next)).margin(1e-12));
  }
}

TEST_CASE("first weights of a recurrent cell", "[nn][recurrent]") {
  Random random(4);
  Lstm<double, 2, 8> lstm;
  lstm.initialise(random);
  const auto bias = mara_test::parameter<double>(lstm, "input.bias");
  for (std::size_t i = 0; i < bias.size(); ++i) CHECK(bias[i] == (i >= 8 && i < 16 ? 1.0 : 0.0));
  // Every gate's matrix of the state is orthogonal.
  const auto w = mara_test::parameter<double>(lstm, "hidden.weight");
  for (std::size_t gate = 0; gate < 4; ++gate)
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        double inner = 0;
        for (std::size_t r = 0; r < 8; ++r) inner += w[r * 32 + gate * 8 + a] * w[r * 32 + gate * 8 + b];
        CHECK(inner == Approx(a == b ? 1.0 : 0.0).margin(1e-12));
      }
}

TEST_CASE("sequences on the tape and steps of the inference copy agree bit for bit", "[nn][recurrent]") {
  check_twins<float, 1, 1>();
  check_twins<float, 3, 17>();
  check_twins<float, 17, 65>();
  check_twins<double, 3, 17>();
}

TEST_CASE("gradients through five steps with resets", "[nn][recurrent][gradient]") {
  check_gradients<Gru<double, 1, 1>>();
  check_gradients<Gru<double, 3, 17>>();
  check_gradients<Gru<double, 2, 33>>();
  check_gradients<Gru<double, 2, 65>>();
  check_gradients<Lstm<double, 1, 1>>();
  check_gradients<Lstm<double, 3, 17>>();
  check_gradients<Lstm<double, 1, 130>>();
}

TEST_CASE("a reset forgets wholly, and only its own sequence", "[nn][recurrent]") {
  constexpr std::size_t kSteps = 4, kHidden = 6;
  Random random(1);
  Gru<float, 2, kHidden> gru;
  gru.initialise(random);
  const auto x = normal_numbers<float>(kSteps * 2 * 2, 5);
  auto h = normal_numbers<float>(2 * kHidden, 6);
  std::vector<std::uint8_t> resets(kSteps * 2);
  Tape<float> tape;
  const auto run = [&] {
    tape.clear();
    return copy_of(tape.value(gru.forward(tape, tape.input(x.data(), kSteps * 2, 2),
                                          tape.input(h.data(), 2, kHidden), resets.data())));
  };
  const auto free = run();
  resets[2 * 2] = 1;  // sequence 0 at step 2
  const auto cut = run();
  // Even a state that is no number is forgotten.
  for (std::size_t i = 0; i < kHidden; ++i) h[i] = std::numeric_limits<float>::quiet_NaN();
  const auto broken = run();
  std::vector<float> fresh(kHidden);
  auto copy = gru.inference();
  for (std::size_t t = 0; t < kSteps; ++t) {
    if (t >= 2) copy.step(x.data() + t * 2 * 2, 1, fresh.data());
    for (std::size_t i = 0; i < kHidden; ++i) {
      const std::size_t first = t * 2 * kHidden + i, second = first + kHidden;
      CHECK(cut[second] == free[second]);
      CHECK(broken[second] == free[second]);
      if (t >= 2) {
        CHECK(cut[first] != free[first]);
        CHECK(cut[first] == fresh[i]);
        CHECK(broken[first] == fresh[i]);
      } else {
        CHECK(cut[first] == free[first]);
        CHECK(std::isnan(broken[first]));
      }
    }
  }
}

TEST_CASE("the gradient ends at a state that is cut off", "[nn][recurrent]") {
  Random random(1);
  Gru<double, 2, 4> gru;
  gru.initialise(random);
  const auto x = normal_numbers<double>(6 * 2, 5);
  std::vector<double> h = normal_numbers<double>(4, 6), dh(4);
  Tape<double> tape;
  const auto gradients = [&](bool cut) {
    tape.clear();
    gru.zero_gradients();
    std::fill(dh.begin(), dh.end(), 0.0);
    const Var first = gru.forward(tape, tape.input(x.data(), 3, 2), tape.variable(h.data(), dh.data(), 1, 4));
    Var last = tape.slice_rows(first, 2, 1);
    if (cut) last = tape.stop_gradient(last);
    tape.backward(tape.sum(gru.forward(tape, tape.input(x.data() + 6, 3, 2), last)));
    return copy_of(std::span<const double>(gru.gradients()));
  };
  const auto whole = gradients(false);
  CHECK(dh[0] != 0.0);
  const auto cut = gradients(true);
  CHECK(dh[0] == 0.0);
  CHECK(whole != cut);
}

TEST_CASE("shapes that do not agree are refused", "[nn][recurrent]") {
  Gru<double, 2, 4> gru;
  const std::vector<double> numbers(40);
  Tape<double> tape;
  CHECK(!gru.forward(tape, tape.input(numbers.data(), 5, 2), tape.input(numbers.data(), 2, 4)).valid());
  CHECK(tape.status().error().message == "gru: gates 5 x 12, state 2 x 4 and weights 4 x 12 do not agree");
  tape.clear();
  CHECK(!gru.forward(tape, tape.input(numbers.data(), 4, 2), tape.input(numbers.data(), 2, 3)).valid());
  CHECK(!tape.status());
}

TEST_CASE("a GRU learns to remember a cue for three steps, the same way for the same seed",
          "[nn][recurrent]") {
  constexpr std::size_t kSteps = 4, kBatch = 32;
  const auto train = [](std::uint64_t seed) {
    Random random(seed);
    Gru<float, 2, 16> gru;
    mara::Dense<float, 16, 1> head;
    gru.initialise(random);
    head.initialise(random);
    mara::Adam<float> adam(gru.kStored, {.learning_rate = 1e-2, .max_gradient_norm = 1.0}),
        head_adam(head.kStored, {.learning_rate = 1e-2});
    const std::vector<float> zero(kBatch * 16);
    std::vector<float> x(kSteps * kBatch * 2), target(kBatch), curve;
    Tape<float> tape;
    for (int step = 0; step < 200; ++step) {
      // The cue of the first step must be told apart from what follows in the same place.
      for (std::size_t t = 0; t < kSteps; ++t)
        for (std::size_t b = 0; b < kBatch; ++b) {
          const float value = random.uniform() < 0.5 ? -1.0f : 1.0f;
          x[(t * kBatch + b) * 2] = value;
          x[(t * kBatch + b) * 2 + 1] = t == 0 ? 1.0f : 0.0f;
          if (t == 0) target[b] = value;
        }
      tape.clear();
      gru.zero_gradients();
      head.zero_gradients();
      const Var states =
          gru.forward(tape, tape.input(x.data(), kSteps * kBatch, 2), tape.input(zero.data(), kBatch, 16));
      const Var guess = head.forward(tape, tape.slice_rows(states, (kSteps - 1) * kBatch, kBatch));
      const Var loss = tape.mean(tape.square(tape.sub(guess, tape.input(target.data(), kBatch, 1))));
      curve.push_back(tape.scalar(loss));
      tape.backward(loss);
      if (!adam.step(gru.parameters(), gru.gradients()) ||
          !head_adam.step(head.parameters(), head.gradients()))
        return std::vector<float>{};
    }
    return curve;
  };
  const auto curve = train(3);
  REQUIRE(curve.size() == 200);
  CHECK(curve.front() > 0.5f);
  CHECK(curve.back() < 0.02f);
  CHECK(train(3) == curve);
}
