// Forward pass and training step of perceptrons, each beside its limit on this core (see limits.hpp).
//
// Counters: limit_ns = the least time, measured right before and after each run; x_limit = time / limit_ns.
// Absolute times differ from machine to machine and with its load, ratios hold. limits_benchmark takes
// medians over many interleaved rounds of the same; here each has the tools of Google Benchmark. For medians:
//   kernel_benchmark --benchmark_repetitions=12 --benchmark_report_aggregates_only=true
//                    --benchmark_enable_random_interleaving=true

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>

#include "limits.hpp"
#include "mara/math/aligned.hpp"
#include "mara/math/simd.hpp"
#include "networks.hpp"

namespace {

using namespace bench;
using mara::Activation;

const Meter& meter() {
  static const Meter the_meter;
  return the_meter;
}

/// Runs `body` as the benchmark's loop and adds the counters for `work` a call.
template <class Body>
void run(benchmark::State& state, const Work& work, Body&& body) {
  body();  // memory in place, caches warm
  const double before = limit_seconds(work, meter().measure(), meter().caches());
  body();
  const double begin = processor_seconds();
  for (auto _ : state) {
    body();
    benchmark::ClobberMemory();
  }
  const double seconds = (processor_seconds() - begin) / static_cast<double>(state.iterations());
  const double limit = 0.5 * (before + limit_seconds(work, meter().measure(), meter().caches()));
  state.counters["limit_ns"] = 1e9 * limit;
  state.counters["x_limit"] = seconds / limit;
  state.counters["GFLOP/s"] = 1e-9 * work.operations / seconds;
}

template <class Net, Activation kHidden>
void forward(benchmark::State& state) {
  auto actor = random_net<Net>(kHidden).inference();
  const auto rows = static_cast<std::size_t>(state.range(0));
  const auto in = random_rows(rows * Net::kInputs, 2);
  mara::AlignedVector<float> out(rows * Net::kOutputs);
  run(state, forward_work<Net>(rows), [&] { actor.forward(in.data(), rows, out.data()); });
}

template <class Net, Activation kHidden>
void training_step(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(0));
  TapeTraining<Net> training(random_net<Net>(kHidden), rows, {.learning_rate = 1e-5});
  float loss = 0.0f;
  run(state, training_work<Net>(rows), [&] { loss = training.step(); });
  if (!std::isfinite(loss)) state.SkipWithError("the gradient is not finite");
}

void batches(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(8)->Arg(64)->Arg(1024);
}
void training_batches(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(8)->Arg(64)->Arg(256)->Arg(1024);
}

BENCHMARK(forward<SmallNet, Activation::kTanh>)->Name("forward/32-64-64-16/tanh")->Apply(batches);
BENCHMARK(forward<SmallNet, Activation::kRelu>)->Name("forward/32-64-64-16/relu")->Apply(batches);
BENCHMARK(forward<LargeNet, Activation::kTanh>)->Name("forward/64-256-256-32/tanh")->Apply(batches);
BENCHMARK(forward<LargeNet, Activation::kRelu>)->Name("forward/64-256-256-32/relu")->Apply(batches);
BENCHMARK(training_step<SmallNet, Activation::kTanh>)
    ->Name("train/32-64-64-16/tanh")
    ->Apply(training_batches);
BENCHMARK(training_step<LargeNet, Activation::kTanh>)
    ->Name("train/64-256-256-32/tanh")
    ->Apply(training_batches);

const bool described = [] {
  benchmark::AddCustomContext("mara vectors", mara::simd::kName);
  return true;
}();

}  // namespace
