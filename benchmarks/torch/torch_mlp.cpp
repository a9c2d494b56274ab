#include "torch_mlp.hpp"

#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif

namespace bench {
namespace {

/// A function of the BLAS that libtorch was linked with; null when it has none of that name.
void* blas_function(const char* name) {
#if __has_include(<dlfcn.h>)
  return dlsym(RTLD_DEFAULT, name);
#else
  static_cast<void>(name);
  return nullptr;
#endif
}

/// One thread in libtorch and in the OpenBLAS it may have been linked with, which has threads of its own.
void use_one_thread() {
  static const bool done = [] {
    at::set_num_threads(1);
    at::set_num_interop_threads(1);
    if (void* entry = blas_function("openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(entry)(1);
    return true;
  }();
  static_cast<void>(done);
}

/// Runs `body`; an exception ends the program.
template <class Body>
auto or_die(const char* what, Body&& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "libtorch, %s: %s\n", what, error.what());
    std::exit(1);
  }
}

}  // namespace

struct TorchMlp::Network {
  std::vector<torch::nn::Linear> layers;
  bool relu = false;
  torch::Tensor in, target, out, last_loss;
  torch::jit::Module frozen;
  std::vector<torch::jit::IValue> arguments;  // the input, as TorchScript wants it
  std::unique_ptr<torch::optim::Adam> adam;

  torch::Tensor evaluate(torch::Tensor x) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      x = layers[l]->forward(x);
      if (l + 1 < layers.size()) x = relu ? torch::relu(x) : torch::tanh(x);
    }
    return x;
  }
};

TorchMlp::TorchMlp(const std::size_t* sizes, std::size_t layers, bool relu) : network_(new Network) {
  or_die("making a network", [&] {
    use_one_thread();
    network_->relu = relu;
    for (std::size_t l = 0; l < layers; ++l) {
      network_->layers.emplace_back(torch::nn::LinearOptions(static_cast<std::int64_t>(sizes[l]),
                                                             static_cast<std::int64_t>(sizes[l + 1])));
      torch::NoGradGuard no_gradient;
      network_->layers.back()->weight.zero_();
      network_->layers.back()->bias.zero_();
    }
  });
}
TorchMlp::~TorchMlp() = default;
TorchMlp::TorchMlp(TorchMlp&&) noexcept = default;
TorchMlp& TorchMlp::operator=(TorchMlp&&) noexcept = default;

void TorchMlp::set_layer(std::size_t layer, const float* weights, const float* bias) {
  or_die("set_layer", [&] {
    torch::NoGradGuard no_gradient;
    auto& to = network_->layers[layer];
    const std::int64_t outputs = to->weight.size(0), inputs = to->weight.size(1);
    // from_blob takes a pointer to data that may change; it is only read here.
    to->weight.copy_(torch::from_blob(const_cast<float*>(weights), {inputs, outputs}).t());
    to->bias.copy_(torch::from_blob(const_cast<float*>(bias), {outputs}));
  });
}

void TorchMlp::get_layer(std::size_t layer, float* weights, float* bias) const {
  or_die("get_layer", [&] {
    torch::NoGradGuard no_gradient;
    const auto& from = network_->layers[layer];
    const std::int64_t outputs = from->weight.size(0), inputs = from->weight.size(1);
    torch::from_blob(weights, {inputs, outputs}).copy_(from->weight.t());
    torch::from_blob(bias, {outputs}).copy_(from->bias);
  });
}

void TorchMlp::set_batch(const float* in, const float* target, std::size_t rows) {
  or_die("set_batch", [&] {
    const auto count = static_cast<std::int64_t>(rows);
    const std::int64_t inputs = network_->layers.front()->weight.size(1);
    const std::int64_t outputs = network_->layers.back()->weight.size(0);
    network_->in = torch::from_blob(const_cast<float*>(in), {count, inputs}).clone();
    network_->arguments = {network_->in};
    if (target != nullptr)
      network_->target = torch::from_blob(const_cast<float*>(target), {count, outputs}).clone();
  });
}

void TorchMlp::freeze() {
  or_die("freeze", [&] {
    torch::jit::Module script("mlp");
    std::string source = "def forward(self, x):\n";
    for (std::size_t l = 0; l < network_->layers.size(); ++l) {
      const std::string number = std::to_string(l);
      script.register_parameter("w" + number, network_->layers[l]->weight.detach().clone(), false);
      script.register_parameter("b" + number, network_->layers[l]->bias.detach().clone(), false);
      source += "  x = torch.linear(x, self.w" + number + ", self.b" + number + ")\n";
      if (l + 1 < network_->layers.size())
        source += network_->relu ? "  x = torch.relu(x)\n" : "  x = torch.tanh(x)\n";
    }
    script.define(source + "  return x\n");
    script.eval();
    network_->frozen = torch::jit::optimize_for_inference(script);
    // The first calls profile and compile.
    for (int i = 0; i < 3; ++i) forward(TorchForward::kFrozenScript);
  });
}

void TorchMlp::forward(TorchForward how) {
  or_die("forward", [&] {
    const c10::InferenceMode guard;
    network_->out = how == TorchForward::kInferenceMode
                        ? network_->evaluate(network_->in)
                        : network_->frozen.forward(network_->arguments).toTensor();
  });
}

void TorchMlp::output(float* out) const {
  or_die("output", [&] {
    const c10::InferenceMode guard;
    const torch::Tensor from = network_->out.contiguous();
    std::copy_n(from.data_ptr<float>(), from.numel(), out);
  });
}

void TorchMlp::start_training(const TorchAdam& config) {
  or_die("start_training", [&] {
    std::vector<torch::Tensor> parameters;
    for (const auto& layer : network_->layers) {
      parameters.push_back(layer->weight);
      parameters.push_back(layer->bias);
    }
    network_->adam = std::make_unique<torch::optim::Adam>(
        parameters, torch::optim::AdamOptions(config.learning_rate)
                        .betas(std::make_tuple(config.beta1, config.beta2))
                        .eps(config.epsilon));
  });
}

void TorchMlp::training_step() {
  or_die("training_step", [&] {
    network_->adam->zero_grad();
    const torch::Tensor loss = torch::mse_loss(network_->evaluate(network_->in), network_->target);
    loss.backward();
    network_->adam->step();
    network_->last_loss = loss.detach();
  });
}

float TorchMlp::loss() const {
  return or_die("loss", [&] { return network_->last_loss.item<float>(); });
}

const char* TorchMlp::version() {
  return TORCH_VERSION;
}

const char* TorchMlp::blas_core() {
  void* entry = blas_function("openblas_get_corename");
  return entry != nullptr ? reinterpret_cast<char* (*)()>(entry)() : "";
}

}  // namespace bench
