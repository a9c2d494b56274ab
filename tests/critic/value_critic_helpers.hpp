#pragma once
// What the tests of value critics share: random teams, and values by both ways of evaluation.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "mara/critic/value_critic.hpp"
#include "mara/math/aligned.hpp"

namespace mara::test {

/// Random rows of `count` teams over `steps` steps. Absent agents see zeros.
struct RandomTeams {
  GameShape shape;
  std::vector<float> states, observations;
  std::vector<std::uint8_t> present, arrived, began;
  std::size_t steps, count;

  RandomTeams(const GameShape& game, std::size_t length, std::size_t teams, std::uint64_t seed)
      : shape(game), steps(length), count(teams) {
    Random random(seed);
    for (std::size_t i = 0; i < steps * count; ++i) {
      began.push_back(random.below(4) == 0 ? 1 : 0);
      for (std::size_t k = 0; k < shape.state; ++k) states.push_back(static_cast<float>(random.normal()));
      for (std::size_t slot = 0; slot < shape.agents; ++slot) {
        present.push_back(random.below(3) > 0 ? 1 : 0);
        arrived.push_back(present.back() != 0 && random.below(3) == 0 ? 1 : 0);
        for (std::size_t k = 0; k < shape.observation; ++k)
          observations.push_back(present.back() != 0 ? static_cast<float>(random.normal()) : 0.0f);
      }
    }
  }
  /// Step t of all teams.
  critic::ValueRows at(std::size_t t) const {
    return {1,
            count,
            states.data() + t * count * shape.state,
            observations.data() + t * count * shape.agents * shape.observation,
            present.data() + t * count * shape.agents,
            arrived.data() + t * count * shape.agents,
            began.data() + t * count};
  }
  critic::ValueRows all() const {
    critic::ValueRows rows = at(0);
    rows.steps = steps;
    return rows;
  }
};

/// Three slots that see two numbers each, and a state of four.
inline const GameShape kThreeSlots{3, 2, 4, ActionShape::discrete(2)};

/// Small networks for a critic that has a network and ids: IndependentValues, CentralisedValues.
template <class C>
typename C::Config small_critic(Recurrence recurrence = Recurrence::kNone, bool ids = false) {
  typename C::Config c;
  c.network.hidden = {6};
  c.network.activation = Activation::kTanh;
  c.network.recurrence = recurrence;
  c.network.memory_units = 5;
  c.agent_ids = ids;
  return c;
}
/// f(config) for every recurrence, without and with ids, and for both values of `choice`.
template <class C, class F>
void each_small_critic(bool C::Config::*choice, F&& f) {
  for (const Recurrence kind : {Recurrence::kNone, Recurrence::kGru, Recurrence::kLstm})
    for (const bool ids : {false, true})
      for (const bool chosen : {false, true}) {
        CAPTURE(static_cast<int>(kind), ids, chosen);
        auto config = small_critic<C>(kind, ids);
        config.*choice = chosen;
        f(config);
      }
}

/// A critic and its first parameters.
template <class C>
struct Begun {
  C critic;
  AlignedVector<float> storage;

  Begun(const typename C::Config& config, const GameShape& shape, std::uint64_t seed = 5)
      : critic(make(config, shape)), storage(critic.stored()) {
    Random random(seed);
    critic.initialise(random, storage.data());
  }
  static C make(const typename C::Config& config, const GameShape& shape) {
    auto made = C::create(config, shape);
    REQUIRE(made);
    return std::move(*made);
  }

  /// All values, step by step; memory begins at zero.
  std::vector<float> stepped(const RandomTeams& teams) const {
    typename C::Workspace work;
    std::vector<float> memory(teams.count * critic.memory()),
        out(teams.steps * teams.count * critic.columns());
    for (std::size_t t = 0; t < teams.steps; ++t)
      critic.step(storage.data(), teams.at(t), memory.data(), out.data() + t * teams.count * critic.columns(),
                  work);
    return out;
  }
  /// The same on the tape; gradients of sum_i weight_i value_i where asked for.
  std::vector<float> recorded(const RandomTeams& teams, std::vector<float>* gradients = nullptr,
                              const std::vector<float>* weights = nullptr) const {
    Tape<float> tape;
    if (gradients != nullptr) gradients->assign(critic.stored(), 0.0f);
    const Var values = critic.forward(
        tape, storage.data(), gradients == nullptr ? nullptr : gradients->data(), teams.all(), nullptr);
    REQUIRE(tape.status());
    if (gradients != nullptr)
      tape.backward(weights == nullptr ? tape.sum(values) : tape.dot(values, weights->data()));
    return {tape.value(values).begin(), tape.value(values).end()};
  }
};

/// Gradients against central differences of the sum of values weighted by presence.
template <class C>
void check_gradients(Begun<C>& begun, const RandomTeams& teams) {
  std::vector<float> weights;
  for (std::size_t i = 0; i < teams.present.size() / teams.shape.agents * begun.critic.columns(); ++i)
    weights.push_back(begun.critic.per_agent() ? static_cast<float>(teams.present[i]) : 1.0f);
  std::vector<float> gradients;
  begun.recorded(teams, &gradients, &weights);
  const auto total = [&] {
    double sum = 0.0;
    const std::vector<float> values = begun.recorded(teams);
    for (std::size_t i = 0; i < values.size(); ++i)
      sum += static_cast<double>(values[i]) * static_cast<double>(weights[i]);
    return sum;
  };
  std::size_t counted = 0;
  for (std::size_t i = 0; i < begun.storage.size(); ++i) {
    if (gradients[i] == 0.0f) continue;
    ++counted;
    const float kept = begun.storage[i], h = 2e-3f;
    begun.storage[i] = kept + h;
    const double up = total();
    begun.storage[i] = kept - h;
    const double down = total();
    begun.storage[i] = kept;
    CHECK((up - down) / (2.0 * static_cast<double>(h)) == Approx(gradients[i]).epsilon(2e-2).margin(1e-2));
  }
  CHECK(counted > 10);
}

}  // namespace mara::test
