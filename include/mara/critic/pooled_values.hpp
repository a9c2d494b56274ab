#pragma once
// Values that do not depend on the order of the agents and cost in proportion to their number.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/critic/value_critic.hpp"
#include "mara/nn/agent_network.hpp"
#include "mara/nn/set_pooling.hpp"

namespace mara::critic {

/// How the embeddings of the agents become one.
enum class Pooling : std::uint8_t {
  kMean,       ///< mean field: their mean (Yang et al. 2018; deep sets: Zaheer et al. 2017)
  kAttention,  ///< one learnt query attends to all (set transformer: Lee et al. 2019, section 3.2)
};

/// Each present agent's observation is embedded by the same network; the embeddings are pooled; a head says
/// the value from the pool, the share of slots taken and, if asked for, the global state. For many agents:
/// the cost is linear in them, absent agents cost nothing and change nothing.
class PooledValues {
 public:
  struct Config {
    std::vector<std::size_t> embedding{64};  ///< widths of the layers per agent; the last is that of the pool
    std::vector<std::size_t> head{64};       ///< widths of the hidden layers after pooling; may be empty
    Pooling pooling = Pooling::kMean;
    std::size_t attention_heads = 4;  ///< divides the pool's width; kAttention only
    bool global_state = false;        ///< the head sees the global state too
    bool per_agent = false;           ///< a value for every agent: the head also sees its own embedding
    Activation activation = Activation::kRelu;
  };
  struct Workspace {
    Tape<float> tape;
  };

  /// Errors (kInvalidArgument) name the field.
  static Result<PooledValues> create(const Config& config, const GameShape& shape) {
    const auto bad = [](const std::string& what) {
      return Error{ErrorCode::kInvalidArgument, "pooled values: " + what};
    };
    if (shape.agents == 0 || shape.observation == 0 || (config.global_state && shape.state == 0))
      return bad("the game has " + std::to_string(shape.agents) + " agents that see " +
                 std::to_string(shape.observation) + " numbers, and a state of " +
                 std::to_string(shape.state));
    if (config.embedding.empty()) return bad("embedding is empty");
    const std::pair<const char*, const std::vector<std::size_t>*> layers[] = {
        {"embedding", &config.embedding}, {"head", &config.head}};
    for (const auto& [field, widths] : layers)
      for (std::size_t i = 0; i < widths->size(); ++i)
        if ((*widths)[i] == 0 || (*widths)[i] > kLargestExtent)
          return bad(std::string(field) + "[" + std::to_string(i) + "] = " + std::to_string((*widths)[i]) +
                     ", not in [1, 2^24]");
    if (config.attention_heads > kLargestCount)
      return bad("attention_heads = " + std::to_string(config.attention_heads) + ", more than 2^31");
    const std::size_t width = config.embedding.back();
    const bool attends = config.pooling == Pooling::kAttention;
    if (attends && (config.attention_heads == 0 || width % config.attention_heads != 0))
      return bad("attention_heads = " + std::to_string(config.attention_heads) + " does not divide " +
                 std::to_string(width));
    AgentNetworkConfig embedding;
    embedding.inputs = shape.observation;
    embedding.outputs = width;
    embedding.hidden.assign(config.embedding.begin(), config.embedding.end() - 1);
    embedding.activation = config.activation;
    AgentNetworkConfig head;
    head.inputs = width * (config.per_agent ? 2 : 1) + 1 + (config.global_state ? shape.state : 0);
    head.outputs = 1;
    head.hidden = config.head;
    head.activation = config.activation;
    AgentNetworkConfig keys;
    keys.inputs = width;
    keys.outputs = 2 * width;
    keys.hidden.clear();
    auto embeds = AgentNetwork::create(embedding), values = AgentNetwork::create(head),
         attention = AgentNetwork::create(keys);
    for (const auto* made : {&embeds, &values, &attention})
      if (!*made) return bad(made->error().message);
    return PooledValues(config, shape, std::move(*embeds), std::move(*attention), std::move(*values));
  }

  std::size_t columns() const noexcept { return config_.per_agent ? slots_ : 1; }
  bool per_agent() const noexcept { return config_.per_agent; }
  std::size_t stored() const noexcept { return head_at() + head_.stored(); }
  std::size_t memory() const noexcept { return 0; }

  void initialise(Random& random, float* storage) const {
    embedding_.initialise(random, storage);
    if (attends()) {
      keys_.initialise(random, storage + embedding_.stored());
      float* query = storage + query_at();
      for (std::size_t k = 0; k < width(); ++k) query[k] = static_cast<float>(random.normal());
    }
    head_.initialise(random, storage + head_at());
  }
  template <class S, class F>
  void visit(S* storage, F&& f) const {
    const auto inner = [&f](const std::string& prefix) {
      return [&f, prefix](const std::string& name, auto view) { f(prefix + name, view); };
    };
    // The layer called "head" of an inner network is not the one that says the value.
    const auto rename = [&f](const std::string& prefix) {
      return [&f, prefix](const std::string& name, auto view) {
        f(prefix + (name.starts_with("head.") ? "last." + name.substr(5) : name), view);
      };
    };
    embedding_.visit(storage, std::string{}, rename("embedding."));
    if (attends()) {
      keys_.visit(storage + embedding_.stored(), std::string{}, rename("attention."));
      f(std::string("attention.query"), ParameterView<S>{storage + query_at(), 1, width()});
    }
    head_.visit(storage + head_at(), std::string{}, inner("value."));
  }

