// An action space without a distribution.
// EXPECT: mara: the action space needs a type `Distribution`, such as MaskedCategorical<kOptions>
// EXPECT: ActionSpaceCheck<[^>]*Bare>
#include "toy.hpp"

struct Bare {
  static constexpr int kOptions = 3;
};

int main() {
  return mara::check_action_space<Bare>() ? 0 : 1;
}
