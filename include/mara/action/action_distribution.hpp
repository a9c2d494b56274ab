#pragma once
// The distribution of an action of any shape, from the outputs of an actor's network.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "mara/action/action_shape.hpp"
#include "mara/action/box_density.hpp"
#include "mara/action/largest_legal.hpp"
#include "mara/action/masked_choice.hpp"
#include "mara/autodiff/tape.hpp"
#include "mara/core/libm.hpp"
#include "mara/core/random.hpp"
#include "mara/math/reduce.hpp"
#include "mara/math/softmax.hpp"

namespace mara {

/// A product of masked categoricals (one per head) and of independent normals (one per number, logarithms of
/// standard deviations that do not depend on the state). A row of outputs: logits of head 0, of head 1, ...,
/// then means. A row of masks, options: one per head. `latent`: the normal numbers before tanh and bounds,
/// which is what rollouts store.
///
/// Log-probabilities are those of the whole action, sums over all parts: of options the logarithm of their
/// probability, of numbers that of their density. The density is that of the numbers handed to the game, that
/// is of to_numbers() before bounds cut it: kTanhGaussian counts the slope of tanh, log(1 - tanh^2 u) = 2
/// (log 2 - u - softplus(-2u)) without cancellation, and the stretch, log((high - low) / 2), which is 0 for
/// bounds [-1, 1]. S is float or double. Functions without a tape allocate nothing and give the bits of
/// terms().
class ActionDistribution {
 public:
  /// No action: outputs are empty. For members that are set later.
  ActionDistribution() = default;
  /// A shape that check_action_shape() accepts.
  explicit ActionDistribution(ActionShape shape, BoxKind kind = BoxKind::kTanhGaussian)
      : shape_(std::move(shape)), kind_(kind) {}

  const ActionShape& shape() const noexcept { return shape_; }
  BoxKind kind() const noexcept { return kind_; }

  /// Draws options[choices] and latent[numbers]; returns the log-probability, NaN when a head has no legal
  /// option or an output that counts, or a log_std, is not finite (then nothing is drawn, nothing written).
  /// Two words of `random` for each head, then for each number.
  template <class S>
  S sample(const S* outputs, const std::type_identity_t<S>* log_std, const OptionMask* masks, Random& random,
           std::int32_t* options, std::type_identity_t<S>* latent) const noexcept;
  /// The most probable options (lowest index among equals) and the means; false in the cases in which
  /// sample() gives NaN.
  template <class S>
  bool mode(const S* outputs, const OptionMask* masks, std::int32_t* options,
            std::type_identity_t<S>* latent) const noexcept;
  /// log p of an action that was drawn earlier; NaN as in sample(), -infinity for an option that is illegal
  /// or does not exist.
  template <class S>
  S log_probability(const S* outputs, const std::type_identity_t<S>* log_std, const OptionMask* masks,
                    const std::int32_t* options, const std::type_identity_t<S>* latent) const noexcept;
  /// Entropy in nats: legal options only; of a tanh-Gaussian that of the normal part. NaN as in sample().
  template <class S>
  S entropy(const S* outputs, const std::type_identity_t<S>* log_std, const OptionMask* masks) const noexcept;
  /// KL(p || q) of two distributions with the same masks, p from `outputs`; tanh and bounds do not change it.
  /// NaN as in sample().
  template <class S>
  S kl_divergence(const S* outputs, const std::type_identity_t<S>* log_std,
                  const std::type_identity_t<S>* other_outputs, const std::type_identity_t<S>* other_log_std,
                  const OptionMask* masks) const noexcept;
  /// Numbers for the game, within the bounds.
  template <class S>
  void to_numbers(const S* latent, S* numbers) const noexcept {
    box_numbers(kind_, shape_.box, latent, numbers);
  }
  /// Sum over numbers of log(d number / d latent), see box_log_slope().
  template <class S>
  S log_slope(const S* latent) const noexcept {
    return box_log_slope<S>(kind_, shape_.box, latent);
  }

  /// A batch on the tape. masks[choices x rows] and options[choices x rows] head after head, latent[rows x
  /// numbers]. Arrays stay the caller's until clear(). A row whose mask is 0 in a head (an absent agent), or
  /// whose option is negative, adds nothing there and gets no gradient; its latent must be finite.
  template <class S>
  struct BatchOf {
    std::size_t rows = 0;
    const OptionMask* masks = nullptr;
    const std::int32_t* options = nullptr;
    const S* latent = nullptr;
  };
  using Batch = BatchOf<float>;
  struct Terms {
    Var log_probability;  ///< rows x 1
    Var entropy;          ///< rows x 1: legal options only; of a tanh-Gaussian the entropy of the normal part
    std::span<const Var> log_probabilities;  ///< per head, rows x options; until clear()
  };
  /// outputs [rows x shape().outputs()]; log_std [1 x numbers] a node, not looked at without numbers. Shapes
  /// that do not agree make the tape's status an error.
  template <class S>
  Terms terms(Tape<S>& tape, Var outputs, Var log_std, const BatchOf<std::type_identity_t<S>>& batch) const;