  void step(const float* storage, const ValueRows& rows, float* /*memory*/, float* out,
            Workspace& work) const {
    work.tape.clear();
    const Var values = forward(work.tape, storage, nullptr, rows, nullptr);
    const auto said = work.tape.value(values);
    std::copy(said.begin(), said.end(), out);
  }

  Var forward(Tape<float>& tape, const float* storage, float* gradients, const ValueRows& rows,
              const float* /*memory*/) const {
    const std::size_t teams = rows.steps * rows.count;
    const auto shift = [gradients](std::size_t by) {
      return gradients == nullptr ? nullptr : gradients + by;
    };
    const RowGroups groups{.count = teams, .rows_each = slots_, .alive = rows.present};
    const LiveRows live =
        live_rows(tape, tape.input(rows.observations, teams * slots_, observation_), groups);
    if (!tape.holds(live.rows)) return {};
    const std::size_t alive = tape.rows(live.rows);
    Var pooled, own;
    if (alive == 0) {
      float* zeros = tape.arena().template allocate<float>(teams * width());
      std::fill_n(zeros, teams * width(), 0.0f);
      pooled = tape.input(zeros, teams, width());
    } else {
      own = tape.activate(embedding_.forward(tape, storage, gradients, live.rows, alive, nullptr, nullptr),
                          config_.activation);
      pooled = attends() ? attend(tape, storage, gradients, own, live.sizes, teams)
                         : tape.segment_mean(own, live.sizes, teams);
    }
    const std::size_t more = 1 + (config_.global_state ? state_ : 0);
    float* facts = tape.arena().template allocate<float>(teams * more);
    for (std::size_t k = 0; k < teams; ++k) {
      facts[k * more] = static_cast<float>(live.sizes[k]) / static_cast<float>(slots_);
      if (config_.global_state) std::copy_n(rows.states + k * state_, state_, facts + k * more + 1);
    }
    Var seen = tape.concat({pooled, tape.input(facts, teams, more)});
    if (!config_.per_agent)
      return head_.forward(tape, storage + head_at(), shift(head_at()), seen, teams, nullptr, nullptr);
    if (alive == 0) {
      float* zeros = tape.arena().template allocate<float>(teams * slots_);
      std::fill_n(zeros, teams * slots_, 0.0f);
      return tape.input(zeros, teams * slots_, 1);
    }
    auto* team_of = tape.arena().template allocate<std::int32_t>(alive);
    for (std::size_t k = 0, row = 0; k < teams; ++k)
      for (std::int32_t i = 0; i < live.sizes[k]; ++i) team_of[row++] = static_cast<std::int32_t>(k);
    seen = tape.concat({own, tape.gather_rows(seen, team_of, alive)});
    return spread_rows(
        tape, head_.forward(tape, storage + head_at(), shift(head_at()), seen, alive, nullptr, nullptr),
        groups);
  }

 private:
  PooledValues(const Config& config, const GameShape& shape, AgentNetwork embedding, AgentNetwork keys,
               AgentNetwork head)
      : config_(config),
        slots_(shape.agents),
        observation_(shape.observation),
        state_(shape.state),
        embedding_(std::move(embedding)),
        keys_(std::move(keys)),
        head_(std::move(head)) {}

  bool attends() const noexcept { return config_.pooling == Pooling::kAttention; }
  std::size_t width() const noexcept { return config_.embedding.back(); }
  std::size_t query_at() const noexcept { return embedding_.stored() + keys_.stored(); }
  std::size_t head_at() const noexcept {
    return attends() ? query_at() + PanelLayout::padded(width()) : embedding_.stored();
  }

  Var attend(Tape<float>& tape, const float* storage, float* gradients, Var own, const std::int32_t* sizes,
             std::size_t teams) const {
    const std::size_t keys = embedding_.stored(), query = query_at();
    const Var key_value =
        keys_.forward(tape, storage + keys, gradients == nullptr ? nullptr : gradients + keys, own,
                      tape.rows(own), nullptr, nullptr);
    const Var asks =
        tape.variable(storage + query, gradients == nullptr ? nullptr : gradients + query, 1, width());
    return tape.attention_pool(asks, key_value, sizes, teams, config_.attention_heads);
  }

  Config config_;
  std::size_t slots_, observation_, state_;
  AgentNetwork embedding_, keys_, head_;
};

static_assert(ValueCritic<PooledValues>);

}  // namespace mara::critic
