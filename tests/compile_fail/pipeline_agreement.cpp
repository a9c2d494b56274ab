// The action space of three GPU types for an environment of two: the pipeline says so before anything else.
// EXPECT: ^([^e]|e[^r]|er[^r])*error: static[ _]assert
// EXPECT: mara: the pipeline's action space is not that of its environment
// EXPECT: AgreementCheck<[^>]*ClusterEnvironment<2>
#include "mara/environment/cluster_environment.hpp"
#include "mara/learning/mappo_policy.hpp"
#include "mara/pipeline/pipeline.hpp"

using Mixed = mara::Pipeline<mara::ClusterEnvironment<2>, mara::TieredRequest<3>,
                             mara::critic::Centralised<8>, mara::guidance::None, mara::learning::Mappo<8>>;

int main() {
  return static_cast<int>(sizeof(Mixed));
}
