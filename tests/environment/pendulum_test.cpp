#include "mara/environment/pendulum.hpp"

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"

using mara::Pendulum;

namespace {

constexpr double kPi = 3.14159265358979323846;

/// The formulas in double.
struct Reference {
  double theta, omega;
  double step(double u) {
    u = std::clamp(u, -2.0, 2.0);
    const double reward = -(theta * theta + 0.1 * omega * omega + 0.001 * u * u);
    omega = std::clamp(omega + (15.0 * std::sin(theta) + 3.0 * u) * 0.05, -8.0, 8.0);
    theta += omega * 0.05;
    theta -= 2.0 * kPi * std::round(theta / (2.0 * kPi));
    return reward;
  }
};

double angle_between(double a, double b) {
  return std::abs(std::remainder(a - b, 2.0 * kPi));
}

}  // namespace

TEST_CASE("each step follows the formulas", "[pendulum]") {
  for (const std::size_t count : {1u, 4u, 16u, 19u}) {
    Pendulum pendulum(count, 3);
    mara::Random random(9);
    std::vector<float> torques(count), rewards(count), rows(3 * count);
    for (int step = 0; step < 150; ++step) {
      std::vector<Reference> before;
      for (std::size_t i = 0; i < count; ++i) before.push_back({pendulum.theta(i), pendulum.omega(i)});
      for (float& u : torques) u = static_cast<float>(random.uniform(-3.0, 3.0));
      const auto ended = pendulum.step(torques.data(), rewards.data());
      REQUIRE(ended);
      REQUIRE(*ended == 0);
      pendulum.observe(rows.data());
      for (std::size_t i = 0; i < count; ++i) {
        const double reward = before[i].step(torques[i]);
        REQUIRE(rewards[i] == Approx(reward).epsilon(1e-6).margin(1e-6));
        REQUIRE(pendulum.omega(i) == Approx(before[i].omega).margin(2e-6));
        REQUIRE(angle_between(pendulum.theta(i), before[i].theta) < 2e-6);
        REQUIRE(std::abs(pendulum.theta(i)) < kPi + 1e-5);
        REQUIRE(rows[3 * i] == Approx(std::cos(before[i].theta)).margin(2e-6));
        REQUIRE(rows[3 * i + 1] == Approx(std::sin(before[i].theta)).margin(2e-6));
        REQUIRE(rows[3 * i + 2] == pendulum.omega(i));
      }
    }
  }
}

TEST_CASE("known steps: rest upright, hanging, a push, the angle's wrap", "[pendulum]") {
  Pendulum pendulum(4);
  REQUIRE(pendulum.set_state(0, 0.0f, 0.0f));
  REQUIRE(pendulum.set_state(1, 3.1415926f, 0.0f));
  REQUIRE(pendulum.set_state(2, 0.0f, 0.0f));
  REQUIRE(pendulum.set_state(3, 3.1f, 4.0f));
  const float torques[] = {0.0f, 0.0f, 2.0f, 0.0f};
  float rewards[4];
  REQUIRE(pendulum.step(torques, rewards));
  CHECK(rewards[0] == 0.0f);
  CHECK(pendulum.theta(0) == 0.0f);
  CHECK(rewards[1] == Approx(-kPi * kPi));
  CHECK(std::abs(pendulum.omega(1)) < 1e-5f);
  CHECK(rewards[2] == Approx(-0.004));
  CHECK(pendulum.omega(2) == Approx(0.3));
  CHECK(pendulum.theta(2) == Approx(0.015));
  CHECK(rewards[3] == Approx(-(3.1 * 3.1 + 1.6)));
  // omega = 4 + .75 sin 3.1 = 4.03119, theta = 3.1 + .20156 - 2 pi.
  CHECK(pendulum.theta(3) == Approx(3.1 + 0.05 * (4.0 + 0.75 * std::sin(3.1)) - 2.0 * kPi).epsilon(1e-5));
}

TEST_CASE("torque and speed are cut", "[pendulum]") {
  Pendulum pendulum(2);
  REQUIRE(pendulum.set_state(0, 0.0f, 7.9f));
  REQUIRE(pendulum.set_state(1, 0.0f, -7.9f));
  const float torques[] = {1e30f, -50.0f};
  float rewards[2];
  REQUIRE(pendulum.step(torques, rewards));
  CHECK(pendulum.omega(0) == 8.0f);
  CHECK(pendulum.omega(1) == -8.0f);
  CHECK(rewards[0] == Approx(-(0.1 * 7.9 * 7.9 + 0.004)));  // the cost of the torque that acted
}

