// Gumbel-softmax: case A11, straight-through gradients, masks, uniforms at the ends.
#include "mara/action/gumbel_softmax.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"

using mara::gumbel_noise;
using mara::gumbel_softmax;
using mara::OptionMask;
using mara::Random;
using mara::Tape;
using mara::Var;

namespace {
const std::vector<double> kLogits{1, 0, -1}, kUniforms{0.3, 0.6, 0.9};
constexpr OptionMask kAll = 0b111;
}  // namespace

TEST_CASE("Gumbel-softmax: values", "[gumbel_softmax]") {
  const std::vector<double> noise{-0.18562676, 0.67172699, 2.25036733};
  for (std::size_t a = 0; a < 3; ++a) CHECK(gumbel_noise(kUniforms[a]) == Approx(noise[a]).margin(1e-8));
  std::vector<double> y(3);
  const std::vector<double> warm{0.29294926, 0.2540048, 0.45304593};
  CHECK(gumbel_softmax(kLogits.data(), 3, kAll, kUniforms.data(), 1.0, y.data()) == 2);
  for (std::size_t a = 0; a < 3; ++a) CHECK(y[a] == Approx(warm[a]).margin(1e-8));
  const std::vector<double> cool{0.24134445, 0.18144139, 0.57721416};
  CHECK(gumbel_softmax(kLogits.data(), 3, kAll, kUniforms.data(), 0.5, y.data()) == 2);
  for (std::size_t a = 0; a < 3; ++a) CHECK(y[a] == Approx(cool[a]).margin(1e-8));
  // Without noise it is the softmax.
  CHECK(gumbel_softmax(kLogits.data(), 3, kAll, nullptr, 1.0, y.data()) == 0);
  CHECK(y[0] == Approx(0.66524096).margin(1e-8));
}

TEST_CASE("Gumbel-softmax: on the tape it is the plain one, its Jacobian that of the soft draw",
          "[gumbel_softmax]") {
  for (const double temperature : {1.0, 0.5}) {
    std::vector<double> y(3);
    gumbel_softmax(kLogits.data(), 3, kAll, kUniforms.data(), temperature, y.data());
    for (std::size_t a = 0; a < 3; ++a) {
      const std::vector<double> weights{a == 0 ? 1.0 : 0.0, a == 1 ? 1.0 : 0.0, a == 2 ? 1.0 : 0.0};
      std::vector<double> soft_gradient(3), hard_gradient(3);
      Tape<double> tape;
      const Var soft = gumbel_softmax(tape, tape.variable(kLogits.data(), soft_gradient.data(), 1, 3), &kAll,
                                      kUniforms.data(), temperature, false);
      const Var hard = gumbel_softmax(tape, tape.variable(kLogits.data(), hard_gradient.data(), 1, 3),
                                      nullptr, kUniforms.data(), temperature);
      tape.backward(tape.dot(soft, weights.data()));
      tape.backward(tape.dot(hard, weights.data()));
      for (std::size_t b = 0; b < 3; ++b) {
        CHECK(tape.value(soft)[b] == y[b]);
        CHECK(tape.value(hard)[b] == (b == 2 ? 1.0 : 0.0));
        const double jacobian = ((a == b ? y[a] : 0.0) - y[a] * y[b]) / temperature;
        CHECK(soft_gradient[b] == Approx(jacobian).margin(1e-12));
        CHECK(hard_gradient[b] == soft_gradient[b]);
      }
    }
  }
  std::vector<double> x = kLogits;
  const std::vector<double> weights{0.3, -1.1, 0.8};
  CHECK(mara::gradient_check(x, [&](Tape<double>& tape, double* gradient) {
          return tape.dot(tape.square(gumbel_softmax(tape, tape.variable(x.data(), gradient, 1, 3), &kAll,
                                                     kUniforms.data(), 0.7, false)),
                          weights.data());
        }) < 1e-6);
}

TEST_CASE("Gumbel-softmax: the chosen options follow the softmax", "[gumbel_softmax]") {
  const int draws = 100000;
  const std::vector<double> wanted{0.66524096, 0.24472847, 0.09003057};
  std::vector<double> counts(3, 0.0);
  Random random(7);
  const float logits[3] = {1, 0, -1};
  for (int i = 0; i < draws; ++i) {
    float uniforms[3], y[3];
    mara::fill_uniforms(random, uniforms, 3);
    counts[static_cast<std::size_t>(gumbel_softmax(logits, 3, kAll, uniforms, 0.5f, y))] += 1.0;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    CAPTURE(a, counts[a]);
    CHECK(std::fabs(counts[a] / draws - wanted[a]) < 3 * std::sqrt(wanted[a] * (1 - wanted[a]) / draws));
  }
}

