#pragma once
// A table of rows picked by index, for evaluation only.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mara/nn/initialise.hpp"
#include "mara/nn/parameter_storage.hpp"

namespace mara {

/// A table [Rows x Width] of parameters, row-major, named "weight".
template <std::size_t Rows, std::size_t Width>
struct EmbeddingShape {
  static_assert(Rows > 0 && Width > 0, "an embedding needs at least one row and one column");
  static constexpr std::size_t kRows = Rows, kWidth = Width;
  static constexpr std::size_t kParameters = Rows * Width;
  static constexpr std::size_t kStored = PanelLayout::padded(kParameters);

  /// Normal numbers of the given deviation.
  template <class S>
  static void initialise(Random& random, S* storage, S deviation = S(1)) {
    normal_initialise(random, deviation, std::span<S>(storage, kParameters));
  }

  template <class S, class F>
  static void visit(S* storage, const std::string& prefix, F&& f) {
    f(prefix + "weight", ParameterView<S>{storage, Rows, Width, Storage::kRowMajor});
  }

  /// out[i] = row indices[i] of the table, zeros for an index outside [0, Rows).
  template <class S>
  static void evaluate(const S* storage, const std::int32_t* indices, std::size_t count, S* out) noexcept {
    for (std::size_t i = 0; i < count; ++i, out += Width) {
      if (indices[i] < 0 || static_cast<std::size_t>(indices[i]) >= Rows) {
        std::fill_n(out, Width, S(0));
      } else {
        std::copy_n(storage + static_cast<std::size_t>(indices[i]) * Width, Width, out);
      }
    }
  }
};

/// An embedding for deployment: weights only, the size is a template constant.
template <class S, std::size_t Rows, std::size_t Width>
class EmbeddingInference : public InferenceParameters<S, EmbeddingShape<Rows, Width>> {
 public:
  /// out[count x Width]: row indices[i] of the table, zeros for an index outside [0, Rows).
  void forward(const std::int32_t* indices, std::size_t count, S* out) const noexcept {
    EmbeddingShape<Rows, Width>::evaluate(this->parameters_.data(), indices, count, out);
  }
};

}  // namespace mara
