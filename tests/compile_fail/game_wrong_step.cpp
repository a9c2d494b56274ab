// A game whose step() says a reward only, returned by a maker for a learner.
// EXPECT: ^([^e]|e[^r]|er[^r])*error: static[ _]assert
// EXPECT: mara: the game needs `StepOutcome step\(\)`: team reward, and `terminated` and `truncated` apart
// EXPECT: GameCheck<[^>]*Plain>
#include "mara/environment/any_game.hpp"
#include "toy_game.hpp"

struct Plain : toy::TwoAgents {
  float step();
};

int main() {
  const mara::GameMaker make = [](int) { return Plain(); };
  return make(0).present(0) ? 0 : 1;
}
