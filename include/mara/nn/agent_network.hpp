#pragma once
// The network of an agent, extents known at run time: hidden layers, optionally a recurrent cell, a head.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/math/aligned.hpp"
#include "mara/math/dense.hpp"
#include "mara/math/recurrent_gates.hpp"
#include "mara/math/reduce.hpp"
#include "mara/nn/agent_network_config.hpp"
#include "mara/nn/initialise.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

/// The plan of a network: where its parameters lie in a storage that the caller owns (zeroed, then
/// initialise()d), and what is computed from it. Having the storage outside makes target networks, several
/// networks under one optimiser, and snapshots plain arrays. Each row is for itself: its bits do not depend
/// on the others. S below is float or double. A NaN in a row of the inputs stays in the outputs of that row,
/// but reaches every gradient of the parameters: rows that do not count have finite numbers, say zeros.
class AgentNetwork {
 public:
  /// Memory for evaluations without a tape, grown on first use; one a thread.
  template <class S>
  struct WorkspaceOf {
    AlignedVector<S> first, second, gates;
  };
  using Workspace = WorkspaceOf<float>;

  /// No network: every count is 0, nothing may be evaluated. For members that are set later.
  AgentNetwork() = default;

  /// Errors (kInvalidArgument): those of check_agent_network(), and more than 2^31 numbers of storage.
  static Result<AgentNetwork> create(const AgentNetworkConfig& config);

  const AgentNetworkConfig& config() const noexcept { return config_; }
  /// Numbers of the storage, padding included; a multiple of PanelLayout::kAlign.
  std::size_t stored() const noexcept { return stored_; }
  /// Numbers of recurrent state per row: 0, memory_units (GRU), or 2 memory_units (LSTM: hidden, then cell).
  std::size_t memory() const noexcept {
    if (config_.recurrence == Recurrence::kNone) return 0;
    return (config_.recurrence == Recurrence::kLstm ? 2 : 1) * config_.memory_units;
  }

  /// Orthogonal weights, zero biases (RecurrentShape's rule for the cell: gain 1, each gate for itself, 1 for
  /// the input bias of an LSTM's forget gate) into zeroed storage[stored()]. Hidden layers have gain sqrt(2),
  /// or 1 where the activation is the identity.
  template <class S>
  void initialise(Random& random, S* storage) const;

  /// Calls f(name, ParameterView<S>) for every parameter: "0.weight", "0.bias", ...; of a cell
  /// "cell.input.weight", "cell.input.bias", "cell.hidden.weight", "cell.hidden.bias"; "head.weight" and
  /// "head.bias", or "value.weight", "value.bias", "advantage.weight", "advantage.bias". S may be const.
  template <class S, class F>
  void visit(S* storage, const std::string& prefix, F&& f) const;

  /// One step without a tape: in[rows x inputs] -> out[rows x outputs]; memory[rows x memory()] is replaced
  /// (ignored without recurrence). resets[r] not 0: the memory of row r counts as zero before; null: none.
  /// The bits of forward(). Arrays do not overlap.
  template <class S>
  void step(const S* storage, const std::type_identity_t<S>* in, std::size_t rows,
            std::type_identity_t<S>* memory, const std::uint8_t* resets, std::type_identity_t<S>* out,
            WorkspaceOf<std::type_identity_t<S>>& workspace) const;

  /// Sequences on the tape, time-major: x [(steps batch) x inputs] -> [(steps batch) x outputs]. `memory`
  /// [batch x memory()] before the first step, null: zero; `resets` [steps batch] as in step(). No gradient
  /// goes to `memory`. Gradients are added to `gradients` [stored()]; null: the parameters are constants, and
  /// a gradient still goes to x. All arrays must stay as they are until backward() is done.
  template <class S>
  Var forward(Tape<S>& tape, const std::type_identity_t<S>* storage, std::type_identity_t<S>* gradients,
              Var x, std::size_t batch, const std::type_identity_t<S>* memory,
              const std::uint8_t* resets) const;

 private:
  /// Places of one dense layer in the storage.
  struct Layer {
    std::size_t weights = 0, bias = 0, inputs = 0, outputs = 0;
  };
  /// Rows that pass through all layers together, so that activations stay in a near cache.
  static constexpr std::size_t kRows = 48;

  Layer place(std::size_t inputs, std::size_t outputs) {
    const std::size_t weights = stored_, bias = weights + PanelLayout::size(inputs, outputs);
    stored_ = bias + PanelLayout::padded(outputs);
    return {weights, bias, inputs, outputs};
  }
  std::size_t gates() const noexcept { return config_.recurrence == Recurrence::kLstm ? 4 : 3; }

