#pragma once
// The swing-up of a pendulum with too weak a motor.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/environment/batch.hpp"
#include "mara/math/aligned.hpp"
#include "mara/math/reduce.hpp"
#include "mara/math/trigonometric.hpp"

namespace mara {

/// Pendulums, one in each lane of a vector: a rod of length l and mass m on a hinge, angle theta = 0 upright,
/// and a torque u at the hinge. A step of dt, the speed first (semi-implicit Euler), as in "Pendulum-v1" of
/// OpenAI Gym (Brockman et al. 2016):
///     omega += (3 g / (2 l) sin theta + 3 / (m l^2) u) dt, held in [-8, 8];  theta += omega dt
/// with reward -(theta^2 + .1 omega^2 + .001 u^2) of the state before, theta in [-pi, pi]. Observation: cos
/// theta, sin theta, omega. Nothing terminates; episodes are truncated after 200 steps. They begin with theta
/// uniform in
/// [-pi, pi) and omega in [-1, 1). Fulfils BatchEnvironment.
class Pendulum {
 public:
  static constexpr std::size_t kObservation = 3, kActions = 1;
  static constexpr float kGravity = 10.0f;       ///< m/s^2
  static constexpr float kMass = 1.0f;           ///< kg
  static constexpr float kLength = 1.0f;         ///< m
  static constexpr float kTimeStep = 0.05f;      ///< s
  static constexpr float kMaximumTorque = 2.0f;  ///< N m; beyond, it is cut
  static constexpr float kMaximumSpeed = 8.0f;   ///< rad/s
  static constexpr std::int64_t kEpisodeSteps = 200;

  /// `count` pendulums (0 becomes 1), each with a stream of its own of `seed`, in new episodes.
  explicit Pendulum(std::size_t count, std::uint64_t seed = 1)
      : count_(std::max<std::size_t>(1, count)),
        theta_(padded(count_)),
        omega_(padded(count_)),
        cosine_(padded(count_), 1.0f),
        sine_(padded(count_)),
        begun_(count_),
        ended_(count_) {
    random_.reserve(count_);
    for (std::size_t i = 0; i < count_; ++i) random_.emplace_back(seed, 0x70656e0000000000ull + i);
    reset();
  }

  std::size_t size() const noexcept { return count_; }

  /// New episodes in all.
  void reset() noexcept {
    for (std::size_t i = 0; i < count_; ++i) begin_episode(i);
    set_deadline();
  }

  /// New episodes where the last step ended one.
  void reset_ended() noexcept {
    if (!any_ended_) return;
    for (std::size_t i = 0; i < count_; ++i)
      if (ended_[i] != 0) begin_episode(i);
    set_deadline();
  }

  /// Puts pendulum i at theta, rad in [-pi, pi], and omega, rad/s in [-8, 8]; its episode goes on. A number
  /// outside is an error and changes nothing.
  Status set_state(std::size_t i, float theta, float omega) {
    if (i >= count_) return out_of_range("pendulum", static_cast<double>(i));
    if (!(theta >= -3.1415928f && theta <= 3.1415928f)) return out_of_range("theta", theta);
    if (!(omega >= -kMaximumSpeed && omega <= kMaximumSpeed)) return out_of_range("omega", omega);
    theta_[i] = theta;
    omega_[i] = omega;
    math::sine_cosine(&theta_[i], 1, &sine_[i], &cosine_[i]);
    return {};
  }
  float theta(std::size_t i) const noexcept { return theta_[i]; }  ///< rad
  float omega(std::size_t i) const noexcept { return omega_[i]; }  ///< rad/s

