#pragma once
// What follows the two dense products of a step of a recurrent cell, and its gradients. Rows are independent
// of each other: their bits do not depend on the batch. `x_gates` and `h_gates` are the products of the input
// and of the state before the step, biases included, gate after gate: [rows x (gates hidden)].

#include <cstddef>
#include <cstdint>

#include "mara/math/elementary.hpp"

namespace mara::math {

namespace detail {

/// Calls f(row, column, lanes) for every piece of at most one vector of a matrix [rows x cols].
template <class S, class F>
MARA_INLINE void each_piece(std::size_t rows, std::size_t cols, const F& f) noexcept {
  constexpr std::size_t kW = simd::kLanes<S>;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; c += kW) f(r, c, cols - c < kW ? cols - c : kW);
}

}  // namespace detail

/// to[r] = from[r], or zeros where resets[r] is not 0 (resets null: nowhere); [rows x cols].
template <class S>
void copy_unless_reset(const S* from, std::size_t rows, std::size_t cols, const std::uint8_t* resets,
                       S* to) noexcept {
  for (std::size_t r = 0; r < rows; ++r) {
    const bool zero = resets != nullptr && resets[r] != 0;
    for (std::size_t c = 0; c < cols; ++c) to[r * cols + c] = zero ? S(0) : from[r * cols + c];
  }
}

/// Gated recurrent unit (Cho et al. 2014; the reset gate acts on the product, as in cuDNN and PyTorch):
/// r = sigmoid(x_r + h_r), z = sigmoid(x_z + h_z), n = tanh(x_n + r h_n), out = n + z (h - n).
/// Gates lie in the order r, z, n. h and out: [rows x hidden]; out may be h. `kept`, when not null, gets r,
/// z, n and h_n, [rows x (4 hidden)], for gru_gates_gradient.
template <class S>
void gru_gates(const S* x_gates, const S* h_gates, const S* h, std::size_t rows, std::size_t hidden, S* out,
               S* kept) noexcept {
  using V = simd::Vec<S>;
  detail::each_piece<S>(rows, hidden, [&](std::size_t row, std::size_t c, std::size_t lanes) {
    const S *x = x_gates + row * 3 * hidden + c, *u = h_gates + row * 3 * hidden + c;
    const V r = simd::sigmoid(simd::load_partial(x, lanes) + simd::load_partial(u, lanes));
    const V z = simd::sigmoid(simd::load_partial(x + hidden, lanes) + simd::load_partial(u + hidden, lanes));
    const V inner = simd::load_partial(u + 2 * hidden, lanes);
    const V n = simd::tanh(simd::load_partial(x + 2 * hidden, lanes) + r * inner);
    const V before = simd::load_partial(h + row * hidden + c, lanes);
    simd::store_partial(out + row * hidden + c, n + z * (before - n), lanes);
    if (kept == nullptr) return;
    S* keep = kept + row * 4 * hidden + c;
    simd::store_partial(keep, r, lanes);
    simd::store_partial(keep + hidden, z, lanes);
    simd::store_partial(keep + 2 * hidden, n, lanes);
    simd::store_partial(keep + 3 * hidden, inner, lanes);
  });
}

/// Gradients of gru_gates from that of its result, up[rows x hidden]: d_x to d_x_gates (added when kAdd; may
/// be null), d_h_gates and the direct share d_h (both written; d_h may be `up`).
template <bool kAdd, class S>
void gru_gates_gradient(const S* up, const S* kept, const S* h, std::size_t rows, std::size_t hidden,
                        S* d_x_gates, S* d_h_gates, S* d_h) noexcept {
  using V = simd::Vec<S>;
  const V one = simd::broadcast(S(1));
  detail::each_piece<S>(rows, hidden, [&](std::size_t row, std::size_t c, std::size_t lanes) {
    const S* keep = kept + row * 4 * hidden + c;
    const V r = simd::load_partial(keep, lanes), z = simd::load_partial(keep + hidden, lanes),
            n = simd::load_partial(keep + 2 * hidden, lanes),
            inner = simd::load_partial(keep + 3 * hidden, lanes);
    const V g = simd::load_partial(up + row * hidden + c, lanes),
            before = simd::load_partial(h + row * hidden + c, lanes);
    const V d_n = g * (one - z) * (one - n * n);
    const V d_z = g * (before - n) * (z * (one - z));
    const V d_r = d_n * inner * (r * (one - r));
    S* to = d_h_gates + row * 3 * hidden + c;
    simd::store_partial(to, d_r, lanes);
    simd::store_partial(to + hidden, d_z, lanes);
    simd::store_partial(to + 2 * hidden, d_n * r, lanes);
    simd::store_partial(d_h + row * hidden + c, g * z, lanes);
    if (d_x_gates == nullptr) return;
    const V shares[3] = {d_r, d_z, d_n};
    for (std::size_t k = 0; k < 3; ++k) {
      S* into = d_x_gates + (row * 3 + k) * hidden + c;
      simd::store_partial(into, kAdd ? simd::load_partial(into, lanes) + shares[k] : shares[k], lanes);
    }
  });
}

/// Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000):
/// i, f, o = sigmoid(x + h), g = tanh(x_g + h_g), cell_out = f cell + i g, out = o tanh(cell_out).
/// Gates lie in the order i, f, g, o. cell, cell_out and out: [rows x hidden]; cell_out may be cell. `kept`,
/// when not null, gets i, f, g, o and tanh(cell_out), [rows x (5 hidden)].
template <class S>
void lstm_gates(const S* x_gates, const S* h_gates, const S* cell, std::size_t rows, std::size_t hidden,
                S* cell_out, S* out, S* kept) noexcept {
  using V = simd::Vec<S>;
  detail::each_piece<S>(rows, hidden, [&](std::size_t row, std::size_t c, std::size_t lanes) {
    const std::size_t at = row * 4 * hidden + c;
    const auto sum = [&](std::size_t gate) {
      return simd::load_partial(x_gates + at + gate * hidden, lanes) +
             simd::load_partial(h_gates + at + gate * hidden, lanes);
    };
    const V i = simd::sigmoid(sum(0)), f = simd::sigmoid(sum(1)), g = simd::tanh(sum(2)),
            o = simd::sigmoid(sum(3));
    const V next = f * simd::load_partial(cell + row * hidden + c, lanes) + i * g;
    const V shown = simd::tanh(next);
    simd::store_partial(cell_out + row * hidden + c, next, lanes);
    simd::store_partial(out + row * hidden + c, o * shown, lanes);
    if (kept == nullptr) return;
    const V all[5] = {i, f, g, o, shown};
    for (std::size_t k = 0; k < 5; ++k) simd::store_partial(kept + (row * 5 + k) * hidden + c, all[k], lanes);
  });
}

/// Gradients of lstm_gates from those of its results, up and cell_up [rows x hidden]: d_gates [rows x (4
/// hidden)] belongs to x_gates and h_gates alike, d_cell may be cell_up.
template <class S>
void lstm_gates_gradient(const S* up, const S* cell_up, const S* kept, const S* cell, std::size_t rows,
                         std::size_t hidden, S* d_gates, S* d_cell) noexcept {
  using V = simd::Vec<S>;
  const V one = simd::broadcast(S(1));
  detail::each_piece<S>(rows, hidden, [&](std::size_t row, std::size_t c, std::size_t lanes) {
    const auto keep = [&](std::size_t k) {
      return simd::load_partial(kept + (row * 5 + k) * hidden + c, lanes);
    };
    const V i = keep(0), f = keep(1), g = keep(2), o = keep(3), shown = keep(4);
    const V d_out = simd::load_partial(up + row * hidden + c, lanes);
    const V d_next =
        simd::load_partial(cell_up + row * hidden + c, lanes) + d_out * o * (one - shown * shown);
    const V before = simd::load_partial(cell + row * hidden + c, lanes);
    const V shares[4] = {d_next * g * (i * (one - i)), d_next * before * (f * (one - f)),
                         d_next * i * (one - g * g), d_out * shown * (o * (one - o))};
    for (std::size_t k = 0; k < 4; ++k)
      simd::store_partial(d_gates + (row * 4 + k) * hidden + c, shares[k], lanes);
    simd::store_partial(d_cell + row * hidden + c, d_next * f, lanes);
  });
}

}  // namespace mara::math
