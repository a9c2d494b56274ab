#pragma once
// Attention over the agents of groups, for evaluation only. Rows that do not count are never read: they
// change no bit of the result.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "mara/math/attention.hpp"
#include "mara/math/dense.hpp"
#include "mara/nn/initialise.hpp"
#include "mara/nn/parameter_storage.hpp"
#include "mara/nn/row_groups.hpp"

namespace mara {

/// Memory for one evaluation at a time of groups of at most `rows` rows.
template <class S>
class AttentionWorkspace {
 public:
  /// columns: numbers kept for a row; numbers: kept besides.
  AttentionWorkspace(std::size_t rows, std::size_t columns, std::size_t numbers)
      : rows_(rows), memory_(PanelLayout::padded(numbers) + rows * columns) {}
  std::size_t rows() const noexcept { return rows_; }
  S* begin() noexcept { return memory_.data(); }

 private:
  std::size_t rows_;
  AlignedVector<S> memory_;
};

/// Pooling by attention with one learned query (Lee et al., "Set Transformer", ICML 2019, section 3.2, one
/// seed): keys and values are affine functions of the rows, and an affine map follows. Width numbers in Heads
/// heads. Parameters: "query" [1 x Width], "key_value.weight" [Features x (2 Width)], "key_value.bias",
/// "output.weight" [Width x Width], "output.bias".
template <std::size_t Features, std::size_t Width, std::size_t Heads>
struct AttentionPoolShape {
  static_assert(Features > 0 && Heads > 0 && Width > 0 && Width % Heads == 0,
                "an attention's width must be a multiple of its heads");
  static constexpr std::size_t kFeatures = Features, kWidth = Width, kHeads = Heads;
  static constexpr std::size_t kParameters = Width + (Features + 1) * 2 * Width + (Width + 1) * Width;
  static constexpr std::size_t kRow = 2 * Width;  ///< key and value of a row
  static constexpr std::size_t kRowWeights = PanelLayout::padded(Width);
  static constexpr std::size_t kRowBias = kRowWeights + PanelLayout::size(Features, kRow);
  static constexpr std::size_t kWeights = kRowBias + PanelLayout::padded(kRow);
  static constexpr std::size_t kBias = kWeights + PanelLayout::size(Width, Width);
  static constexpr std::size_t kStored = kBias + PanelLayout::padded(Width);

  /// Normal query, Xavier keys and values, orthogonal output, zero biases.
  template <class S>
  static void initialise(Random& random, S* storage) {
    normal_initialise(random, S(1), std::span<S>(storage, Width));
    initialise_weights(random, Initialiser::kXavierUniform, 1.0,
                       ParameterView<S>{storage + kRowWeights, Features, kRow, Storage::kPanels});
    initialise_weights(random, Initialiser::kOrthogonal, 1.0,
                       ParameterView<S>{storage + kWeights, Width, Width, Storage::kPanels});
  }

  template <class S, class F>
  static void visit(S* storage, const std::string& prefix, F&& f) {
    f(prefix + "query", ParameterView<S>{storage, 1, Width, Storage::kRowMajor});
    f(prefix + "key_value.weight", ParameterView<S>{storage + kRowWeights, Features, kRow, Storage::kPanels});
    f(prefix + "key_value.bias", ParameterView<S>{storage + kRowBias, 1, kRow, Storage::kRowMajor});
    f(prefix + "output.weight", ParameterView<S>{storage + kWeights, Width, Width, Storage::kPanels});
    f(prefix + "output.bias", ParameterView<S>{storage + kBias, 1, Width, Storage::kRowMajor});
  }

  template <class S>
  static AttentionWorkspace<S> workspace(std::size_t rows) {
    return {rows, kRow + Heads, Width};
  }

  /// out[groups x Width]; a group without rows gives the output's bias.
  template <class S>
  static Status evaluate(const S* storage, const S* x, const RowGroups& groups, S* out,
                         AttentionWorkspace<S>& workspace) noexcept {
    if (Status fine = groups.check(workspace.rows()); !fine) return fine;
    S* pooled = workspace.begin();
    S* rows = pooled + PanelLayout::padded(Width);
    S* p = rows + workspace.rows() * kRow;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < groups.count; ++k, out += Width) {
      const std::size_t end = begin + groups.size(k);
      std::size_t live = 0;
      detail::each_run(groups, begin, end, [&](std::size_t first, std::size_t count) {
        dense_forward(x + first * Features, count, Features, kRow, storage + kRowWeights, storage + kRowBias,
                      Activation::kIdentity, rows + live * kRow);
        live += count;
      });
      math::attention<S>({1, live, Heads, Width / Heads}, {storage, Width}, {rows, kRow},
                         {rows + Width, kRow}, p, {pooled, Width});
      dense_forward(static_cast<const S*>(pooled), 1, Width, Width, storage + kWeights, storage + kBias,
                    Activation::kIdentity, out);
      begin = end;
    }
    return {};
  }
};

