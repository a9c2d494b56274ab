// How near the kernels come to what this core can do: its peak and cache bandwidths, then forward passes and
// training steps of two networks beside their limits (see limits.hpp).

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "limits.hpp"
#include "mara/math/simd.hpp"
#include "networks.hpp"
#include "report.hpp"

namespace {

using namespace bench;
using mara::Activation;

const char* hidden_name(Activation activation) {
  return activation == Activation::kRelu ? "relu" : "tanh";
}

/// What is timed and how the result is called.
struct Entries {
  std::vector<Contestant> contestants;
  std::vector<std::vector<Cell>> names;
};

template <class Net>
void add_forward(Entries& entries, Activation hidden) {
  for (const std::size_t rows : {1u, 8u, 64u, 1024u}) {
    auto actor = std::make_shared<typename Net::Inference>(random_net<Net>(hidden).inference());
    auto out = std::make_shared<mara::AlignedVector<float>>(rows * Net::kOutputs);
    entries.contestants.push_back(
        contestant(forward_work<Net>(rows), [actor, out, rows, in = random_rows(rows * Net::kInputs, 2)] {
          actor->forward(in.data(), rows, out->data());
        }));
    entries.names.push_back({"forward", bench::name_of<Net>(), hidden_name(hidden), Number{double(rows)}});
  }
}

template <class Net>
void add_training(Entries& entries) {
  for (const std::size_t rows : {64u, 256u, 1024u}) {
    auto training = std::make_shared<TapeTraining<Net>>(random_net<Net>(Activation::kTanh), rows,
                                                        mara::AdamConfig{.learning_rate = 1e-5});
    entries.contestants.push_back(contestant(training_work<Net>(rows), [training] { training->step(); }));
    entries.names.push_back({"training step", bench::name_of<Net>(), "tanh", Number{double(rows)}});
  }
}

/// The core itself, the median of a few measurements.
Table speeds_of(const Meter& meter, int rounds) {
  std::vector<double> peak;
  std::vector<double> read[3];
  for (int i = 0; i < rounds; ++i) {
    const Speeds speeds = meter.measure_all();
    peak.push_back(speeds.flops);
    for (std::size_t level = 0; level < 3; ++level) read[level].push_back(speeds.read_bytes[level]);
  }
  Table table{
      "This core, vectors: " + std::string(mara::simd::kName), {"what", "size, KiB", "measured", "unit"}, {}};
  table.rows.push_back({"fused multiply-add", "-", Number{1e-9 * median(peak), 1}, "GFLOP/s"});
  for (std::size_t level = 0; level < 3; ++level)
    table.rows.push_back({"read L" + std::to_string(level + 1),
                          std::to_string(meter.working_set(level) / 1024) + " of " +
                              std::to_string((level == 0   ? meter.caches().l1
                                              : level == 1 ? meter.caches().l2
                                                           : meter.caches().l3) /
                                             1024),
                          Number{1e-9 * median(read[level]), 1}, "GB/s"});
  return table;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse_options(
      count, arguments, "limits_benchmark: forward passes and training steps beside the limits of this core");
  const Meter meter;
  Entries entries;
  for (const Activation hidden : {Activation::kTanh, Activation::kRelu}) {
    add_forward<SmallNet>(entries, hidden);
    add_forward<LargeNet>(entries, hidden);
  }
  add_training<SmallNet>(entries);
  add_training<LargeNet>(entries);

  const std::vector<Timing> timings = time_in_turn(entries.contestants, options, &meter);
  Table table{"Time beside the limit, medians of " + std::to_string(options.rounds) + " rounds",
              {"what", "network", "hidden", "batch", "ns", "limit ns", "ratio"},
              {}};
  for (std::size_t i = 0; i < timings.size(); ++i) {
    std::vector<Cell> row = entries.names[i];
    row.insert(row.end(), {Cell{about(timings[i].ns())}, Cell{about(timings[i].limit_ns())},
                           Cell{ratio(timings[i].to_limit())}});
    table.rows.push_back(std::move(row));
  }
  print({speeds_of(meter, options.rounds), std::move(table)}, options.json);
}
