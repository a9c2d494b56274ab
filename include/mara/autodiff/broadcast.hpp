#pragma once
// Operations of the tape between a matrix and a column, a row or a number.

#include "mara/autodiff/elementwise.hpp"
#include "mara/math/reduce.hpp"

namespace mara {

/// Mixin of Tape. x is [rows x cols]; so is the result.
/// *_rows(x, col): row r of x meets col[r], col is [rows x 1].
/// *_cols(x, row): column c of x meets row[c], row is [1 x cols]; add_cols adds the bias of a layer.
/// *_number(x, number): every element meets one number, [1 x 1]; scale() and add_scalar() take a constant.
template <class Derived, class S>
class BroadcastOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;
  using V = simd::Vec<S>;

 public:
  /// x[r][c] + col[r].
  Var add_rows(Var x, Var col) { return by_rows<detail::AddRule>("add_rows", x, col); }
  /// x[r][c] - col[r].
  Var sub_rows(Var x, Var col) { return by_rows<detail::SubRule>("sub_rows", x, col); }
  /// x[r][c] * col[r].
  Var mul_rows(Var x, Var col) { return by_rows<detail::MulRule>("mul_rows", x, col); }
  /// x[r][c] / col[r].
  Var div_rows(Var x, Var col) { return by_rows<detail::DivRule>("div_rows", x, col); }

  /// x[r][c] + row[c].
  Var add_cols(Var x, Var row) { return by_cols<detail::AddRule>("add_cols", x, row); }
  /// x[r][c] - row[c].
  Var sub_cols(Var x, Var row) { return by_cols<detail::SubRule>("sub_cols", x, row); }
  /// x[r][c] * row[c].
  Var mul_cols(Var x, Var row) { return by_cols<detail::MulRule>("mul_cols", x, row); }
  /// x[r][c] / row[c].
  Var div_cols(Var x, Var row) { return by_cols<detail::DivRule>("div_cols", x, row); }

  /// x[r][c] + number.
  Var add_number(Var x, Var number) { return by_number<detail::AddRule>("add_number", x, number); }
  /// x[r][c] - number.
  Var sub_number(Var x, Var number) { return by_number<detail::SubRule>("sub_number", x, number); }
  /// x[r][c] * number.
  Var mul_number(Var x, Var number) { return by_number<detail::MulRule>("mul_number", x, number); }
  /// x[r][c] / number.
  Var div_number(Var x, Var number) { return by_number<detail::DivRule>("div_number", x, number); }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  static std::size_t rows_of(const Node& node) noexcept { return static_cast<std::size_t>(node.rows); }
  static std::size_t cols_of(const Node& node) noexcept { return static_cast<std::size_t>(node.cols); }