/// Self-attention (Vaswani et al., "Attention Is All You Need", 2017, section 3.2): every row of a group
/// looks at all rows of the group; query, key and value are affine functions of a row, and an affine map
/// follows. Width numbers in Heads heads. Parameters: "query_key_value.weight" [Features x (3 Width)],
/// "query_key_value.bias", "output.weight" [Width x Width], "output.bias".
template <std::size_t Features, std::size_t Width, std::size_t Heads>
struct SelfAttentionShape {
  static_assert(Features > 0 && Heads > 0 && Width > 0 && Width % Heads == 0,
                "an attention's width must be a multiple of its heads");
  static constexpr std::size_t kFeatures = Features, kWidth = Width, kHeads = Heads;
  static constexpr std::size_t kParameters = (Features + 1) * 3 * Width + (Width + 1) * Width;
  static constexpr std::size_t kRow = 3 * Width;  ///< query, key and value of a row
  static constexpr std::size_t kRowBias = PanelLayout::size(Features, kRow);
  static constexpr std::size_t kWeights = kRowBias + PanelLayout::padded(kRow);
  static constexpr std::size_t kBias = kWeights + PanelLayout::size(Width, Width);
  static constexpr std::size_t kStored = kBias + PanelLayout::padded(Width);

  /// Xavier queries, keys and values, orthogonal output, zero biases.
  template <class S>
  static void initialise(Random& random, S* storage) {
    initialise_weights(random, Initialiser::kXavierUniform, 1.0,
                       ParameterView<S>{storage, Features, kRow, Storage::kPanels});
    initialise_weights(random, Initialiser::kOrthogonal, 1.0,
                       ParameterView<S>{storage + kWeights, Width, Width, Storage::kPanels});
  }

  template <class S, class F>
  static void visit(S* storage, const std::string& prefix, F&& f) {
    f(prefix + "query_key_value.weight", ParameterView<S>{storage, Features, kRow, Storage::kPanels});
    f(prefix + "query_key_value.bias", ParameterView<S>{storage + kRowBias, 1, kRow, Storage::kRowMajor});
    f(prefix + "output.weight", ParameterView<S>{storage + kWeights, Width, Width, Storage::kPanels});
    f(prefix + "output.bias", ParameterView<S>{storage + kBias, 1, Width, Storage::kRowMajor});
  }

  template <class S>
  static AttentionWorkspace<S> workspace(std::size_t rows) {
    return {rows, kRow + Width + Heads, 0};
  }

  /// out[groups.rows() x Width]; zeros in rows that do not count.
  template <class S>
  static Status evaluate(const S* storage, const S* x, const RowGroups& groups, S* out,
                         AttentionWorkspace<S>& workspace) noexcept {
    if (Status fine = groups.check(workspace.rows()); !fine) return fine;
    S* rows = workspace.begin();
    S* mixed = rows + workspace.rows() * kRow;
    S* p = mixed + workspace.rows() * Width;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < groups.count; ++k) {
      const std::size_t end = begin + groups.size(k);
      std::size_t live = 0;
      detail::each_run(groups, begin, end, [&](std::size_t first, std::size_t count) {
        dense_forward(x + first * Features, count, Features, kRow, storage, storage + kRowBias,
                      Activation::kIdentity, rows + live * kRow);
        live += count;
      });
      for (std::size_t i = 0; i < live; ++i)
        math::attention<S>({1, live, Heads, Width / Heads}, {rows + i * kRow, kRow}, {rows + Width, kRow},
                           {rows + 2 * Width, kRow}, p, {mixed + i * Width, Width});
      for (std::size_t r = begin; r < end; ++r)
        if (!groups.counts(r)) std::fill_n(out + r * Width, Width, S(0));
      live = 0;
      detail::each_run(groups, begin, end, [&](std::size_t first, std::size_t count) {
        dense_forward(static_cast<const S*>(mixed + live * Width), count, Width, Width, storage + kWeights,
                      storage + kBias, Activation::kIdentity, out + first * Width);
        live += count;
      });
      begin = end;
    }
    return {};
  }
};

/// An attention for deployment: weights only. Made for groups of at most `rows` rows; nothing is allocated
/// afterwards.
template <class S, class ShapeOf>
class AttentionInference : public InferenceParameters<S, ShapeOf> {
 public:
  using Workspace = AttentionWorkspace<S>;

  explicit AttentionInference(std::size_t rows) : workspace_(ShapeOf::template workspace<S>(rows)) {}

  /// x [groups.rows() x Features] -> out; see the shape. An error (a group with more rows than the workspace
  /// was made for, a negative size) writes nothing. Uses the layer's own workspace: one thread at a time.
  Status forward(const S* x, const RowGroups& groups, S* out) noexcept {
    return forward(x, groups, out, workspace_);
  }
  /// The same with a workspace of the caller's, Shape::workspace<S>(rows).
  Status forward(const S* x, const RowGroups& groups, S* out, Workspace& workspace) const noexcept {
    return ShapeOf::evaluate(this->parameters_.data(), x, groups, out, workspace);
  }

 private:
  Workspace workspace_;
};

/// Pooling by attention for deployment: [groups.rows() x Features] -> [groups x Width].
template <class S, std::size_t Features, std::size_t Width, std::size_t Heads>
using AttentionPoolInference = AttentionInference<S, AttentionPoolShape<Features, Width, Heads>>;

/// Self-attention for deployment: [groups.rows() x Features] -> [groups.rows() x Width].
template <class S, std::size_t Features, std::size_t Width, std::size_t Heads>
using SelfAttentionInference = AttentionInference<S, SelfAttentionShape<Features, Width, Heads>>;

}  // namespace mara
