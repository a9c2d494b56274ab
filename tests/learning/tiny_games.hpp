#pragma once
// Games of a few lines for the tests of learners, with known optima.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/environment/concept.hpp"

namespace mara::test {

/// Three seats, up to three agents, each of which sees who it is. Reward of a step: distinct seats taken /
/// agents, at most 1 (0 without agents). Who is there changes from step to step when `varying`; a seat that
/// the agent before took is then illegal for the next one in every second step. Ends with probability `end`
/// after a step.
class SeatGame {
 public:
  static constexpr int kObservation = 4, kGlobalState = 4, kOptions = 3;

  explicit SeatGame(bool varying = false, double end = 0.0, int most = 3)
      : varying_(varying), end_(end), most_(most), random_(0) {}

  Status reset(std::uint64_t seed) {
    random_ = Random(seed);
    held_ = {0, 0, 0};
    draw();
    return {};
  }
  std::size_t agents() const { return present_.size(); }
  void observe(float* rows) const {
    for (const std::uint32_t id : present_) {
      for (std::uint32_t i = 0; i < 3; ++i) *rows++ = i == id ? 1.0f : 0.0f;
      *rows++ = crowded_ ? 1.0f : 0.0f;
    }
  }
  void global_state(float* row) const {
    for (std::uint32_t i = 0; i < 3; ++i)
      row[i] = std::count(present_.begin(), present_.end(), i) > 0 ? 1.0f : 0.0f;
    row[3] = crowded_ ? 1.0f : 0.0f;
  }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t) const {
    const OptionMask left = 0b111u & ~(crowded_ && last_ >= 0 ? OptionMask{1} << last_ : 0u);
    return left;
  }
  OptionMask possible(std::size_t) const { return 0b111u; }
  void act(std::size_t agent, int option) { chosen_[agent] = last_ = std::clamp(option, 0, 2); }
  int current_option(std::size_t agent) const { return held_[present_[agent]]; }
  StepOutcome step() {
    std::array<int, 3> seats{};
    int distinct = 0;
    for (std::size_t i = 0; i < present_.size(); ++i) {
      const int seat = chosen_[i];
      distinct += seats[static_cast<std::size_t>(seat)]++ == 0 ? 1 : 0;
      held_[present_[i]] = seat;
    }
    StepOutcome outcome;
    if (!present_.empty())
      outcome.team_reward = static_cast<float>(distinct) / static_cast<float>(present_.size());
    rewards_.assign(present_.size(), outcome.team_reward);
    outcome.terminated = random_.uniform() < end_;
    draw();
    if (outcome.terminated) present_.clear(), order_.clear();
    return outcome;
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  void draw() {
    present_.clear();
    for (std::uint32_t id = 0; id < 3; ++id)
      if (static_cast<int>(id) < most_ && (!varying_ || random_.below(2) == 0)) present_.push_back(id);
    order_.resize(present_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    if (varying_) random_.shuffle(order_);
    crowded_ = varying_ && random_.below(2) == 0;
    last_ = -1;
  }

  bool varying_;
  double end_;
  int most_;
  Random random_;
  std::vector<std::uint32_t> present_, order_;
  std::array<int, 3> held_{}, chosen_{};
  std::vector<float> rewards_;
  bool crowded_ = false;
  int last_ = -1;
};

/// One agent in a corridor of five places: step left or right; reward 1 for entering the last place, from
/// which it is carried back to the first, and .05 for staying in the first by stepping left. Best: always
/// right, .25 a step.
class Corridor {
 public:
  static constexpr int kObservation = 5, kGlobalState = 5, kOptions = 2;

  Status reset(std::uint64_t) {
    place_ = 0;
    return {};
  }
  std::size_t agents() const { return 1; }
  void observe(float* rows) const { global_state(rows); }
  void global_state(float* row) const {
    for (int i = 0; i < 5; ++i) row[i] = i == place_ ? 1.0f : 0.0f;
  }
  std::span<const std::uint32_t> turn_order() const {
    static constexpr std::uint32_t kOrder[1] = {0};
    return kOrder;
  }
  OptionMask mask(std::size_t) const { return 0b11u; }
  OptionMask possible(std::size_t) const { return 0b11u; }
  void act(std::size_t, int option) { option_ = option; }
  int current_option(std::size_t) const { return 0; }
  StepOutcome step() {
    StepOutcome outcome;
    if (option_ == 0) {
      outcome.team_reward = place_ == 0 ? 0.05f : 0.0f;
      place_ = std::max(0, place_ - 1);
    } else if (++place_ == 4) {
      outcome.team_reward = 1.0f;
      place_ = 0;
    }
    reward_[0] = outcome.team_reward;
    return outcome;
  }
  std::span<const float> rewards() const { return reward_; }

 private:
  int place_ = 0, option_ = 0;
  std::array<float, 1> reward_{};
};

/// One state, one option, the same reward for ever; cut or ended after `length` steps (0: never).
class ConstantGame {
 public:
  static constexpr int kObservation = 1, kGlobalState = 1, kOptions = 1;
  enum class End { kNever, kTruncated, kTerminated, kBoth };

  explicit ConstantGame(float reward = 1.0f, End end = End::kNever, int length = 0, float mark = 1.0f,
                        std::size_t agents = 1)
      : reward_(reward), end_(end), length_(length), mark_(mark), rewards_(agents, reward) {}

  Status reset(std::uint64_t seed) {
    if (seed == 0) return Error{ErrorCode::kIo, "no episode has this seed"};
    steps_ = 0;
    return {};
  }
  std::size_t agents() const { return rewards_.size(); }
  void observe(float* rows) const { std::fill_n(rows, agents(), mark_); }
  void global_state(float* row) const { *row = mark_; }
  std::span<const std::uint32_t> turn_order() const {
    static constexpr std::uint32_t kOrder[2] = {0, 1};
    return std::span<const std::uint32_t>(kOrder).first(agents());
  }
  OptionMask mask(std::size_t) const { return 1u; }
  OptionMask possible(std::size_t) const { return 1u; }
  void act(std::size_t, int) {}
  int current_option(std::size_t) const { return 0; }
  StepOutcome step() {
    ++steps_;
    const bool over = end_ != End::kNever && steps_ == length_;
    return {reward_, over && end_ != End::kTruncated, over && end_ != End::kTerminated};
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  float reward_;
  End end_;
  int length_;
  float mark_;
  int steps_ = 0;
  std::vector<float> rewards_;
};

static_assert(Environment<SeatGame> && Environment<Corridor> && Environment<ConstantGame>);

/// A path in the temporary folder, removed with the object.
struct TemporaryFile {
  std::filesystem::path path;
  explicit TemporaryFile(const std::string& name)
      : path(std::filesystem::temp_directory_path() / ("mara_" + name)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string read() const {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  void write(const std::string& bytes) const {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << bytes;
  }
};

/// Everything a trainer is, as the bytes of its checkpoint.
template <class Trainer>
std::string state_of(const Trainer& trainer) {
  static int number = 0;
  const TemporaryFile file("state_" + std::to_string(++number));
  trainer.save(file.path).value();
  return file.read();
}

}  // namespace mara::test