  template <class Rule>
  Var by_rows(const char* name, Var x, Var col) {
    Derived& tape = self();
    if (!tape.known(name, x) || !tape.known(name, col)) return {};
    const Node from = tape.at(x), other = tape.at(col);
    if (other.rows != from.rows || other.cols != 1)
      return tape.fail(name, "x " + tape.shape(x) + " needs a column of its rows, got " + tape.shape(col));
    auto made = tape.fresh(from.rows, from.cols, x, col);
    const std::size_t cols = cols_of(from);
    for (std::size_t r = 0; r < rows_of(from); ++r) {
      const V b = simd::broadcast(other.value[r]);
      simd::map<false>(
          cols, made.out + r * cols, [b](V a) { return Rule::value(a, b); }, from.value + r * cols);
    }
    made.node.backward = [](Core& core, const Node& node) {
      const S *a_value = core.at(node.a).value, *b_value = core.at(node.b).value, *up = node.gradient;
      const std::size_t rows = rows_of(node), width = cols_of(node);
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        for (std::size_t r = 0; r < rows; ++r) {
          const V b = simd::broadcast(b_value[r]);
          const std::size_t at = r * width;
          simd::map<decltype(add)::value>(
              width, gradient + at, [b](V g, V a, V out) { return Rule::dx(g, a, b, out); }, up + at,
              a_value + at, node.value + at);
        }
      });
      core.into_gradient(node.b, [&](S* gradient, auto add) {
        for (std::size_t r = 0; r < rows; ++r) {
          const V b = simd::broadcast(b_value[r]);
          const std::size_t at = r * width;
          const S total = sum_of<Rule>(width, b, up + at, a_value + at, node.value + at);
          gradient[r] = decltype(add)::value ? gradient[r] + total : total;
        }
      });
    };
    return tape.push(made.node);
  }

  template <class Rule>
  Var by_cols(const char* name, Var x, Var row) {
    Derived& tape = self();
    if (!tape.known(name, x) || !tape.known(name, row)) return {};
    const Node from = tape.at(x), other = tape.at(row);
    if (other.cols != from.cols || other.rows != 1)
      return tape.fail(name, "x " + tape.shape(x) + " needs a row of its columns, got " + tape.shape(row));
    auto made = tape.fresh(from.rows, from.cols, x, row);
    const std::size_t cols = cols_of(from);
    for (std::size_t r = 0; r < rows_of(from); ++r)
      simd::map<false>(
          cols, made.out + r * cols, [](V a, V b) { return Rule::value(a, b); }, from.value + r * cols,
          other.value);
    made.node.backward = [](Core& core, const Node& node) {
      const S *a_value = core.at(node.a).value, *b_value = core.at(node.b).value, *up = node.gradient;
      const std::size_t rows = rows_of(node), width = cols_of(node);
      core.into_gradient(node.a, [&](S* gradient, auto add) {
        for (std::size_t r = 0; r < rows; ++r) {
          const std::size_t at = r * width;
          simd::map<decltype(add)::value>(
              width, gradient + at, [](V g, V a, V b, V out) { return Rule::dx(g, a, b, out); }, up + at,
              a_value + at, b_value, node.value + at);
        }
      });
      core.into_gradient(node.b, [&](S* gradient, auto add) {
        // The row is the same for all rows of x: it is spread by a stride of 0.
        math::detail::column_terms(
            rows, width, decltype(add)::value, gradient,
            [](V g, V a, V b, V out) { return Rule::dy(g, a, b, out); }, math::detail::Rows<S>{up, width},
            math::detail::Rows<S>{a_value, width}, math::detail::Rows<S>{b_value, 0},
            math::detail::Rows<S>{node.value, width});
      });
    };
    return tape.push(made.node);
  }

  template <class Rule>
  Var by_number(const char* name, Var x, Var number) {
    Derived& tape = self();
    if (!tape.known(name, x) || !tape.known(name, number)) return {};
    if (tape.at(number).size() != 1)
      return tape.fail(name, "the number must be 1 x 1, is " + tape.shape(number));
    auto made = tape.fresh(tape.at(x).rows, tape.at(x).cols, x, number);
    const V b = simd::broadcast(tape.at(number).value[0]);
    simd::map<false>(
        made.node.size(), made.out, [b](V a) { return Rule::value(a, b); }, tape.at(x).value);
    made.node.backward = [](Core& core, const Node& node) {
      const S *a_value = core.at(node.a).value, *up = node.gradient;
      const V c = simd::broadcast(core.at(node.b).value[0]);
      core.add_gradient(
          node.a, [c](V g, V a, V out) { return Rule::dx(g, a, c, out); }, up, a_value, node.value);
      core.into_gradient(node.b, [&](S* gradient, auto add) {
        const S total = sum_of<Rule>(node.size(), c, up, a_value, node.value);
        gradient[0] = decltype(add)::value ? gradient[0] + total : total;
      });
    };
    return tape.push(made.node);
  }

  /// Sum of the second operand's share over numbers that all meet the same b.
  template <class Rule>
  static S sum_of(std::size_t count, V b, const S* up, const S* a, const S* out) noexcept {
    return math::detail::sum_terms<S>(
        count, [b](V g, V x, V y) { return Rule::dy(g, x, b, y); }, up, a, out);
  }
};

}  // namespace mara
