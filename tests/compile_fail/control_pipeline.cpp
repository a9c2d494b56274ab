// Compiles: the parameters that the other pipeline_*.cpp break one by one fit, and so do those of the
// library.
#include "mara/environment/cluster_environment.hpp"
#include "mara/learning/mappo_policy.hpp"
#include "mara/pipeline/pipeline.hpp"
#include "toy.hpp"

static_assert(mara::check_environment<toy::Environment>());
static_assert(mara::check_action_space<toy::Actions>());
static_assert(mara::check_critic<toy::Critic>());
static_assert(mara::check_critic<toy::Critic, toy::Environment>());
static_assert(mara::check_guidance<toy::Guidance>());
static_assert(mara::check_learner<toy::Learner>());

using Toy = mara::Pipeline<toy::Environment, toy::Actions, toy::Critic, toy::Guidance, toy::Learner>;
using Real =
    mara::Pipeline<mara::ClusterEnvironment<3>, mara::TieredRequest<3>, mara::critic::Centralised<64, 64>,
                   mara::guidance::AllActionRegulariser, mara::learning::Mappo<64, 64>>;

int main() {
  return sizeof(Toy) > 0 && sizeof(Real) > 0 ? 0 : 1;
}
