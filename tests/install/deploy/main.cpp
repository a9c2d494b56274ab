// A scheduler that embeds the actor: only deploy/ is included.
#include <cstdio>

#include "deploy_headers.hpp"

int main() {
  std::puts("mara::deploy links");
  return 0;
}
