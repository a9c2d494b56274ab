#pragma once
// What an action of one agent consists of: choices among options, then numbers from intervals.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "mara/core/result.hpp"

namespace mara {

/// Bounds of one number of an action.
struct ActionBounds {
  float low = -1.0f, high = 1.0f;
  friend bool operator==(const ActionBounds&, const ActionBounds&) = default;
};

/// Shape of an action. Discrete: one head. Multi-discrete: several heads. Box: numbers only. Hybrid: both.
struct ActionShape {
  std::vector<int> heads;         ///< options of each choice, in [1, 32]
  std::vector<ActionBounds> box;  ///< bounds of each number

  static ActionShape discrete(int options) { return {{options}, {}}; }
  static ActionShape multi_discrete(std::vector<int> options) { return {std::move(options), {}}; }
  static ActionShape numbers_within(std::vector<ActionBounds> bounds) { return {{}, std::move(bounds)}; }

  std::size_t choices() const noexcept { return heads.size(); }
  std::size_t numbers() const noexcept { return box.size(); }
  /// Options of all heads together.
  std::size_t options() const noexcept {
    std::size_t total = 0;
    for (const int n : heads) total += static_cast<std::size_t>(n);
    return total;
  }
  /// Numbers that an actor's network says per agent: a logit per option, a mean per number.
  std::size_t outputs() const noexcept { return options() + numbers(); }
  friend bool operator==(const ActionShape&, const ActionShape&) = default;
};

/// Errors (kInvalidArgument) name the head or the number: no part at all, options outside [1, 32], bounds
/// that are not finite or not in order.
inline Status check_action_shape(const ActionShape& shape) {
  const auto bad = [](const std::string& what) {
    return Error{ErrorCode::kInvalidArgument, "action: " + what};
  };
  if (shape.heads.empty() && shape.box.empty()) return bad("neither heads nor box");
  for (std::size_t h = 0; h < shape.heads.size(); ++h)
    if (shape.heads[h] < 1 || shape.heads[h] > 32)
      return bad("heads[" + std::to_string(h) + "] = " + std::to_string(shape.heads[h]) + ", not in [1, 32]");
  for (std::size_t k = 0; k < shape.box.size(); ++k) {
    const ActionBounds bounds = shape.box[k];
    if (!std::isfinite(bounds.low) || !std::isfinite(bounds.high) || !(bounds.low < bounds.high))
      return bad("box[" + std::to_string(k) + "] = [" + std::to_string(bounds.low) + ", " +
                 std::to_string(bounds.high) + "]");
  }
  return {};
}

}  // namespace mara
