#pragma once
// A whole set of pipeline parameters; each build-failure test breaks one member of one of them.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "mara/action/masked_categorical.hpp"
#include "mara/critic/centralised.hpp"
#include "mara/guidance/modes.hpp"
#include "mara/pipeline/checks.hpp"

namespace toy {

struct Environment {
  static constexpr int kObservation = 4;
  static constexpr int kGlobalState = 5;
  static constexpr int kOptions = 3;
  mara::Status reset(std::uint64_t seed);
  std::size_t agents() const;
  void observe(float* rows) const;
  void global_state(float* row) const;
  std::span<const std::uint32_t> turn_order() const;
  mara::OptionMask mask(std::size_t agent) const;
  mara::OptionMask possible(std::size_t agent) const;
  void act(std::size_t agent, int option);
  mara::StepOutcome step();
  std::span<const float> rewards() const;
  int current_option(std::size_t agent) const;
};

struct Actions {
  static constexpr int kOptions = 3;
  using Distribution = mara::MaskedCategorical<kOptions>;
};

using Critic = mara::critic::Centralised<8>;
using Guidance = mara::guidance::None;

struct Learner {
  template <class E, class C, class G>
  struct Trainer {
    struct Config {};
    struct Report {};
    struct Flow {};
    struct Actor {};
    static mara::Result<std::unique_ptr<Trainer>> create(const Config& config,
                                                         const std::function<E(int)>& make, G guidance,
                                                         std::shared_ptr<const Flow> flow);
    mara::Result<Report> update();
    std::int64_t env_steps() const;
    const Actor& actor() const;
    mara::Status save(const std::string& path) const;
    mara::Status load(const std::string& path);
  };
};

}  // namespace toy
