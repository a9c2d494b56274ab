#pragma once
// Agents cover landmarks in the plane without running into each other.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mara/core/libm.hpp"
#include "mara/core/portable_math.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/fixed_team.hpp"

namespace mara {

/// How simple_spread is paid. Returns of the two are not comparable: say which.
enum class SpreadReward {
  /// The original, as EPyMARL and on-policy use it: each agent's reward is - sum over landmarks of the
  /// distance of the
  /// nearest agent - 1 for each agent it touches, itself included; everybody gets the sum over all agents.
  /// (EPyMARL's raw return is this times the number of agents.)
  kSharedSum,
  /// PettingZoo and JaxMARL: ratio x (-1 for each other agent it touches) + (1 - ratio) x (- sum over
  /// landmarks of the
  /// distance of the nearest agent), each agent its own; the team reward is the mean over agents.
  kLocalRatio,
};

struct SpreadConfig {
  std::size_t agents = 3;       ///< as many landmarks; in [1, 1000]
  int steps = 25;               ///< truncated after so many, at least 1
  double landmark_range = 1.0;  ///< landmarks begin uniform in [-range, range]^2; some libraries have .8
  SpreadReward reward = SpreadReward::kSharedSum;
  double local_ratio = 0.5;  ///< of kLocalRatio, in [0, 1]
};

/// simple_spread of the multi-agent particle environments (Lowe et al., "Multi-agent actor-critic for mixed
/// cooperative-competitive environments", NIPS 2017; Mordatch and Abbeel 2017). Points of mass 1, time step
/// .1:
///     v <- .75 v + .1 F,  p <- p + .1 v,
/// F the chosen push of 5 along an axis plus, from each other agent at distance d, a contact force
/// 100 k ln(1 + exp(-(d - .3) / k)) away from it, k = .001. Agents touch at d < .3. Agents begin at rest,
/// uniform in
/// [-1, 1]^2. Options: 0 none, 1 +x, 2 -x, 3 +y, 4 -y (the order of the original). Nothing terminates.
/// Observation [6 N]: own velocity (2) and position (2), positions relative to the own one of all landmarks
/// (2 N) and of the other agents by slot (2 (N - 1)), their messages, always 0 (2 (N - 1)): 18 numbers for N
/// = 3. Global state: all observations, one after the other. Rewards: see SpreadReward. Fulfils Game.
class SimpleSpread : public FixedTeam {
 public:
  struct Point {
    double x = 0.0, y = 0.0;
  };
  static constexpr double kPush = 5.0, kTimeStep = 0.1, kDamping = 0.25;
  static constexpr double kContactDistance = 0.3, kContactForce = 100.0, kContactMargin = 1e-3;

  explicit SimpleSpread(SpreadConfig config = {})
      : FixedTeam(valid(config.agents)
                      ? GameShape{config.agents, 6 * config.agents, 6 * config.agents * config.agents,
                                  ActionShape::discrete(5)}
                      : GameShape{}),
        config_(config),
        position_(shape().agents),
        velocity_(shape().agents),
        landmark_(shape().agents),
        force_(shape().agents),
        touching_(shape().agents),
        random_(0) {}

  /// Errors: a field of the configuration outside its range.
  Status reset(std::uint64_t seed) {
    if (!valid(config_.agents))
      return bad("spread", "agents", std::to_string(config_.agents), "not in [1, 1000]");
    if (config_.steps < 1)
      return bad("spread", "steps", std::to_string(config_.steps), "at least 1 is needed");
    if (!(config_.landmark_range >= 0.0 && libm::isfinite(config_.landmark_range)))
      return bad("spread", "landmark_range", std::to_string(config_.landmark_range),
                 "not a finite number from 0 on");
    if (!(config_.local_ratio >= 0.0 && config_.local_ratio <= 1.0))
      return bad("spread", "local_ratio", std::to_string(config_.local_ratio), "not in [0, 1]");
    random_ = Random(seed, 0x7370726561u);
    for (Point& p : position_) p = draw(1.0);
    for (Point& p : landmark_) p = draw(config_.landmark_range);
    std::fill(velocity_.begin(), velocity_.end(), Point{});
    begin();
    return {};
  }
  void observe(float* rows) const noexcept {
    const std::size_t n = position_.size();
    for (std::size_t i = 0; i < n; ++i, rows += 6 * n) {
      std::fill_n(rows, 6 * n, 0.0f);
      if (!present(i)) continue;
      float* out = put(put(rows, velocity_[i]), position_[i]);
      for (const Point& p : landmark_) out = put(out, minus(p, position_[i]));
      for (std::size_t j = 0; j < n; ++j)
        if (j != i) out = put(out, minus(position_[j], position_[i]));
    }
  }
  void global_state(float* row) const noexcept { observe(row); }
  StepOutcome step() {
    if (over()) return nothing();
    move();
    const bool last = steps() + 1 >= config_.steps;
    const double cover = -uncovered();
    const std::size_t n = position_.size();
    double touches = 0.0;
    for (std::size_t i = 0; i < n; ++i) touches += touching_[i] = count_touching(i);
    const auto agents = static_cast<double>(n);
    if (config_.reward == SpreadReward::kSharedSum)
      return finish_shared(agents * cover - touches - agents, false, last);  // each touches itself, too
    const double ratio = config_.local_ratio;
    for (std::size_t i = 0; i < n; ++i)
      own_rewards()[i] = static_cast<float>((1.0 - ratio) * cover - ratio * touching_[i]);
    return finish((1.0 - ratio) * cover - ratio * touches / agents, false, last);
  }

