#pragma once
// Parameters with noise, to play with.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mara/action/exploration.hpp"
#include "mara/action/masked_choice.hpp"
#include "mara/core/archive.hpp"
#include "mara/learning/sequence.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// What a learner plays with when it explores by noise on parameters (ParameterNoise). The noise of a period
/// is drawn from a stream that the seed and the number of the period name, so that only the
/// deviation and the period of its last adaptation are state; it stays the same while the parameters learn.
class NoisyTeam {
 public:
  NoisyTeam() = default;
  NoisyTeam(std::uint64_t seed, const ParameterNoise& noise) : seed_(seed), noise_(noise) {}

  bool on() const noexcept { return noise_.deviation > 0.0; }
  double deviation() const noexcept { return noise_.deviation; }

  void save(ArchiveWriter& out) const {
    out.put_value("noise_deviation", noise_.deviation);
    out.put_value("noise_period", adapted_);
  }
  /// Errors: of the archive, a deviation that is negative or not finite; nothing has changed then.
  Status load(ArchiveReader& in) {
    ParameterNoise noise = noise_;
    std::int64_t adapted = 0;
    Status status = in.get_value("noise_deviation", noise.deviation);
    if (status) status = in.get_value("noise_period", adapted);
    if (status) status = noise.check();
    if (!status) return status;
    noise_ = noise;
    adapted_ = adapted;
    return {};
  }

  /// The parameters for the round that begins at `env_steps`: `weights` [team.stored()] themselves when off.
  std::span<const float> weights(const AgentTeam& team, std::span<const float> weights,
                                 std::int64_t env_steps) {
    if (!on()) return weights;
    noisy_.assign(weights.begin(), weights.end());
    Random random(seed_, 0x706e000000000000ull + static_cast<std::uint64_t>(env_steps / noise_.period));
    team.visit(noisy_.data(),
               [&](const std::string&, ParameterView<float> view) { noise_.perturb(view, random); });
    return noisy_;
  }
  /// Once a period: measures on the first moments of a batch how far the actions of the noisy parameters are
  /// from those of `weights`, and steers the deviation. With options (masks of `heads` a row) the distance is
  /// the share of agents that prefer another one, else the root mean square of the difference of outputs
  /// after tanh.
  void adapt(const AgentTeam& team, std::span<const float> weights, const SequenceBatch& batch, bool options,
             std::int64_t env_steps) {
    if (!on() || noisy_.empty() || env_steps / noise_.period <= adapted_) return;
    adapted_ = env_steps / noise_.period;
    const std::size_t rows = batch.count * team.slots(), width = team.outputs();
    plain_.resize(rows * width), moved_.resize(rows * width);
    std::vector<float> memory(rows * team.memory());
    const auto play = [&](const float* from, std::vector<float>& out) {
      std::fill(memory.begin(), memory.end(), 0.0f);
      team.step(from, batch.observations.data(), batch.count, memory.data(), nullptr, out.data(), workspace_);
    };
    play(weights.data(), plain_);
    play(noisy_.data(), moved_);
    double sum = 0.0, count = 0.0;
    for (std::size_t row = 0; row < rows; ++row) {
      if (batch.present[row] == 0) continue;
      const float *a = plain_.data() + row * width, *b = moved_.data() + row * width;
      if (options) {
        const int n = static_cast<int>(width);
        sum += masked_mode(a, n, batch.masks[row]) != masked_mode(b, n, batch.masks[row]) ? 1.0 : 0.0;
        count += 1.0;
        continue;
      }
      for (std::size_t k = 0; k < width; ++k) {
        const double off = std::tanh(static_cast<double>(a[k])) - std::tanh(static_cast<double>(b[k]));
        sum += off * off;
        count += 1.0;
      }
    }
    if (count > 0.0) noise_.adapt(options ? sum / count : std::sqrt(sum / count));
  }

 private:
  std::uint64_t seed_ = 0;
  ParameterNoise noise_;
  std::int64_t adapted_ = 0;
  std::vector<float> noisy_, plain_, moved_;
  AgentTeam::Workspace workspace_;
};

}  // namespace mara
