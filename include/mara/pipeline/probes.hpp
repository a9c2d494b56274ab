#pragma once
// The smallest types that fulfil the concepts; checks of one parameter use them in place of the others. Never
// run.

#include <cstddef>
#include <cstdint>
#include <span>

#include "mara/core/result.hpp"
#include "mara/environment/concept.hpp"

namespace mara::detail {

/// An environment without bodies.
struct ProbeEnvironment {
  static constexpr int kObservation = 2;
  static constexpr int kGlobalState = 3;
  static constexpr int kOptions = 2;
  Status reset(std::uint64_t seed);
  std::size_t agents() const noexcept;
  void observe(float* rows) const noexcept;
  void global_state(float* row) const noexcept;
  std::span<const std::uint32_t> turn_order() const noexcept;
  OptionMask mask(std::size_t agent) const noexcept;
  OptionMask possible(std::size_t agent) const noexcept;
  void act(std::size_t agent, int option) noexcept;
  StepOutcome step();
  std::span<const float> rewards() const noexcept;
  int current_option(std::size_t agent) const noexcept;
};
static_assert(Environment<ProbeEnvironment>);

}  // namespace mara::detail
