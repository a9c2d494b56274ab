#pragma once
// A perceptron in libtorch, behind an interface without its headers: they define macros that others use too
// (CHECK), cost ten seconds a translation unit, and may want compile flags that must not reach anybody else.
// Only numbers and pointers cross, so either side may use another std::string.

#include <cstddef>
#include <memory>

namespace bench {

/// How libtorch evaluates.
enum class TorchForward {
  kInferenceMode,  ///< eager, without autograd
  kFrozenScript    ///< TorchScript: compiled, frozen and optimised for inference
};

/// Hyper-parameters of its Adam.
struct TorchAdam {
  double learning_rate = 3e-4, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

/// One perceptron and one batch, one thread. Hidden layers have one activation, the output none. Errors of
/// libtorch end the program with their message: this is for benchmarks and their test.
class TorchMlp {
 public:
  /// sizes[layers + 1]: inputs, hidden widths, outputs. Weights are zero.
  TorchMlp(const std::size_t* sizes, std::size_t layers, bool relu);
  ~TorchMlp();
  TorchMlp(TorchMlp&&) noexcept;
  TorchMlp& operator=(TorchMlp&&) noexcept;

  /// weights[inputs x outputs] row-major, as x W multiplies (libtorch keeps the transpose), and
  /// bias[outputs].
  void set_layer(std::size_t layer, const float* weights, const float* bias);
  void get_layer(std::size_t layer, float* weights, float* bias) const;
  /// The batch that forward() and training_step() use, in[rows x inputs]; target[rows x outputs] may be null
  /// when nothing is trained. Copied.
  void set_batch(const float* in, const float* target, std::size_t rows);

  /// Compiles and freezes the network with its present weights; before forward(kFrozenScript).
  void freeze();
  /// One evaluation of the batch; the result stays inside until output().
  void forward(TorchForward how);
  /// What the last forward() gave, [rows x outputs].
  void output(float* out) const;

  /// Begins training: fresh moments.
  void start_training(const TorchAdam& config);
  /// Mean squared error, backward, one step of Adam.
  void training_step();
  /// The loss before the last step.
  float loss() const;

  /// "1.13.1"
  static const char* version();
  /// The processor that OpenBLAS took its kernels for, such as "SkylakeX"; empty with another BLAS.
  static const char* blas_core();

 private:
  struct Network;
  std::unique_ptr<Network> network_;
};

}  // namespace bench
