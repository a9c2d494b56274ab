#pragma once
// From demonstrations to a trained flow.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "mara/core/check_finite.hpp"
#include "mara/expert/demonstrations.hpp"
#include "mara/flow/matching.hpp"
#include "mara/guidance/allocation_flow.hpp"

namespace mara {

/// How an allocation flow is fitted.
struct FlowConfig {
  std::uint64_t seed = 1;
  float origin_noise = 0.2f;  ///< x0 = one-hot(current) + noise N(0, I)
  float temperature = 0.2f;   ///< of the guided distribution
  double unaware_share =
      0.15;  ///< of samples see only what is possible, not what is left (for guidance::FlowInput)
  MatchingConfig matching{};
};

/// Fits an allocation flow to demonstrations, from random weights or on from `start`. Errors: as
/// train_matching(); a temperature that is not positive; arrays of another number of rows.
template <class Flow>
Result<std::shared_ptr<const Flow>> train_flow(
    const Demonstrations& data, const FlowConfig& config, MatchingReport* report = nullptr,
    const std::function<void(int epoch, double loss)>& progress = {}, const Flow* start = nullptr) {
  constexpr auto kObservation = static_cast<std::size_t>(Flow::kObservation);
  if (data.observations.size() != data.rows() * kObservation || data.current.size() != data.rows() ||
      data.masks.size() != data.rows() || data.possible.size() != data.rows()) {
    return Error{ErrorCode::kShapeMismatch, "demonstrations: " + std::to_string(data.observations.size()) +
                                                " observation numbers for " + std::to_string(data.rows()) +
                                                " rows of " + std::to_string(kObservation)};
  }
  if (Status good = check_positive(static_cast<double>(config.temperature), "flow: temperature"); !good) {
    return good.error();
  }
  Random random(config.seed, 0x666c6f77ull);
  auto flow = std::make_shared<Flow>();
  flow->field = start != nullptr ? start->field : typename Flow::Field(random);
  flow->temperature = config.temperature;
  const auto draw = [&](std::size_t item, Random& rng, float* x0, float* x1, float* condition) {
    for (int a = 0; a < Flow::kOptions; ++a) {
      x0[a] =
          (a == data.current[item] ? 1.0f : 0.0f) + config.origin_noise * static_cast<float>(rng.normal());
      x1[a] = a == data.target[item] ? 1.0f : 0.0f;
    }
    const bool aware = rng.uniform() >= config.unaware_share;
    Flow::condition(&data.observations[item * kObservation], aware ? data.masks[item] : data.possible[item],
                    condition);
  };
  auto trained = train_matching(flow->field, data.rows(), draw, config.matching, random, progress);
  if (!trained) return trained.error();
  if (report != nullptr) *report = *trained;
  return std::shared_ptr<const Flow>(std::move(flow));
}

}  // namespace mara
