// Properties of the PPO family: the same bits, resumption, absent agents, memory, layouts, guidance.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "learning/team_ppo_helpers.hpp"
#include "mara/environment/chain_game.hpp"
#include "mara/environment/identity_game.hpp"
#include "mara/environment/two_step_game.hpp"
#include "mara/learning/exact_evaluation.hpp"

using namespace mara;
using namespace mara::test;

namespace {

/// Settings under which much happens in a few rounds: recurrent, several minibatches, absent agents.
template <class Trainer>
typename Trainer::Config busy_config(Recurrence recurrence = Recurrence::kGru) {
  typename Trainer::Config c;
  c.environments = 5;
  c.rollout_steps = 24;
  c.sequence_steps = 8;
  c.minibatch_steps = 40;
  c.epochs = 2;
  c.actor.network.hidden = {8};
  c.actor.network.memory_units = 8;
  c.actor.network.recurrence = recurrence;
  c.learning_rate = c.critic_learning_rate = 1e-3;
  c.final_rate = 0.5;
  c.total_steps = 2000;
  return c;
}

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::string("mara_team_ppo_") + name)).string();
}

/// Each environment pays a number of its own to each slot, and shows it. One step to an episode.
class PaidByPlace {
 public:
  explicit PaidByPlace(int environment)
      : shape_{3, 2, 1, ActionShape::discrete(2)}, environment_(static_cast<float>(environment)) {}
  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t) { return {}; }
  bool present(std::size_t) const { return true; }
  bool arrived(std::size_t) const { return true; }
  void observe(float* rows) const {
    for (int i = 0; i < 3; ++i) *rows++ = environment_, *rows++ = static_cast<float>(i);
  }
  void global_state(float* row) const { *row = environment_; }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t, std::size_t) const { return 3u; }
  void choose(std::size_t, const std::int32_t*, const float*) {}
  StepOutcome step() {
    for (int i = 0; i < 3; ++i)
      rewards_[static_cast<std::size_t>(i)] = 10.0f * environment_ + static_cast<float>(i);
    return {100.0f * environment_, true, false};
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  GameShape shape_;
  float environment_;
  std::array<std::uint32_t, 3> order_{0, 1, 2};
  std::array<float, 3> rewards_{};
};

