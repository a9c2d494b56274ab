#pragma once
// The games that ship with mara, by name.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mara/environment/any_game.hpp"
#include "mara/environment/chain_game.hpp"
#include "mara/environment/congestion_game.hpp"
#include "mara/environment/cue_recall.hpp"
#include "mara/environment/dynamic_allocation_game.hpp"
#include "mara/environment/identity_game.hpp"
#include "mara/environment/linear_quadratic_team.hpp"
#include "mara/environment/matrix_game.hpp"
#include "mara/environment/pendulum_game.hpp"
#include "mara/environment/quadratic_team.hpp"
#include "mara/environment/simple_spread.hpp"
#include "mara/environment/switch_riddle.hpp"
#include "mara/environment/two_step_game.hpp"

namespace mara {

/// A game as it is named on a command line.
struct ShippedGame {
  std::string_view name, about;  ///< about: one line
  AnyGame (*make)(int);
};

/// All of them, with the configurations of their defaults.
inline std::span<const ShippedGame> shipped_games() noexcept {
  static constexpr std::array<ShippedGame, 17> kGames{{
      {"two-step", "2 agents; additive value decomposition takes the branch of 7, not that of 8",
       [](int) { return AnyGame(TwoStepGame()); }},
      {"climbing", "2 agents, one step; the best cell 11 lies between cells of -30 and 0",
       [](int) { return AnyGame(MatrixGame::climbing()); }},
      {"penalty", "2 agents, one step; two cells of 10 beside cells of -25",
       [](int) { return AnyGame(MatrixGame::penalty(-25.0f)); }},
      {"penalty-0", "2 agents, one step; two cells of 10 to agree on",
       [](int) { return AnyGame(MatrixGame::penalty(0.0f)); }},
      {"qtran", "2 agents, one step; a payoff of 8 that no monotone mixer represents",
       [](int) { return AnyGame(MatrixGame::qtran_matrix()); }},
      {"nearly-monotone", "2 agents, one step; a payoff of 12 that a monotone mixer nearly represents",
       [](int) { return AnyGame(MatrixGame::nearly_monotone_matrix()); }},
      {"allocation", "3 agents share 3 units, one step; best 8",
       [](int) { return AnyGame(MatrixGame::allocation_game()); }},
      {"dyn-a", "2 agents with queues share one server; 50 steps",
       [](int) { return AnyGame(DynamicAllocationGame()); }},
      {"quadratic", "2 agents, one number each, one step; best .8456",
       [](int) { return AnyGame(QuadraticTeam()); }},
      {"lq", "2 agents steer a linear system at quadratic cost; 50 steps",
       [](int) { return AnyGame(LinearQuadraticTeam()); }},
      {"switch-riddle", "3 prisoners and a lamp; needs memory; best .7407",
       [](int) { return AnyGame(SwitchRiddle()); }},
      {"chain", "1 agent on a chain; staying at home is best", [](int) { return AnyGame(ChainGame()); }},
      {"congestion", "10 agents on two links, one step; selfish 9.1 to 10, together 7.5",
       [](int) { return AnyGame(CongestionGame()); }},
      {"spread", "3 agents cover 3 landmarks (simple_spread, shared sum); 25 steps",
       [](int) { return AnyGame(SimpleSpread()); }},
      {"cue", "1 agent remembers a cue for 5 steps", [](int) { return AnyGame(CueRecall()); }},
      {"identity", "1 agent repeats what it sees; 100 steps", [](int) { return AnyGame(IdentityGame()); }},
      {"pendulum", "1 agent swings up a pendulum; 200 steps", [](int) { return AnyGame(PendulumGame()); }},
  }};
  return kGames;
}

/// The names that make_game() knows.
inline std::vector<std::string_view> game_names() {
  std::vector<std::string_view> names;
  for (const ShippedGame& game : shipped_games()) names.push_back(game.name);
  return names;
}

/// The maker of a shipped game. An unknown name is an error that lists the names.
inline Result<GameMaker> make_game(std::string_view name) {
  std::string known;
  for (const ShippedGame& game : shipped_games()) {
    if (game.name == name) return GameMaker(game.make);
    known += known.empty() ? "" : ", ";
    known += game.name;
  }
  return Error{ErrorCode::kInvalidArgument,
               "game: \"" + std::string(name) + "\" is unknown; there are " + known};
}

}  // namespace mara
