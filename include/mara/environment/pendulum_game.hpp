#pragma once
// The pendulum (environment/pendulum.hpp) as a game of one agent.

#include <cstddef>
#include <cstdint>

#include "mara/environment/fixed_team.hpp"
#include "mara/environment/pendulum.hpp"

namespace mara {

/// One pendulum to swing up. Action: box [1], the torque in [-2, 2] N m. Observation [3] and global state
/// [3]: cos theta, sin theta, omega. Rewards: -(theta^2 + .1 omega^2 + .001 u^2) of the state before, to the
/// team and to the agent. Nothing terminates; truncated after 200 steps. Dynamics and source: see Pendulum.
/// Fulfils Game.
class PendulumGame : public FixedTeam {
 public:
  PendulumGame()
      : FixedTeam(
            GameShape{1, Pendulum::kObservation, Pendulum::kObservation,
                      ActionShape::numbers_within({{-Pendulum::kMaximumTorque, Pendulum::kMaximumTorque}})}),
        pendulum_(1) {}

  Status reset(std::uint64_t seed) {
    pendulum_ = Pendulum(1, seed);
    begin();
    return {};
  }
  /// Puts the pendulum at theta, rad in [-pi, pi], and omega, rad/s in [-8, 8]; the episode goes on.
  Status set_state(float theta, float omega) { return pendulum_.set_state(0, theta, omega); }
  void observe(float* rows) const noexcept {
    if (present(0))
      pendulum_.observe(rows);
    else
      rows[0] = rows[1] = rows[2] = 0.0f;
  }
  void global_state(float* row) const noexcept { pendulum_.observe(row); }
  StepOutcome step() {
    if (over()) return nothing();
    const auto torque = static_cast<float>(number(0));
    float reward = 0.0f;
    (void)pendulum_.step(&torque, &reward);  // fails for no finite torque
    return finish_shared(static_cast<double>(reward), pendulum_.terminated(0), pendulum_.truncated(0));
  }
  const Pendulum& pendulum() const noexcept { return pendulum_; }

 private:
  Pendulum pendulum_;
};

static_assert(Game<PendulumGame>);

}  // namespace mara
