#pragma once
// Attention over the agents of groups that can be trained.

#include <cstddef>

#include "mara/autodiff/tape.hpp"
#include "mara/nn/attention_inference.hpp"
#include "mara/nn/set_pooling.hpp"

namespace mara {

/// Pooling by attention with parameters and their gradients; see AttentionPoolShape.
template <class S, std::size_t Features, std::size_t Width, std::size_t Heads>
class AttentionPool : public TrainedParameters<S, AttentionPoolShape<Features, Width, Heads>> {
 public:
  using Shape = AttentionPoolShape<Features, Width, Heads>;
  using Workspace = AttentionWorkspace<S>;
  using Inference = AttentionPoolInference<S, Features, Width, Heads>;

  /// x [groups.rows() x Features] -> [groups x Width] on the tape. Rows that do not count change nothing,
  /// neither value nor gradient, to the bit. The arrays of `groups` stay the caller's until clear().
  Var forward(Tape<S>& tape, Var x, const RowGroups& groups) {
    const LiveRows live = live_rows(tape, x, groups);
    if (!tape.holds(live.rows)) return {};
    const S* p = this->parameters_.data();
    S* g = this->gradients_.data();
    const Var key_value = tape.dense(live.rows,
                                     {p + Shape::kRowWeights, p + Shape::kRowBias, g + Shape::kRowWeights,
                                      g + Shape::kRowBias, Features, Shape::kRow},
                                     Activation::kIdentity);
    const Var pooled =
        tape.attention_pool(tape.variable(p, g, 1, Width), key_value, live.sizes, groups.count, Heads);
    return tape.dense(
        pooled, {p + Shape::kWeights, p + Shape::kBias, g + Shape::kWeights, g + Shape::kBias, Width, Width},
        Activation::kIdentity);
  }

  /// The same without a tape: see AttentionInference::forward. workspace: Shape::workspace<S>(rows).
  Status forward(const S* x, const RowGroups& groups, S* out, Workspace& workspace) const noexcept {
    return Shape::evaluate(this->parameters_.data(), x, groups, out, workspace);
  }

  /// A copy for deployment, without gradients, for groups of at most `rows` rows.
  Inference inference(std::size_t rows) const {
    Inference copy(rows);
    copy.set_storage(this->parameters_).value();
    return copy;
  }
};

/// Self-attention with parameters and their gradients; see SelfAttentionShape.
template <class S, std::size_t Features, std::size_t Width, std::size_t Heads>
class SelfAttention : public TrainedParameters<S, SelfAttentionShape<Features, Width, Heads>> {
 public:
  using Shape = SelfAttentionShape<Features, Width, Heads>;
  using Workspace = AttentionWorkspace<S>;
  using Inference = SelfAttentionInference<S, Features, Width, Heads>;

  /// x [groups.rows() x Features] -> [groups.rows() x Width] on the tape, zeros in rows that do not count;
  /// those change nothing, neither value nor gradient, to the bit. The arrays of `groups` stay the caller's
  /// until clear().
  Var forward(Tape<S>& tape, Var x, const RowGroups& groups) {
    const LiveRows live = live_rows(tape, x, groups);
    if (!tape.holds(live.rows)) return {};
    const S* p = this->parameters_.data();
    S* g = this->gradients_.data();
    const Var rows =
        tape.dense(live.rows, {p, p + Shape::kRowBias, g, g + Shape::kRowBias, Features, Shape::kRow},
                   Activation::kIdentity);
    const Var mixed = tape.self_attention(rows, live.sizes, groups.count, Heads);
    const Var out = tape.dense(
        mixed, {p + Shape::kWeights, p + Shape::kBias, g + Shape::kWeights, g + Shape::kBias, Width, Width},
        Activation::kIdentity);
    return spread_rows(tape, out, groups);
  }

  /// The same without a tape: see AttentionInference::forward. workspace: Shape::workspace<S>(rows).
  Status forward(const S* x, const RowGroups& groups, S* out, Workspace& workspace) const noexcept {
    return Shape::evaluate(this->parameters_.data(), x, groups, out, workspace);
  }

  /// A copy for deployment, without gradients, for groups of at most `rows` rows.
  Inference inference(std::size_t rows) const {
    Inference copy(rows);
    copy.set_storage(this->parameters_).value();
    return copy;
  }
};

}  // namespace mara
