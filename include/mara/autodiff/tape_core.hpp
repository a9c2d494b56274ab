#pragma once
// What every operation of the tape builds on: nodes in the order of computation, their memory, and the walk
// back.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "mara/autodiff/arena.hpp"
#include "mara/core/result.hpp"
#include "mara/math/activation.hpp"
#include "mara/math/transform.hpp"

namespace mara {

/// A node of one tape: a matrix [rows x cols], row-major. Valid until Tape::clear(). A negative index marks
/// the outcome of an operation whose shapes did not agree (see TapeCore::status).
struct Var {
  std::int32_t index = -1;

  bool valid() const noexcept { return index >= 0; }
  friend bool operator==(Var, Var) noexcept = default;
};

/// Nodes, memory and the backward pass of a tape over batches; the operations are mixed in by Tape.
/// Reverse-mode differentiation as in Griewank and Walther, "Evaluating Derivatives", 2nd ed., chapter 3.
/// Not for use by two threads at once: give each thread its own tape.
template <class S>
class TapeCore {
 public:
  /// One value [rows x cols] and how to carry its gradient to its operands.
  struct Node {
    using Backward = void (*)(TapeCore&, const Node&);

    const S* value = nullptr;
    S* gradient = nullptr;  ///< null until something is written to it; of a variable: the caller's buffer
    Backward backward = nullptr;  ///< null: nothing flows further back
    const void* data = nullptr;   ///< masks, indices, sizes or weights: the caller's, or in the arena
    const S* extra = nullptr;     ///< numbers kept by the operation for the way back
    std::int32_t rows = 0, cols = 0;
    std::int32_t a = -1, b = -1, c = -1;  ///< operands
    std::int32_t uses = 0;                ///< how often it is an operand
    std::int32_t first = 0;               ///< where a slice begins, or how many entries `data` has
    S p = S(0), q = S(0);                 ///< constants of the operation
    Activation activation = Activation::kIdentity;
    bool needs_gradient = false;  ///< a variable is among its ancestors
    bool written = false;         ///< gradient holds a number: add to it, do not overwrite
    bool through = false;         ///< the only consumer carried gradient and bias through the activation

    std::size_t size() const noexcept {
      return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    }
  };

  TapeCore() = default;
  TapeCore(const TapeCore&) = delete;
  TapeCore& operator=(const TapeCore&) = delete;
  TapeCore(TapeCore&&) noexcept = default;
  TapeCore& operator=(TapeCore&&) noexcept = default;

  /// Forgets all nodes and the status; keeps the memory.
  void clear() {
    nodes_.clear();
    arena_.clear();
    if (!status_) status_ = Status{};
  }

  /// A constant [rows x cols], row-major, not copied: `data` must stay unchanged until clear().
  Var input(const S* data, std::size_t rows, std::size_t cols) {
    Node node;
    node.value = data;
    node.rows = static_cast<std::int32_t>(rows);
    node.cols = static_cast<std::int32_t>(cols);
    return push(node);
  }

  /// A parameter [rows x cols], not copied; backward() adds to `gradient` (same shape, never cleared here).
  Var variable(const S* data, S* gradient, std::size_t rows, std::size_t cols) {
    Node node;
    node.value = data;
    node.gradient = gradient;
    node.rows = static_cast<std::int32_t>(rows);
    node.cols = static_cast<std::int32_t>(cols);
    node.needs_gradient = gradient != nullptr;
    node.written = true;
    return push(node);
  }

  /// The matrix of x, row-major; empty for an invalid Var. Valid until clear().
  std::span<const S> value(Var x) const noexcept {
    if (!holds(x)) return {};
    return {at(x).value, at(x).size()};
  }

  /// Gradient of the node after backward(); empty when none reached it.
  std::span<const S> gradient(Var x) const noexcept {
    if (!holds(x) || at(x).gradient == nullptr) return {};
    return {at(x).gradient, at(x).size()};
  }

  /// The number in a 1 x 1 node; NaN for anything else.
  S scalar(Var x) const noexcept {
    if (!holds(x) || at(x).size() != 1) return std::numeric_limits<S>::quiet_NaN();
    return at(x).value[0];
  }

  std::size_t rows(Var x) const noexcept { return holds(x) ? static_cast<std::size_t>(at(x).rows) : 0; }
  std::size_t cols(Var x) const noexcept { return holds(x) ? static_cast<std::size_t>(at(x).cols) : 0; }
  /// Nodes recorded since clear().
  std::size_t size() const noexcept { return nodes_.size(); }
  /// Bytes of arena memory held.
  std::size_t capacity() const noexcept { return arena_.capacity(); }

  /// The first shape error since clear(). Operations on a failed operand fail too, so one look after building
  /// a loss is enough; backward() of a failed node does nothing.
  const Status& status() const noexcept { return status_; }

