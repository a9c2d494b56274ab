// Guidance of weight 0 is no guidance: whole training runs agree bit for bit. And of another weight it is
// not.
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "catch.hpp"
#include "mara/critic/centralised.hpp"
#include "mara/learning/mappo.hpp"
#include "tiny_games.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Flow = DefaultFlow<SeatGame>;

std::shared_ptr<const Flow> random_flow() {
  Random random(1);
  auto flow = std::make_shared<Flow>();
  flow->field = Flow::Field(random);
  return flow;
}

MappoConfig config_of() {
  MappoConfig config;
  config.environments = 4;
  config.rollout_steps = 20;
  config.episode_steps = 30;
  config.group = 2;
  config.total_steps = 1000;
  config.minibatch_rows = 40;
  config.minibatch_states = 40;
  return config;
}

/// State after three updates under a mode.
template <class Mode>
std::string run(Mode mode) {
  static const auto flow = random_flow();
  using Trainer = MappoTrainer<SeatGame, critic::Centralised<8>, Mode, 8>;
  auto trainer = Trainer::create(
      config_of(), [](int) { return SeatGame(true, 0.05); }, mode, flow);
  REQUIRE(trainer);
  for (int i = 0; i < 3; ++i) REQUIRE((*trainer)->update());
  return state_of(**trainer);
}

template <class Mode>
void off_is_none_and_on_is_not() {
  static const std::string unguided = run(guidance::None{});
  Mode mode;
  mode.weight = 0.0f;
  CHECK((run(mode) == unguided));
  mode.weight = 0.5f;
  CHECK((run(mode) != unguided));
}

}  // namespace

TEST_CASE("auxiliary reward", "[guidance off]") {
  off_is_none_and_on_is_not<guidance::AuxiliaryReward<>>();
}

TEST_CASE("sampled regulariser", "[guidance off]") {
  off_is_none_and_on_is_not<guidance::SampledRegulariser<guidance::LogLikelihood>>();
}

TEST_CASE("all-action regulariser", "[guidance off]") {
  off_is_none_and_on_is_not<guidance::AllActionRegulariser>();
}

TEST_CASE("critic constraint", "[guidance off]") {
  off_is_none_and_on_is_not<guidance::CriticConstraint<guidance::Cosine>>();
}

TEST_CASE("all of them together", "[guidance off]") {
  using All = guidance::Combined<guidance::AuxiliaryReward<>, guidance::SampledRegulariser<>,
                                 guidance::AllActionRegulariser, guidance::CriticConstraint<>>;
  All all;
  std::apply([](auto&... mode) { ((mode.weight = 0.0f), ...); }, all.modes);
  CHECK((run(all) == run(guidance::None{})));
}

TEST_CASE("the reported return is the unshaped one", "[guidance off]") {
  const auto flow = random_flow();
  const auto make = [](int) { return SeatGame(true, 0.05); };
  guidance::AuxiliaryReward<> mode;
  mode.weight = 1.0f;
  auto guided = MappoTrainer<SeatGame, critic::Centralised<8>, guidance::AuxiliaryReward<>, 8>::create(
      config_of(), make, mode, flow);
  auto plain = MappoTrainer<SeatGame, critic::Centralised<8>, guidance::None, 8>::create(config_of(), make);
  const auto shaped = (*guided)->update(), unshaped = (*plain)->update();
  REQUIRE(shaped);
  REQUIRE(unshaped);
  CHECK(shaped->team_reward == unshaped->team_reward);  // the same first policy, the same game
  CHECK(unshaped->shaped_reward == unshaped->team_reward);
  CHECK(shaped->shaped_reward != shaped->team_reward);
}

TEST_CASE("strong guidance pulls the policy to the guided distribution", "[guidance off]") {
  // A field without weights points to what is held: under a large weight the agents keep their seats.
  auto flow = std::make_shared<Flow>();
  flow->temperature = 1.0f;
  guidance::AllActionRegulariser mode;
  mode.weight = 100.0f;
  MappoConfig config = config_of();
  config.learning_rate = 1e-2;
  config.episode_steps = 1;  // everybody holds seat 0
  using Trainer = MappoTrainer<SeatGame, critic::Centralised<8>, guidance::AllActionRegulariser, 8>;
  auto trainer = Trainer::create(
      config, [](int) { return SeatGame(); }, mode, flow);
  REQUIRE(trainer);
  for (int i = 0; i < 60; ++i) REQUIRE((*trainer)->update());
  Trainer::Actor::Workspace work;
  const double keep = std::exp(2.0) / (std::exp(2.0) + 2.0);  // q(0) of the softmax of 2 e_0
  for (int id = 0; id < 3; ++id) {
    float row[4] = {}, logits[3];
    row[id] = 1.0f;
    (*trainer)->actor().forward(row, 1, logits, work);
    const MaskedCategorical<3> policy(logits, 0b111);
    CHECK(policy.probability(0) == Approx(keep).margin(0.03));
    CHECK(policy.probability(1) == Approx((1.0 - keep) / 2.0).margin(0.03));
  }
}
