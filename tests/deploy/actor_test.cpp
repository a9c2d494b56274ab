// The deployed actor decides as the scheduler it was trained as, keeps to its promises on bad input, and
// allocates nothing.
#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "allocation_counter.hpp"
#include "deploy_helpers.hpp"
#include "mara/simulation/simulate.hpp"

using namespace mara;
using namespace mara::test;

static_assert(Scheduler<SmallActor>);
static_assert(std::is_nothrow_move_constructible_v<SmallActor> && !std::is_copy_constructible_v<SmallActor>);
static_assert(noexcept(std::declval<SmallActor&>().decide(std::declval<const DecisionView&>(),
                                                          std::declval<Allocation&>())));

TEST_CASE("the deployed actor decides as the sequential scheduler of its network", "[deploy]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SmallActor actor = small_actor(seed);
    using Head = NetworkHead<SmallActor::Network>;
    SequentialScheduler<3, Head> scheduler("reference", Head(random_network(seed), 64), kUnit, 64);
    const Situation s = random_situation(seed, 1 + 3 * seed);
    const auto decided = decide(actor, s.view());
    CHECK(decided == decide(scheduler, s.view()));
    CHECK(decided == decide(actor, s.view()));  // no memory of earlier decisions
    CHECK(actor.refusals() == 0);
  }
}

TEST_CASE("different weights decide differently", "[deploy]") {
  SmallActor one = small_actor(1), other = small_actor(2);
  const Situation s = random_situation(3, 40);
  CHECK(decide(one, s.view()) != decide(other, s.view()));
}

TEST_CASE("a moved actor is the same actor", "[deploy]") {
  SmallActor actor = small_actor(5);
  const Situation s = random_situation(5, 30);
  const auto before = decide(actor, s.view());
  SmallActor moved = std::move(actor);
  CHECK(decide(moved, s.view()) == before);
  SmallActor assigned = small_actor(6);
  assigned = std::move(moved);
  CHECK(decide(assigned, s.view()) == before);
}

TEST_CASE("save and load give identical decisions", "[deploy]") {
  const TemporaryPath file("mara_actor_round_trip");
  SmallActor actor = small_actor(7);
  REQUIRE(actor.save(file.path));
  auto loaded = SmallActor::load(file.path, 64);
  REQUIRE(loaded);
  CHECK(loaded->time_unit_s() == 300.0);
  CHECK(loaded->type_names() == std::vector<std::string>{"a100", "v100", "t4"});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Situation s = random_situation(seed, 60);
    CHECK(decide(*loaded, s.view()) == decide(actor, s.view()));
  }
}

TEST_CASE("relu actors survive the file too", "[deploy]") {
  using Network = SmallActor::Network;
  Network network(Activation::kRelu);
  network.set_parameters(random_network(8).exact_parameters()).value();
  SmallActor actor = SmallActor::create(network, kUnit, 64).value();
  SmallActor tanh = SmallActor::create(random_network(8), kUnit, 64).value();
  const TemporaryPath file("mara_actor_relu");
  REQUIRE(actor.save(file.path));
  SmallActor loaded = SmallActor::load(file.path, 64).value();
  CHECK(loaded.type_names().empty());
  const Situation s = random_situation(8, 60);
  CHECK(decide(loaded, s.view()) == decide(actor, s.view()));
  CHECK(decide(loaded, s.view()) != decide(tanh, s.view()));
}

TEST_CASE("decide() allocates nothing", "[deploy]") {
  SmallActor actor = small_actor(9, 64);
  const Situation s = random_situation(9, 64);
  const Situation crowd = random_situation(9, 65);
  Situation broken = s;
  broken.active[3].remaining_work = std::nan("");
  Allocation allocation(s.cluster);
  allocation.reset(65);
  for (const Situation* each : std::initializer_list<const Situation*>{&s, &crowd, &broken}) {
    const DecisionView view = each->view();
    allocation.reset(view.active.size());
    const std::size_t before = allocations();
    actor.decide(view, allocation);
    CHECK(allocations() == before);
  }
  CHECK(actor.refusals() == 2);
  const std::size_t before = allocations();
  void* volatile probe = ::operator new(8);  // one that no optimiser removes
  CHECK(allocations() > before);             // the counter counts
  ::operator delete(probe);
}

TEST_CASE("a whole run allocates nothing in decisions and finishes all jobs", "[deploy]") {
  struct Watched {
    SmallActor actor;
    std::size_t allocated = 0;
    std::string_view name() const { return actor.name(); }
    void decide(const DecisionView& view, Allocation& allocation) {
      const std::size_t before = allocations();
      actor.decide(view, allocation);
      allocated += allocations() - before;
    }
  };
  Situation s = random_situation(10, 50);
  std::sort(s.jobs.begin(), s.jobs.end(), [](const Job& a, const Job& b) { return a.submit_s < b.submit_s; });
  Watched watched{small_actor(10, 50)};
  auto result = simulate(s.cluster, s.jobs, watched, {});
  REQUIRE(result);
  CHECK(watched.allocated == 0);
  CHECK(watched.actor.refusals() == 0);
  for (std::size_t i = 0; i < s.jobs.size(); ++i) CHECK(result->records[i].end_s > s.jobs[i].submit_s);
}