  /// Adds d(root)/d(variable) to the gradient buffer of every variable that root depends on. root is 1 x 1.
  /// Calling it for several roots, or twice, adds up.
  void backward(Var root) {
    if (!holds(root)) return;
    if (at(root).size() != 1) {
      fail("backward", "root must be 1 x 1, is " + shape(root));
      return;
    }
    const auto last = static_cast<std::size_t>(root.index);
    if (!nodes_[last].needs_gradient) return;
    for (std::size_t i = 0; i <= last; ++i)
      if (nodes_[i].backward != nullptr) nodes_[i].written = nodes_[i].through = false;
    accumulator(root.index)[0] += S(1);
    for (std::size_t i = last + 1; i-- > 0;) {
      const Node& node = nodes_[i];
      if (node.needs_gradient && node.written && node.backward != nullptr) node.backward(*this, node);
    }
  }

  // For operations (the mixins of Tape and operations added by users)
  // ----------------------------------------

  bool holds(Var x) const noexcept {
    return x.index >= 0 && static_cast<std::size_t>(x.index) < nodes_.size();
  }
  const Node& at(Var x) const noexcept { return nodes_[static_cast<std::size_t>(x.index)]; }
  const Node& at(std::int32_t index) const noexcept { return nodes_[static_cast<std::size_t>(index)]; }
  Node& at(std::int32_t index) noexcept { return nodes_[static_cast<std::size_t>(index)]; }

  /// Records a node. Operands other than a, b and c are counted by the operation, in their `uses`.
  Var push(const Node& node) {
    for (const std::int32_t operand : {node.a, node.b, node.c})
      if (operand >= 0) ++at(operand).uses;
    nodes_.push_back(node);
    return Var{static_cast<std::int32_t>(nodes_.size() - 1)};
  }

  /// A node with room for its value; needs_gradient follows from the operands.
  struct Fresh {
    Node node;
    S* out = nullptr;
  };
  Fresh fresh(std::int32_t rows, std::int32_t cols, Var a, Var b = {}, Var c = {}) {
    Fresh made;
    made.node.rows = rows;
    made.node.cols = cols;
    made.node.a = a.index;
    made.node.b = b.index;
    made.node.c = c.index;
    made.node.needs_gradient =
        at(a).needs_gradient || (b.valid() && at(b).needs_gradient) || (c.valid() && at(c).needs_gradient);
    made.out = arena_.template allocate<S>(made.node.size());
    made.node.value = made.out;
    return made;
  }

  /// A node that shows numbers of x itself as [rows x cols].
  Node alias(Var x, const S* value, std::int32_t rows, std::int32_t cols) const noexcept {
    Node node;
    node.value = value;
    node.rows = rows;
    node.cols = cols;
    node.a = x.index;
    node.needs_gradient = at(x).needs_gradient;
    return node;
  }

  /// True when a gradient is to go to the node.
  bool wants(std::int32_t index) const noexcept { return index >= 0 && at(index).needs_gradient; }

  /// The gradient buffer of a node, made on first use. Its content counts only when `written`.
  S* gradient_buffer(std::int32_t index) {
    Node& node = at(index);
    if (node.gradient == nullptr) node.gradient = arena_.template allocate<S>(node.size());
    return node.gradient;
  }

  /// Lets body(buffer, add) put a gradient into the buffer of `index`, if that wants one. add is
  /// std::true_type where the body has to add to what is there and std::false_type where it has to write
  /// every element: nothing is zeroed first.
  template <class Body>
  void into_gradient(std::int32_t index, const Body& body) {
    if (!wants(index)) return;
    S* buffer = gradient_buffer(index);
    Node& node = at(index);
    if (node.written) return body(buffer, std::true_type{});
    node.written = true;
    body(buffer, std::false_type{});
  }

  /// gradient[i] += f(in[i], ...) over all elements of `index`, if that wants a gradient; f works on vectors.
  template <class F, class... In>
  void add_gradient(std::int32_t index, const F& f, const In*... in) {
    into_gradient(index, [&](S* buffer, auto add) {
      simd::map<decltype(add)::value>(at(index).size(), buffer, f, in...);
    });
  }

  /// Buffer to add to here and there: zeroed when nothing was written yet.
  S* accumulator(std::int32_t index) {
    S* buffer = gradient_buffer(index);
    if (!at(index).written) {
      std::fill_n(buffer, at(index).size(), S(0));
      at(index).written = true;
    }
    return buffer;
  }

  std::string shape(Var x) const {
    if (!holds(x)) return "invalid";
    return std::to_string(at(x).rows) + " x " + std::to_string(at(x).cols);
  }
  Var fail(const char* operation, const std::string& what) {
    if (status_) status_ = Error{ErrorCode::kShapeMismatch, std::string(operation) + ": " + what};
    return Var{};
  }
  /// True when x is a node of this tape; records the error otherwise.
  bool known(const char* operation, Var x) {
    if (holds(x)) return true;
    fail(operation, "operand is not a node of this tape");
    return false;
  }
  bool same_shape(const char* operation, Var x, Var y) {
    if (!known(operation, x) || !known(operation, y)) return false;
    if (at(x).rows == at(y).rows && at(x).cols == at(y).cols) return true;
    fail(operation, "shapes differ: " + shape(x) + " and " + shape(y));
    return false;
  }

  Arena& arena() noexcept { return arena_; }

 private:
  Arena arena_;
  std::vector<Node> nodes_;
  Status status_;
};

}  // namespace mara
