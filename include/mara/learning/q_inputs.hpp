#pragma once
// A batch of replayed pieces as the loss of value learners reads it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "mara/learning/q_guidance.hpp"
#include "mara/learning/sequence.hpp"

namespace mara {

/// Extents of a batch and its numbers in S (float: the batch's own arrays; double: copies), states with the
/// features of the guidance behind them, and options with -1 for absent agents and padding. Valid while the
/// batch stays as it is.
template <class S>
class QInputs {
 public:
  std::size_t steps = 0, count = 0, slots = 0;
  std::size_t state = 0;  ///< numbers of the global state and of the features
  const SequenceBatch* batch = nullptr;
  const S* observations = nullptr;    ///< (steps + 1) x count x slots x observation
  const S* memory = nullptr;          ///< count x slots x memory
  const S* states = nullptr;          ///< (steps + 1) x count x state
  std::vector<std::int32_t> options;  ///< steps x count x slots

  void prepare(const SequenceShape& shape, const SequenceBatch& from, const QGuidance& guidance) {
    shape_ = &shape;
    batch = &from;
    steps = shape.steps;
    count = from.count;
    slots = shape.game.agents;
    state = shape.game.state + guidance.features;
    observations = numbers(from.observations, observation_copy_);
    memory = numbers(from.memory, memory_copy_);
    states = numbers(from.states, state_copy_);
    if (guidance.features > 0) describe(guidance);
    options.resize(steps * count * slots);
    for (std::size_t t = 0; t < steps; ++t)
      for (std::size_t b = 0; b < count; ++b)
        for (std::size_t i = 0; i < slots; ++i) {
          const std::size_t at = (t * count + b) * slots + i;
          options[at] = from.valid(t, b) && from.present[at] != 0 ? from.options[at] : -1;
        }
  }
  /// Moment t of piece b as guidance sees it.
  QMoment moment(std::size_t t, std::size_t b) const {
    const std::size_t at = t * count + b, seen = slots * shape_->game.observation;
    return {
        std::span(batch->observations).subspan(at * seen, seen),
        std::span(batch->states).subspan(at * shape_->game.state, shape_->game.state),
        std::span(batch->present).subspan(at * slots, slots),
        std::span(batch->masks).subspan(at * slots, slots),
        t < steps ? std::span(batch->options).subspan(at * slots, slots) : std::span<const std::int32_t>{}};
  }

 private:
  static const S* numbers(const std::vector<float>& from, std::vector<S>& copy) {
    if constexpr (std::is_same_v<S, float>) {
      return from.data();
    } else {
      copy.assign(from.begin(), from.end());
      return copy.data();
    }
  }
  void describe(const QGuidance& guidance) {
    described_.assign((steps + 1) * count * state, S(0));
    std::vector<float> features(guidance.features);
    for (std::size_t t = 0; t <= steps; ++t)
      for (std::size_t b = 0; b < count; ++b) {
        S* row = described_.data() + (t * count + b) * state;
        row = std::copy_n(states + (t * count + b) * shape_->game.state, shape_->game.state, row);
        if (t > batch->lengths[b]) continue;
        guidance.describe(moment(t, b), features.data());
        std::copy(features.begin(), features.end(), row);
      }
    states = described_.data();
  }

  const SequenceShape* shape_ = nullptr;
  std::vector<S> observation_copy_, memory_copy_, state_copy_, described_;
};

}  // namespace mara
