// A game whose reset() returns nothing, given to the checker of games.
// EXPECT: ^([^e]|e[^r]|er[^r])*error: static[ _]assert
// EXPECT: mara: the game needs `Status reset\(std::uint64_t seed\)`: begins an episode
// EXPECT: GameCheck<[^>]*Silent>
#include "mara/environment/check_environment.hpp"
#include "toy_game.hpp"

struct Silent : toy::TwoAgents {
  void reset(std::uint64_t);
};

int main() {
  return mara::check_environment([] { return Silent(); }, 1).good() ? 0 : 1;
}
