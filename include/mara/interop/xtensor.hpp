#pragma once
// Parameters of networks as xtensor expressions, without copies: what is written through a view is in the
// network.

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>
#include <xtensor/xadapt.hpp>
#include <xtensor/xstrided_view.hpp>

#include "mara/core/extremes.hpp"
#include "mara/core/result.hpp"
#include "mara/math/panel_layout.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

namespace detail {
/// A view of strided memory that begins at `data`. An adaptor with strides would do but for xtensor itself,
/// whose containers take their memory for contiguous when a number is added or multiplied in place; views do
/// not.
template <std::size_t N, class S>
auto xtensor_strided(S* data, const std::array<std::size_t, N>& shape,
                     std::array<std::ptrdiff_t, N> strides) {
  std::size_t reach = 1;
  for (std::size_t d = 0; d < N; ++d) {
    if (shape[d] == 0) reach = 0;
    if (reach > 0) reach += (shape[d] - 1) * static_cast<std::size_t>(strides[d]);
    if (shape[d] == 1) strides[d] = 0;  // xtensor broadcasts what has one element
  }
  // Temporaries, so that nothing refers to a variable of this function.
  return xt::strided_view(
      xt::adapt(std::move(data), reach, xt::no_ownership(), std::array<std::size_t, 1>{reach}),
      std::array<std::size_t, N>(shape), std::move(strides));
}
}  // namespace detail

/// A tensor of N dimensions in memory that is not its own. Read-only where S is const.
template <class S, std::size_t N>
using XtensorView = decltype(detail::xtensor_strided<N>(std::declval<S*>(), {}, {}));

/// Columns first_column, first_column + 1, ... of a parameter.
template <class S>
struct XtensorPanel {
  std::size_t first_column;
  XtensorView<S, 2> matrix;  ///< [rows][at most 64]; [rows][cols] for row-major storage
};

/// The panels of a parameter, one after the other: they cover every column once, and no padding. A row-major
/// parameter is one panel. Valid as long as the network.
template <class S>
std::vector<XtensorPanel<S>> xtensor_panels(ParameterView<S> view) {
  std::vector<XtensorPanel<S>> panels;
  const bool whole = view.storage == Storage::kRowMajor;
  for (std::size_t begin = 0; begin < view.cols; begin += whole ? view.cols : PanelLayout::kWidth) {
    const std::size_t cols = whole ? view.cols : smaller(view.cols - begin, PanelLayout::kWidth);
    const std::size_t stride = whole ? view.cols : PanelLayout::stride(view.cols, begin);
    S* first = whole ? view.data : view.data + PanelLayout::panel(view.rows, begin);
    panels.push_back({begin, detail::xtensor_strided<2>(first, {view.rows, cols},
                                                        {static_cast<std::ptrdiff_t>(stride), 1})});
  }
  return panels;
}

/// The whole parameter [rows][cols]. Errors: kShapeMismatch where it lies in several panels (weights with
/// more than 64 outputs); see xtensor_panels() and xtensor_blocks().
template <class S>
Result<XtensorView<S, 2>> xtensor_view(ParameterView<S> view) {
  std::vector<XtensorPanel<S>> panels = xtensor_panels(view);
  if (panels.size() == 1) return std::move(panels.front().matrix);
  return Error{ErrorCode::kShapeMismatch, "parameter of " + std::to_string(view.cols) + " columns lies in " +
                                              std::to_string(panels.size()) +
                                              " panels: use xtensor_panels()"};
}

/// The whole parameter as [block][row][64]: column c is [c / 64][row][c % 64]. Errors: kShapeMismatch unless
/// its number of columns is a multiple of 64.
template <class S>
Result<XtensorView<S, 3>> xtensor_blocks(ParameterView<S> view) {
  constexpr std::size_t kWidth = PanelLayout::kWidth;
  if (view.cols == 0 || view.cols % kWidth != 0)
    return Error{ErrorCode::kShapeMismatch, "parameter of " + std::to_string(view.cols) +
                                                " columns: no multiple of " + std::to_string(kWidth)};
  const bool whole = view.storage == Storage::kRowMajor;
  const std::size_t block = whole ? kWidth : view.rows * kWidth, row = whole ? view.cols : kWidth;
  return detail::xtensor_strided<3>(
      view.data, {view.cols / kWidth, view.rows, kWidth},
      {static_cast<std::ptrdiff_t>(block), static_cast<std::ptrdiff_t>(row), 1});
}

}  // namespace mara
