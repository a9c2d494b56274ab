#pragma once
// A table of rows picked by index that can be trained.

#include <cstddef>
#include <cstdint>

#include "mara/autodiff/tape.hpp"
#include "mara/nn/embedding_inference.hpp"

namespace mara {

/// An embedding with parameters and their gradients. initialise(random, deviation): normal numbers, deviation
/// 1 unless told otherwise.
template <class S, std::size_t Rows, std::size_t Width>
class Embedding : public TrainedParameters<S, EmbeddingShape<Rows, Width>> {
 public:
  using Inference = EmbeddingInference<S, Rows, Width>;

  /// Rows of the table on the tape, [count x Width]; an index outside [0, Rows) gives zeros and no gradient.
  /// The indices stay the caller's until clear(). Gradients of a row that is picked more than once add up, in
  /// the order of the indices.
  Var forward(Tape<S>& tape, const std::int32_t* indices, std::size_t count) {
    return tape.gather_rows(tape.variable(this->parameters_.data(), this->gradients_.data(), Rows, Width),
                            indices, count);
  }

  /// The same without a tape.
  void forward(const std::int32_t* indices, std::size_t count, S* out) const noexcept {
    EmbeddingShape<Rows, Width>::evaluate(this->parameters_.data(), indices, count, out);
  }

  /// A copy for deployment, without gradients.
  Inference inference() const {
    Inference copy;
    copy.set_storage(this->parameters_).value();
    return copy;
  }
};

}  // namespace mara
