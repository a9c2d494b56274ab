#pragma once
// The two networks that every program here measures, and what a pass through one costs at least.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "limits.hpp"
#include "mara/core/random.hpp"
#include "mara/math/aligned.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/mlp.hpp"

namespace bench {

using SmallNet = mara::Mlp<float, 32, 64, 64, 16>;
using LargeNet = mara::Mlp<float, 64, 256, 256, 32>;

/// "32-64-64-16"
template <class Net>
std::string name_of() {
  std::string name;
  for (const std::size_t size : Net::Shape::kSizes) name += (name.empty() ? "" : "-") + std::to_string(size);
  return name;
}

/// Multiply-adds of one row through the first `layers` layers; as many as there are weights in them.
template <class Net>
double multiply_adds(std::size_t layers = Net::Shape::kLayers) {
  double total = 0.0;
  for (std::size_t l = 0; l < layers; ++l)
    total += static_cast<double>(Net::Shape::kSizes[l] * Net::Shape::kSizes[l + 1]);
  return total;
}

/// A single row must read every weight once; with more rows that is hidden behind the operations.
template <class Net>
Work forward_work(std::size_t rows) {
  const double weights = multiply_adds<Net>();
  return {2.0 * static_cast<double>(rows) * weights, rows == 1 ? sizeof(float) * weights : 0.0};
}

/// Forward, the weight gradient of every layer, the input gradient of all but the first.
template <class Net>
Work training_work(std::size_t rows) {
  const double per_row = 3.0 * multiply_adds<Net>() - multiply_adds<Net>(1);
  return {2.0 * static_cast<double>(rows) * per_row, 0.0};
}

inline mara::AlignedVector<float> random_rows(std::size_t count, std::uint64_t seed) {
  mara::Random random(seed);
  mara::AlignedVector<float> x(count);
  for (float& v : x) v = static_cast<float>(random.normal());
  return x;
}

template <class Net>
Net random_net(mara::Activation hidden, std::uint64_t seed = 1) {
  Net net(hidden);
  mara::Random random(seed);
  net.initialise(random, 1.0f);
  return net;
}

/// Regression by mean squared error on one batch, on the tape: forward, backward, Adam.
template <class Net>
class TapeTraining {
 public:
  TapeTraining(Net net, std::size_t rows, mara::AdamConfig config)
      : net_(std::move(net)),
        adam_(net_.parameters().size(), config),
        rows_(rows),
        in_(random_rows(rows * Net::kInputs, 2)),
        target_(random_rows(rows * Net::kOutputs, 3)) {}

  /// One step; returns the loss before it, NaN when the step was refused.
  float step() {
    tape_.clear();
    const mara::Var y = net_.forward_once(tape_, tape_.input(in_.data(), rows_, Net::kInputs));
    const mara::Var loss = tape_.mean_squared_error(y, tape_.input(target_.data(), rows_, Net::kOutputs));
    tape_.backward(loss);
    const float value = tape_.scalar(loss);
    return adam_.step(net_.parameters(), net_.gradients()) ? value : 0.0f / 0.0f;
  }

  const Net& net() const noexcept { return net_; }
  const float* in() const noexcept { return in_.data(); }
  const float* target() const noexcept { return target_.data(); }
  std::size_t rows() const noexcept { return rows_; }

 private:
  Net net_;
  mara::Adam<float> adam_;
  mara::Tape<float> tape_;
  std::size_t rows_;
  mara::AlignedVector<float> in_, target_;
};

}  // namespace bench