  template <class S>
  static void evaluate(const Layer& layer, const S* storage, const S* in, std::size_t rows,
                       Activation activation, S* out) noexcept {
    dense_forward(in, rows, layer.inputs, layer.outputs, storage + layer.weights, storage + layer.bias,
                  activation, out);
  }
  template <class S>
  static DenseParameters<S> parameters(const Layer& layer, const S* storage, S* gradients) noexcept {
    const bool trained = gradients != nullptr;
    return {storage + layer.weights,
            storage + layer.bias,
            trained ? gradients + layer.weights : nullptr,
            trained ? gradients + layer.bias : nullptr,
            layer.inputs,
            layer.outputs};
  }

  /// The cell for `rows` rows -> what it shows: in `memory` (GRU) or in `scratch` (LSTM).
  template <class S>
  const S* step_cell(const S* storage, const S* in, std::size_t rows, S* memory, const std::uint8_t* resets,
                     S* scratch) const noexcept;
  template <class S>
  void step_head(const S* storage, const S* in, std::size_t rows, S* value, S* out) const noexcept;
  template <class S>
  Var record_cell(Tape<S>& tape, const S* storage, S* gradients, Var x, std::size_t batch, const S* memory,
                  const std::uint8_t* resets) const;

  AgentNetworkConfig config_;
  std::vector<Layer> hidden_;
  Layer cell_input_, cell_hidden_, value_, head_;
  std::size_t stored_ = 0;
  std::size_t widest_ = 1;  ///< units of the widest hidden layer, or 1
};

inline Result<AgentNetwork> AgentNetwork::create(const AgentNetworkConfig& config) {
  if (Status status = check_agent_network(config); !status) return status.error();
  AgentNetwork made;
  made.config_ = config;
  std::size_t width = config.inputs;
  for (const std::size_t units : config.hidden) {
    made.hidden_.push_back(made.place(width, units));
    made.widest_ = std::max(made.widest_, units);
    width = units;
  }
  if (config.recurrence != Recurrence::kNone) {
    made.cell_input_ = made.place(width, made.gates() * config.memory_units);
    made.cell_hidden_ = made.place(config.memory_units, made.gates() * config.memory_units);
    width = config.memory_units;
  }
  if (config.dueling) made.value_ = made.place(width, 1);
  made.head_ = made.place(width, config.outputs);
  if (made.stored_ > std::size_t{1} << 31)
    return Error{ErrorCode::kInvalidArgument,
                 "extents: " + std::to_string(made.stored_) + " numbers of storage, more than 2^31"};
  return made;
}

template <class S>
void AgentNetwork::initialise(Random& random, S* storage) const {
  std::vector<S> values;
  const auto fill = [&](const Layer& layer, std::size_t blocks, S gain) {
    const ParameterView<S> view{storage + layer.weights, layer.inputs, layer.outputs, Storage::kPanels};
    const std::size_t cols = layer.outputs / blocks;
    values.resize(layer.inputs * cols);
    for (std::size_t block = 0; block < blocks; ++block) {
      orthogonal_initialise(random, layer.inputs, cols, gain, values.data());
      for (std::size_t r = 0; r < layer.inputs; ++r)
        for (std::size_t c = 0; c < cols; ++c) view.at(r, block * cols + c) = values[r * cols + c];
    }
  };
  const S gain = config_.activation == Activation::kIdentity ? S(1) : static_cast<S>(std::sqrt(2.0));
  for (const Layer& layer : hidden_) fill(layer, 1, gain);
  if (config_.recurrence != Recurrence::kNone) {
    fill(cell_input_, gates(), S(1));
    fill(cell_hidden_, gates(), S(1));
  }
  if (config_.recurrence == Recurrence::kLstm)
    std::fill_n(storage + cell_input_.bias + config_.memory_units, config_.memory_units, S(1));
  const auto output_gain = static_cast<S>(config_.output_gain);
  if (config_.dueling) fill(value_, 1, output_gain);
  fill(head_, 1, output_gain);
}

template <class S, class F>
void AgentNetwork::visit(S* storage, const std::string& prefix, F&& f) const {
  const auto show = [&](const std::string& name, const Layer& layer) {
    f(prefix + name + ".weight",
      ParameterView<S>{storage + layer.weights, layer.inputs, layer.outputs, Storage::kPanels});
    f(prefix + name + ".bias", ParameterView<S>{storage + layer.bias, 1, layer.outputs, Storage::kRowMajor});
  };
  for (std::size_t i = 0; i < hidden_.size(); ++i) show(std::to_string(i), hidden_[i]);
  if (config_.recurrence != Recurrence::kNone) {
    show("cell.input", cell_input_);
    show("cell.hidden", cell_hidden_);
  }
  if (config_.dueling) show("value", value_);
  show(config_.dueling ? "advantage" : "head", head_);
}