 private:
  /// log p and p of the options of one head.
  template <class S>
  struct Head {
    alignas(64) S log_p[32], p[32];
    OptionMask legal;
  };
  /// Calls f(head, place of its first logit, options).
  template <class F>
  void each_head(F&& f) const {
    for (std::size_t h = 0, at = 0; h < shape_.choices(); at += static_cast<std::size_t>(shape_.heads[h++]))
      f(h, at, static_cast<std::size_t>(shape_.heads[h]));
  }
  template <class S>
  static Head<S> head(const S* logits, std::size_t options, OptionMask mask) noexcept {
    Head<S> made;
    made.legal = detail::masked_options(mask, static_cast<int>(options));
    math::masked_log_softmax_row(logits, options, made.legal, made.log_p, made.p);
    return made;
  }
  template <class S>
  static bool finite(const S* x, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (!libm::isfinite(x[i])) return false;
    return true;
  }
  /// Every head has a legal option, and legal logits and means are finite.
  template <class S>
  bool usable(const S* outputs, const OptionMask* masks) const noexcept {
    bool fine = finite(outputs + shape_.options(), shape_.numbers());
    each_head([&](std::size_t h, std::size_t at, std::size_t options) {
      const OptionMask legal = detail::masked_options(masks[h], static_cast<int>(options));
      fine = fine && detail::largest_legal(outputs + at, legal) >= 0;
    });
    return fine;
  }
  template <class S>
  bool usable(const S* outputs, const S* log_std, const OptionMask* masks) const noexcept {
    return usable(outputs, masks) && finite(log_std, shape_.numbers());
  }
  template <class S>
  S box_log_probability(const S* means, const S* log_std, const S* latent) const noexcept {
    return normal_log_density(means, log_std, latent, shape_.numbers()) - log_slope(latent);
  }
  template <class S>
  Var record_box(Tape<S>& tape, Var means, Var log_std, const BatchOf<S>& batch) const;

