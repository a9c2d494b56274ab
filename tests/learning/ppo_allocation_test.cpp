// Nothing is allocated once PPO is under way.
#include "allocation_counter.hpp"
#include "catch.hpp"
#include "mara/environment/pendulum.hpp"
#include "mara/learning/ppo.hpp"

TEST_CASE("an update of PPO allocates nothing after the first", "[ppo]") {
  mara::PpoConfig config;
  config.max_gradient_norm = 0.5;
  config.entropy = 1.0;
  auto trainer = mara::PpoTrainer<mara::Pendulum, 64, 64>::create(config, mara::Pendulum(4));
  REQUIRE(trainer);
  REQUIRE(trainer->update());
  const std::size_t before = mara_test::allocations;
  bool good = true;
  for (int update = 0; update < 3; ++update) good = good && trainer->update().has_value();
  CHECK(mara_test::allocations == before);
  CHECK(good);
}
