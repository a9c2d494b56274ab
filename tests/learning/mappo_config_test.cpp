// What a configuration must fulfil, and what a learner standardises.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/critic/centralised.hpp"
#include "mara/learning/mappo.hpp"
#include "tiny_games.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Trainer = MappoTrainer<ConstantGame, critic::Centralised<4>, guidance::None, 4>;

std::string refusal(const std::function<void(MappoConfig&)>& change) {
  MappoConfig config;
  change(config);
  const auto trainer = Trainer::create(config, [](int) { return ConstantGame(); });
  if (trainer) return "accepted";
  CHECK(trainer.error().code == ErrorCode::kInvalidArgument);
  return trainer.error().message;
}

void refuses(const std::string& field, const std::function<void(MappoConfig&)>& change) {
  const std::string message = refusal(change);
  INFO(message);
  CHECK(message.find("mappo: " + field + " = ") != std::string::npos);
}

}  // namespace

TEST_CASE("a refused configuration names the field and the value", "[mappo config]") {
  refuses("environments", [](MappoConfig& c) { c.environments = 0; });
  refuses("rollout_steps", [](MappoConfig& c) { c.rollout_steps = -1; });
  refuses("episode_steps", [](MappoConfig& c) { c.episode_steps = -1; });
  refuses("group", [](MappoConfig& c) { c.group = 0; });
  refuses("total_steps", [](MappoConfig& c) { c.total_steps = 0; });
  refuses("epochs", [](MappoConfig& c) { c.epochs = 0; });
  refuses("minibatch_rows", [](MappoConfig& c) { c.minibatch_rows = 0; });
  refuses("minibatch_states", [](MappoConfig& c) { c.minibatch_states = -3; });
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL, -1.0}) {
    refuses("learning_rate", [bad](MappoConfig& c) { c.learning_rate = bad; });
    refuses("critic_learning_rate", [bad](MappoConfig& c) { c.critic_learning_rate = bad; });
    refuses("gamma", [bad](MappoConfig& c) { c.gamma = bad; });
    refuses("lambda", [bad](MappoConfig& c) { c.lambda = bad; });
    refuses("clip", [bad](MappoConfig& c) { c.clip = bad; });
    refuses("final_rate", [bad](MappoConfig& c) { c.final_rate = bad; });
    refuses("value_normaliser_decay", [bad](MappoConfig& c) { c.value_normaliser_decay = bad; });
    refuses("entropy_initial", [bad](MappoConfig& c) { c.entropy_initial = bad; });
    refuses("entropy_final", [bad](MappoConfig& c) { c.entropy_final = bad; });
    refuses("max_gradient_norm", [bad](MappoConfig& c) { c.max_gradient_norm = bad; });
  }
  refuses("learning_rate", [](MappoConfig& c) { c.learning_rate = 0.0; });
  refuses("gamma", [](MappoConfig& c) { c.gamma = 1.5; });
  CHECK(refusal([](MappoConfig&) {}) == "accepted");
  CHECK(refusal([](MappoConfig& c) { c.gamma = 1.0, c.max_gradient_norm = 0.0, c.threads = -3; }) ==
        "accepted");
}

TEST_CASE("the value is in the message too", "[mappo config]") {
  CHECK(refusal([](MappoConfig& c) { c.environments = -7; }).find("-7") != std::string::npos);
  CHECK(refusal([](MappoConfig& c) { c.gamma = 1.25; }).find("1.25") != std::string::npos);
}

TEST_CASE("a mode that needs a field says so when there is none", "[mappo config]") {
  using Guided = MappoTrainer<ConstantGame, critic::Centralised<4>, guidance::AllActionRegulariser, 4>;
  const auto trainer = Guided::create(MappoConfig{}, [](int) { return ConstantGame(); });
  REQUIRE_FALSE(trainer);
  CHECK(trainer.error().message.find("flow is missing") != std::string::npos);
}

TEST_CASE("advantages of present agents become mean 0 and deviation 1", "[mappo config]") {
  // Two agents over three steps, the second one gone in the last: its 100 is no row. Mean 2, deviation
  // sqrt(2).
  std::vector<float> values{1, 4, 2, 0, 3};
  standardise(values);
  const double sd = std::sqrt(2.0);
  const double expected[] = {-1 / sd, 2 / sd, 0.0, -2 / sd, 1 / sd};
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected[i]).margin(1e-6));

  std::vector<float> equal(7, 3.25f), none;
  standardise(equal);
  for (const float v : equal) CHECK(v == 0.0f);
  standardise(none);
  CHECK(none.empty());
  std::vector<float> far{1e6f, 1e6f + 1.0f};
  standardise(far);
  CHECK(far[1] == Approx(1.0).epsilon(1e-3));
}