  ActionShape shape_;
  BoxKind kind_ = BoxKind::kTanhGaussian;
};

template <class S>
S ActionDistribution::sample(const S* outputs, const std::type_identity_t<S>* log_std,
                             const OptionMask* masks, Random& random, std::int32_t* options,
                             std::type_identity_t<S>* latent) const noexcept {
  if (!usable<S>(outputs, log_std, masks)) return std::numeric_limits<S>::quiet_NaN();
  S total = S(0);
  each_head([&](std::size_t h, std::size_t at, std::size_t count) {
    const Head<S> of = head(outputs + at, count, masks[h]);
    const S u = static_cast<S>(random.uniform());
    S cumulative = S(0);
    int chosen = -1;
    for (OptionMask left = of.legal; left != 0; left &= left - 1) {
      const int a = std::countr_zero(left);
      cumulative += of.p[a];
      if (of.p[a] > S(0)) chosen = a;  // stays when rounding leaves u at or above the sum
      if (u < cumulative) break;
    }
    options[h] = chosen;
    total += of.log_p[chosen];
  });
  if (shape_.numbers() == 0) return total;
  const S* means = outputs + shape_.options();
  for (std::size_t k = 0; k < shape_.numbers(); ++k)
    latent[k] = means[k] + static_cast<S>(libm::exp(static_cast<double>(log_std[k])) * random.normal());
  return total + box_log_probability<S>(means, log_std, latent);
}

template <class S>
bool ActionDistribution::mode(const S* outputs, const OptionMask* masks, std::int32_t* options,
                              std::type_identity_t<S>* latent) const noexcept {
  if (!usable(outputs, masks)) return false;
  each_head([&](std::size_t h, std::size_t at, std::size_t count) {
    options[h] =
        detail::largest_legal(outputs + at, detail::masked_options(masks[h], static_cast<int>(count)));
  });
  for (std::size_t k = 0; k < shape_.numbers(); ++k) latent[k] = outputs[shape_.options() + k];
  return true;
}

template <class S>
S ActionDistribution::log_probability(const S* outputs, const std::type_identity_t<S>* log_std,
                                      const OptionMask* masks, const std::int32_t* options,
                                      const std::type_identity_t<S>* latent) const noexcept {
  if (!usable<S>(outputs, log_std, masks)) return std::numeric_limits<S>::quiet_NaN();
  S total = S(0);
  each_head([&](std::size_t h, std::size_t at, std::size_t count) {
    const Head<S> of = head(outputs + at, count, masks[h]);
    const std::int32_t a = options[h];
    const bool legal = a >= 0 && a < static_cast<std::int32_t>(count) && ((of.legal >> a) & 1u) != 0;
    total += legal ? of.log_p[a] : -std::numeric_limits<S>::infinity();
  });
  if (shape_.numbers() == 0) return total;
  return total + box_log_probability<S>(outputs + shape_.options(), log_std, latent);
}

template <class S>
S ActionDistribution::entropy(const S* outputs, const std::type_identity_t<S>* log_std,
                              const OptionMask* masks) const noexcept {
  if (!usable<S>(outputs, log_std, masks)) return std::numeric_limits<S>::quiet_NaN();
  S total = S(0);
  each_head([&](std::size_t h, std::size_t at, std::size_t count) {
    const Head<S> of = head(outputs + at, count, masks[h]);
    for (std::size_t a = 0; a < count; ++a) total -= of.p[a] * of.log_p[a];
  });
  if (shape_.numbers() == 0) return total;
  return total + (math::sum<S>(log_std, shape_.numbers()) +
                  static_cast<S>((0.5 + kHalfLogTwoPi) * static_cast<double>(shape_.numbers())));
}

template <class S>
S ActionDistribution::kl_divergence(const S* outputs, const std::type_identity_t<S>* log_std,
                                    const std::type_identity_t<S>* other_outputs,
                                    const std::type_identity_t<S>* other_log_std,
                                    const OptionMask* masks) const noexcept {
  if (!usable<S>(outputs, log_std, masks) || !usable<S>(other_outputs, other_log_std, masks))
    return std::numeric_limits<S>::quiet_NaN();
  S total = S(0);
  each_head([&](std::size_t h, std::size_t at, std::size_t count) {
    const Head<S> p = head(outputs + at, count, masks[h]), q = head<S>(other_outputs + at, count, masks[h]);
    for (std::size_t a = 0; a < count; ++a) total += p.p[a] * (p.log_p[a] - q.log_p[a]);
  });
  for (std::size_t k = 0; k < shape_.numbers(); ++k) {
    const std::size_t at = shape_.options() + k;
    total += static_cast<S>(
        normal_kl_divergence(static_cast<double>(outputs[at]), static_cast<double>(log_std[k]),
                             static_cast<double>(other_outputs[at]), static_cast<double>(other_log_std[k])));
  }
  return total;
}

template <class S>
Var ActionDistribution::record_box(Tape<S>& tape, Var means, Var log_std, const BatchOf<S>& batch) const {
  const std::size_t numbers = shape_.numbers();
  const Var away = tape.sub(tape.input(batch.latent, batch.rows, numbers), means);
  const Var z = tape.mul_cols(away, tape.exp(tape.scale(log_std, S(-1))));
  const Var squares = tape.row_sum(tape.scale(tape.square(z), S(-0.5)));
  const Var constant = tape.add_scalar(tape.scale(tape.row_sum(log_std), S(-1)),
                                       static_cast<S>(-kHalfLogTwoPi * static_cast<double>(numbers)));
  const Var normal = tape.add_number(squares, constant);
  if (kind_ != BoxKind::kTanhGaussian) return normal;
  S* slopes = tape.arena().template allocate<S>(batch.rows);
  for (std::size_t r = 0; r < batch.rows; ++r) slopes[r] = log_slope(batch.latent + r * numbers);
  return tape.sub(normal, tape.input(slopes, batch.rows, 1));
}

template <class S>
ActionDistribution::Terms ActionDistribution::terms(Tape<S>& tape, Var outputs, Var log_std,
                                                    const BatchOf<std::type_identity_t<S>>& batch) const {
  if (!tape.known("action_distribution", outputs)) return {};
  if (tape.rows(outputs) != batch.rows || tape.cols(outputs) != shape_.outputs()) {
    tape.fail("action_distribution", "outputs are " + tape.shape(outputs) + ", the batch needs " +
                                         std::to_string(batch.rows) + " x " +
                                         std::to_string(shape_.outputs()));
    return {};
  }
  Terms made;
  Var* heads = tape.arena().template allocate<Var>(shape_.choices());
  const auto plus = [&tape](Var sum, Var x) { return sum.valid() ? tape.add(sum, x) : x; };
  each_head([&](std::size_t h, std::size_t at, std::size_t count) {
    const Var logits = count == shape_.outputs() ? outputs : tape.slice_cols(outputs, at, count);
    const Var log_p = tape.masked_log_softmax(logits, batch.masks + h * batch.rows);
    heads[h] = log_p;
    made.log_probability = plus(made.log_probability, tape.gather(log_p, batch.options + h * batch.rows));
    made.entropy = plus(made.entropy, tape.scale(tape.row_sum(tape.mul(tape.exp(log_p), log_p)), S(-1)));
  });
  made.log_probabilities = {heads, shape_.choices()};
  if (shape_.numbers() == 0) return made;
  const Var means =
      shape_.choices() == 0 ? outputs : tape.slice_cols(outputs, shape_.options(), shape_.numbers());
  made.log_probability = plus(made.log_probability, record_box<S>(tape, means, log_std, batch));
  if (!made.entropy.valid()) {
    S* zeros = tape.arena().template allocate<S>(batch.rows);
    std::fill_n(zeros, batch.rows, S(0));
    made.entropy = tape.input(zeros, batch.rows, 1);
  }
  made.entropy = tape.add_number(
      made.entropy,
      tape.add_scalar(tape.row_sum(log_std),
                      static_cast<S>((0.5 + kHalfLogTwoPi) * static_cast<double>(shape_.numbers()))));
  return made;
}

}  // namespace mara
