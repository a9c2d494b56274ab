// An environment whose reset() returns nothing, so that nobody would learn of an error.
// EXPECT: mara: the environment needs `Status reset\(std::uint64_t seed\)`: begins an episode
// EXPECT: EnvironmentCheck<[^>]*Silent>
#include "toy.hpp"

struct Silent : toy::Environment {
  void reset(std::uint64_t seed);
};

int main() {
  return mara::check_environment<Silent>() ? 0 : 1;
}