/// Pays what no float holds in the sum of an episode.
class Exploding : public TwoStepGame {
 public:
  StepOutcome step() {
    StepOutcome outcome = TwoStepGame::step();
    outcome.team_reward = 3e38f;
    return outcome;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("team ppo: one seed gives the same bits on 1, 2 and 3 threads", "[team_ppo]", IppoTrainer,
                   TeamMappoTrainer, TeamPpoTrainer<critic::PooledValues>) {
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    auto config = busy_config<TestType>();
    config.threads = threads;
    const auto trainer = created<TestType>(config, same_game(ComingAndGoing(3, 0, true)));
    rounds(*trainer, 3);
    if (threads == 1) first = all_weights(*trainer);
    CHECK(all_weights(*trainer) == first);
  }
  auto config = busy_config<TestType>();
  config.seed = 2;
  const auto other = created<TestType>(config, same_game(ComingAndGoing(3, 0, true)));
  rounds(*other, 3);
  CHECK(all_weights(*other) != first);
}

TEST_CASE("team ppo: a resumed run has the bits of one that went on", "[team_ppo]") {
  const auto check = [](auto config, auto tag, int before) {
    using Trainer = typename decltype(tag)::type;
    const GameMaker make = same_game(ComingAndGoing(3, 1, true));
    const std::string path = temporary("resume");
    const auto whole = created<Trainer>(config, make);
    rounds(*whole, before);
    REQUIRE(whole->save(path));
    const TrainingReport expected = rounds(*whole, 3);
    const auto resumed = created<Trainer>(config, make);
    REQUIRE(resumed->load(path));
    const TrainingReport got = rounds(*resumed, 3);
    CHECK(all_weights(*resumed) == all_weights(*whole));
    CHECK(got.env_steps == expected.env_steps);
    CHECK(got.episodes == expected.episodes);
    CHECK(got.values == expected.values);
    std::filesystem::remove(path);
  };
  Random random(7);
  for (const Recurrence kind : {Recurrence::kNone, Recurrence::kGru, Recurrence::kLstm}) {
    auto ippo = busy_config<IppoTrainer>(kind);
    ippo.rewards = RewardKind::kIndividual;
    ippo.critic.network.recurrence = kind;
    ippo.critic.network.memory_units = 8;
    check(ippo, std::type_identity<IppoTrainer>{}, 1 + static_cast<int>(random.below(4)));
    auto mappo = busy_config<TeamMappoTrainer>(kind);
    mappo.pop_art = true;
    check(mappo, std::type_identity<TeamMappoTrainer>{}, 1 + static_cast<int>(random.below(4)));
  }
}

TEST_CASE("team ppo: what is no checkpoint of this trainer is refused and changes nothing", "[team_ppo]") {
  const GameMaker make = same_game(ComingAndGoing());
  const std::string path = temporary("foreign");
  const auto config = busy_config<IppoTrainer>();
  const auto trainer = created<IppoTrainer>(config, make);
  rounds(*trainer, 1);
  REQUIRE(trainer->save(path));
  const std::vector<float> before = all_weights(*trainer);

  auto more = config;
  more.environments = 6;
  const auto other = created<IppoTrainer>(more, make);
  const Status counts = other->load(path);
  REQUIRE_FALSE(counts);
  CHECK(counts.error().message.find("environments") != std::string::npos);
  auto wider = config;
  wider.actor.network.hidden = {9};
  CHECK_FALSE(created<IppoTrainer>(wider, make)->load(path));

  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (const std::size_t at : {bytes.size() / 3, bytes.size() / 2, bytes.size() - 9}) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x10);
    std::ofstream(path, std::ios::binary) << broken;
    CHECK_FALSE(trainer->load(path));
  }
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  CHECK_FALSE(trainer->load(path));
  std::filesystem::remove(path);
  CHECK_FALSE(trainer->load(path));
  CHECK(all_weights(*trainer) == before);
  const auto fresh = created<IppoTrainer>(config, make);
  rounds(*fresh, 2);
  rounds(*trainer, 1);
  CHECK(all_weights(*trainer) == all_weights(*fresh));
}

TEST_CASE("team ppo: evaluation changes nothing", "[team_ppo]") {
  const GameMaker make = same_game(ComingAndGoing());
  const auto looked_at = created<TeamMappoTrainer>(busy_config<TeamMappoTrainer>(), make);
  const auto alone = created<TeamMappoTrainer>(busy_config<TeamMappoTrainer>(), make);
  for (int i = 0; i < 3; ++i) {
    rounds(*looked_at, 1);
    rounds(*alone, 1);
    const double once = evaluated(*looked_at, make, 5, 30);
    CHECK(evaluated(*looked_at, make, 5, 30) == once);
    auto drawing = looked_at->random_policy(looked_at->weights());
    const auto a = evaluate_policy(make, drawing, {.episodes = 3, .episode_steps = 30});
    const auto b = evaluate_policy(make, drawing, {.episodes = 3, .episode_steps = 30});
    REQUIRE((a && b));
    CHECK(mean_team_return(*a) == mean_team_return(*b));
  }
  CHECK(all_weights(*looked_at) == all_weights(*alone));
}

TEST_CASE("team ppo: replaying a rollout gives its log-probabilities to the bit", "[team_ppo]") {
  for (const bool numbers : {false, true})
    for (const Recurrence kind : {Recurrence::kNone, Recurrence::kGru, Recurrence::kLstm})
      for (const bool separate : {false, true}) {
        auto config = busy_config<IppoTrainer>(kind);
        config.environments = 1;  // one minibatch, seen before the first step
        config.minibatch_steps = 24;
        config.epochs = 1;
        config.box = BoxKind::kTanhGaussian;
        config.critic.network.recurrence = kind;
        config.critic.network.memory_units = 8;
        config.critic.separate = separate;
        if (separate) config.actor.groups = separate_groups(3);
        const auto trainer = created<IppoTrainer>(config, same_game(ComingAndGoing(3, 0, numbers)));
        for (int i = 0; i < 6; ++i) {
          const TrainingReport report = rounds(*trainer, 1);
          CAPTURE(numbers, static_cast<int>(kind), separate, i);
          CHECK(value_of(report, "approximate_kl") == 0.0);
          CHECK(value_of(report, "clip_fraction") == 0.0);
        }
      }
}