TEST_CASE("no change when the view cannot be trusted", "[deploy]") {
  SmallActor actor = small_actor(11);
  const Situation good = random_situation(11, 30);
  const auto kept = held(good.view());
  REQUIRE(decide(actor, good.view()) != kept);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  std::vector<Situation> broken(14, good);
  broken[0].active[4].remaining_work = nan;
  broken[1].active[4].remaining_work = infinity;
  broken[2].active[4].remaining_work = -1.0;
  broken[3].active[4].overhead_left_s = nan;
  broken[4].jobs[4].work = nan;
  broken[5].jobs[4].work = -5.0;
  broken[6].jobs[4].submit_s = infinity;
  broken[7].jobs[4].speed_up.parameter = nan;
  broken[8].jobs[4].type_speed[1] = nan;
  broken[9].jobs[4].type_speed[2] = -0.5;
  broken[10].now_s = nan;
  broken[11].jobs[4].requested = Milli{0};
  broken[12].jobs[4].requested = Milli{-4000};
  broken[13].active[4].overhead_left_s = -infinity;
  for (std::size_t i = 0; i < broken.size(); ++i) {
    INFO(i);
    CHECK(decide(actor, broken[i].view()) == kept);
    CHECK(actor.refusals() == i + 1);
  }
  // A job that does not exist: the others keep what they have.
  Situation lost = good;
  lost.active.back().job = 1000;
  auto expected = kept;
  expected.back() = Grant{};
  CHECK(decide(actor, lost.view()) == expected);
  // Another cluster, and none.
  Situation two = good;
  two.cluster = parse_cluster("a100:2x8,v100:2x8").value();
  const std::uint64_t refusals = actor.refusals();
  decide(actor, two.view());
  DecisionView none = good.view();
  none.cluster = nullptr;
  Allocation allocation(good.cluster);
  allocation.reset(none.active.size());
  actor.decide(none, allocation);
  CHECK(std::vector<Grant>(allocation.grants().begin(), allocation.grants().end()) == kept);
  CHECK(actor.refusals() == refusals + 2);
  // More jobs than there is room for.
  const Situation crowd = random_situation(12, 65);
  CHECK(decide(actor, crowd.view()) == held(crowd.view()));
}

TEST_CASE("no change when the network's answer is not finite", "[deploy]") {
  SmallActor actor = [] {
    SmallActor::Network network(Activation::kTanh);
    network.set_parameters(std::vector<float>(SmallActor::Network::kParameters, 3e38f)).value();
    return SmallActor::create(network, kUnit, 64).value();  // the weights are finite, their sums are not
  }();
  const Situation s = random_situation(13, 40);
  CHECK(decide(actor, s.view()) == held(s.view()));
  CHECK(actor.refusals() == 1);
}

TEST_CASE("an empty system is no trouble", "[deploy]") {
  SmallActor actor = small_actor();
  Situation s;
  CHECK(decide(actor, s.view()).empty());
  CHECK(actor.refusals() == 0);
}

TEST_CASE("a ledger of another size is survived", "[deploy]") {
  SmallActor actor = small_actor();
  const Situation s = random_situation(14, 20);
  Allocation allocation(s.cluster);
  allocation.reset(5);
  actor.decide(s.view(), allocation);
  CHECK(allocation.grants().size() == 5);
}

TEST_CASE("create() and check() say what is wrong", "[deploy]") {
  const auto message = [](const Result<SmallActor>& actor) {
    return actor ? std::string() : actor.error().message;
  };
  CHECK(message(SmallActor::create(random_network(1), {0.0}, 1)) == "time_unit_s: must be positive, is 0");
  CHECK(message(SmallActor::create(random_network(1), {std::nan("")}, 1)) ==
        "time_unit_s: must be finite, is nan");
  CHECK(message(SmallActor::create(random_network(1), kUnit, 0)) ==
        "max_agents = 0, must be in [1, 1000000]");
  CHECK(message(SmallActor::create(random_network(1), kUnit, 1000001)) ==
        "max_agents = 1000001, must be in [1, 1000000]");
  CHECK(message(SmallActor::create(random_network(1), kUnit, 1, {"a100"})) ==
        "type_names: 1 names, the actor is compiled for 3 GPU types");
  const SmallActor::Network good = random_network(1);
  std::vector<float> broken = good.exact_parameters();
  broken[17] = std::numeric_limits<float>::infinity();
  SmallActor::Network network(Activation::kTanh);
  network.set_parameters(broken).value();
  CHECK(message(SmallActor::create(network, kUnit, 1)) == "parameters[17]: must be finite, is inf");

  const SmallActor actor = small_actor();
  CHECK(actor.check(three_types()));
  CHECK(actor.check(parse_cluster("a100:1x1,v100:1x1,t4:9x1").value()));
  CHECK(actor.check(parse_cluster("a100:2x8").value()).error().message ==
        "cluster: 1 GPU types, the actor is compiled for 3");
  CHECK(actor.check(parse_cluster("a100:2x8,t4:2x8,v100:2x8").value()).error().message ==
        "cluster: type 1 is 't4', the actor was trained for 'v100'");
  CHECK(SmallActor::create(random_network(1), kUnit, 1)
            .value()
            .check(parse_cluster("h100:1x1,l4:1x1,t4:9x1").value()));
}
