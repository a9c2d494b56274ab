#pragma once
// A toy game and a small cluster that the pipeline tests share.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/critic/centralised.hpp"
#include "mara/environment/cluster_environment.hpp"
#include "mara/expert/list_scheduler.hpp"
#include "mara/learning/mappo_policy.hpp"
#include "mara/pipeline/pipeline.hpp"

namespace mara::test {

/// Two agents; each sees a bit and should choose it. Agents choose in turn, the second may not copy option 2,
/// which never pays. Team reward: the share of agents that chose their bit.
class BitGame {
 public:
  static constexpr int kObservation = 2;
  static constexpr int kGlobalState = 4;
  static constexpr int kOptions = 3;

  explicit BitGame(int steps = 10) : steps_(steps) {}
  Status reset(std::uint64_t seed) {
    random_ = Random(seed, 5);
    step_ = 0;
    draw();
    return {};
  }
  std::size_t agents() const { return 2; }
  void observe(float* rows) const {
    for (std::size_t i = 0; i < 2; ++i) rows[2 * i] = static_cast<float>(bits_[i]), rows[2 * i + 1] = 1.0f;
  }
  void global_state(float* row) const { observe(row); }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t agent) const { return agent == 1 && chosen_[0] == 2 ? 3u : 7u; }
  OptionMask possible(std::size_t) const { return 7u; }
  void act(std::size_t agent, int option) { chosen_[agent] = option; }
  StepOutcome step() {
    StepOutcome outcome;
    for (std::size_t i = 0; i < 2; ++i) {
      rewards_[i] = chosen_[i] == bits_[i] ? 1.0f : 0.0f;
      outcome.team_reward += 0.5f * rewards_[i];
    }
    draw();
    outcome.terminated = ++step_ >= steps_;
    return outcome;
  }
  std::span<const float> rewards() const { return rewards_; }
  int current_option(std::size_t) const { return 0; }

 private:
  void draw() {
    for (int& bit : bits_) bit = static_cast<int>(random_.below(2));
    chosen_ = {0, 0};
  }
  Random random_{0};
  int steps_, step_ = 0;
  std::array<int, 2> bits_{}, chosen_{};
  std::array<float, 2> rewards_{};
  std::array<std::uint32_t, 2> order_{0, 1};
};

struct ThreeOptions {
  static constexpr int kOptions = 3;
  using Distribution = MaskedCategorical<3>;
};

/// Jobs of 1 to 4 GPUs on eight GPUs of each of three types.
inline ClusterEnvironmentConfig small_cluster() {
  ClusterEnvironmentConfig game;
  game.cluster = parse_cluster("a100:1x8,v100:1x8,t4:1x8").value();
  game.time_unit_s = 250.0;
  game.episode_steps = 50;
  game.workload = [](std::uint64_t seed) -> Result<std::vector<Job>> {
    Random random(seed, 3);
    std::vector<Job> jobs;
    double clock = 0.0;
    for (int i = 0; i < 60; ++i) {
      Job job;
      clock += random.exponential(0.5 / 250.0);
      job.id = i;
      job.submit_s = clock;
      job.requested = Milli::whole(std::int64_t{1} << random.below(3));
      job.max_gpus = static_cast<int>(2 * job.requested.units());
      job.speed_up.parameter = random.uniform(0.6, 0.95);
      job.work = random.log_normal(7.0, 1.0) * job.speed_up(job.requested.as_double());
      job.type_speed = {1.0, random.uniform(0.4, 0.8), random.uniform(0.15, 0.5)};
      jobs.push_back(job);
    }
    return jobs;
  };
  return game;
}

/// Small and quick.
inline MappoConfig quick(int threads = 1) {
  MappoConfig config;
  config.threads = threads;
  config.environments = 6;
  config.rollout_steps = 16;
  config.episode_steps = 40;
  config.group = 2;
  config.total_steps = 5000;
  config.minibatch_rows = 256;
  return config;
}

/// A path in the temporary folder; the file goes with the object.
struct TemporaryPath {
  std::string path;
  explicit TemporaryPath(const std::string& name)
      : path((std::filesystem::temp_directory_path() / name).string()) {
    std::filesystem::remove(path);
  }
  ~TemporaryPath() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
};

template <class P>
std::vector<float> actor_weights(const P& pipeline) {
  const auto weights = pipeline.actor().parameters();
  return {weights.begin(), weights.end()};
}

template <class P>
std::vector<float> critic_weights(const P& pipeline) {
  const auto weights = pipeline.trainer().critic().network().parameters();
  return {weights.begin(), weights.end()};
}

}  // namespace mara::test
