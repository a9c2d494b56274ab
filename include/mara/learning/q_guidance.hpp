#pragma once
// How knowledge from outside, such as a flow field, enters value learning.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "mara/action/masked_categorical.hpp"

namespace mara {

/// One stored moment, for all slots.
struct QMoment {
  std::span<const float> observations;    ///< slots x observation, zeros for absent agents
  std::span<const float> state;           ///< global state
  std::span<const std::uint8_t> present;  ///< slots
  std::span<const OptionMask> masks;      ///< slots, as they were
  std::span<const std::int32_t> options;  ///< slots: what was chosen; empty in a last frame
};

/// Two ways in, both off by default. Callbacks are called by the learning thread only, depend on nothing but
/// the moment, and are not part of checkpoints.
struct QGuidance {
  /// Numbers that follow the global state in the input of the mixer (and of the central mixer), such as a
  /// flow vector: describe(moment, out[features]).
  std::size_t features = 0;
  std::function<void(const QMoment&, float*)> describe;
  /// Weight lambda of (Q - g)^2 beside the squared error (Q - y)^2, so that Q tends to (y + lambda g) / (1 +
  /// lambda); g = value(moment) is for the team's value, or for every agent's where nothing is mixed. NaN: no
  /// constraint on this moment. With weight 0 value() is never called and no bit changes.
  double constraint = 0.0;
  std::function<float(const QMoment&)> value;
};

}  // namespace mara
