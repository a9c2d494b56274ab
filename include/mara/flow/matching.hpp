#pragma once
// Training a velocity field by conditional flow matching.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "mara/autodiff/tape.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/flow/path.hpp"
#include "mara/flow/velocity_field.hpp"
#include "mara/nn/adam.hpp"

namespace mara {

/// How a field is trained.
struct MatchingConfig {
  int epochs = 6;
  int batch = 512;
  double learning_rate = 1e-3;  ///< falls linearly to a tenth
  double max_gradient_norm = 1.0;
  float sigma = 0.0f;  ///< noise of the path
};

/// What training did.
struct MatchingReport {
  std::vector<double> epoch_loss;  ///< mean over samples and dimensions of |v - (x1 - x0)|^2
  std::size_t samples = 0;
};

/// Minimises E |v(x_t, t, c) - (x1 - x0)|^2 over `count` items (mean over batch and dimensions), t ~ U[0, 1].
/// `draw(item, random, x0, x1, c)` writes the two ends and the condition of an item; it is called once per
/// item and epoch. Deterministic for a given `random`. Errors: no items; a learning rate that is not
/// positive; a loss that is not finite (the field keeps its last good weights).
template <class Field>
Result<MatchingReport> train_matching(
    Field& field, std::size_t count,
    const std::function<void(std::size_t, Random&, float*, float*, float*)>& draw,
    const MatchingConfig& config, Random& random,
    const std::function<void(int epoch, double loss)>& progress = {}) {
  if (count == 0) return Error{ErrorCode::kInvalidArgument, "flow matching: no samples"};
  if (Status rate = check_positive(config.learning_rate, "flow matching: learning_rate"); !rate)
    return rate.error();
  constexpr auto kState = static_cast<std::size_t>(Field::kState);
  constexpr auto kInputs = static_cast<std::size_t>(Field::kInputs);
  auto& network = field.network();
  AdamConfig adam_config;
  adam_config.learning_rate = config.learning_rate;
  adam_config.max_gradient_norm = config.max_gradient_norm;
  Adam<float> adam(network.parameters().size(), adam_config);
  const LinearPath path{config.sigma};
  const auto batch = std::min<std::size_t>(static_cast<std::size_t>(std::max(1, config.batch)), count);
  std::vector<float> inputs(batch * kInputs), targets(batch * kState), x0(kState), x1(kState), x_t(kState),
      condition(static_cast<std::size_t>(Field::kCondition));
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Tape<float> tape;
  MatchingReport report;
  const double total = static_cast<double>(config.epochs) * static_cast<double>(count);
  for (int epoch = 0; epoch < config.epochs; ++epoch) {
    for (std::size_t i = count; i > 1; --i)
      std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
    double sum = 0.0;
    for (std::size_t begin = 0; begin < count; begin += batch) {
      const std::size_t rows = std::min(batch, count - begin);
      for (std::size_t r = 0; r < rows; ++r) {
        draw(order[begin + r], random, x0.data(), x1.data(), condition.data());
        const auto t = static_cast<float>(random.uniform());
        path.sample(x0.data(), x1.data(), t, kState, random, x_t.data(), &targets[r * kState]);
        Field::pack(x_t.data(), t, condition.data(), &inputs[r * kInputs]);
      }
      tape.clear();
      network.zero_gradients();
      const Var v = network.forward(tape, tape.input(inputs.data(), rows, kInputs));
      const Var loss = tape.mean(tape.square(tape.sub(v, tape.input(targets.data(), rows, kState))));
      const double value = static_cast<double>(tape.scalar(loss));
      if (!std::isfinite(value)) {
        return Error{ErrorCode::kNumerical,
                     "flow matching loss is not finite in epoch " + std::to_string(epoch)};
      }
      tape.backward(loss);
      const double done = static_cast<double>(report.samples) / total;
      adam.set_learning_rate(config.learning_rate * (1.0 - 0.9 * done));
      if (const Status stepped = adam.step(network.parameters(), network.gradients()); !stepped)
        return stepped.error();
      sum += value * static_cast<double>(rows);
      report.samples += rows;
    }
    report.epoch_loss.push_back(sum / static_cast<double>(count));
    if (progress) progress(epoch, report.epoch_loss.back());
  }
  return report;
}

}  // namespace mara