TEST_CASE("team ppo: empty slots change no loss and no gradient", "[team_ppo]") {
  for (const Recurrence kind : {Recurrence::kNone, Recurrence::kGru}) {
    auto config = busy_config<IppoTrainer>(kind);
    const auto tight = created<IppoTrainer>(config, same_game(ComingAndGoing(3, 0, true)));
    const auto padded = created<IppoTrainer>(config, same_game(ComingAndGoing(3, 4, true)));
    CHECK(all_weights(*tight) == all_weights(*padded));
    const TrainingReport a = rounds(*tight, 1), b = rounds(*padded, 1);
    for (std::size_t e = 0; e < 5; ++e) {
      const TeamRollout &r = tight->rollouts()[e], &s = padded->rollouts()[e];
      for (std::size_t t = 0; t < r.steps; ++t)
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(r.log_probabilities[t * 3 + i] == s.log_probabilities[t * 7 + i]);
          CHECK(r.advantages[t * 3 + i] == s.advantages[t * 7 + i]);
        }
    }
    for (std::size_t k = 0; k < a.values.size(); ++k) {
      CAPTURE(a.values[k].first);
      CHECK(a.values[k].second == Approx(b.values[k].second).epsilon(1e-4).margin(1e-6));
    }
    // Gradients of one batch, made by hand from both.
    const auto gradient = [&tight](const IppoTrainer& trainer, std::vector<float>& actor,
                                   std::vector<float>& critic) {
      const GameShape& shape = trainer.actor().shape();
      TeamBatchShape rows{shape.observation,        shape.state, 1, 3,     2,
                          trainer.actor().memory(), 0,           8, false, false};
      const std::vector<TeamSequence> sequences{{0, 0}, {3, 8}, {1, 16}, {0, 8}};
      TeamBatch b;
      gather_team_batch(trainer.rollouts(), sequences, trainer.actor(), rows, b);
      b.weights.assign(b.live.size(), 1.0f / static_cast<float>(b.live.size()));
      Tape<float> tape;
      TeamLossReport report;
      actor.assign(trainer.actor().stored(), 0.0f), critic.assign(trainer.critic().stored(), 0.0f);
      const TeamLossConfig weights{0.2f, 0.01f, 0.2f, 10.0f};
      REQUIRE(team_policy_gradient(tape, trainer.actor(), tight->weights().data(), guidance::None{}, false, b,
                                   weights, actor, report));
      REQUIRE(team_value_gradient(tape, trainer.critic(), tight->critic_weights().data(), guidance::None{},
                                  false, b, weights, critic, report));
    };
    std::vector<float> actor_a, critic_a, actor_b, critic_b;
    gradient(*tight, actor_a, critic_a);
    gradient(*padded, actor_b, critic_b);
    for (std::size_t i = 0; i < actor_a.size(); ++i)
      CHECK(actor_a[i] == Approx(actor_b[i]).epsilon(1e-5).margin(1e-6));
    for (std::size_t i = 0; i < critic_a.size(); ++i)
      CHECK(critic_a[i] == Approx(critic_b[i]).epsilon(1e-5).margin(1e-4));
  }
}

TEST_CASE("team ppo: nobody there is no loss", "[team_ppo]") {
  auto config = busy_config<IppoTrainer>(Recurrence::kNone);
  config.minibatch_steps = 1;
  const auto nobody = created<IppoTrainer>(config, same_game(ComingAndGoing(0, 2)));
  const std::vector<float> before(nobody->weights().begin(), nobody->weights().end());
  const TrainingReport report = rounds(*nobody, 2);
  CHECK(value_of(report, "policy_loss") == 0.0);
  CHECK(value_of(report, "value_loss") == 0.0);
  CHECK(value_of(report, "entropy") == 0.0);
  CHECK(std::equal(before.begin(), before.end(), nobody->weights().begin()));
  const auto few = created<IppoTrainer>(config, same_game(ComingAndGoing(1, 2)));
  rounds(*few, 3);
  for (const float w : all_weights(*few)) CHECK(std::isfinite(w));
}

