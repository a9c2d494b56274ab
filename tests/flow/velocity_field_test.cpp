// The velocity field as a function: its input row, its Euler steps, and one network for all agents.
#include "mara/flow/velocity_field.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

#include "catch.hpp"

using namespace mara;

TEST_CASE("the network's input row is x, t, condition", "[flow]") {
  using Field = VelocityField<2, 3, 4>;
  STATIC_REQUIRE(Field::kInputs == 6);
  const float x[] = {1, 2}, c[] = {3, 4, 5};
  float row[6];
  Field::pack(x, 0.5f, c, row);
  const float expected[] = {1, 2, 0.5f, 3, 4, 5};
  for (int i = 0; i < 6; ++i) CHECK(row[i] == expected[i]);

  Random random(1);
  const Field field(random);
  Field::Workspace work;
  Field::Network::Workspace network_work;
  float from_field[2], from_network[2];
  field.velocity(x, 0.5f, c, 1, from_field, work);
  field.network().forward(row, 1, from_network, network_work);
  CHECK(from_field[0] == from_network[0]);
  CHECK(from_field[1] == from_network[1]);
}

TEST_CASE("Euler steps of a linear field by hand", "[flow]") {
  using Field = VelocityField<1, 1>;  // no hidden layer: v = a x + b t + c condition + d
  Field field;
  REQUIRE(field.network().set_parameters(std::vector<float>{-1.0f, 2.0f, 0.5f, 1.0f}));
  Field::Workspace work;
  const float condition[] = {2.0f, 0.0f};
  float x[] = {3.0f, -1.0f};
  euler_endpoint(field, x, condition, 2, 1, work);
  CHECK(x[0] == 3.0f + (-3.0f + 1.0f + 1.0f));
  CHECK(x[1] == -1.0f + (1.0f + 0.0f + 1.0f));
  float y[] = {3.0f, -1.0f};
  euler_endpoint(field, y, condition, 2, 2, work);
  // Half steps: 3 + .5 (-3 + 2) = 2.5; then 2.5 + .5 (-2.5 + 1 + 2) = 2.75.
  CHECK(y[0] == 2.75f);
  // -1 + .5 (1 + 1) = 0; then 0 + .5 (0 + 1 + 1) = 1.
  CHECK(y[1] == 1.0f);
  float z[] = {3.0f, -1.0f};
  euler_endpoint(field, z, condition, 2, 0, work);  // no step, no move
  CHECK(z[0] == 3.0f);
}

TEST_CASE("permuting the agents permutes velocities and endpoints", "[flow]") {
  using Field = VelocityField<4, 5, 16, 16>;
  constexpr std::size_t kAgents = 101;  // more than the network takes at a time
  Random random(2);
  const Field field(random);
  std::vector<float> x(kAgents * 4), condition(kAgents * 5);
  for (float& value : x) value = static_cast<float>(random.normal());
  for (float& value : condition) value = static_cast<float>(random.normal());
  std::vector<std::size_t> permutation(kAgents);
  std::iota(permutation.begin(), permutation.end(), std::size_t{0});
  random.shuffle(permutation);
  std::vector<float> px(x.size()), pc(condition.size());
  for (std::size_t i = 0; i < kAgents; ++i) {
    std::copy_n(&x[permutation[i] * 4], 4, &px[i * 4]);
    std::copy_n(&condition[permutation[i] * 5], 5, &pc[i * 5]);
  }
  Field::Workspace work;
  std::vector<float> v(x.size()), pv(x.size());
  field.velocity(x.data(), 0.25f, condition.data(), kAgents, v.data(), work);
  field.velocity(px.data(), 0.25f, pc.data(), kAgents, pv.data(), work);
  euler_endpoint(field, x.data(), condition.data(), kAgents, 5, work);
  euler_endpoint(field, px.data(), pc.data(), kAgents, 5, work);
  for (std::size_t i = 0; i < kAgents; ++i) {
    for (std::size_t d = 0; d < 4; ++d) {
      CHECK(pv[i * 4 + d] == Approx(v[permutation[i] * 4 + d]).margin(1e-6));
      CHECK(px[i * 4 + d] == Approx(x[permutation[i] * 4 + d]).margin(1e-5));
    }
  }
}
