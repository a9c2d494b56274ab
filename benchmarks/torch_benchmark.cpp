// mara beside libtorch: the same networks with the same weights on the same batch, one thread each.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include "harness.hpp"
#include "networks.hpp"
#include "report.hpp"
#include "torch_mlp.hpp"
#include "torch_weights.hpp"

namespace {

using namespace bench;
using mara::Activation;

/// OpenBLAS takes its slowest kernels on a processor newer than itself; then it starts again with the best
/// that mara was compiled for. Its choice is made while the program loads, so the environment must tell it.
void give_openblas_its_best(char** arguments) {
#if defined(__x86_64__) && __has_include(<unistd.h>)
  const std::string_view core = TorchMlp::blas_core();
  const char* best = mara::simd::kBytes == 64 ? "SkylakeX" : mara::simd::kBytes == 32 ? "Haswell" : nullptr;
  if (best == nullptr || core.empty() || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  for (const std::string_view slow : {"Prescott", "Core2", "Penryn", "Nehalem", "Generic"})
    if (core == slow) {
      setenv("OPENBLAS_CORETYPE", best, 1);
      execv("/proc/self/exe", arguments);
      return;  // it goes on as it is
    }
#else
  static_cast<void>(arguments);
#endif
}

template <class Net>
TorchMlp same_in_torch(const Net& net) {
  TorchMlp twin(Net::Shape::kSizes.data(), Net::Shape::kLayers, net.hidden_activation() == Activation::kRelu);
  copy_weights(net, twin);
  return twin;
}

template <class Net>
void add_forward(Table& table, const Options& options) {
  for (const std::size_t rows : {1u, 8u, 64u, 1024u}) {
    const Net net = random_net<Net>(Activation::kTanh);
    const auto in = random_rows(rows * Net::kInputs, 2);
    auto actor = std::make_shared<typename Net::Inference>(net.inference());
    auto out = std::make_shared<mara::AlignedVector<float>>(rows * Net::kOutputs);
    auto twin = std::make_shared<TorchMlp>(same_in_torch(net));
    twin->set_batch(in.data(), nullptr, rows);
    twin->freeze();
    const Work work = forward_work<Net>(rows);
    const std::vector<Timing> t =
        time_in_turn({contestant(work, [=] { actor->forward(in.data(), rows, out->data()); }),
                      contestant(work, [=] { twin->forward(TorchForward::kInferenceMode); }),
                      contestant(work, [=] { twin->forward(TorchForward::kFrozenScript); })},
                     options);
    table.rows.push_back({name_of<Net>(), Number{double(rows)}, about(t[0].ns()), about(t[1].ns()),
                          ratio(t[1].over(t[0])), about(t[2].ns()), ratio(t[2].over(t[0]))});
  }
}

template <class Net>
void add_training(Table& table, const Options& options) {
  constexpr std::size_t kRows = 256;
  const mara::AdamConfig config{.learning_rate = 1e-5};
  const Net net = random_net<Net>(Activation::kTanh);
  auto mine = std::make_shared<TapeTraining<Net>>(net, kRows, config);
  auto twin = std::make_shared<TorchMlp>(same_in_torch(net));
  twin->set_batch(mine->in(), mine->target(), kRows);
  twin->start_training({config.learning_rate, config.beta1, config.beta2, config.epsilon});
  const Work work = training_work<Net>(kRows);
  const std::vector<Timing> t = time_in_turn(
      {contestant(work, [=] { mine->step(); }), contestant(work, [=] { twin->training_step(); })}, options);
  table.rows.push_back(
      {name_of<Net>(), Number{double(kRows)}, about(t[0].ns()), about(t[1].ns()), ratio(t[1].over(t[0]))});
}

}  // namespace

int main(int count, char** arguments) {
  const Options options =
      parse_options(count, arguments, "torch_benchmark: mara beside libtorch, the same networks and weights");
  give_openblas_its_best(arguments);
  const std::string core = TorchMlp::blas_core();
  const std::string peer =
      std::string("libtorch ") + TorchMlp::version() + (core.empty() ? "" : ", OpenBLAS for " + core);
  const std::string medians = ", medians of " + std::to_string(options.rounds) + " rounds";

  Table forward{"Forward, tanh, mara beside " + peer + medians,
                {"network", "batch", "mara ns", "InferenceMode ns", "InferenceMode / mara", "TorchScript ns",
                 "TorchScript / mara"},
                {}};
  add_forward<SmallNet>(forward, options);
  add_forward<LargeNet>(forward, options);
  Table training{"Training step (forward, backward, Adam), tanh, mara beside " + peer + medians,
                 {"network", "batch", "mara ns", "eager ns", "eager / mara"},
                 {}};
  add_training<SmallNet>(training, options);
  add_training<LargeNet>(training, options);
  print({std::move(forward), std::move(training)}, options.json);
}
