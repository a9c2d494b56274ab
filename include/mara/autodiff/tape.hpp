#pragma once
// Reverse-mode automatic differentiation over batches.

#include "mara/autodiff/attention.hpp"
#include "mara/autodiff/broadcast.hpp"
#include "mara/autodiff/functions.hpp"
#include "mara/autodiff/gather.hpp"
#include "mara/autodiff/layer_norm.hpp"
#include "mara/autodiff/linear.hpp"
#include "mara/autodiff/loss.hpp"
#include "mara/autodiff/recurrent.hpp"
#include "mara/autodiff/reduction.hpp"
#include "mara/autodiff/row_product.hpp"
#include "mara/autodiff/segment.hpp"
#include "mara/autodiff/shape.hpp"
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
///     const Var w = tape.variable(weights, weights_gradient, 32, 1);
///     tape.backward(tape.mean(tape.square(tape.matmul(x, w))));
///
/// What there is: functions.hpp and elementwise.hpp (one element at a time), broadcast.hpp (matrix and
/// column, row or number), linear.hpp (dense layer, matrix product), row_product.hpp (inner product, cosine,
/// one matrix a row), reduction.hpp (sums, means, maxima), loss.hpp, softmax.hpp, gather.hpp (pick by index),
/// segment.hpp (groups of rows), shape.hpp (join, cut, reshape), layer_norm.hpp, recurrent.hpp (GRU and LSTM
/// over sequences), attention.hpp (over groups of rows).
template <class S>
class Tape : public TapeCore<S>,
             public FunctionOperations<Tape<S>, S>,
             public AttentionOperations<Tape<S>, S>,
             public BroadcastOperations<Tape<S>, S>,
             public GatherOperations<Tape<S>, S>,
             public LayerNormOperations<Tape<S>, S>,
             public LinearOperations<Tape<S>, S>,
             public LossOperations<Tape<S>, S>,
             public RecurrentOperations<Tape<S>, S>,
             public ReductionOperations<Tape<S>, S>,
             public RowProductOperations<Tape<S>, S>,
             public SegmentOperations<Tape<S>, S>,
             public ShapeOperations<Tape<S>, S>,
             public SoftmaxOperations<Tape<S>, S> {};

}  // namespace mara