template <class S>
const S* AgentNetwork::step_cell(const S* storage, const S* in, std::size_t rows, S* memory,
                                 const std::uint8_t* resets, S* scratch) const noexcept {
  const std::size_t units = config_.memory_units, width = gates() * units;
  S *of_input = scratch, *of_state = of_input + kRows * width, *h = of_state + kRows * width,
    *c = h + kRows * units;
  evaluate(cell_input_, storage, in, rows, Activation::kIdentity, of_input);
  if (config_.recurrence == Recurrence::kGru) {
    if (resets != nullptr)
      math::copy_unless_reset(static_cast<const S*>(memory), rows, units, resets, memory);
    evaluate(cell_hidden_, storage, static_cast<const S*>(memory), rows, Activation::kIdentity, of_state);
    math::gru_gates<S>(of_input, of_state, memory, rows, units, memory, nullptr);
    return memory;
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint8_t* reset = resets == nullptr ? nullptr : resets + r;
    const S* row = memory + r * 2 * units;
    math::copy_unless_reset(row, 1, units, reset, h + r * units);
    math::copy_unless_reset(row + units, 1, units, reset, c + r * units);
  }
  evaluate(cell_hidden_, storage, static_cast<const S*>(h), rows, Activation::kIdentity, of_state);
  math::lstm_gates<S>(of_input, of_state, c, rows, units, c, h, nullptr);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(h + r * units, units, memory + r * 2 * units);
    std::copy_n(c + r * units, units, memory + (r * 2 + 1) * units);
  }
  return h;
}

template <class S>
void AgentNetwork::step_head(const S* storage, const S* in, std::size_t rows, S* value,
                             S* out) const noexcept {
  evaluate(head_, storage, in, rows, Activation::kIdentity, out);
  if (!config_.dueling) return;
  evaluate(value_, storage, in, rows, Activation::kIdentity, value);
  const std::size_t outputs = config_.outputs;
  const S share = S(1) / static_cast<S>(outputs);
  for (std::size_t r = 0; r < rows; ++r) {
    S* row = out + r * outputs;
    const S shift = value[r] - math::sum(static_cast<const S*>(row), outputs) * share;
    for (std::size_t a = 0; a < outputs; ++a) row[a] += shift;
  }
}

template <class S>
void AgentNetwork::step(const S* storage, const std::type_identity_t<S>* in, std::size_t rows,
                        std::type_identity_t<S>* memory, const std::uint8_t* resets,
                        std::type_identity_t<S>* out, WorkspaceOf<std::type_identity_t<S>>& workspace) const {
  const auto room = [](AlignedVector<S>& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
  };
  room(workspace.first, kRows * widest_);
  room(workspace.second, kRows * widest_);
  const bool recurrent = config_.recurrence != Recurrence::kNone;
  if (recurrent) room(workspace.gates, kRows * (2 * gates() + 2) * config_.memory_units);
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t count = std::min(kRows, rows - begin);
    const S* x = in + begin * config_.inputs;
    S *next = workspace.first.data(), *other = workspace.second.data();
    for (const Layer& layer : hidden_) {
      evaluate(layer, storage, x, count, config_.activation, next);
      x = next;
      std::swap(next, other);
    }
    if (recurrent)
      x = step_cell<S>(storage, x, count, memory + begin * this->memory(),
                       resets == nullptr ? nullptr : resets + begin, workspace.gates.data());
    step_head<S>(storage, x, count, next, out + begin * config_.outputs);
  }
}

template <class S>
Var AgentNetwork::record_cell(Tape<S>& tape, const S* storage, S* gradients, Var x, std::size_t batch,
                              const S* memory, const std::uint8_t* resets) const {
  const std::size_t units = config_.memory_units;
  const Var gates = tape.dense(x, parameters(cell_input_, storage, gradients), Activation::kIdentity);
  if (memory == nullptr) {
    S* zeros = tape.arena().template allocate<S>(batch * this->memory());
    std::fill_n(zeros, batch * this->memory(), S(0));
    memory = zeros;
  }
  const Var state = tape.input(memory, batch, this->memory());
  const auto hidden = parameters(cell_hidden_, storage, gradients);
  if (config_.recurrence == Recurrence::kGru) return tape.gru(gates, state, hidden, resets);
  const Var h = tape.slice_cols(state, 0, units), c = tape.slice_cols(state, units, units);
  return tape.lstm(gates, h, c, hidden, resets).hidden;
}

template <class S>
Var AgentNetwork::forward(Tape<S>& tape, const std::type_identity_t<S>* storage,
                          std::type_identity_t<S>* gradients, Var x, std::size_t batch,
                          const std::type_identity_t<S>* memory, const std::uint8_t* resets) const {
  for (const Layer& layer : hidden_)
    x = tape.dense(x, parameters<S>(layer, storage, gradients), config_.activation);
  if (config_.recurrence != Recurrence::kNone)
    x = record_cell<S>(tape, storage, gradients, x, batch, memory, resets);
  const Var head = tape.dense(x, parameters<S>(head_, storage, gradients), Activation::kIdentity);
  if (!config_.dueling) return head;
  const Var value = tape.dense(x, parameters<S>(value_, storage, gradients), Activation::kIdentity);
  return tape.add_rows(head, tape.sub(value, tape.row_mean(head)));
}

}  // namespace mara
