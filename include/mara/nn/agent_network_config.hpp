#pragma once
// Extents and kind of the network of an agent.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mara/core/result.hpp"
#include "mara/math/activation.hpp"

namespace mara {

/// The most that anything may be of which a configuration gives the number: a negative number that became a
/// std::size_t is more.
inline constexpr std::size_t kLargestCount = std::size_t{1} << 31;
/// The largest extent of a layer.
inline constexpr std::size_t kLargestExtent = std::size_t{1} << 24;

/// What an agent remembers from step to step.
enum class Recurrence : std::uint8_t { kNone, kGru, kLstm };

/// Extents and kind of an AgentNetwork.
struct AgentNetworkConfig {
  std::size_t inputs = 0, outputs = 0;
  std::vector<std::size_t> hidden{64,
                                  64};  ///< widths of the layers before the cell or the head; may be empty
  Activation activation = Activation::kRelu;
  Recurrence recurrence = Recurrence::kNone;
  std::size_t memory_units = 64;  ///< of the recurrent cell
  bool dueling = false;           ///< outputs = V + A - mean A (Wang et al. 2016, eq. 9)
  float output_gain = 1.0f;       ///< orthogonal gain of the head; sqrt(2) before it, 1 in the cell
};

/// Errors (kInvalidArgument) name the field: zero inputs, outputs, widths or (where there is a cell)
/// memory_units, an extent above kLargestExtent, no such activation or recurrence, an output_gain that is
/// negative or not finite.
inline Status check_agent_network(const AgentNetworkConfig& config) {
  const auto bad = [](const std::string& field, const std::string& value, const char* why) {
    return Error{ErrorCode::kInvalidArgument, field + " = " + value + why};
  };
  std::string wrong;
  const auto extent = [&wrong](const std::string& name, std::size_t value) {
    if (wrong.empty() && (value == 0 || value > kLargestExtent))
      wrong = name + " = " + std::to_string(value) + ", not in [1, 2^24]";
  };
  extent("inputs", config.inputs);
  extent("outputs", config.outputs);
  for (std::size_t i = 0; i < config.hidden.size(); ++i)
    extent("hidden[" + std::to_string(i) + "]", config.hidden[i]);
  if (config.recurrence != Recurrence::kNone || config.memory_units > kLargestExtent)
    extent("memory_units", config.memory_units);
  if (!wrong.empty()) return Error{ErrorCode::kInvalidArgument, wrong};
  const int activation = static_cast<int>(config.activation);
  if (activation < 0 || activation >= kActivations)
    return bad("activation", std::to_string(activation), ", there is no such");
  if (config.recurrence > Recurrence::kLstm)
    return bad("recurrence", std::to_string(static_cast<int>(config.recurrence)), ", there is no such");
  if (!std::isfinite(config.output_gain) || config.output_gain < 0.0f)
    return bad("output_gain", std::to_string(config.output_gain), ", negative or not finite");
  return {};
}

}  // namespace mara
