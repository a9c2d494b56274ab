#pragma once
// Reverse-mode automatic differentiation over batches.

#include "mara/autodiff/elementwise.hpp"
#include "mara/autodiff/linear.hpp"
#include "mara/autodiff/reduction.hpp"
#include "mara/autodiff/softmax.hpp"
#include "mara/autodiff/tape_core.hpp"

namespace mara {

/// A tape: operations on matrices [rows x cols] are computed at once and recorded; backward() then carries
/// the gradient of one number back to the variables. A training step is: clear(), inputs and variables,
/// operations, backward(loss). After the first step of given shapes no memory is allocated. S is float or
/// double.
///
///     Tape<float> tape;
///     const Var x = tape.input(observations, rows, 32);
///     const Var y = tape.dense(x, tape.variable(w, dw, 32, 1), tape.variable(b, db, 1, 1),
///     Activation::kIdentity); tape.backward(tape.mean(tape.square(y)));
template <class S>
class Tape : public TapeCore<S>,
             public ElementwiseOperations<Tape<S>, S>,
             public LinearOperations<Tape<S>, S>,
             public ReductionOperations<Tape<S>, S>,
             public SoftmaxOperations<Tape<S>, S> {};

}  // namespace mara
