#pragma once
// The gradient of a scalar potential as a network: v = grad_x Phi(x, rest), with Phi a perceptron. Such a
// field has no curl, whatever its weights. Its loss has a gradient of a gradient: the rule is derived by
// hand.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/autodiff/tape.hpp"
#include "mara/nn/initialise.hpp"
#include "mara/nn/mlp_inference.hpp"
#include "mara/nn/parameter_storage.hpp"

namespace mara {

/// Phi: R^inputs -> R with hidden layers of one smooth activation (tanh, sigmoid or softplus) and a linear
/// output. Sizes: inputs, hidden widths. Storage and names of the parameters as of an Mlp with one output.
/// The output's bias shifts Phi and has no part in its gradient.
///
/// The rows a[l] of hidden layer l and the gradients s[l] of Phi with respect to its sums lie layer after
/// layer, [rows x width] each.
template <Activation kActivation, std::size_t... Sizes>
struct PotentialShape {
  static_assert(sizeof...(Sizes) >= 2,
                "a potential needs its number of inputs and at least one hidden layer");
  static_assert(kActivation == Activation::kTanh || kActivation == Activation::kSigmoid ||
                    kActivation == Activation::kSoftplus,
                "a potential's activation must have two derivatives: tanh, sigmoid or softplus");
  using Mlp = MlpShape<Sizes..., 1>;
  static constexpr std::size_t kInputs = Mlp::kInputs;
  static constexpr std::size_t kHidden = sizeof...(Sizes) - 1;  ///< hidden layers
  static constexpr std::size_t kLast = Mlp::kSizes[kHidden];    ///< width of the last
  static constexpr std::size_t kParameters = Mlp::kParameters;
  static constexpr std::size_t kStored = Mlp::kStored;
  static constexpr std::size_t width(std::size_t layer) noexcept { return Mlp::kSizes[layer]; }

  /// Numbers of all hidden layers of one row that come before `layer` (the first hidden layer is 1).
  static constexpr std::size_t before(std::size_t layer) noexcept {
    std::size_t total = 0;
    for (std::size_t l = 1; l < layer; ++l) total += width(l);
    return total;
  }
  static constexpr std::size_t kUnits = before(kHidden + 1);
  /// Place of a hidden layer's transposed weights among all.
  static constexpr std::size_t transposed(std::size_t layer) noexcept {
    std::size_t total = 0;
    for (std::size_t l = 1; l < layer; ++l) total += PanelLayout::size(width(l), width(l - 1));
    return total;
  }
  static constexpr std::size_t kTransposed = transposed(kHidden + 1);

  /// Orthogonal weights, gain sqrt(2) in hidden layers and `output_gain` in the last; zero biases.
  template <class S>
  static void initialise(Random& random, S* storage, S output_gain = S(1)) {
    std::vector<S> weights;
    for (std::size_t l = 0; l <= kHidden; ++l) {
      weights.resize(width(l) * width(l + 1));
      orthogonal_initialise(random, width(l), width(l + 1),
                            l == kHidden ? output_gain : static_cast<S>(std::sqrt(2.0)), weights.data());
      pack_weights(weights.data(), width(l), width(l + 1), storage + Mlp::offset(l));
    }
  }

  template <class S, class F>
  static void visit(S* storage, const std::string& prefix, F&& f) {
    detail::visit_mlp_parameters<Mlp>(
        storage, [&](const std::string& name, ParameterView<S> view) { f(prefix + name, view); });
  }

  /// Transposes the weights of the hidden layers, kTransposed numbers.
  template <class S>
  static void transpose(const S* storage, S* to) noexcept {
    for (std::size_t l = 1; l <= kHidden; ++l)
      math::transpose_to_panels(
          math::Matrix<const S>{storage + Mlp::offset(l - 1), width(l - 1), width(l), Storage::kPanels}, 0,
          width(l - 1), to + transposed(l));
  }

  /// a from x [rows x kInputs].
  template <class S>
  static void climb(const S* storage, const S* x, std::size_t rows, S* a) noexcept {
    for (std::size_t l = 1; l <= kHidden; ++l)
      dense_forward(l == 1 ? x : static_cast<const S*>(a + rows * before(l - 1)), rows, width(l - 1),
                    width(l), storage + Mlp::offset(l - 1), storage + Mlp::bias_offset(l - 1), kActivation,
                    a + rows * before(l));
  }

  /// s from a, and d_x [rows x kInputs], the gradient of Phi.
  template <class S>
  static void descend(const S* storage, const S* weights_transposed, const S* a, std::size_t rows, S* s,
                      S* d_x) noexcept {
    const S* last = storage + Mlp::offset(kHidden);
    alignas(64) S output[kLast];
    for (std::size_t i = 0; i < kLast; ++i) output[i] = last[PanelLayout::index(kLast, 1, i, 0)];
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(output, kLast, s + rows * before(kHidden) + r * kLast);
    for (std::size_t l = kHidden; l >= 1; --l) {
      S* to = s + rows * before(l);
      activation_gradient(a + rows * before(l), rows * width(l), kActivation, to);
      math::product(
          static_cast<const S*>(to), rows,
          math::Matrix<const S>{weights_transposed + transposed(l), width(l), width(l - 1), Storage::kPanels},
          l == 1 ? d_x : s + rows * before(l - 1));
    }
  }

