// A user's program: everything is included, something of it is used.
#if __has_include(<mara/mara.hpp>)
#include <mara/mara.hpp>
#else
#include <mara/core/random.hpp>
#endif

#include <cstdio>

int main() {
  mara::Random random(1);
  const double draw = random.uniform();
  std::printf("a draw: %.17g\n", draw);
  return draw >= 0.0 && draw < 1.0 ? 0 : 1;
}
