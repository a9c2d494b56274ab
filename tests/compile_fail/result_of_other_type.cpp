// A Result is not its value: who forgets to look at the error is stopped by the compiler.
// EXPECT: (cannot convert|no viable conversion).*Result<int>
#include "mara/core/result.hpp"

mara::Result<int> answer() {
  return 42;
}

int main() {
  const int value = answer();
  return value;
}
