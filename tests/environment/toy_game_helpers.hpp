#pragma once
// What the tests of the small games share.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "mara/environment/game.hpp"

namespace mara::test {

/// Lets every present agent choose `options[slot]` (one head) and steps.
template <Game G>
StepOutcome play_options(G& game, const std::vector<std::int32_t>& options) {
  const std::vector<std::uint32_t> order(game.turn_order().begin(), game.turn_order().end());
  for (const std::uint32_t slot : order) game.choose(slot, &options[slot], nullptr);
  return game.step();
}

/// The same for one number per agent.
template <Game G>
StepOutcome play_numbers(G& game, const std::vector<float>& numbers) {
  const std::vector<std::uint32_t> order(game.turn_order().begin(), game.turn_order().end());
  for (const std::uint32_t slot : order) game.choose(slot, nullptr, &numbers[slot]);
  return game.step();
}

template <Game G>
std::vector<float> observations(const G& game) {
  std::vector<float> rows(game.shape().agents * game.shape().observation, -77.0f);
  game.observe(rows.data());
  return rows;
}

template <Game G>
std::vector<float> state_of_game(const G& game) {
  std::vector<float> row(game.shape().state, -77.0f);
  game.global_state(row.data());
  return row;
}

/// Mean and standard error of what was added.
struct Sample {
  double count = 0, sum = 0, squares = 0;
  void add(double value) { count += 1, sum += value, squares += value * value; }
  double mean() const { return sum / count; }
  double error() const { return std::sqrt((squares / count - mean() * mean()) / count); }
};

}  // namespace mara::test
