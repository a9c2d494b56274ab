// Value decomposition with a critic that is no mixer.
// EXPECT: mara: the learner needs a template `Trainer<E, C, G>`
// EXPECT: learning::QLearning mixers and the modes None and FlowState
#include "mara/critic/centralised_values.hpp"
#include "mara/learning/q_learning_policy.hpp"
#include "toy.hpp"

int main() {
  return mara::check_learner<mara::learning::QLearning<8>, toy::Environment,
                             mara::critic::CentralisedValues>()
             ? 0
             : 1;
}