TEST_CASE("team ppo: every agent's target is that of its own environment and slot", "[team_ppo]") {
  const GameMaker make = [](int e) { return AnyGame(PaidByPlace(e)); };
  const auto check_own = [&](auto tag, auto prepare) {
    using Trainer = typename decltype(tag)::type;
    auto config = busy_config<Trainer>(Recurrence::kNone);
    config.rewards = RewardKind::kIndividual;
    prepare(config);
    const auto trainer = created<Trainer>(config, make);
    rounds(*trainer, 1);
    for (std::size_t e = 0; e < 5; ++e)
      for (std::size_t row = 0; row < 24 * 3; ++row)
        CHECK(trainer->rollouts()[e].returns[row] ==
              Approx(10.0 * static_cast<double>(e) + static_cast<double>(row % 3)).margin(1e-4));
    const std::vector<TeamSequence> sequences{{4, 3}, {0, 0}, {2, 23}, {2, 5}};
    TeamBatch b;
    gather_team_batch(trainer->rollouts(), sequences, trainer->actor(), {2, 1, 1, 2}, b);
    for (std::size_t row = 0; row < b.targets.size(); ++row)
      CHECK(b.targets[row] ==
            Approx(10.0f * b.observations[2 * row] + b.observations[2 * row + 1]).margin(1e-4));
  };
  check_own(std::type_identity<IppoTrainer>{}, [](auto&) {});
  check_own(std::type_identity<TeamMappoTrainer>{}, [](auto& c) { c.critic.own_observation = true; });
  check_own(std::type_identity<TeamPpoTrainer<critic::PooledValues>>{},
            [](auto& c) { c.critic.per_agent = true; });

  // The team's reward and one value for all; what the critic learns of each environment.
  auto config = busy_config<TeamMappoTrainer>(Recurrence::kNone);
  config.learning_rate = config.critic_learning_rate = 5e-3;
  config.critic.network.activation = Activation::kTanh;
  config.value_clip = 0.0;
  const auto trainer = created<TeamMappoTrainer>(config, make);
  rounds(*trainer, 60);
  critic::CentralisedValues::Workspace work;
  for (int e = 0; e < 5; ++e) {
    const auto state = static_cast<float>(e);
    critic::ValueRows rows;
    rows.count = 1;
    rows.states = &state;
    float value = 0.0f;
    trainer->critic().step(trainer->critic_weights().data(), rows, nullptr, &value, work);
    CHECK(trainer->normaliser().denormalize(value) == Approx(100.0 * e).margin(10.0));
  }
}

TEST_CASE("team ppo: advantages are returns less values in the units of rewards", "[team_ppo]") {
  auto config = busy_config<IppoTrainer>(Recurrence::kNone);
  config.advantages = AdvantageScope::kNone;
  const auto trainer = created<IppoTrainer>(config, same_game(ComingAndGoing()));
  rounds(*trainer, 2);
  const ValueNormaliser<float> normaliser = trainer->normaliser();
  const std::vector<float> critic(trainer->critic_weights().begin(), trainer->critic_weights().end());
  rounds(*trainer, 1);
  const TeamRollout& r = trainer->rollouts()[1];
  critic::ValueRows rows{
      1, r.steps, r.states.data(), r.observations.data(), r.present.data(), r.arrived.data(), r.began.data()};
  std::vector<float> said(r.values.size());
  critic::IndependentValues::Workspace work;
  trainer->critic().step(critic.data(), rows, nullptr, said.data(), work);
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (r.counted[i] == 0) continue;
    CHECK(r.values[i] == normaliser.denormalize(said[i]));
    CHECK(r.advantages[i] == Approx(r.returns[i] - r.values[i]).margin(1e-5));
  }
  std::size_t looked = 0;
  for (std::size_t t = 0; t < r.steps; ++t) {
    if (r.final_of[t] < 0) continue;
    const auto f = static_cast<std::size_t>(r.final_of[t]);
    rows.count = 1;
    rows.observations = &r.final_observations[f * 6];
    trainer->critic().step(critic.data(), rows, nullptr, said.data(), work);
    for (std::size_t i = 0; i < 3; ++i) {
      if (r.present[t * 3 + i] == 0 || r.final_stays[f * 3 + i] == 0) continue;
      CHECK(r.next_values[t * 3 + i] == normaliser.denormalize(said[i]));
      ++looked;
    }
  }
  CHECK(looked > 0);
}

