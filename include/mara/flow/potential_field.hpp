#pragma once
// A velocity field that is the gradient of a potential, shared over agents.

#include <cstddef>
#include <vector>

#include "mara/flow/potential_network.hpp"

namespace mara {

/// v(x, t, c) = grad_x Phi(x, t, c) with Phi a perceptron of tanh layers: a field without curl, as the
/// velocities of optimal transport are (Benamou and Brenier 2000; Neklyudov et al., "Action Matching", 2023).
/// Used and trained like VelocityField: train_matching(), euler_endpoint(). Network input row: [x, t, c].
template <int State, int Condition, std::size_t... Hidden>
class PotentialField {
 public:
  static constexpr int kState = State;
  static constexpr int kCondition = Condition;
  static constexpr int kInputs = State + 1 + Condition;
  using Network = PotentialNetwork<float, static_cast<std::size_t>(State), Activation::kTanh,
                                   static_cast<std::size_t>(kInputs), Hidden...>;

  PotentialField() = default;
  explicit PotentialField(Random& random) { network_.initialise(random, 1.0f); }

  Network& network() noexcept { return network_; }
  const Network& network() const noexcept { return network_; }

  /// Scratch memory of evaluations; one per thread.
  struct Workspace {
    std::vector<float> input, velocity;
    typename Network::Workspace network;

    /// Makes room, so that evaluations of up to `rows` rows allocate nothing.
    void reserve(std::size_t rows) {
      input.resize(rows * kInputs);
      velocity.resize(rows * State);
    }
  };

  /// Writes rows x State velocities at time t for rows of x and of conditions.
  void velocity(const float* x, float t, const float* condition, std::size_t rows, float* out,
                Workspace& work) const {
    work.input.resize(rows * kInputs);
    for (std::size_t r = 0; r < rows; ++r)
      pack(x + r * State, t, condition + r * Condition, &work.input[r * kInputs]);
    network_.forward(work.input.data(), rows, out, work.network);
  }

  /// One network input row.
  static void pack(const float* x, float t, const float* condition, float* row) noexcept {
    for (int i = 0; i < State; ++i) row[i] = x[i];
    row[State] = t;
    for (int i = 0; i < Condition; ++i) row[State + 1 + i] = condition[i];
  }

 private:
  Network network_;
};

}  // namespace mara
