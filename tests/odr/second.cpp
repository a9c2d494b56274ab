#include "backward.hpp"

double second_draw(std::uint64_t seed) {
  mara::Random random(seed);
  return random.uniform();
}