TEST_CASE("team ppo: the value after a cut is that of the final state, with the memory of the episode",
          "[team_ppo]") {
  auto config = busy_config<IppoTrainer>();
  config.critic.network.recurrence = Recurrence::kGru;
  config.critic.network.memory_units = 8;
  config.normalise_values = false;
  const auto trainer = created<IppoTrainer>(config, same_game(ComingAndGoing()));
  const std::vector<float> critic(trainer->critic_weights().begin(), trainer->critic_weights().end());
  rounds(*trainer, 1);
  std::size_t looked = 0;
  for (const TeamRollout& r : trainer->rollouts()) {
    std::vector<float> memory(trainer->critic().memory()), ahead, value(3);
    critic::IndependentValues::Workspace work;
    const std::vector<std::uint8_t> nobody(3, 0);
    for (std::size_t t = 0; t < r.steps; ++t) {
      critic::ValueRows rows{
          1, 1, &r.states[t * 2], &r.observations[t * 6], &r.present[t * 3], &r.arrived[t * 3], &r.began[t]};
      trainer->critic().step(critic.data(), rows, memory.data(), value.data(), work);
      for (std::size_t i = 0; i < 3; ++i) CHECK(r.values[t * 3 + i] == value[i]);
      CHECK((r.final_of[t] >= 0) ==
            (r.ends[t] == StepEnd::kTruncated || (t + 1 == r.steps && r.ends[t] == StepEnd::kContinues)));
      if (r.final_of[t] < 0) continue;
      const auto f = static_cast<std::size_t>(r.final_of[t]);
      rows.observations = &r.final_observations[f * 6];
      rows.arrived = nobody.data();
      for (std::size_t i = 0; i < 3; ++i)  // absent agents see zeros; nobody is replaced within a step
        CHECK((r.final_stays[f * 3 + i] != 0) ==
              (r.final_observations[f * 6 + 2 * i] != 0.0f && r.present[t * 3 + i] != 0));
      ahead = memory;
      trainer->critic().step(critic.data(), rows, ahead.data(), value.data(), work);
      for (std::size_t i = 0; i < 3; ++i) {
        if (r.present[t * 3 + i] == 0 || r.final_stays[f * 3 + i] == 0) {
          CHECK(r.next_values[t * 3 + i] == 0.0f);
        } else {
          CHECK(r.next_values[t * 3 + i] == value[i]);
          ++looked;
        }
      }
    }
  }
  CHECK(looked > 5);
}

TEST_CASE("team ppo: old values are those that the critic said, in its own scale", "[team_ppo]") {
  // Before the first step of a round values are the old ones, so that clipping them changes nothing.
  std::vector<double> losses;
  for (const double clip : {0.0, 1e-3}) {
    auto config = busy_config<IppoTrainer>(Recurrence::kNone);
    config.epochs = 1;
    config.minibatch_steps = 5 * 24;
    config.value_clip = clip;
    const auto trainer = created<IppoTrainer>(config, same_game(ComingAndGoing()));
    losses.push_back(value_of(rounds(*trainer, 4), "value_loss"));
  }
  CHECK(losses[0] > 0.0);
  CHECK(losses[1] == Approx(losses[0]).epsilon(1e-4));
}

