#include "mara/deploy/row_actor.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "allocation_counter.hpp"
#include "deploy_helpers.hpp"

using namespace mara;
using mara::test::random_network;
using mara::test::random_situation;
using mara::test::Situation;

namespace {

using Network = MlpInference<float, 32, 64, 64, 16>;
using Rows = deploy::RowActor<Network, 3>;
static_assert(noexcept(std::declval<Rows&>().decide(nullptr, {}, {}, std::declval<Allocation&>(), {})));

struct Decision {
  explicit Decision(std::uint64_t seed, std::size_t jobs)
      : situation(random_situation(seed, jobs)),
        observations(jobs * Rows::kInputs),
        order(jobs),
        options(jobs),
        allocation(situation.cluster) {
    Random random(seed);
    for (float& x : observations) x = static_cast<float>(random.normal());
    std::iota(order.begin(), order.end(), 0u);
    random.shuffle(order);
    allocation.reset(jobs);
  }
  Situation situation;
  std::vector<float> observations;
  std::vector<std::uint32_t> order;
  std::vector<int> options;
  Allocation allocation;
};

}  // namespace

TEST_CASE("rows in, options out: the mode of the masked policy at each turn", "[deploy]") {
  Rows actor = Rows::create(random_network<Network>(4), 64).value();
  const Network network = random_network<Network>(4);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::size_t jobs = 2 + seed;
    Decision d(seed, jobs);
    const DecisionView view = d.situation.view();
    REQUIRE(actor.decide(d.observations.data(), d.order, view, d.allocation, d.options));
    // The same by hand.
    std::vector<float> logits(jobs * Network::kOutputs);
    Network::Workspace work;
    network.forward(d.observations.data(), jobs, logits.data(), work);
    Allocation expected(d.situation.cluster);
    expected.reset(jobs);
    using Arbiter = SequentialArbiter<3>;
    for (const std::uint32_t agent : d.order) {
      const MaskedCategorical<10> policy(&logits[agent * Network::kOutputs],
                                         Arbiter::mask(view, agent, expected));
      CHECK(d.options[agent] == policy.mode());
      Arbiter::claim(view, agent, policy.mode(), expected);
    }
    Arbiter::backfill(view, d.order, expected);
    CHECK(std::equal(expected.grants().begin(), expected.grants().end(), d.allocation.grants().begin()));
  }
}

TEST_CASE("a row actor allocates nothing", "[deploy]") {
  Rows actor = Rows::create(random_network<Network>(4), 200).value();
  Decision d(1, 200);
  const DecisionView view = d.situation.view();
  Random random(9);
  const std::size_t before = mara::test::allocations();
  for (int i = 0; i < 20; ++i) {
    d.allocation.reset(200);
    actor.decide(d.observations.data(), d.order, view, d.allocation, d.options);
    d.allocation.reset(200);
    actor.sample(d.observations.data(), d.order, view, d.allocation, d.options, random);
  }
  CHECK(mara::test::allocations() == before);
}

TEST_CASE("samples are legal and depend on the seed", "[deploy]") {
  Rows actor = Rows::create(random_network<Network>(4, 0.05f), 60).value();
  Decision one(7, 60), two(7, 60), other(7, 60);
  Random a(1), b(1), c(2);
  REQUIRE(
      actor.sample(one.observations.data(), one.order, one.situation.view(), one.allocation, one.options, a));
  REQUIRE(
      actor.sample(two.observations.data(), two.order, two.situation.view(), two.allocation, two.options, b));
  REQUIRE(actor.sample(other.observations.data(), other.order, other.situation.view(), other.allocation,
                       other.options, c));
  CHECK(one.options == two.options);
  CHECK(one.options != other.options);
  for (const int option : one.options) CHECK((option >= 0 && option < 10));
}

TEST_CASE("what cannot be decided stays as it is", "[deploy]") {
  Rows actor = Rows::create(random_network<Network>(4), 30).value();
  const auto kept = [](const Decision& d) {
    for (std::size_t i = 0; i < d.situation.active.size(); ++i)
      if (d.allocation.grant(i) != d.situation.active[i].held) return false;
    return true;
  };
  Decision many(3, 31);
  CHECK_FALSE(actor.decide(many.observations.data(), many.order, many.situation.view(), many.allocation,
                           many.options));
  CHECK(kept(many));
  Decision strange(3, 20);
  strange.order[4] = 20;
  CHECK_FALSE(actor.decide(strange.observations.data(), strange.order, strange.situation.view(),
                           strange.allocation, strange.options));
  CHECK(kept(strange));
  CHECK(std::count(strange.options.begin(), strange.options.end(), -1) == 20);
  Decision spans(3, 20);
  CHECK_FALSE(actor.decide(spans.observations.data(), spans.order, spans.situation.view(), spans.allocation,
                           std::span<int>(spans.options).first(19)));
  CHECK(kept(spans));

  // NaN in one row: that agent keeps what it holds when its turn comes, the others decide.
  Decision broken(5, 20);
  std::swap(*std::find(broken.order.begin(), broken.order.end(), 6u), broken.order[0]);
  broken.observations[6 * Rows::kInputs + 3] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(actor.decide(broken.observations.data(), broken.order, broken.situation.view(), broken.allocation,
                       broken.options));
  CHECK(broken.options[6] == -1);
  if (!broken.situation.active[6].held.empty())
    CHECK(broken.allocation.grant(6) == broken.situation.active[6].held);
  CHECK(std::count(broken.options.begin(), broken.options.end(), -1) == 1);

  // An agent that is left out of the order does not lose what it holds while there is room.
  Decision left_out(5, 20);
  left_out.order.clear();
  REQUIRE(actor.decide(left_out.observations.data(), left_out.order, left_out.situation.view(),
                       left_out.allocation, left_out.options));
  CHECK(kept(left_out));
}

TEST_CASE("a row actor is refused with a reason", "[deploy]") {
  Network network = random_network<Network>(4);
  CHECK(Rows::create(network, 0).error().message == "max_agents = 0, must be in [1, 1000000]");
  auto weights = network.exact_parameters();
  weights[5] = std::numeric_limits<float>::infinity();
  REQUIRE(network.set_parameters(weights));
  CHECK(Rows::create(network, 5).error().message == "parameters[5] is not finite");
}
