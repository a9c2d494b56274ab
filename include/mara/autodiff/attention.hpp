#pragma once
// Attention over groups of rows on the tape.

#include <algorithm>
#include <string>

#include "mara/autodiff/tape_core.hpp"
#include "mara/math/attention.hpp"

namespace mara {

/// Mixin of Tape: multi-head scaled dot-product attention (math::attention) within groups of rows: the first
/// sizes[0] rows, then sizes[1] rows, and so on, all rows in all. `sizes` stays the caller's until clear().
/// The width of the result is the number of heads times the width of a head; columns [0, width / heads)
/// belong to the first head, and so on.
template <class Derived, class S>
class AttentionOperations {
  using Core = TapeCore<S>;
  using Node = typename Core::Node;

 public:
  /// One query a group: key_value [rows x (2 width)] holds the key, then the value of each row; query is
  /// [groups x width], or [1 x width] for all groups -> [groups x width], zeros for an empty group.
  Var attention_pool(Var query, Var key_value, const std::int32_t* sizes, std::size_t groups,
                     std::size_t heads) {
    Derived& tape = self();
    if (!tape.known("attention_pool", query) || !valid("attention_pool", key_value, 2, heads, sizes, groups))
      return {};
    const Node q = tape.at(query), from = tape.at(key_value);
    if (2 * q.cols != from.cols || (q.rows != 1 && static_cast<std::size_t>(q.rows) != groups))
      return tape.fail("attention_pool", "query " + tape.shape(query) + " and rows " + tape.shape(key_value) +
                                             " in " + std::to_string(groups) + " groups do not agree");
    return record(query, key_value, sizes, groups, heads, false);
  }

  /// Every row asks all rows of its group: x [rows x (3 width)] holds query, key and value of each row ->
  /// [rows x width].
  Var self_attention(Var x, const std::int32_t* sizes, std::size_t groups, std::size_t heads) {
    if (!valid("self_attention", x, 3, heads, sizes, groups)) return {};
    return record(x, x, sizes, groups, heads, true);
  }

 private:
  struct Kept {
    const std::int32_t* sizes;
    std::size_t groups, heads, width;
    bool self;    ///< queries are the rows themselves
    bool shared;  ///< one query for all groups
  };

  Derived& self() noexcept { return static_cast<Derived&>(*this); }

  bool valid(const char* name, Var x, std::size_t parts, std::size_t heads, const std::int32_t* sizes,
             std::size_t groups) {
    Derived& tape = self();
    if (!tape.known(name, x)) return false;
    if (heads == 0 || tape.cols(x) % (parts * heads) != 0 || tape.cols(x) == 0) {
      tape.fail(name, "the columns of " + tape.shape(x) + " are not " + std::to_string(parts) + " times " +
                          std::to_string(heads) + " heads");
      return false;
    }
    std::int64_t total = 0;
    for (std::size_t k = 0; k < groups; ++k) {
      if (sizes[k] < 0) {
        tape.fail(name, "sizes[" + std::to_string(k) + "] = " + std::to_string(sizes[k]) + " is negative");
        return false;
      }
      total += sizes[k];
    }
    if (total == tape.at(x).rows) return true;
    tape.fail(name, "the sizes sum to " + std::to_string(total) + ", rows are " + tape.shape(x));
    return false;
  }

  /// Calls f(size, first row of the group, first row of its queries, place of its probabilities) for each
  /// group.
  template <class F>
  static void each_group(const Kept& kept, const F& f) {
    std::size_t row = 0, place = 0;
    for (std::size_t k = 0; k < kept.groups; ++k) {
      const auto keys = static_cast<std::size_t>(kept.sizes[k]);
      const math::AttentionSize size{kept.self ? keys : 1, keys, kept.heads, kept.width / kept.heads};
      f(size, row, kept.self ? row : k, place);
      row += keys;
      place += size.probabilities();
    }
  }

  template <class T>
  static math::RowBlock<T> rows_of(T* data, std::size_t cols, std::size_t row, std::size_t column) noexcept {
    return {data == nullptr ? nullptr : data + row * cols + column, cols};
  }

  Var record(Var query, Var rows, const std::int32_t* sizes, std::size_t groups, std::size_t heads,
             bool is_self) {
    Derived& tape = self();
    const Node q = tape.at(query), from = tape.at(rows);
    const std::size_t width = static_cast<std::size_t>(from.cols) / (is_self ? 3 : 2);
    auto made = tape.fresh(is_self ? from.rows : static_cast<std::int32_t>(groups),
                           static_cast<std::int32_t>(width), query, rows);
    auto* kept = tape.arena().template allocate<Kept>(1);
    *kept = {sizes, groups, heads, width, is_self, !is_self && q.rows == 1};
    std::size_t numbers = 0;
    each_group(*kept, [&](const math::AttentionSize& size, std::size_t, std::size_t, std::size_t) {
      numbers += size.probabilities();
    });
    S* p = tape.arena().template allocate<S>(numbers);
    const auto q_cols = static_cast<std::size_t>(q.cols), cols = static_cast<std::size_t>(from.cols);
    each_group(*kept,
               [&](const math::AttentionSize& size, std::size_t row, std::size_t out, std::size_t place) {
                 math::attention(size, rows_of(q.value, q_cols, kept->shared ? 0 : out, 0),
                                 rows_of(from.value, cols, row, is_self ? width : 0),
                                 rows_of(from.value, cols, row, is_self ? 2 * width : width), p + place,
                                 rows_of(made.out, width, out, 0));
               });
    made.node.data = kept;
    made.node.extra = p;
    made.node.backward = [](Core& core, const Node& node) { attention_backward(core, node); };
    return tape.push(made.node);
  }

  static void attention_backward(Core& core, const Node& node) {
    const auto& kept = *static_cast<const Kept*>(node.data);
    S* d_query = core.wants(node.a) ? core.accumulator(node.a) : nullptr;
    S* d_rows = core.wants(node.b) ? core.accumulator(node.b) : nullptr;
    std::size_t most = 0;
    for (std::size_t k = 0; k < kept.groups; ++k)
      most = std::max(most, static_cast<std::size_t>(kept.sizes[k]));
    S* scratch = core.arena().template allocate<S>(most);
    const S *q = core.at(node.a).value, *from = core.at(node.b).value;
    const auto q_cols = static_cast<std::size_t>(core.at(node.a).cols),
               cols = static_cast<std::size_t>(core.at(node.b).cols);
    const std::size_t width = kept.width, k_at = kept.self ? width : 0, v_at = k_at + width;
    each_group(kept,
               [&](const math::AttentionSize& size, std::size_t row, std::size_t out, std::size_t place) {
                 const std::size_t q_row = kept.shared ? 0 : out;
                 math::attention_gradient(size, rows_of(q, q_cols, q_row, 0), rows_of(from, cols, row, k_at),
                                          rows_of(from, cols, row, v_at), node.extra + place,
                                          rows_of(static_cast<const S*>(node.gradient), width, out, 0),
                                          scratch, rows_of(d_query, q_cols, q_row, 0),
                                          rows_of(d_rows, cols, row, k_at), rows_of(d_rows, cols, row, v_at));
               });
  }
};

}  // namespace mara
