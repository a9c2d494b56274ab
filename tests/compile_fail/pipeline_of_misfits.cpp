// A pipeline of an environment that is none: the first error is that of the check.
// EXPECT: ^([^e]|e[^r]|er[^r])*error: static[ _]assert
// EXPECT: mara: the environment needs `static constexpr int kObservation`, positive
// EXPECT: EnvironmentCheck<[^>]*Nothing>
#include "mara/learning/mappo_policy.hpp"
#include "mara/pipeline/pipeline.hpp"
#include "toy.hpp"

struct Nothing {};

using Empty = mara::Pipeline<Nothing, toy::Actions, toy::Critic, toy::Guidance, mara::learning::Mappo<8>>;

int main() {
  return static_cast<int>(sizeof(Empty));
}
