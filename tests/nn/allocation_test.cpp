// Nothing is allocated once training or acting is under way.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocation_counter.hpp"
#include "catch.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/mlp.hpp"
#include "mara/nn/mlp_inference.hpp"

using mara_test::allocations;

TEST_CASE("a training step allocates nothing after the first", "[nn][allocation]") {
  using mara::Var;
  constexpr std::size_t kBatch = 96, kActions = 9;
  mara::Random random(4);
  mara::Mlp<float, 21, 64, 64, kActions> actor;
  mara::Mlp<float, 21, 64, 1> critic;
  actor.initialise(random, 0.01f);
  critic.initialise(random, 1.0f);
  mara::Adam<float> actor_adam(actor.kStored, {.max_gradient_norm = 0.5}), critic_adam(critic.kStored);
  std::vector<float> x(kBatch * 21), column(kBatch, 0.5f);
  for (float& v : x) v = static_cast<float>(random.normal());
  const std::vector<std::uint32_t> masks(kBatch, 0x1ffu);
  const std::vector<std::int32_t> actions(kBatch, 3);
  mara::Tape<float> t;
  const auto step = [&] {
    t.clear();
    actor.zero_gradients();
    critic.zero_gradients();
    const Var in = t.input(x.data(), kBatch, 21), a = t.input(column.data(), kBatch, 1);
    const Var log_p = t.masked_log_softmax(actor.forward(t, in), masks.data());
    const Var ratio = t.exp(t.sub(t.gather(log_p, actions.data()), a));
    const Var surrogate = t.minimum(t.mul(ratio, a), t.mul(t.clamp(ratio, 0.8f, 1.2f), a));
    const Var value = t.huber(t.sub(critic.forward(t, in), a), 1.0f);
    t.backward(t.sub(t.mean(value), t.add(t.mean(surrogate), t.mean(t.mul(t.exp(log_p), log_p)))));
    return t.status().has_value() && actor_adam.step(actor.parameters(), actor.gradients()).has_value() &&
           critic_adam.step(critic.parameters(), critic.gradients()).has_value();
  };
  REQUIRE(step());
  const std::size_t before = allocations;
  bool good = true;
  for (int i = 0; i < 20; ++i) good &= step();
  const std::size_t after = allocations;
  CHECK(good);
  CHECK(after == before);
}

TEST_CASE("acting allocates nothing after construction", "[nn][allocation]") {
  mara::MlpInference<float, 21, 64, 64, 9> net;
  const std::vector<float> x(1000 * 21, 0.1f);
  std::vector<float> y(1000 * 9);
  const std::size_t before = allocations;
  net.forward(x.data(), 1000, y.data());
  net.forward(x.data(), 1, y.data());
  CHECK(allocations == before);
  ::operator delete(::operator new(1));
  CHECK(allocations == before + 1);  // the counter counts
}
