// Dense layers on top of one another, with and without other uses of what is between them.
#include "mara/autodiff/linear.hpp"

#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"
#include "mara/math/aligned.hpp"

using mara::Activation;
using mara::DenseParameters;
using mara::PanelLayout;
using mara::Tape;
using mara::Var;

namespace {

/// Two dense layers: 5 -> kHidden -> 3.
struct TwoLayers {
  static constexpr std::size_t kIn = 5, kHidden = 64, kOut = 3, kRows = 9;
  static constexpr std::size_t kBias = PanelLayout::size(kIn, kHidden), kSecond = kBias + kHidden,
                               kSecondBias = kSecond + PanelLayout::size(kHidden, kOut),
                               kStored = kSecondBias + PanelLayout::padded(kOut);

  TwoLayers() : parameters(kStored), gradients(kStored), x(kRows * kIn) {
    mara::Random random(17);
    std::vector<double> w(kHidden * kIn);
    for (double& v : w) v = 0.4 * random.normal();
    mara::pack_weights(w.data(), kIn, kHidden, parameters.data());
    mara::pack_weights(w.data(), kHidden, kOut, parameters.data() + kSecond);
    for (std::size_t i = 0; i < kHidden; ++i) parameters[kBias + i] = 0.1 * random.normal();
    for (double& v : x) v = random.normal();
  }

  DenseParameters<double> first(bool replace = false) {
    return {parameters.data(),
            parameters.data() + kBias,
            gradients.data(),
            gradients.data() + kBias,
            kIn,
            kHidden,
            replace};
  }
  DenseParameters<double> second(bool replace = false) {
    return {parameters.data() + kSecond,
            parameters.data() + kSecondBias,
            gradients.data() + kSecond,
            gradients.data() + kSecondBias,
            kHidden,
            kOut,
            replace};
  }
  Var hidden(Tape<double>& tape, Activation activation, bool replace = false) {
    return tape.dense(tape.input(x.data(), kRows, kIn), first(replace), activation);
  }

  template <class Loss>
  double error(const Loss& loss) {
    return mara::gradient_check(parameters, gradients, loss);
  }

  mara::AlignedVector<double> parameters, gradients;
  std::vector<double> x;
};

}  // namespace

TEST_CASE("gradients through two layers, with other uses of the first", "[autodiff]") {
  TwoLayers net;
  for (const Activation activation : {Activation::kTanh, Activation::kRelu, Activation::kElu}) {
    CAPTURE(mara::name_of(activation));
    const auto out = [&](Tape<double>& tape, Var h) {
      return tape.mean(tape.square(tape.dense(h, net.second(), Activation::kIdentity)));
    };
    CHECK(net.error([&](Tape<double>& t) { return out(t, net.hidden(t, activation)); }) < 1e-6);
    CHECK(net.error([&](Tape<double>& t) {  // used before the second layer
      const Var h = net.hidden(t, activation);
      const Var other = t.mean(t.square(h));
      return t.add(out(t, h), other);
    }) < 1e-6);
    CHECK(net.error([&](Tape<double>& t) {  // and after it
      const Var h = net.hidden(t, activation);
      const Var main = out(t, h);
      return t.add(main, t.mean(t.square(h)));
    }) < 1e-6);
    CHECK(net.error([&](Tape<double>& t) {  // as part of a joined matrix, not as the first
      const Var h = net.hidden(t, activation);
      const Var main = out(t, h);
      const Var ones = t.input(net.x.data(), TwoLayers::kRows, TwoLayers::kIn);
      return t.add(main, t.mean(t.square(t.concat(ones, h))));
    }) < 1e-6);
    CHECK(net.error([&](Tape<double>& t) {  // through a view
      const Var h = net.hidden(t, activation);
      const Var main = out(t, h);
      return t.add(main, t.sum(t.slice_rows(h, 2, 3)));
    }) < 1e-6);
    CHECK(net.error([&](Tape<double>& t) {  // twice through the second layer
      const Var h = net.hidden(t, activation);
      const Var once = out(t, h);
      return t.add(once, out(t, h));
    }) < 1e-6);
  }
}

TEST_CASE("two roots and two calls through two layers add up", "[autodiff]") {
  TwoLayers net;
  Tape<double> tape;
  const Var y = tape.dense(net.hidden(tape, Activation::kTanh), net.second(), Activation::kIdentity);
  const Var sum = tape.sum(y), square = tape.sum(tape.square(y));
  tape.backward(sum);
  const auto first = net.gradients;
  tape.backward(square);
  tape.backward(square);
  tape.backward(sum);
  const auto all = net.gradients;
  std::fill(net.gradients.begin(), net.gradients.end(), 0.0);
  tape.backward(square);
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(all[i] == Approx(2.0 * (first[i] + net.gradients[i])).margin(1e-12));
}

TEST_CASE("gradients that replace what was there", "[autodiff]") {
  TwoLayers net;
  const auto run = [&](Activation activation, bool replace) {
    Tape<double> tape;
    const Var h = net.hidden(tape, activation, replace);
    tape.backward(tape.mean(tape.square(tape.dense(h, net.second(replace), Activation::kIdentity))));
  };
  for (const Activation activation : {Activation::kTanh, Activation::kElu, Activation::kGelu}) {
    std::fill(net.gradients.begin(), net.gradients.end(), 0.0);
    run(activation, false);
    const auto expected = net.gradients;
    run(activation, true);
    run(activation, true);
    CHECK(net.gradients == expected);
  }
}