  /// Second derivative of the activation over the first, from its value.
  template <class V>
  static V bend(V y) noexcept {
    const V one = simd::detail::lanes_like(y, 1.0);
    if constexpr (kActivation == Activation::kTanh) return -(y + y);
    if constexpr (kActivation == Activation::kSigmoid) return one - (y + y);
    if constexpr (kActivation == Activation::kSoftplus) return one - simd::softplus_slope(y);
    return one;
  }
};

/// Memory for one evaluation of a potential's gradient at a time; made once, then kept by whoever evaluates
/// (one a thread).
template <class S, class Shape>
class PotentialWorkspace {
 public:
  static constexpr std::size_t kRows = 48;  ///< rows that pass through the layers together

  PotentialWorkspace()
      : memory_(kRows * (2 * Shape::kUnits + Shape::kInputs)), transposed_(Shape::kTransposed) {}
  S* activations() noexcept { return memory_.data(); }
  S* slopes() noexcept { return memory_.data() + kRows * Shape::kUnits; }
  S* gradient() noexcept { return memory_.data() + kRows * 2 * Shape::kUnits; }
  S* transposed() noexcept { return transposed_.data(); }

 private:
  AlignedVector<S> memory_, transposed_;
};

/// v[rows x state]: the first `state` columns of Phi's gradient at x [rows x kInputs].
template <class Shape, class S>
void potential_gradient(const S* storage, const S* transposed, const S* x, std::size_t rows,
                        std::size_t state, S* v, PotentialWorkspace<S, Shape>& work) noexcept {
  constexpr std::size_t kRows = PotentialWorkspace<S, Shape>::kRows;
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t count = rows - begin < kRows ? rows - begin : kRows;
    Shape::climb(storage, x + begin * Shape::kInputs, count, work.activations());
    Shape::descend(storage, transposed, static_cast<const S*>(work.activations()), count, work.slopes(),
                   work.gradient());
    for (std::size_t r = 0; r < count; ++r)
      std::copy_n(work.gradient() + r * Shape::kInputs, state, v + (begin + r) * state);
  }
}

/// The gradient of a potential for deployment: weights only. Nothing is allocated after construction.
template <class S, std::size_t State, Activation kActivation, std::size_t... Sizes>
class PotentialInference : public InferenceParameters<S, PotentialShape<kActivation, Sizes...>> {
 public:
  using Shape = PotentialShape<kActivation, Sizes...>;
  using Workspace = PotentialWorkspace<S, Shape>;
  static constexpr std::size_t kInputs = Shape::kInputs, kOutputs = State;

  /// v[rows x State] from x [rows x kInputs]; NaN in a row gives NaN in that row.
  void forward(const S* x, std::size_t rows, S* v, Workspace& workspace) const noexcept {
    Shape::transpose(this->parameters_.data(), workspace.transposed());
    potential_gradient<Shape>(this->parameters_.data(), static_cast<const S*>(workspace.transposed()), x,
                              rows, State, v, workspace);
  }
  /// The same with the network's own workspace: one thread at a time.
  void forward(const S* x, std::size_t rows, S* v) noexcept { forward(x, rows, v, workspace_); }

 private:
  Workspace workspace_;
};

/// The gradient of a potential with respect to the first State of its inputs, with parameters and their
/// gradients: a network with kInputs inputs and State outputs. Sizes: inputs, hidden widths.
template <class S, std::size_t State, Activation kActivation, std::size_t... Sizes>
class PotentialNetwork : public TrainedParameters<S, PotentialShape<kActivation, Sizes...>> {
 public:
  using Shape = PotentialShape<kActivation, Sizes...>;
  using Workspace = PotentialWorkspace<S, Shape>;
  using Inference = PotentialInference<S, State, kActivation, Sizes...>;
  static constexpr std::size_t kInputs = Shape::kInputs, kOutputs = State;
  static_assert(State > 0 && State <= kInputs, "a potential's state is the first part of its inputs");

  /// v on the tape: x [rows x kInputs] -> [rows x State]. backward() adds to gradients(), and to x.
  Var forward(Tape<S>& tape, Var x) {
    if (!tape.known("potential", x)) return {};
    if (tape.cols(x) != kInputs)
      return tape.fail("potential",
                       "x " + tape.shape(x) + ", the potential has " + std::to_string(kInputs) + " inputs");
    const std::size_t rows = tape.rows(x);
    auto made = tape.fresh(static_cast<std::int32_t>(rows), static_cast<std::int32_t>(State), x);
    auto* kept = tape.arena().template allocate<Kept>(1);
    S* memory = tape.arena().template allocate<S>(rows * (2 * Shape::kUnits + kInputs));
    S* transposed = tape.arena().template allocate<S>(Shape::kTransposed);
    *kept = {this->parameters_.data(), this->gradients_.data(), memory, memory + rows * Shape::kUnits,
             transposed};
    S* d_x = memory + rows * 2 * Shape::kUnits;
    Shape::transpose(kept->parameters, transposed);
    Shape::climb(kept->parameters, tape.at(x).value, rows, memory);
    Shape::descend(kept->parameters, kept->transposed, kept->a, rows, memory + rows * Shape::kUnits, d_x);
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(d_x + r * kInputs, State, made.out + r * State);
    made.node.data = kept;
    made.node.needs_gradient = true;
    made.node.backward = [](Core& core, const Node& node) { backward(core, node); };
    return tape.push(made.node);
  }