TEST_CASE("team ppo: PopArt changes the scale of the critic and not what it says", "[team_ppo]") {
  for (const bool pop_art : {false, true}) {
    auto config = busy_config<IppoTrainer>(Recurrence::kNone);
    config.pop_art = pop_art;
    config.critic_learning_rate = 1e-30;  // nothing is learnt
    const auto trainer = created<IppoTrainer>(config, same_game(ComingAndGoing()));
    const std::vector<float> seen{0.3f, -0.8f, 0.0f, 0.5f, -0.2f, 0.9f};
    const auto said = [&] {
      critic::ValueRows rows;
      rows.count = 1;
      rows.observations = seen.data();
      critic::IndependentValues::Workspace work;
      std::vector<float> value(3);
      trainer->critic().step(trainer->critic_weights().data(), rows, nullptr, value.data(), work);
      return std::pair{value[0], trainer->normaliser().denormalize(value[0])};
    };
    rounds(*trainer, 1);
    const auto before = said();
    rounds(*trainer, 1);
    const auto after = said();
    CAPTURE(pop_art);
    CHECK((after.first == before.first) == !pop_art);
    CHECK((after.second == Approx(before.second).epsilon(1e-4)) == pop_art);
  }
}

TEST_CASE("team ppo: a potential pays what the shaped game pays, at every kind of end", "[team_ppo]") {
  using Shaped = TeamPpoTrainer<critic::CentralisedValues, guidance::AuxiliaryReward<>>;
  ChainConfig chain;
  chain.steps = 7;
  chain.shaped = true;
  auto config = busy_config<TeamMappoTrainer>(Recurrence::kNone);
  config.gamma = chain.discount;
  const auto outside = created<TeamMappoTrainer>(config, same_game(ChainGame(chain)));
  chain.shaped = false;
  guidance::AuxiliaryReward<> mode;
  mode.weight = 1.0f;
  auto made = Shaped::create(config, same_game(ChainGame(chain)), mode,
                             TeamGuidance{.potential = [](const AnyGame& game, const GameFrame&) {
                               constexpr std::array<float, 5> kPhi{0.0f, 0.25f, 0.5f, 0.75f, 9.0f};
                               return kPhi[game.get<ChainGame>()->state()];
                             }});
  REQUIRE(made);
  rounds(*outside, 1);
  const TrainingReport report = rounds(**made, 1);
  std::size_t terminated = 0, truncated = 0;
  double paid = 0.0;
  for (std::size_t e = 0; e < 5; ++e) {
    const TeamRollout &a = outside->rollouts()[e], &b = (*made)->rollouts()[e];
    for (std::size_t t = 0; t < a.steps; ++t) {
      CHECK(b.rewards[t] == Approx(a.rewards[t]).margin(1e-6));
      terminated += a.ends[t] == StepEnd::kTerminated ? 1u : 0u;
      truncated += a.ends[t] == StepEnd::kTruncated ? 1u : 0u;
    }
    paid += b.episode_returns;
  }
  CHECK(terminated > 0);
  CHECK(truncated > 0);
  // What is reported is what the game pays, without shaping.
  CHECK(report.episodes == static_cast<std::int64_t>(terminated + truncated));
  CHECK(report.episode_return == Approx(paid / static_cast<double>(report.episodes)));
  CHECK(report.episode_return >= 0.0);
}

TEST_CASE("team ppo: the divergence is looked at before the step that would go too far", "[team_ppo]") {
  const GameMaker make = same_game(ComingAndGoing());
  auto config = busy_config<IppoTrainer>(Recurrence::kNone);
  config.minibatch_steps = 5 * 24;
  config.epochs = 1;
  const auto once = created<IppoTrainer>(config, make);
  config.epochs = 5;
  config.target_kl = 1e-12;
  const auto held = created<IppoTrainer>(config, make);
  config.target_kl = 0.0;
  const auto free = created<IppoTrainer>(config, make);
  CHECK(rounds(*once, 1).updates == 1);
  CHECK(rounds(*held, 1).updates == 1);
  CHECK(rounds(*free, 1).updates == 5);
  CHECK(std::equal(once->weights().begin(), once->weights().end(), held->weights().begin()));
  // The critic goes on: the divergence says nothing about it.
  CHECK(std::equal(free->critic_weights().begin(), free->critic_weights().end(),
                   held->critic_weights().begin()));
}

