// Compiles: includes, standard and flags are right, so the other files fail for what they name.
#include "mara/core/result.hpp"

mara::Result<int> answer() {
  return 42;
}

int main() {
  return answer().value() - 42;
}
