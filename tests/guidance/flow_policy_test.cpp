// The flow as a policy, and the actor that sees it: what they compute, and that they do so without memory.
#include "mara/guidance/flow_policy.hpp"

#include <memory>
#include <vector>

#include "catch.hpp"
#include "environment/allocation_counter.hpp"
#include "environment/environment_helpers.hpp"
#include "mara/nn/mlp_inference.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Request = TieredRequest<2>;
using Observation = ClusterObservation<2>;
using Flow = AllocationFlow<Request::kOptions, Observation::kSize, 16>;
constexpr std::size_t kOptions = Request::kOptions, kSize = Observation::kSize;
using Actor = MlpInference<float, kSize + kOptions, 8, kOptions>;

std::shared_ptr<const Flow> random_flow(std::uint64_t seed) {
  Random random(seed);
  auto flow = std::make_shared<Flow>();
  flow->field = Flow::Field(random);
  return flow;
}

Actor random_actor(std::uint64_t seed) {
  Random random(seed);
  std::vector<float> parameters(Actor::kParameters);
  for (float& p : parameters) p = static_cast<float>(random.normal());
  Actor actor;
  REQUIRE(actor.set_parameters(parameters));
  return actor;
}

/// Random inputs of a decision.
struct Inputs {
  std::vector<float> observations;
  std::vector<int> current;
  std::vector<OptionMask> possible, masks;
  Inputs(Random& random, std::size_t agents) {
    for (std::size_t i = 0; i < agents * kSize; ++i)
      observations.push_back(static_cast<float>(random.normal()));
    for (std::size_t i = 0; i < agents; ++i) {
      current.push_back(static_cast<int>(random.below(kOptions)));
      possible.push_back(1u | random.below(1u << kOptions));
      masks.push_back((1u | random.below(1u << kOptions)) & possible.back());
    }
  }
  PolicyInput input() const { return {observations.data(), current.data(), possible.data(), current.size()}; }
};

}  // namespace

static_assert(PolicyHead<FlowHead<Flow>> && PolicyHead<FlowInputHead<Actor, Flow>>);

TEST_CASE("the flow head's policy is the guided distribution at the agent's turn", "[flow policy]") {
  Random random(1);
  const auto flow = random_flow(2);
  FlowHead<Flow> head(flow);
  const Inputs inputs(random, 9);
  head.prepare(inputs.input());
  Flow::Workspace work;
  for (std::size_t i = 0; i < 9; ++i) {
    const Request::Distribution policy(head.logits(i, inputs.masks[i]), inputs.masks[i]);
    float endpoint[kOptions], q[kOptions];
    flow->endpoint(&inputs.observations[i * kSize], &inputs.current[i], &inputs.masks[i], 1, endpoint, work);
    flow->guided_distribution(endpoint, inputs.masks[i], q);
    for (int a = 0; a < Request::kOptions; ++a) CHECK(policy.probability(a) == Approx(q[a]).margin(1e-6));
  }
}

TEST_CASE("the flow-input head shows the actor observation and flow vector", "[flow policy]") {
  Random random(3);
  const auto flow = random_flow(4);
  const Actor actor = random_actor(5);
  FlowInputHead<Actor, Flow> head(actor, flow, 20);
  const Inputs inputs(random, 9);
  head.prepare(inputs.input());
  Flow::Workspace work;
  Actor::Workspace actor_work;
  for (std::size_t i = 0; i < 9; ++i) {
    float endpoint[kOptions];
    flow->endpoint(&inputs.observations[i * kSize], &inputs.current[i], &inputs.possible[i], 1, endpoint,
                   work);
    std::vector<float> row(&inputs.observations[i * kSize], &inputs.observations[i * kSize] + kSize);
    for (std::size_t a = 0; a < kOptions; ++a)
      row.push_back(endpoint[a] - (static_cast<int>(a) == inputs.current[i] ? 1.0f : 0.0f));
    float logits[kOptions];
    actor.forward(row.data(), 1, logits, actor_work);
    const float* got = head.logits(i, inputs.masks[i]);
    for (std::size_t a = 0; a < kOptions; ++a) CHECK(got[a] == Approx(logits[a]).margin(1e-4));
  }
}

TEST_CASE("decisions with a flow allocate nothing, not even the first or those of a copy", "[flow policy]") {
  constexpr std::size_t kAgents = 60;
  Random random(6);
  const SequentialScheduler<2, FlowHead<Flow>> flow_policy("flow", FlowHead<Flow>(random_flow(7)), {},
                                                           kAgents);
  const SequentialScheduler<2, FlowInputHead<Actor, Flow>> guided(
      "guided", FlowInputHead<Actor, Flow>(random_actor(8), random_flow(7), kAgents), {}, kAgents);
  auto flow_copy = flow_policy;
  auto guided_copy = guided;
  for (int trial = 0; trial < 20; ++trial) {
    const Scene scene = random_scene<2>(random, kAgents);
    const DecisionView view = scene.view();
    Allocation first = scene.ledger(), second = scene.ledger();
    const long before = allocations;
    flow_copy.decide(view, first);
    guided_copy.decide(view, second);
    const long after = allocations;
    REQUIRE(after == before);
    require_within_capacity(scene, first);
    require_within_capacity(scene, second);
  }
}

TEST_CASE("a field of broken numbers changes nothing of what runs", "[flow policy]") {
  auto flow = std::make_shared<Flow>();
  for (float& w : flow->field.network().parameters()) w = std::numeric_limits<float>::quiet_NaN();
  SequentialScheduler<2, FlowHead<Flow>> scheduler("broken", FlowHead<Flow>(flow), {}, 20);
  Random random(9);
  for (int trial = 0; trial < 50; ++trial) {
    const Scene scene = random_scene<2>(random, 12);
    Allocation allocation = scene.ledger();
    scheduler.decide(scene.view(), allocation);
    for (std::size_t agent = 0; agent < scene.active.size(); ++agent)
      if (!scene.active[agent].held.empty()) CHECK(allocation.grant(agent) == scene.active[agent].held);
  }
}
