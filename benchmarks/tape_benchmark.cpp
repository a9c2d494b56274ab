// What the tape costs: a training step on it against the same step written by hand with the same kernels.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "mara/math/dense.hpp"
#include "mara/math/input_gradient.hpp"
#include "networks.hpp"
#include "report.hpp"

namespace {

using namespace bench;
using mara::Activation;

/// The step of TapeTraining as one would write it for this network alone: every buffer has its place,
/// gradients are written, not added.
template <class Net>
class HandWrittenTraining {
  using Shape = typename Net::Shape;
  static constexpr std::size_t kLayers = Shape::kLayers;

 public:
  HandWrittenTraining(Net net, std::size_t rows, mara::AdamConfig config)
      : net_(std::move(net)),
        adam_(net_.parameters().size(), config),
        rows_(rows),
        in_(random_rows(rows * Net::kInputs, 2)),
        target_(random_rows(rows * Net::kOutputs, 3)) {
    std::size_t workspace = 0;
    for (std::size_t l = 0; l < kLayers; ++l) {
      values_[l].resize(rows * Shape::kSizes[l + 1]);
      gradients_[l].resize(rows * Shape::kSizes[l + 1]);
      workspace = std::max(workspace, mara::dense_workspace_size(Shape::kSizes[l], Shape::kSizes[l + 1]));
    }
    workspace_.resize(workspace);
  }

  float step() {
    const float* parameters = net_.parameters().data();
    const float* x = in_.data();
    for (std::size_t l = 0; l < kLayers; ++l) {
      mara::dense_forward(x, rows_, inputs(l), outputs(l), parameters + weights(l), parameters + bias(l),
                          activation(l), values_[l].data());
      x = values_[l].data();
    }
    const float loss = mean_squared_error();
    float* slopes = net_.gradients().data();
    mara::dense_bias_gradient(gradients_[kLayers - 1].data(), rows_, outputs(kLayers - 1), false,
                              slopes + bias(kLayers - 1));
    for (std::size_t l = kLayers; l-- > 0;) {
      const float* dz = gradients_[l].data();
      const float* from = l == 0 ? in_.data() : values_[l - 1].data();
      mara::dense_weight_gradient(from, dz, rows_, inputs(l), outputs(l), false, slopes + weights(l));
      if (l == 0) break;
      mara::dense_input_gradient_through(dz, rows_, inputs(l), outputs(l), parameters + weights(l),
                                         workspace_.data(), from, activation(l - 1), slopes + bias(l - 1),
                                         false, gradients_[l - 1].data());
    }
    return adam_.step(net_.parameters(), net_.gradients()) ? loss : 0.0f / 0.0f;
  }

 private:
  static constexpr std::size_t inputs(std::size_t l) { return Shape::kSizes[l]; }
  static constexpr std::size_t outputs(std::size_t l) { return Shape::kSizes[l + 1]; }
  static constexpr std::size_t weights(std::size_t l) { return Shape::offset(l); }
  static constexpr std::size_t bias(std::size_t l) { return Shape::bias_offset(l); }
  Activation activation(std::size_t l) const {
    return l + 1 == kLayers ? Activation::kIdentity : net_.hidden_activation();
  }

  /// The loss; its gradient goes to the outputs'.
  float mean_squared_error() {
    const std::size_t count = rows_ * Net::kOutputs;
    const float* y = values_[kLayers - 1].data();
    float* dy = gradients_[kLayers - 1].data();
    const float factor = 2.0f / static_cast<float>(count);
    constexpr std::size_t kSums = 16;  // independent, so that the compiler may use vectors
    float sums[kSums] = {};
    std::size_t i = 0;
    for (; i + kSums <= count; i += kSums)
      for (std::size_t s = 0; s < kSums; ++s) {
        const float error = y[i + s] - target_[i + s];
        sums[s] += error * error;
        dy[i + s] = factor * error;
      }
    float total = 0.0f;
    for (; i < count; ++i) {
      const float error = y[i] - target_[i];
      total += error * error;
      dy[i] = factor * error;
    }
    for (const float sum : sums) total += sum;
    return total / static_cast<float>(count);
  }

  Net net_;
  mara::Adam<float> adam_;
  std::size_t rows_;
  mara::AlignedVector<float> in_, target_, values_[kLayers], gradients_[kLayers], workspace_;
};

/// Adds a row for one network; false when the two ways do not learn the same.
template <class Net>
bool compare(const Options& options, Table& table) {
  constexpr std::size_t kRows = 256;
  const mara::AdamConfig config{.learning_rate = 1e-4};
  auto tape = std::make_shared<TapeTraining<Net>>(random_net<Net>(Activation::kTanh), kRows, config);
  auto hand = std::make_shared<HandWrittenTraining<Net>>(random_net<Net>(Activation::kTanh), kRows, config);
  for (int step = 0; step < 20; ++step) {
    const float a = tape->step(), b = hand->step();
    if (std::abs(a - b) <= 1e-5f * std::abs(b)) continue;
    std::fprintf(stderr, "%s, step %d: loss %.9g on the tape, %.9g by hand\n", name_of<Net>().c_str(), step,
                 static_cast<double>(a), static_cast<double>(b));
    return false;
  }
  const Work work = training_work<Net>(kRows);
  const std::vector<Timing> timings = time_in_turn(
      {contestant(work, [tape] { tape->step(); }), contestant(work, [hand] { hand->step(); })}, options);
  table.rows.push_back({name_of<Net>(), Number{double(kRows)}, about(timings[0].ns()), about(timings[1].ns()),
                        Number{100.0 * (timings[0].over(timings[1]) - 1.0), 1}});
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse_options(
      count, arguments, "tape_benchmark: a training step on the tape against one written by hand",
      {.rounds = 41, .slice_s = 0.01});
  Table table{"Training step on the tape and by hand, the same kernels, medians of " +
                  std::to_string(options.rounds) + " rounds",
              {"network", "batch", "tape ns", "by hand ns", "overhead, %"},
              {}};
  if (!compare<SmallNet>(options, table) || !compare<LargeNet>(options, table)) return 1;
  print({std::move(table)}, options.json);
}
