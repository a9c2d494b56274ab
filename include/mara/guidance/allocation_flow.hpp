#pragma once
// The flow of an allocation: where the velocity field would move each agent's option, and the distribution
// over options that this implies.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "mara/action/masked_categorical.hpp"
#include "mara/flow/velocity_field.hpp"

namespace mara {

/// Per agent the state of the flow is a point on the simplex over its options: x0 = one-hot(current option),
/// x1 = one-hot(ideal option). Categorical, since a regressed amount would average modes ({nothing, double}
/// would become "half"). The condition is the agent's observation and its mask, one number 0 or 1 per option:
/// what agents before it have left. Without the mask the field would average over what others take, and a
/// rare opening would look improbable even when it is there. `Options`, `Observation`: extents of the
/// environment.
template <int Options, int Observation, std::size_t... Hidden>
struct AllocationFlow {
  using Field = VelocityField<Options, Observation + Options, Hidden...>;
  static constexpr int kOptions = Options;
  static constexpr int kObservation = Observation;

  Field field{};
  float temperature = 0.2f;  ///< width of the guided distribution

  /// Scratch memory of evaluations; one per thread.
  struct Workspace {
    typename Field::Workspace field;
    std::vector<float> condition;

    /// Makes room, so that evaluations of up to `rows` rows allocate nothing.
    void reserve(std::size_t rows) {
      field.reserve(rows);
      condition.resize(rows * static_cast<std::size_t>(Field::kCondition));
    }
  };

  /// Writes one condition row: the observation, then the mask's bits.
  static void condition(const float* observation, OptionMask mask, float* row) noexcept {
    std::copy_n(observation, Observation, row);
    for (int a = 0; a < Options; ++a) row[Observation + a] = static_cast<float>((mask >> a) & 1u);
  }

  /// Writes rows x Options endpoints x1^ = x + v(x, 0, o), one Euler step from the one-hot of `current`.
  void endpoint(const float* observations, const int* current, const OptionMask* masks, std::size_t rows,
                float* out, Workspace& work) const {
    constexpr auto kCondition = static_cast<std::size_t>(Field::kCondition);
    work.condition.resize(rows * kCondition);
    for (std::size_t r = 0; r < rows; ++r) {
      condition(observations + r * Observation, masks[r], &work.condition[r * kCondition]);
      for (int a = 0; a < Options; ++a)
        out[r * Options + static_cast<std::size_t>(a)] = a == current[r] ? 1.0f : 0.0f;
    }
    euler_endpoint(field, out, work.condition.data(), rows, 1, work.field);
  }

  /// q(a) proportional to [a legal] exp(-|e_a - x1^|^2 / temperature); since |e_a - y|^2 = 1 - 2 y_a + |y|^2
  /// this is a softmax of 2 y_a / temperature. All zeros when no option is legal or the endpoint is not
  /// finite.
  void guided_distribution(const float* endpoint, OptionMask mask, float* q) const noexcept {
    float logits[Options];
    for (int a = 0; a < Options; ++a) logits[a] = 2.0f * endpoint[a] / temperature;
    const MaskedCategorical<Options> distribution(logits, mask);
    for (int a = 0; a < Options; ++a) q[a] = distribution.probability(a);
  }
};

/// The flow that guides learners in an environment E by default.
template <class E>
using DefaultFlow = AllocationFlow<E::kOptions, E::kObservation, 128, 128>;

}  // namespace mara
