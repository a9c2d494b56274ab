#pragma once
// A velocity field v(x, t, c) as a small network, shared over agents.

#include <cstddef>
#include <span>
#include <vector>

#include "mara/nn/mlp.hpp"

namespace mara {

/// v: (x in R^State, t in [0, 1], condition c in R^Condition) -> R^State. Applied to every agent alike, so
/// the joint field is permutation-equivariant: permuting agents permutes velocities. Network input row: [x,
/// t, c].
template <int State, int Condition, std::size_t... Hidden>
class VelocityField {
 public:
  static constexpr int kState = State;
  static constexpr int kCondition = Condition;
  static constexpr int kInputs = State + 1 + Condition;
  using Network = Mlp<float, static_cast<std::size_t>(kInputs), Hidden..., static_cast<std::size_t>(State)>;

  VelocityField() : network_(Activation::kRelu) {}
  explicit VelocityField(Random& random) : VelocityField() { network_.initialise(random, 1.0f); }

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

/// Integrates dx/dt = v from t = 0 to 1 in `steps` Euler steps, in place (rows x State). One step gives the
/// regressed endpoint x + v(x, 0, c).
template <class Field>
void euler_endpoint(const Field& field, float* x, const float* condition, std::size_t rows, int steps,
                    typename Field::Workspace& work) {
  const std::size_t extent = rows * static_cast<std::size_t>(Field::kState);
  std::vector<float>& v = work.velocity;
  v.resize(extent);
  const float h = 1.0f / static_cast<float>(steps);
  for (int s = 0; s < steps; ++s) {
    field.velocity(x, static_cast<float>(s) * h, condition, rows, v.data(), work);
    for (std::size_t i = 0; i < extent; ++i) x[i] += h * v[i];
  }
}

}  // namespace mara
