// Agents of an environment that says who they are: they keep their slots, newcomers take free ones.
#include "mara/environment/environment_game.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "environment_helpers.hpp"
#include "mara/environment/cluster_environment.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Cluster2 = ClusterEnvironment<2>;

/// Jobs of a minute to some hours that come every two minutes or so.
ClusterEnvironmentConfig busy_cluster() {
  ClusterEnvironmentConfig config;
  config.cluster.types = {pool("fast", 4), pool("slow", 6)};
  config.workload = [](std::uint64_t seed) -> Result<std::vector<Job>> {
    Random random(seed);
    std::vector<Job> jobs;
    double now = 0.0;
    for (int i = 0; i < 50; ++i) {
      now += random.exponential(1.0 / 120.0);
      jobs.push_back(job_of(now, 1 << random.below(3), random.log_normal(6.0, 1.2), 8));
      jobs.back().id = i;
    }
    return jobs;
  };
  config.episode_steps = 400;
  return config;
}

/// Three agents whose ids are what `ids` says for this step.
class NamedAgents {
 public:
  static constexpr int kObservation = 1, kGlobalState = 1, kOptions = 2;

  explicit NamedAgents(std::vector<std::vector<std::uint64_t>> ids) : ids_(std::move(ids)) {}
  Status reset(std::uint64_t) {
    step_ = 0;
    turn();
    return {};
  }
  std::size_t agents() const { return ids_[step_].size(); }
  std::uint64_t agent_id(std::size_t agent) const { return ids_[step_][agent]; }
  void observe(float* rows) const {
    for (std::size_t i = 0; i < agents(); ++i) rows[i] = static_cast<float>(agent_id(i));
  }
  void global_state(float* row) const { *row = static_cast<float>(step_); }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t) const { return 3u; }
  OptionMask possible(std::size_t) const { return 3u; }
  void act(std::size_t, int) {}
  StepOutcome step() {
    rewards_.clear();
    for (std::size_t i = 0; i < agents(); ++i) rewards_.push_back(100.0f + static_cast<float>(agent_id(i)));
    ++step_;
    turn();
    return {0.0f, step_ + 1 == ids_.size(), false};
  }
  std::span<const float> rewards() const { return rewards_; }
  int current_option(std::size_t) const { return 0; }

 private:
  void turn() {
    order_.clear();
    for (std::size_t i = agents(); i-- > 0;) order_.push_back(static_cast<std::uint32_t>(i));
  }

  std::vector<std::vector<std::uint64_t>> ids_;
  std::size_t step_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<float> rewards_;
};

std::vector<float> seen(const EnvironmentGame<NamedAgents>& game) {
  std::vector<float> rows(game.shape().agents);
  game.observe(rows.data());
  return rows;
}

std::string arrivals(const EnvironmentGame<NamedAgents>& game) {
  std::string text;
  for (std::size_t slot = 0; slot < game.shape().agents; ++slot)
    text += !game.present(slot) ? '-' : game.arrived(slot) ? 'a' : 's';
  return text;
}

}  // namespace

static_assert(KnowsAgents<Cluster2>);
static_assert(Game<EnvironmentGame<Cluster2>>);

TEST_CASE("agents keep their slots while indices move; free slots are taken from the lowest", "[games]") {
  EnvironmentGame<NamedAgents> game(NamedAgents({{7, 8, 9}, {9, 8}, {5, 9, 8}, {6, 4, 5}, {6}}), 4);
  REQUIRE(game.reset(1));
  CHECK(seen(game) == std::vector<float>{7, 8, 9, 0});
  CHECK(arrivals(game) == "aaa-");
  CHECK(std::vector(game.turn_order().begin(), game.turn_order().end()) ==
        std::vector<std::uint32_t>{2, 1, 0});
  CHECK_FALSE(game.step().terminated);  // 7 leaves, the others change their indices
  CHECK(seen(game) == std::vector<float>{0, 8, 9, 0});
  CHECK(arrivals(game) == "-ss-");
  CHECK(std::vector(game.turn_order().begin(), game.turn_order().end()) == std::vector<std::uint32_t>{1, 2});
  CHECK(game.agent(1) == 1);
  CHECK(game.agent(2) == 0);
  CHECK(std::vector(game.rewards().begin(), game.rewards().end()) == std::vector<float>{107, 108, 109, 0});
  CHECK_FALSE(game.step().terminated);  // 5 comes
  CHECK(seen(game) == std::vector<float>{5, 8, 9, 0});
  CHECK(arrivals(game) == "ass-");
  CHECK(std::vector(game.rewards().begin(), game.rewards().end()) == std::vector<float>{0, 108, 109, 0});
  CHECK_FALSE(game.step().terminated);  // 8 and 9 leave, 6 and 4 come in the same step
  CHECK(seen(game) == std::vector<float>{5, 6, 4, 0});
  CHECK(arrivals(game) == "saa-");
  CHECK(game.step().terminated);
  CHECK(seen(game) == std::vector<float>{0, 6, 0, 0});
  REQUIRE(game.reset(2));  // nobody is known from the episode before
  CHECK(arrivals(game) == "aaa-");
}

