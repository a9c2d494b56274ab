#pragma once
// Differentiable draws of an option: the Gumbel-softmax (Jang, Gu and Poole, "Categorical Reparameterization
// with Gumbel-Softmax", ICLR 2017; Maddison, Mnih and Teh, "The Concrete Distribution", ICLR 2017).

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "mara/action/largest_legal.hpp"
#include "mara/action/masked_choice.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/core/libm.hpp"
#include "mara/core/random.hpp"
#include "mara/math/softmax.hpp"

namespace mara {

/// Standard Gumbel noise -log(-log u) of a uniform u. u is moved into the open interval (0, 1) as S knows
/// it, so the result is finite for every u; NaN counts as 0. float: in [-4.5, 16.7].
template <class S>
S gumbel_noise(S u) noexcept {
  using Limits = std::numeric_limits<S>;
  constexpr S kLargest = S(1) - Limits::epsilon() / S(2);
  const S inside = !(u > Limits::min()) ? Limits::min() : u < kLargest ? u : kLargest;
  return static_cast<S>(-libm::log(-libm::log(static_cast<double>(inside))));
}

/// uniforms[count] in [0, 1) for what is below. Two words of `random` for each.
template <class S>
void fill_uniforms(Random& random, S* uniforms, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) uniforms[i] = static_cast<S>(random.uniform());
}

/// One draw: soft[options] = softmax over the legal options of (logits + gumbel_noise(uniforms)) /
/// temperature, exactly 0 for the others, and the option with the largest of them (lowest index among
/// equals), which is distributed as softmax(logits). 1 <= options <= 32. -1, and zeros, when no option is
/// legal, a legal logit is not finite, or the temperature is not positive and finite. Null uniforms: no
/// noise.
template <class S>
int gumbel_softmax(const S* logits, std::size_t options, OptionMask mask,
                   const std::type_identity_t<S>* uniforms, std::type_identity_t<S> temperature,
                   S* soft) noexcept {
  const bool fine = temperature > S(0) && libm::isfinite(temperature);
  const OptionMask legal = fine ? detail::masked_options(mask, static_cast<int>(options)) : 0;
  alignas(64) S noisy[32] = {};
  for (std::size_t a = 0; a < options; ++a)
    noisy[a] = (logits[a] + (uniforms == nullptr ? S(0) : gumbel_noise(uniforms[a]))) * (S(1) / temperature);
  const int chosen = detail::largest_legal(noisy, legal);
  math::masked_softmax_row(noisy, options, chosen < 0 ? OptionMask{0} : legal, soft);
  return chosen;
}

/// A batch on the tape: logits [rows x options], options <= 32; masks[rows] (null: all legal);
/// uniforms[rows x options], null: no noise. The result [rows x options] has the values of gumbel_softmax()
/// and their gradient; when `straight_through` its values are the one-hots of the chosen options while the
/// gradient stays that of the soft ones (Bengio, Leonard and Courville, "Estimating or Propagating Gradients
/// Through Stochastic Neurons", 2013). A row without a legal option is zeros without a gradient; a row with a
/// logit that is not finite is NaN. Arrays stay the caller's until clear(). A temperature that is not
/// positive and finite makes the tape's status an error.
template <class S>
Var gumbel_softmax(Tape<S>& tape, Var logits, const OptionMask* masks,
                   const std::type_identity_t<S>* uniforms, std::type_identity_t<S> temperature,
                   bool straight_through = true) {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  if (!tape.known("gumbel_softmax", logits)) return {};
  const std::size_t rows = tape.rows(logits), options = tape.cols(logits);
  if (!(temperature > S(0)) || !libm::isfinite(temperature))
    return tape.fail("gumbel_softmax",
                     "temperature = " + std::to_string(temperature) + ", must be positive and finite");
  if (options == 0 || options > 32)
    return tape.fail("gumbel_softmax", "logits are " + tape.shape(logits) + ", options are 1 to 32");
  if (masks == nullptr) {
    auto* all = tape.arena().template allocate<OptionMask>(rows);
    for (std::size_t r = 0; r < rows; ++r) all[r] = ~OptionMask{0};
    masks = all;
  }
  Var noisy = logits;
  if (uniforms != nullptr) {
    S* noise = tape.arena().template allocate<S>(rows * options);
    for (std::size_t i = 0; i < rows * options; ++i) noise[i] = gumbel_noise(uniforms[i]);
    noisy = tape.add(logits, tape.input(noise, rows, options));
  }
  noisy = tape.scale(noisy, S(1) / temperature);
  const Var soft = tape.masked_softmax(noisy, masks);
  if (!straight_through || !soft.valid()) return soft;
  S* hard = tape.arena().template allocate<S>(rows * options);
  for (std::size_t r = 0; r < rows; ++r) {
    const OptionMask legal = detail::masked_options(masks[r], static_cast<int>(options));
    const int chosen = detail::largest_legal(tape.value(noisy).data() + r * options, legal);
    const bool broken = chosen < 0 && legal != 0;
    for (std::size_t a = 0; a < options; ++a)
      hard[r * options + a] = broken                          ? std::numeric_limits<S>::quiet_NaN()
                              : static_cast<int>(a) == chosen ? S(1)
                                                              : S(0);
  }
  Node node = tape.alias(soft, hard, static_cast<std::int32_t>(rows), static_cast<std::int32_t>(options));
  node.backward = [](Core& core, const Node& self) {
    core.add_gradient(
        self.a, [](simd::Vec<S> g) { return g; }, static_cast<const S*>(self.gradient));
  };
  return tape.push(node);
}

}  // namespace mara
