#pragma once
// Multi-head scaled dot-product attention within one group of rows, and its gradients.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "mara/math/softmax.hpp"
#include "mara/math/transform.hpp"

namespace mara::math {

/// Rows of `width` numbers that are `stride` numbers apart.
template <class S>
struct RowBlock {
  S* data;
  std::size_t stride;

  S* row(std::size_t r) const noexcept { return data + r * stride; }
};

/// Sizes of one group: every query looks at every key. A row holds `heads` pieces of `width` numbers.
struct AttentionSize {
  std::size_t queries, keys, heads, width;
  std::size_t probabilities() const noexcept { return queries * heads * keys; }
};

/// out_i = sum over keys j of p_ij v_j with p_i = softmax over j of q_i k_j / sqrt(width), for each head
/// apart (Vaswani et al., "Attention Is All You Need", 2017, eq. 1). Zeros without keys. `p`, of
/// size.probabilities() numbers [queries x heads x keys], is written. The bits of a query's result depend on
/// its row, on the keys and on their order.
template <class S>
void attention(const AttentionSize& size, RowBlock<const S> q, RowBlock<const S> k, RowBlock<const S> v, S* p,
               RowBlock<S> out) noexcept {
  using V = simd::Vec<S>;
  constexpr std::size_t kW = simd::kLanes<S>;
  const S scale = S(1) / std::sqrt(static_cast<S>(size.width));
  for (std::size_t i = 0; i < size.queries; ++i) {
    for (std::size_t h = 0; h < size.heads; ++h, p += size.keys) {
      const std::size_t at = h * size.width;
      const S* query = q.row(i) + at;
      for (std::size_t j = 0; j < size.keys; ++j)
        p[j] = scale * inner_product(query, static_cast<const S*>(k.row(j) + at), size.width);
      softmax_row(static_cast<const S*>(p), size.keys, p);
      for (std::size_t c = 0; c < size.width; c += kW) {
        const std::size_t lanes = size.width - c < kW ? size.width - c : kW;
        V total = {};
        for (std::size_t j = 0; j < size.keys; ++j)
          total = simd::fma(simd::broadcast(p[j]), simd::load_partial(v.row(j) + at + c, lanes), total);
        simd::store_partial(out.row(i) + at + c, total, lanes);
      }
    }
  }
}

/// Gradients of attention() from that of its result, `up`; `p` as left by it. Added to d_q, d_k and d_v, each
/// of which may be null. scratch: size.keys numbers.
template <class S>
void attention_gradient(const AttentionSize& size, RowBlock<const S> q, RowBlock<const S> k,
                        RowBlock<const S> v, const S* p, RowBlock<const S> up, S* scratch, RowBlock<S> d_q,
                        RowBlock<S> d_k, RowBlock<S> d_v) noexcept {
  using V = simd::Vec<S>;
  const S scale = S(1) / std::sqrt(static_cast<S>(size.width));
  const auto add_scaled = [&size](S factor, const S* from, S* to) {
    const V f = simd::broadcast(factor);
    simd::map<true>(
        size.width, to, [f](V x) { return f * x; }, from);
  };
  for (std::size_t i = 0; i < size.queries; ++i) {
    for (std::size_t h = 0; h < size.heads; ++h, p += size.keys) {
      const std::size_t at = h * size.width;
      const S* g = up.row(i) + at;
      for (std::size_t j = 0; j < size.keys; ++j)
        scratch[j] = inner_product(g, static_cast<const S*>(v.row(j) + at), size.width);
      const S mean = inner_product(p, static_cast<const S*>(scratch), size.keys);
      for (std::size_t j = 0; j < size.keys; ++j) {
        const S d_score = scale * p[j] * (scratch[j] - mean);
        if (d_v.data != nullptr) add_scaled(p[j], g, d_v.row(j) + at);
        if (d_q.data != nullptr) add_scaled(d_score, k.row(j) + at, d_q.row(i) + at);
        if (d_k.data != nullptr) add_scaled(d_score, q.row(i) + at, d_k.row(j) + at);
      }
    }
  }
}

}  // namespace mara::math