TEST_CASE("Gumbel-softmax: uniforms at the ends, masks, ties", "[gumbel_softmax]") {
  CHECK(std::isfinite(gumbel_noise(0.0f)));
  CHECK(std::isfinite(gumbel_noise(1.0f)));
  CHECK(std::isfinite(gumbel_noise(0.0)));
  CHECK(std::isfinite(gumbel_noise(1.0)));
  CHECK(std::isfinite(gumbel_noise(static_cast<float>(NAN))));
  CHECK(gumbel_noise(0.0f) < gumbel_noise(1e-30f));
  CHECK(gumbel_noise(1.0f) >= gumbel_noise(0.9999f));
  const float logits[4] = {1, 5, -1, 0}, ends[4] = {0, 1, 0.5f, 0.25f};
  for (const float temperature : {0.01f, 1.0f, 100.0f}) {
    float y[4];
    const int chosen = gumbel_softmax(logits, 4, 0b1111, ends, temperature, y);
    CHECK(chosen == 1);
    float total = 0;
    for (const float p : y) {
      CHECK(std::isfinite(p));
      total += p;
    }
    CHECK(total == Approx(1.0).margin(1e-6));
  }
  // Illegal options are exactly 0, soft and hard, and get no gradient, whatever their logits are.
  const double some[8] = {1, NAN, -1, 0, 2, 2, 2, 2};
  const OptionMask masks[2] = {0b1101, 0b0110};
  double gradient[8] = {};
  Tape<double> tape;
  const Var x = tape.variable(some, gradient, 2, 4);
  const Var soft = gumbel_softmax(tape, x, masks, nullptr, 1.0, false),
            hard = gumbel_softmax(tape, x, masks, nullptr, 1.0);
  const double weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  tape.backward(tape.dot(hard, weights));
  for (const std::size_t at : {1u, 4u, 7u}) {
    CHECK(tape.value(soft)[at] == 0.0);
    CHECK(tape.value(hard)[at] == 0.0);
    CHECK(gradient[at] == 0.0);
  }
  CHECK(tape.value(hard)[0] == 1.0);
  CHECK(tape.value(hard)[5] == 1.0);  // a tie: the lowest index, exactly one
  CHECK(tape.value(hard)[6] == 0.0);
  CHECK(gradient[6] == Approx(0.25));
}

TEST_CASE("Gumbel-softmax: what cannot be used", "[gumbel_softmax]") {
  double y[3] = {9, 9, 9};
  CHECK(gumbel_softmax(kLogits.data(), 3, 0b1000, kUniforms.data(), 1.0, y) == -1);
  for (const double p : y) CHECK(p == 0.0);
  for (const double temperature : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    CHECK(gumbel_softmax(kLogits.data(), 3, kAll, kUniforms.data(), temperature, y) == -1);
    Tape<double> tape;
    CHECK_FALSE(
        gumbel_softmax(tape, tape.input(kLogits.data(), 1, 3), &kAll, kUniforms.data(), temperature).valid());
    REQUIRE_FALSE(tape.status());
    CHECK(tape.status().error().message.find("temperature") != std::string::npos);
  }
  const double broken[3] = {1, NAN, 0};
  CHECK(gumbel_softmax(broken, 3, kAll, nullptr, 1.0, y) == -1);
  // A row without options is zeros without a gradient; NaN among the legal ones is not hidden.
  const double rows[6] = {1, 2, 3, 1, NAN, 3};
  double gradient[6] = {};
  const OptionMask masks[2] = {0, kAll};
  Tape<double> tape;
  const Var hard = gumbel_softmax(tape, tape.variable(rows, gradient, 2, 3), masks, nullptr, 1.0);
  for (std::size_t a = 0; a < 3; ++a) {
    CHECK(tape.value(hard)[a] == 0.0);
    CHECK(std::isnan(tape.value(hard)[3 + a]));
  }
  const double first_row[6] = {1, 2, 3, 0, 0, 0};
  tape.backward(tape.dot(hard, first_row));
  for (std::size_t a = 0; a < 3; ++a) CHECK(gradient[a] == 0.0);
}
