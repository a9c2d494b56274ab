#pragma once
// One parameter of a network as the outside sees it: a matrix with a name, whatever its storage.

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/math/panel_layout.hpp"

namespace mara {

/// A parameter [rows x cols] of a network, not owned. Weights are [inputs x outputs], biases [1 x outputs].
/// Networks hand them to visit_parameters(f) as f(name, view), in a fixed order: for saving, loading, views
/// of other libraries and comparison. S is const for networks that are const.
template <class S>
struct ParameterView {
  using Value = std::remove_const_t<S>;

  S* data = nullptr;
  std::size_t rows = 0, cols = 0;
  Storage storage = Storage::kRowMajor;

  std::size_t size() const noexcept { return rows * cols; }
  /// The number at (row, col).
  S& at(std::size_t row, std::size_t col) const noexcept {
    return data[storage == Storage::kPanels ? PanelLayout::index(rows, cols, row, col) : row * cols + col];
  }
  /// Writes rows x cols numbers, row-major.
  void copy_to(Value* row_major) const noexcept {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) row_major[r * cols + c] = at(r, c);
  }
  /// Reads rows x cols numbers, row-major; padding stays as it is.
  void copy_from(const Value* row_major) const noexcept requires(!std::is_const_v<S>) {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) at(r, c) = row_major[r * cols + c];
  }
};

/// A network whose parameters can be visited.
template <class N>
concept HasParameters = requires(N& network) {
  network.visit_parameters([](const std::string&, auto) {});
};

/// Numbers in all parameters of a network, without padding.
template <HasParameters N>
std::size_t parameter_count(const N& network) {
  std::size_t total = 0;
  network.visit_parameters([&](const std::string&, auto view) { total += view.size(); });
  return total;
}

/// All parameters of a network in exact order: in the order of visit_parameters(), each row-major.
template <class S, HasParameters N>
std::vector<S> exact_parameters(const N& network) {
  std::vector<S> exact(parameter_count(network));
  S* to = exact.data();
  network.visit_parameters([&to](const std::string&, auto view) {
    view.copy_to(to);
    to += view.size();
  });
  return exact;
}

/// Copies numbers in exact order into a network; another count is an error and changes nothing.
template <class S, HasParameters N>
Status set_exact_parameters(N& network, std::span<const S> exact) {
  const std::size_t count = parameter_count(network);
  if (exact.size() != count)
    return Error{ErrorCode::kShapeMismatch, "parameters: " + std::to_string(exact.size()) +
                                                " numbers, the network has " + std::to_string(count)};
  const S* from = exact.data();
  network.visit_parameters([&from](const std::string&, auto view) {
    view.copy_from(from);
    from += view.size();
  });
  return {};
}

}  // namespace mara