  Point position(std::size_t agent) const noexcept { return position_[agent]; }
  Point velocity(std::size_t agent) const noexcept { return velocity_[agent]; }
  Point landmark(std::size_t i) const noexcept { return landmark_[i]; }
  /// Puts an agent somewhere; the episode goes on. Errors: no such agent, numbers that are not finite.
  Status set_agent(std::size_t agent, Point position, Point velocity) {
    if (const Status good = check("agent", agent, position); !good) return good;
    if (const Status good = check("velocity of agent", agent, velocity); !good) return good;
    position_[agent] = position;
    velocity_[agent] = velocity;
    return {};
  }
  /// The same for a landmark.
  Status set_landmark(std::size_t i, Point position) {
    if (const Status good = check("landmark", i, position); !good) return good;
    landmark_[i] = position;
    return {};
  }
  /// Contact force between two agents at `distance`.
  static double contact_force(double distance) noexcept {
    const double z = (kContactDistance - distance) / kContactMargin;
    if (z < -700.0) return 0.0;
    // ln(1 + e^z) without overflow
    const double soft = (z > 0.0 ? z : 0.0) + portable_log(1.0 + portable_exp(z > 0.0 ? -z : z));
    return kContactForce * kContactMargin * soft;
  }

 private:
  static constexpr bool valid(std::size_t agents) noexcept { return agents >= 1 && agents <= 1000; }
  static Point minus(Point a, Point b) noexcept { return {a.x - b.x, a.y - b.y}; }
  static double length(Point p) noexcept { return libm::sqrt(p.x * p.x + p.y * p.y); }
  static float* put(float* out, Point p) noexcept {
    out[0] = static_cast<float>(p.x);
    out[1] = static_cast<float>(p.y);
    return out + 2;
  }
  Point draw(double range) noexcept {
    const double x = random_.uniform(-range, range);
    return {x, random_.uniform(-range, range)};
  }
  Status check(const char* what, std::size_t i, Point p) const {
    if (i < position_.size() && libm::isfinite(p.x) && libm::isfinite(p.y)) return {};
    return bad("spread", std::string(what) + " " + std::to_string(i),
               "(" + std::to_string(p.x) + ", " + std::to_string(p.y) + ")", "no such one or not finite");
  }
  void move() noexcept {
    constexpr std::array<Point, 5> kPushes{{{0, 0}, {kPush, 0}, {-kPush, 0}, {0, kPush}, {0, -kPush}}};
    const std::size_t n = position_.size();
    for (std::size_t i = 0; i < n; ++i) force_[i] = kPushes[static_cast<std::size_t>(option(i))];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const Point away = minus(position_[i], position_[j]);
        const double distance = length(away);
        const double force = contact_force(distance);
        if (force == 0.0) continue;
        // Two agents in one place are pushed apart along x; the original divides by 0.
        const Point unit = distance > 0.0 ? Point{away.x / distance, away.y / distance} : Point{1.0, 0.0};
        force_[i] = {force_[i].x + force * unit.x, force_[i].y + force * unit.y};
        force_[j] = {force_[j].x - force * unit.x, force_[j].y - force * unit.y};
      }
    for (std::size_t i = 0; i < n; ++i) {
      Point& v = velocity_[i];
      v = {v.x * (1.0 - kDamping) + force_[i].x * kTimeStep,
           v.y * (1.0 - kDamping) + force_[i].y * kTimeStep};
      position_[i] = {position_[i].x + v.x * kTimeStep, position_[i].y + v.y * kTimeStep};
    }
  }
  /// Sum over landmarks of the distance of the nearest agent.
  double uncovered() const noexcept {
    double sum = 0.0;
    for (const Point& l : landmark_) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const Point& p : position_) nearest = std::min(nearest, length(minus(p, l)));
      sum += nearest;
    }
    return sum;
  }
  /// Other agents that agent i touches.
  double count_touching(std::size_t i) const noexcept {
    double count = 0.0;
    for (std::size_t j = 0; j < position_.size(); ++j)
      if (j != i && length(minus(position_[i], position_[j])) < kContactDistance) count += 1.0;
    return count;
  }

  SpreadConfig config_;
  std::vector<Point> position_, velocity_, landmark_, force_;
  std::vector<double> touching_;
  Random random_;
};

static_assert(Game<SimpleSpread>);

}  // namespace mara