TEST_CASE("two agents of one id are an error that names it", "[games]") {
  EnvironmentGame<NamedAgents> at_once(NamedAgents({{3, 3}, {1}}), 4);
  CHECK(at_once.reset(1).error().message == "environment: agent_id = 3 of two agents");
  CHECK(arrivals(at_once) == "----");
  CHECK(seen(at_once) == std::vector<float>(4));
  CHECK(at_once.turn_order().empty());
  EnvironmentGame<NamedAgents> later(NamedAgents({{3, 1}, {2, 2}, {1}}), 4);
  REQUIRE(later.reset(1));
  CHECK(later.step().truncated);
  CHECK(arrivals(later) == "----");
  CHECK(later.reset(1).error().message == "environment: agent_id = 2 of two agents");
}

TEST_CASE("jobs of a cluster sit still, see what the environment shows and get its rewards", "[games]") {
  constexpr std::size_t kSlots = 60, kWidth = Cluster2::kObservation;
  EnvironmentGame<Cluster2> game(Cluster2(busy_cluster()), kSlots);
  Cluster2 plain(busy_cluster());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    REQUIRE(game.reset(seed));
    REQUIRE(plain.reset(seed));
    Random random(seed);
    std::map<std::uint64_t, std::size_t> slot_of;  // everybody who was there one step ago
    std::set<std::uint64_t> known;
    std::size_t stayed = 0, moved = 0;
    for (StepOutcome outcome; !outcome.terminated && !outcome.truncated;) {
      std::vector<float> rows(plain.agents() * kWidth), seats(kSlots * kWidth);
      plain.observe(rows.data());
      game.observe(seats.data());
      std::map<std::uint64_t, std::size_t> now;
      for (std::size_t slot = 0; slot < kSlots; ++slot) {
        const float* row = seats.data() + slot * kWidth;
        if (!game.present(slot)) {
          REQUIRE(std::all_of(row, row + kWidth, [](float x) { return x == 0.0f; }));
          continue;
        }
        const std::size_t agent = game.agent(slot);
        const std::uint64_t id = plain.agent_id(agent);
        REQUIRE(now.emplace(id, slot).second);
        REQUIRE(std::equal(row, row + kWidth, rows.data() + agent * kWidth));
        REQUIRE(game.arrived(slot) == known.insert(id).second);
        if (slot_of.count(id) == 0) continue;
        REQUIRE(slot_of[id] == slot);
        ++stayed;
        moved += agent != slot ? 1 : 0;
      }
      REQUIRE(now.size() == plain.agents());
      slot_of = now;
      std::vector<std::size_t> sat(plain.agents());
      for (const auto& [id, slot] : now) sat[game.agent(slot)] = slot;
      REQUIRE(game.turn_order().size() == plain.turn_order().size());
      for (std::size_t k = 0; k < plain.turn_order().size(); ++k) {
        const std::uint32_t agent = plain.turn_order()[k], slot = game.turn_order()[k];
        REQUIRE(sat[agent] == slot);
        const OptionMask mask = plain.mask(agent);
        REQUIRE(game.mask(slot, 0) == mask);
        auto option = static_cast<std::int32_t>(random.below(Cluster2::kOptions));
        if (((mask >> option) & 1u) == 0) option = 0;
        plain.act(agent, option);
        game.choose(slot, &option, nullptr);
      }
      const StepOutcome expected = plain.step();
      outcome = game.step();
      REQUIRE(outcome.team_reward == expected.team_reward);
      REQUIRE(outcome.terminated == expected.terminated);
      for (std::size_t agent = 0; agent < sat.size(); ++agent)
        REQUIRE(game.rewards()[sat[agent]] == plain.rewards()[agent]);
    }
    CHECK(known.size() > 40);
    CHECK(stayed > 100);
    CHECK(moved > 20);  // slots and indices are not the same thing here
  }
}
