// An environment without act(), given to the checker of games: it is told which check names the member.
// EXPECT: ^([^e]|e[^r]|er[^r])*error: static[ _]assert
// EXPECT: mara: this class has kObservation but is no Environment
#include "mara/environment/check_environment.hpp"
#include "toy.hpp"

struct Idle : toy::Environment {
  void act() = delete;
};

int main() {
  return mara::check_environment<Idle>(1).good() ? 0 : 1;
}
