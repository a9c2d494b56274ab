#pragma once
// Games with known answers, and what each learner should reach in them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "game_families.hpp"

namespace lab {

/// A learner on a game: how to make it, how long it trains, how its result is measured and judged.
struct GameCase {
  std::string env, learner;
  std::string measure;   ///< what is measured, in words
  std::string expected;  ///< what it should be, in words
  std::int64_t steps = 0;
  mara::GameMaker make;
  std::function<mara::Result<mara::AnyTrainer>(std::uint64_t seed)> begin;
  std::function<mara::Result<double>(const mara::AnyTrainer&)> result;
  std::function<bool(double)> passes;
};

/// All cases, in the order of the table.
std::vector<GameCase> game_cases();

}  // namespace lab