  /// v without a tape.
  void forward(const S* x, std::size_t rows, S* v, Workspace& workspace) const noexcept {
    Shape::transpose(this->parameters_.data(), workspace.transposed());
    potential_gradient<Shape>(this->parameters_.data(), static_cast<const S*>(workspace.transposed()), x,
                              rows, State, v, workspace);
  }

  /// A copy for deployment, without gradients.
  Inference inference() const {
    Inference copy;
    copy.set_storage(this->parameters_).value();
    return copy;
  }

 private:
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  struct Kept {
    const S* parameters;
    S* gradients;
    const S *a, *s, *transposed;
  };

  /// With the upstream gradient g of v fixed, the loss changes as the derivative of Phi along g does: one
  /// pass forward carries the tangents t (of the units) and u (of their sums) along g, one pass back carries
  /// their gradients. The gradient with respect to u is s, known already; q is that with respect to the sums
  /// themselves: q = (s bend u) + activation' times the gradient with respect to the units.
  static void backward(Core& core, const Node& node) {
    const Kept kept = *static_cast<const Kept*>(node.data);
    using Mlp = typename Shape::Mlp;
    using V = simd::Vec<S>;
    constexpr std::size_t kHidden = Shape::kHidden;
    const auto rows = static_cast<std::size_t>(node.rows);
    const S* x = core.at(node.a).value;
    S* memory = core.arena().template allocate<S>(rows * (3 * Shape::kUnits + 2 * kInputs + 1));
    S *t = memory, *u = t + rows * Shape::kUnits, *q = u + rows * Shape::kUnits,
      *along = q + rows * Shape::kUnits, *d_x = along + rows * kInputs, *ones = d_x + rows * kInputs;
    std::fill_n(along, rows * kInputs, S(0));
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(node.gradient + r * State, State, along + r * kInputs);
    const auto at = [rows](std::size_t layer) { return rows * Shape::before(layer); };
    for (std::size_t l = 1; l <= kHidden; ++l) {
      const std::size_t in = Shape::width(l - 1), out = Shape::width(l);
      dense_forward(static_cast<const S*>(l == 1 ? along : t + at(l - 1)), rows, in, out,
                    kept.parameters + Mlp::offset(l - 1), static_cast<const S*>(nullptr),
                    Activation::kIdentity, u + at(l));
      simd::map<false>(
          rows * out, t + at(l), [](V y, V d) { return math::detail::Slope<kActivation>{}(y, d); },
          kept.a + at(l), static_cast<const S*>(u + at(l)));
    }
    std::fill_n(ones, rows, S(1));
    dense_weight_gradient(static_cast<const S*>(t + at(kHidden)), static_cast<const S*>(ones), rows,
                          Shape::kLast, 1, true, kept.gradients + Mlp::offset(kHidden));
    for (std::size_t l = kHidden; l >= 1; --l) {
      const std::size_t in = Shape::width(l - 1), out = Shape::width(l);
      const bool last = l == kHidden;  // nothing but the output follows: no gradient from beyond
      simd::map<false>(
          rows * out, q + at(l),
          [last](V s, V y, V tangent, V beyond) {
            const V bent = s * Shape::bend(y) * tangent;
            return last ? bent : bent + math::detail::Slope<kActivation>{}(y, beyond);
          },
          kept.s + at(l), kept.a + at(l), static_cast<const S*>(u + at(l)),
          static_cast<const S*>(last ? u + at(l) : q + at(l)));
      S* weights = kept.gradients + Mlp::offset(l - 1);
      dense_weight_gradient(static_cast<const S*>(l == 1 ? along : t + at(l - 1)), kept.s + at(l), rows, in,
                            out, true, weights);
      dense_weight_gradient(l == 1 ? x : kept.a + at(l - 1), static_cast<const S*>(q + at(l)), rows, in, out,
                            true, weights);
      dense_bias_gradient(static_cast<const S*>(q + at(l)), rows, out, true,
                          kept.gradients + Mlp::bias_offset(l - 1));
      if (l == 1 && !core.wants(node.a)) break;
      math::product(static_cast<const S*>(q + at(l)), rows,
                    math::Matrix<const S>{kept.transposed + Shape::transposed(l), out, in, Storage::kPanels},
                    l == 1 ? d_x : q + at(l - 1));
    }
    core.add_gradient(
        node.a, [](V g) { return g; }, static_cast<const S*>(d_x));
  }
};

}  // namespace mara