TEST_CASE("team ppo: a loss that is not finite stops the run and keeps the weights", "[team_ppo]") {
  const auto trainer = created<TeamMappoTrainer>(busy_config<TeamMappoTrainer>(), same_game(Exploding()));
  const std::vector<float> before = all_weights(*trainer);
  const auto report = trainer->update();
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::kNumerical);
  CHECK(report.error().message.find("value loss") != std::string::npos);
  CHECK(all_weights(*trainer) == before);
}

TEST_CASE("team ppo: a configuration outside its domain is named", "[team_ppo]") {
  const GameMaker make = same_game(ComingAndGoing());
  const auto refused = [&](const std::string& field, auto change) {
    auto config = busy_config<TeamMappoTrainer>();
    change(config);
    const auto made = TeamMappoTrainer::create(config, make);
    CAPTURE(field);
    REQUIRE_FALSE(made);
    CHECK(made.error().message.find(field) != std::string::npos);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused("environments", [](auto& c) { c.environments = 0; });
  refused("rollout_steps", [](auto& c) { c.rollout_steps = -1; });
  refused("episode_steps", [](auto& c) { c.episode_steps = -1; });
  refused("total_steps", [](auto& c) { c.total_steps = 0; });
  refused("sequence_steps", [](auto& c) { c.sequence_steps = 7; });
  refused("minibatch_steps", [](auto& c) { c.minibatch_steps = 0; });
  refused("epochs", [](auto& c) { c.epochs = 0; });
  refused("gamma", [](auto& c) { c.gamma = 1.1; });
  refused("lambda", [nan](auto& c) { c.lambda = nan; });
  refused("clip", [](auto& c) { c.clip = 0.0; });
  refused("learning_rate", [nan](auto& c) { c.learning_rate = nan; });
  refused("critic_learning_rate", [](auto& c) { c.critic_learning_rate = -1.0; });
  refused("reward_scale", [](auto& c) { c.reward_scale = 0.0; });
  refused("entropy_initial", [](auto& c) { c.entropy_initial = -0.1; });
  refused("target_kl", [](auto& c) { c.target_kl = -0.1; });
  refused("value_normaliser_decay", [](auto& c) { c.value_normaliser_decay = 1.0; });
  refused("least_log_std", [](auto& c) { c.least_log_std = 1.0; });
  refused("initial_log_std", [nan](auto& c) { c.initial_log_std = nan; });
  refused("pop_art", [](auto& c) { c.pop_art = true, c.normalise_values = false; });
  refused("rewards", [](auto& c) { c.rewards = RewardKind::kIndividual; });
  refused("actor", [](auto& c) { c.actor.groups = {0, 1}; });
  refused("critic", [](auto& c) { c.critic.network.hidden = {0}; });
  refused("threads = 0", [](auto& c) { c.threads = 0; });
  refused("threads = -3", [](auto& c) { c.threads = -3; });
  const auto negative = static_cast<std::size_t>(-1);  // what becomes of -1 in a field of std::size_t
  const std::string large = std::to_string(negative);
  refused("actor: hidden[0] = " + large, [=](auto& c) { c.actor.network.hidden = {negative}; });
  refused("actor: memory_units = " + large, [=](auto& c) { c.actor.network.memory_units = negative; });
  refused("centralised values: hidden[1] = " + large, [=](auto& c) {
    c.critic.network.hidden = {4, negative};
  });
  refused("centralised values: memory_units = " + large, [=](auto& c) {
    c.critic.network.recurrence = Recurrence::kLstm;
    c.critic.network.memory_units = negative;
  });
}

TEST_CASE("team ppo: the default settings train recurrent networks", "[team_ppo]") {
  for (const Recurrence kind : {Recurrence::kGru, Recurrence::kLstm}) {
    IppoTrainer::Config config;
    config.epochs = 1;  // for the time's sake only
    config.actor.network.recurrence = config.critic.network.recurrence = kind;
    CHECK(created<IppoTrainer>(config, same_game(TwoStepGame()))->update());
  }
  TeamMappoTrainer::Config config;
  config.actor.network.recurrence = Recurrence::kGru;
  config.rollout_steps = 100;
  const auto refused = TeamMappoTrainer::create(config, same_game(TwoStepGame()));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "team ppo: sequence_steps = 16 does not divide rollout_steps = 100");
}