TEST_CASE("episodes are truncated after 200 steps, the final state still to be seen", "[pendulum]") {
  Pendulum pendulum(3, 8);
  const std::vector<float> torques(3, 0.5f);
  std::vector<float> rewards(3), last(9), first(9);
  for (int episode = 0; episode < 3; ++episode) {
    for (int step = 1; step <= 200; ++step) {
      const auto ended = pendulum.step(torques.data(), rewards.data());
      REQUIRE(ended);
      REQUIRE(*ended == (step == 200 ? 3 : 0));
      REQUIRE(pendulum.truncated(1) == (step == 200));
      REQUIRE_FALSE(pendulum.terminated(1));
    }
    pendulum.observe(last.data());
    const float theta = pendulum.theta(2);
    CHECK(last[6] == Approx(std::cos(theta)).margin(1e-6));
    pendulum.reset_ended();
    pendulum.observe(first.data());
    CHECK(first != last);
    CHECK_FALSE(pendulum.truncated(0));
  }
}

TEST_CASE("episodes begin anywhere, at low speed, each pendulum with its own numbers", "[pendulum]") {
  Pendulum pendulum(2000, 4);
  double theta = 0, theta_square = 0, omega = 0, omega_square = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    const double t = pendulum.theta(i), w = pendulum.omega(i);
    REQUIRE(std::abs(t) <= kPi + 1e-6);
    REQUIRE(std::abs(w) <= 1.0);
    theta += t / 2000, theta_square += t * t / 2000, omega += w / 2000, omega_square += w * w / 2000;
  }
  CHECK(std::abs(theta) < 0.15);
  CHECK(theta_square == Approx(kPi * kPi / 3.0).epsilon(0.07));
  CHECK(std::abs(omega) < 0.05);
  CHECK(omega_square == Approx(1.0 / 3.0).epsilon(0.07));
  Pendulum fewer(5, 4), other(5, 5);
  CHECK(fewer.theta(3) == pendulum.theta(3));
  CHECK(other.theta(3) != pendulum.theta(3));
}

TEST_CASE("a torque or a state that is no number is an error and changes nothing", "[pendulum]") {
  Pendulum pendulum(18);
  std::vector<float> torques(18, 1.0f), rewards(18, 7.0f);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    torques[17] = bad;
    const float theta = pendulum.theta(0);
    const auto stepped = pendulum.step(torques.data(), rewards.data());
    REQUIRE_FALSE(stepped);
    CHECK(stepped.error().code == mara::ErrorCode::kNumerical);
    CHECK(stepped.error().message.find("pendulum 17: torque is") != std::string::npos);
    CHECK(pendulum.theta(0) == theta);
    CHECK(rewards[0] == 7.0f);
    CHECK_FALSE(pendulum.set_state(0, bad, 0.0f));
    CHECK_FALSE(pendulum.set_state(0, 0.0f, bad));
  }
  CHECK(pendulum.set_state(0, 3.2f, 0.0f).error().message.find("theta = 3.2") != std::string::npos);
  CHECK(pendulum.set_state(0, 0.0f, -8.5f).error().message.find("omega = -8.5") != std::string::npos);
  CHECK_FALSE(pendulum.set_state(18, 0.0f, 0.0f));
}

TEST_CASE("a saved batch goes on with the same bits", "[pendulum]") {
  const auto path = std::filesystem::temp_directory_path() / "mara_pendulum_test.archive";
  Pendulum pendulum(5, 2), copy(5, 99);
  std::vector<float> torques(5, -1.5f), rewards(5), other(5);
  for (int step = 0; step < 130; ++step) REQUIRE(pendulum.step(torques.data(), rewards.data()));
  mara::ArchiveWriter out("test");
  pendulum.save(out);
  REQUIRE(out.write(path.string()));
  auto in = mara::ArchiveReader::open(path.string(), "test");
  REQUIRE(in);
  REQUIRE(copy.load(*in));
  for (int step = 0; step < 300; ++step) {
    REQUIRE(*pendulum.step(torques.data(), rewards.data()) == *copy.step(torques.data(), other.data()));
    REQUIRE(rewards == other);
    pendulum.reset_ended();
    copy.reset_ended();
  }
  Pendulum larger(6);
  auto again = mara::ArchiveReader::open(path.string(), "test");
  REQUIRE(again);
  CHECK_FALSE(larger.load(*again));
  std::filesystem::remove(path);
}
