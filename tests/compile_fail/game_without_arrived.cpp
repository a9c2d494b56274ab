// A game that does not say who has arrived.
// EXPECT: ^([^e]|e[^r]|er[^r])*error: static[ _]assert
// EXPECT: mara: the game needs `bool arrived\(std::size_t slot\) const`: whether this is
// EXPECT: GameCheck<[^>]*Pickup>
#include "mara/environment/any_game.hpp"
#include "toy_game.hpp"

struct Pickup : toy::TwoAgents {
  void arrived() = delete;
};

int main() {
  return mara::AnyGame(Pickup()).present(0) ? 0 : 1;
}