TEST_CASE("team ppo: guidance of weight 0 changes no bit, of another weight it does", "[team_ppo]") {
  using guidance::AllActionRegulariser, guidance::AuxiliaryReward, guidance::CriticConstraint;
  using Mode = guidance::Combined<AuxiliaryReward<guidance::LogLikelihood>, AllActionRegulariser,
                                  guidance::SampledRegulariser<guidance::LogLikelihood>,
                                  CriticConstraint<guidance::LogLikelihood>>;
  using Guided = TeamPpoTrainer<critic::CentralisedValues, Mode>;
  const GameMaker make = same_game(ComingAndGoing());
  const TeamGuidance source{.distribution = [](const AnyGame& game, const GameFrame& frame, float* q) {
    for (std::size_t i = 0; i < game.shape().agents; ++i)
      for (std::size_t a = 0; a < 3; ++a) *q++ = frame.present[i] != 0 ? (a == 1 ? 0.8f : 0.1f) : 0.0f;
  }};
  const auto config = busy_config<TeamMappoTrainer>();
  const auto plain = created<TeamMappoTrainer>(config, make);
  rounds(*plain, 3);
  const auto guided = [&](float auxiliary, float all, float sampled, float constraint) {
    Mode mode;
    std::get<0>(mode.modes).weight = auxiliary;
    std::get<1>(mode.modes).weight = all;
    std::get<2>(mode.modes).weight = sampled;
    std::get<3>(mode.modes).weight = constraint;
    auto made = Guided::create(config, make, mode, source);
    REQUIRE(made);
    rounds(**made, 3);
    return all_weights(**made);
  };
  CHECK(guided(0, 0, 0, 0) == all_weights(*plain));
  CHECK(guided(0.1f, 0, 0, 0) != all_weights(*plain));
  CHECK(guided(0, 0.1f, 0, 0) != all_weights(*plain));
  CHECK(guided(0, 0, 0.1f, 0) != all_weights(*plain));
  CHECK(guided(0, 0, 0, 0.1f) != all_weights(*plain));
  const auto nothing = Guided::create(config, make, Mode{}, TeamGuidance{});
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message.find("guidance") != std::string::npos);

  // A strong regulariser takes the policy to q: where everything is legal option 1 is most probable.
  using Regularised = TeamPpoTrainer<critic::CentralisedValues, AllActionRegulariser>;
  auto strong = small_config<Regularised>();
  const auto trainer = trained<Regularised>(strong, make, 8'000, nullptr, AllActionRegulariser{}, source);
  auto policy = trainer->policy(trainer->weights());
  constexpr std::array<float, 6> kSeen{0.9f, -0.5f, 0.1f, 0.1f, -1.0f, 0.5f};
  const GameActions done = answer(policy, ComingAndGoing().shape(), kSeen).value();
  CHECK(done.options == std::vector<std::int32_t>{1, 1, 1});
}

TEST_CASE("team ppo: several heads, and heads with numbers, are one action", "[team_ppo]") {
  IdentityConfig game;
  game.action = ActionShape::multi_discrete({3, 2});
  const GameMaker make = same_game(IdentityGame(game));
  auto config = small_config<IppoTrainer>();
  config.gamma = 0.4;
  CHECK(evaluated(*trained<IppoTrainer>(config, make, 12'000), make) >= 90.0);

  game.action.box = {{-1.0f, 1.0f}};
  game.tolerance = 0.5f;
  const GameMaker hybrid = same_game(IdentityGame(game));
  for (const BoxKind kind : {BoxKind::kGaussian, BoxKind::kTanhGaussian}) {
    config.box = kind;
    const double before = evaluated(*created<IppoTrainer>(config, hybrid), hybrid);
    const auto trainer = trained<IppoTrainer>(config, hybrid, 30'000);
    CAPTURE(before);
    CHECK(evaluated(*trainer, hybrid) >= 85.0);
    // The deviation was learnt as well.
    CHECK(trainer->weights()[trainer->actor().log_std_at()] != static_cast<float>(config.initial_log_std));
  }
}