  /// rows[size() x 3]: cos theta, sin theta, omega.
  void observe(float* rows) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      rows[3 * i] = cosine_[i];
      rows[3 * i + 1] = sine_[i];
      rows[3 * i + 2] = omega_[i];
    }
  }

  /// One step of all with `torques` [size()], N m; rewards [size()]. Returns how many episodes ended. A
  /// torque that is not finite is an error and changes nothing.
  Result<std::size_t> step(const float* torques, float* rewards) {
    if (const Status finite = check(torques); !finite) return finite.error();
    constexpr std::size_t kW = simd::kLanes<float>;
    const auto c = [](float value) { return simd::broadcast(value); };
    constexpr float kFall = 1.5f * kGravity / kLength * kTimeStep;
    constexpr float kPush = 3.0f / (kMass * kLength * kLength) * kTimeStep;
    for (std::size_t i = 0; i < count_; i += kW) {
      const std::size_t lanes = std::min(count_ - i, kW);
      const simd::VecF u =
          simd::max(c(-kMaximumTorque), simd::min(c(kMaximumTorque), simd::load_partial(torques + i, lanes)));
      simd::VecF theta = simd::load(&theta_[i]), omega = simd::load(&omega_[i]);
      const simd::VecF reward =
          -simd::fma(theta, theta, simd::fma(c(0.1f) * omega, omega, c(0.001f) * u * u));
      omega = simd::fma(c(kFall), simd::load(&sine_[i]), simd::fma(c(kPush), u, omega));
      omega = simd::max(c(-kMaximumSpeed), simd::min(c(kMaximumSpeed), omega));
      theta = simd::wrap_angle(simd::fma(c(kTimeStep), omega, theta));
      const simd::SineCosine at = simd::sine_cosine(theta);
      simd::store_partial(rewards + i, reward, lanes);
      simd::store(&theta_[i], theta);
      simd::store(&omega_[i], omega);
      simd::store(&sine_[i], at.sine);
      simd::store(&cosine_[i], at.cosine);
    }
    ++clock_;
    if (any_ended_) std::fill(ended_.begin(), ended_.end(), std::uint8_t{0});
    any_ended_ = false;
    if (clock_ < deadline_) return std::size_t{0};
    std::size_t ended = 0;
    for (std::size_t i = 0; i < count_; ++i)
      if (clock_ - begun_[i] >= kEpisodeSteps) {
        ended_[i] = 1;
        ++ended;
      }
    any_ended_ = ended > 0;
    return ended;
  }

  bool terminated(std::size_t) const noexcept { return false; }
  bool truncated(std::size_t i) const noexcept { return ended_[i] != 0; }

  void save(ArchiveWriter& out) const {
    out.put("pendulum_theta", std::span<const float>(theta_.data(), count_));
    out.put("pendulum_omega", std::span<const float>(omega_.data(), count_));
    out.put_value("pendulum_clock", clock_);
    out.put("pendulum_begun", begun_);
    out.put("pendulum_ended", ended_);
    std::vector<Random::State> states;
    for (const Random& random : random_) states.push_back(random.state());
    out.put("pendulum_random", states);
  }

  /// Puts a saved state of as many pendulums back; on an error nothing has changed.
  Status load(ArchiveReader& in) {
    std::vector<float> theta(count_), omega(count_);
    std::int64_t clock = 0;
    std::vector<std::int64_t> begun(count_);
    std::vector<std::uint8_t> ended(count_);
    std::vector<Random::State> states(count_);
    Status status = in.get_exact("pendulum_theta", std::span<float>(theta));
    if (status) status = in.get_exact("pendulum_omega", std::span<float>(omega));
    if (status) status = in.get_value("pendulum_clock", clock);
    if (status) status = in.get_exact("pendulum_begun", std::span<std::int64_t>(begun));
    if (status) status = in.get_exact("pendulum_ended", std::span<std::uint8_t>(ended));
    if (status) status = in.get_exact("pendulum_random", std::span<Random::State>(states));
    if (!status) return status;
    for (std::size_t i = 0; i < count_; ++i) {
      if (!(theta[i] >= -3.2f && theta[i] <= 3.2f)) return out_of_range("theta", theta[i]);
      if (!(omega[i] >= -kMaximumSpeed && omega[i] <= kMaximumSpeed)) return out_of_range("omega", omega[i]);
      if (begun[i] > clock || begun[i] < clock - kEpisodeSteps)
        return out_of_range("begun", static_cast<double>(begun[i]));
    }
    std::copy(theta.begin(), theta.end(), theta_.begin());
    std::copy(omega.begin(), omega.end(), omega_.begin());
    math::sine_cosine(theta_.data(), count_, sine_.data(), cosine_.data());
    clock_ = clock;
    begun_ = begun;
    ended_ = ended;
    any_ended_ = std::any_of(ended_.begin(), ended_.end(), [](std::uint8_t e) { return e != 0; });
    for (std::size_t i = 0; i < count_; ++i) random_[i] = Random(states[i]);
    set_deadline();
    return {};
  }

 private:
  static constexpr std::size_t padded(std::size_t count) noexcept {
    constexpr std::size_t kW = simd::kLanes<float>;
    return (count + kW - 1) / kW * kW;
  }
  static Error out_of_range(const char* field, double value) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("pendulum: ") + field + " = " + std::to_string(value) + " is out of range"};
  }

  Status check(const float* torques) const {
    simd::VecF sum = {};  // 0 times a finite number is 0, times any other NaN
    for (std::size_t i = 0; i < count_; i += simd::kLanes<float>)
      sum += simd::VecF{} * simd::load_partial(torques + i, std::min(count_ - i, simd::kLanes<float>));
    if (math::detail::sum_lanes<float>(sum) == 0.0f) [[likely]]
      return {};
    for (std::size_t i = 0; i < count_; ++i)
      if (!(torques[i] - torques[i] == 0.0f))
        return Error{ErrorCode::kNumerical, "pendulum " + std::to_string(i) + ": torque is " +
                                                std::to_string(static_cast<double>(torques[i]))};
    return {};
  }

  void begin_episode(std::size_t i) noexcept {
    theta_[i] = static_cast<float>(random_[i].uniform(-3.14159265, 3.14159265));
    omega_[i] = static_cast<float>(random_[i].uniform(-1.0, 1.0));
    math::sine_cosine(&theta_[i], 1, &sine_[i], &cosine_[i]);
    begun_[i] = clock_;
    ended_[i] = 0;
  }
  void set_deadline() noexcept {
    deadline_ = *std::min_element(begun_.begin(), begun_.end()) + kEpisodeSteps;
    any_ended_ = std::any_of(ended_.begin(), ended_.end(), [](std::uint8_t e) { return e != 0; });
  }

  std::size_t count_;
  AlignedVector<float> theta_, omega_, cosine_, sine_;
  std::vector<std::int64_t> begun_;  ///< clock at the first step of the episode
  std::vector<std::uint8_t> ended_;  ///< by the last step
  std::vector<Random> random_;
  std::int64_t clock_ = 0;     ///< steps so far
  std::int64_t deadline_ = 0;  ///< clock at which the next episode ends
  bool any_ended_ = false;
};

static_assert(BatchEnvironment<Pendulum>);

}  // namespace mara
