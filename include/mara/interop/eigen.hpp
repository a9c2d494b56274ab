#pragma once
// Parameters of networks as Eigen matrices, without copies: what is written through a view is in the network.

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "mara/core/extremes.hpp"
#include "mara/core/result.hpp"
#include "mara/math/panel_layout.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

namespace detail {
template <class S>
struct EigenRows {
  using Matrix = Eigen::Matrix<std::remove_const_t<S>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Type = std::conditional_t<std::is_const_v<S>, const Matrix, Matrix>;
};
}  // namespace detail

/// A matrix in memory that is not its own: row-major, any distance from row to row. Read-only where S is
/// const.
template <class S>
using EigenView = Eigen::Map<typename detail::EigenRows<S>::Type, Eigen::Unaligned, Eigen::OuterStride<>>;

/// Columns first_column, first_column + 1, ... of a parameter.
template <class S>
struct EigenPanel {
  std::size_t first_column;
  EigenView<S> matrix;  ///< [rows x at most 64]; [rows x cols] for row-major storage
};

/// The panels of a parameter, one after the other: they cover every column once, and no padding. A row-major
/// parameter is one panel. Valid as long as the network.
template <class S>
std::vector<EigenPanel<S>> eigen_panels(ParameterView<S> view) {
  const auto index = [](std::size_t i) { return static_cast<Eigen::Index>(i); };
  std::vector<EigenPanel<S>> panels;
  const bool whole = view.storage == Storage::kRowMajor;
  for (std::size_t begin = 0; begin < view.cols; begin += whole ? view.cols : PanelLayout::kWidth) {
    const std::size_t cols = whole ? view.cols : smaller(view.cols - begin, PanelLayout::kWidth);
    const std::size_t stride = whole ? view.cols : PanelLayout::stride(view.cols, begin);
    S* first = whole ? view.data : view.data + PanelLayout::panel(view.rows, begin);
    panels.push_back(
        {begin, EigenView<S>(first, index(view.rows), index(cols), Eigen::OuterStride<>(index(stride)))});
  }
  return panels;
}

/// The whole parameter [rows x cols] as one matrix. Errors: kShapeMismatch where it lies in several panels
/// (weights with more than 64 outputs); see eigen_panels().
template <class S>
Result<EigenView<S>> eigen_view(ParameterView<S> view) {
  const std::vector<EigenPanel<S>> panels = eigen_panels(view);
  if (panels.size() == 1) return panels.front().matrix;
  return Error{ErrorCode::kShapeMismatch, "parameter of " + std::to_string(view.cols) + " columns lies in " +
                                              std::to_string(panels.size()) + " panels: use eigen_panels()"};
}

}  // namespace mara
