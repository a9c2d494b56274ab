#pragma once
// What a game shows at one time, to be compared with what it shows when it is played again.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mara/environment/game.hpp"

namespace mara::detail {

/// What a game shows at one time, and what the step before it paid.
struct GameMoment {
  std::vector<std::uint8_t> present, arrived;
  std::vector<std::uint32_t> order;
  std::vector<OptionMask> masks;  ///< as met when choosing
  std::vector<float> rows, state, rewards;
  StepOutcome outcome;
};

inline bool same_bits(std::span<const float> a, std::span<const float> b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

/// What differs, in words; empty when nothing does.
inline std::string difference(const GameMoment& a, const GameMoment& b) {
  if (a.present != b.present) return "who is present";
  if (a.arrived != b.arrived) return "who has arrived";
  if (a.order != b.order) return "the turn order";
  if (!same_bits(a.rows, b.rows)) return "the observations";
  if (!same_bits(a.state, b.state)) return "the global state";
  if (a.masks != b.masks) return "the masks";
  if (!same_bits({&a.outcome.team_reward, 1}, {&b.outcome.team_reward, 1})) return "the team reward";
  if (!same_bits(a.rewards, b.rewards)) return "the rewards";
  if (a.outcome.terminated != b.outcome.terminated || a.outcome.truncated != b.outcome.truncated)
    return "how the step ended";
  return {};
}

}  // namespace mara::detail
