// Forward pass and training step of perceptrons, beside the time that fused multiply-adds alone would take.
//
// Counters: limit_ns = floating-point operations / peak, where the peak is measured on this processor right
// before and after each run (activations are not counted); x_limit = time / limit_ns. Absolute times differ
// from machine to machine and with its load, ratios hold. For medians:
//   kernel_benchmark --benchmark_repetitions=12 --benchmark_report_aggregates_only=true
//                    --benchmark_enable_random_interleaving=true

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>

#include "mara/math/aligned.hpp"
#include "mara/math/simd.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/mlp.hpp"
#include "mara/nn/mlp_inference.hpp"

namespace {

using mara::Activation;

/// Processor time of this program in seconds: other programs on the machine do not count.
double processor_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

/// Floating-point operations per second of independent fused multiply-adds in registers.
double measure_peak() {
  namespace simd = mara::simd;
  constexpr int kChains = 12, kSteps = 60000;
  simd::VecF sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = simd::broadcast(static_cast<float>(i));
  simd::VecF factor = simd::broadcast(0.999f), term = simd::broadcast(0.5f);
  benchmark::DoNotOptimize(factor);
  benchmark::DoNotOptimize(term);
  const double begin = processor_seconds();
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) sum[i] = simd::fma(sum[i], factor, term);
  }
  for (int i = 0; i < kChains; ++i) benchmark::DoNotOptimize(sum[i]);
  const double seconds = processor_seconds() - begin;
  return 2.0 * kSteps * kChains * static_cast<double>(simd::kLanes<float>) / std::max(seconds, 1e-9);
}

/// Runs `body` as the benchmark's loop and adds the counters for `operations` a call.
template <class Body>
void run(benchmark::State& state, double operations, Body&& body) {
  body();  // memory in place, caches warm
  const double before = measure_peak();
  const double begin = processor_seconds();
  for (auto _ : state) body();
  const double seconds = (processor_seconds() - begin) / static_cast<double>(state.iterations());
  const double peak = std::max(before, measure_peak());
  state.counters["limit_ns"] = 1e9 * operations / peak;
  state.counters["x_limit"] = seconds * peak / operations;
  state.counters["GFLOP/s"] = 1e-9 * operations / seconds;
}

/// Multiply-adds of one row through all layers, and through the first.
template <class Shape>
double multiply_adds(std::size_t layers = Shape::kLayers) {
  double total = 0.0;
  for (std::size_t l = 0; l < layers; ++l)
    total += static_cast<double>(Shape::kSizes[l] * Shape::kSizes[l + 1]);
  return total;
}

mara::AlignedVector<float> random_rows(std::size_t count, std::uint64_t seed) {
  mara::Random random(seed);
  mara::AlignedVector<float> x(count);
  for (float& v : x) v = static_cast<float>(random.normal());
  return x;
}

template <Activation kHidden, std::size_t... Sizes>
void forward(benchmark::State& state) {
  mara::Mlp<float, Sizes...> net(kHidden);
  mara::Random random(1);
  net.initialise(random, 1.0f);
  mara::MlpInference<float, Sizes...> actor = net.inference();
  const auto rows = static_cast<std::size_t>(state.range(0));
  const auto in = random_rows(rows * net.kInputs, 2);
  mara::AlignedVector<float> out(rows * net.kOutputs);
  using Shape = typename decltype(net)::Shape;
  run(state, 2.0 * static_cast<double>(rows) * multiply_adds<Shape>(), [&] {
    actor.forward(in.data(), rows, out.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  });
}

/// Forward, backward and Adam. The way back is the weight gradient of every layer and the input gradient of
/// all but the first.
template <Activation kHidden, std::size_t... Sizes>
void training_step(benchmark::State& state) {
  mara::Mlp<float, Sizes...> net(kHidden);
  mara::Random random(1);
  net.initialise(random, 1.0f);
  mara::Adam<float> adam(net.kParameters, {.learning_rate = 1e-5});
  const auto rows = static_cast<std::size_t>(state.range(0));
  const auto in = random_rows(rows * net.kInputs, 2), target = random_rows(rows * net.kOutputs, 3);
  mara::Tape<float> tape;
  using Shape = typename decltype(net)::Shape;
  const double per_row = 3.0 * multiply_adds<Shape>() - multiply_adds<Shape>(1);
  bool good = true;
  run(state, 2.0 * static_cast<double>(rows) * per_row, [&] {
    tape.clear();
    net.zero_gradients();
    const mara::Var y = net.forward(tape, tape.input(in.data(), rows, net.kInputs));
    tape.backward(tape.mean(tape.square(tape.sub(y, tape.input(target.data(), rows, net.kOutputs)))));
    good = adam.step(net.parameters(), net.gradients()).has_value() && good;
  });
  if (!good) state.SkipWithError("the gradient is not finite");
}

void batches(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(8)->Arg(64)->Arg(1024);
}
void training_batches(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(8)->Arg(64)->Arg(256)->Arg(1024);
}

BENCHMARK(forward<Activation::kTanh, 32, 64, 64, 16>)->Name("forward/32-64-64-16/tanh")->Apply(batches);
BENCHMARK(forward<Activation::kRelu, 32, 64, 64, 16>)->Name("forward/32-64-64-16/relu")->Apply(batches);
BENCHMARK(forward<Activation::kTanh, 64, 256, 256, 32>)->Name("forward/64-256-256-32/tanh")->Apply(batches);
BENCHMARK(forward<Activation::kRelu, 64, 256, 256, 32>)->Name("forward/64-256-256-32/relu")->Apply(batches);
BENCHMARK(training_step<Activation::kTanh, 32, 64, 64, 16>)
    ->Name("train/32-64-64-16/tanh")
    ->Apply(training_batches);
BENCHMARK(training_step<Activation::kTanh, 64, 256, 256, 32>)
    ->Name("train/64-256-256-32/tanh")
    ->Apply(training_batches);

const bool described = [] {
  benchmark::AddCustomContext("mara vectors", mara::simd::kName);
  return true;
}();

}  // namespace
