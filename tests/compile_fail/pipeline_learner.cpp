// A learner whose trainer cannot learn.
// EXPECT: mara: the learner's Trainer needs `Result<Report> update\(\)`: one round of experience
// EXPECT: LearnerCheck<[^>]*Idle
#include "toy.hpp"

struct Idle {
  template <class E, class C, class G>
  struct Trainer : toy::Learner::Trainer<E, C, G> {
    using Config = typename toy::Learner::Trainer<E, C, G>::Config;
    using Flow = typename toy::Learner::Trainer<E, C, G>::Flow;
    static mara::Result<std::unique_ptr<Trainer>> create(const Config& config,
                                                         const std::function<E(int)>& make, G guidance,
                                                         std::shared_ptr<const Flow> flow);
    void update();
  };
};

int main() {
  return mara::check_learner<Idle>() ? 0 : 1;
}
