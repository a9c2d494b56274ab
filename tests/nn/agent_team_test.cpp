// Networks of a team: groups against networks of their own, agent ids, permutations, absent agents.
#include "mara/nn/agent_team.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mara/autodiff/gradient_check.hpp"

using mara::AgentNetwork;
using mara::AgentTeam;
using mara::AlignedVector;
using mara::Random;
using mara::Recurrence;
using mara::Tape;
using mara::TeamConfig;
using mara::Var;

namespace {

constexpr std::size_t kSlots = 4, kSeen = 3, kOutputs = 5, kSteps = 3, kCount = 20;
constexpr std::size_t kRows = kSteps * kCount * kSlots;
constexpr Recurrence kKinds[] = {Recurrence::kNone, Recurrence::kGru, Recurrence::kLstm};

TeamConfig config_of(Recurrence recurrence, std::vector<int> groups, bool ids) {
  TeamConfig config;
  config.network.hidden = {16};
  config.network.activation = mara::Activation::kTanh;
  config.network.recurrence = recurrence;
  config.network.memory_units = 6;
  config.groups = std::move(groups);
  config.agent_ids = ids;
  return config;
}

/// The same with a network of its own for every group: kinds in turn, widths and memories that differ.
TeamConfig mixed(TeamConfig config) {
  const int most = *std::max_element(config.groups.begin(), config.groups.end());
  for (std::size_t g = 0; g <= static_cast<std::size_t>(most); ++g) {
    config.group_networks.push_back(config.network);
    mara::AgentNetworkConfig& network = config.group_networks.back();
    network.recurrence = kKinds[(static_cast<std::size_t>(config.network.recurrence) + g) % 3];
    network.hidden = {5 + g, 7};
    network.memory_units = 3 + g;
    network.dueling = g == 1;
  }
  return config;
}

std::vector<std::vector<int>> groupings() {
  return {{}, {0, 0, 0, 0}, {0, 1, 0, 1}, {1, 0, 2, 0}, mara::separate_groups(kSlots)};
}

template <class S>
std::vector<S> normal_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<S> x(count);
  for (S& v : x) v = static_cast<S>(random.normal());
  return x;
}

std::vector<std::uint8_t> some_resets(std::size_t count) {
  std::vector<std::uint8_t> resets(count);
  for (std::size_t i = 0; i < count; ++i) resets[i] = i % 11 == 4 ? 1 : 0;
  return resets;
}

template <class S>
AlignedVector<S> initialised(const AgentTeam& team, std::uint64_t seed) {
  AlignedVector<S> storage(team.stored());
  Random random(seed);
  team.initialise(random, storage.data());
  return storage;
}

/// Outputs of a sequence, and gradients of the sum of weights[kRows] times their squares.
struct Outcome {
  std::vector<float> outputs, gradients;
};
Outcome run(const AgentTeam& team, const AlignedVector<float>& storage,
            const std::vector<float>& observations, const std::vector<float>& memory,
            const std::vector<std::uint8_t>& resets, const std::vector<float>& weights) {
  Outcome outcome;
  outcome.gradients.resize(team.stored());
  Tape<float> tape;
  const Var y = team.forward(tape, storage.data(), outcome.gradients.data(), observations.data(), kSteps,
                             kCount, memory.data(), resets.data());
  const Var loss = tape.dot(tape.row_sum(tape.square(y)), weights.data());
  REQUIRE(tape.status());
  outcome.outputs.assign(tape.value(y).begin(), tape.value(y).end());
  tape.backward(loss);
  return outcome;
}

}  // namespace

TEST_CASE("Agent team: each slot computes what a network of its group computes", "[agent_team]") {
  const auto observations = normal_numbers<float>(kRows * kSeen, 1);
  const auto resets = some_resets(kRows);
  const auto weights = normal_numbers<float>(kRows, 2);
  for (const Recurrence recurrence : kKinds)
    for (const auto& [ids, own] : {std::pair(false, false), std::pair(true, false), std::pair(true, true)})
      for (const std::vector<int>& groups : groupings()) {
        if (own && groups.empty()) continue;
        const TeamConfig config = config_of(recurrence, groups, ids);
        const AgentTeam team =
            AgentTeam::create(own ? mixed(config) : config, kSlots, kSeen, kOutputs).value();
        const auto storage = initialised<float>(team, 3);
        const std::size_t units = team.memory();
        const std::size_t inputs = kSeen + (ids ? kSlots : 0);
        std::size_t stored = 0, most = 0;
        for (std::size_t g = 0; g < team.groups(); ++g) {
          REQUIRE(team.offset(g) == stored);
          stored += team.network(g).stored();
          most = std::max(most, team.network(g).memory());
        }
        REQUIRE(team.stored() == stored);
        REQUIRE(units == most);
        const auto memory = normal_numbers<float>(kCount * kSlots * units, 4);
        const Outcome outcome = run(team, storage, observations, memory, resets, weights);
        REQUIRE(outcome.outputs.size() == kRows * kOutputs);
        std::vector<float> gradients(team.stored(), 0.0f);
        bool same = true;
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
          // The rows of this slot alone, through the network of its group.
          const std::size_t group = groups.empty() ? 0 : static_cast<std::size_t>(groups[slot]);
          const AgentNetwork& network = team.network(group);
          std::vector<float> x, m, w;
          std::vector<std::uint8_t> z;
          for (std::size_t p = 0; p < kSteps * kCount; ++p) {
            const std::size_t row = p * kSlots + slot;
            for (std::size_t i = 0; i < kSeen; ++i) x.push_back(observations[row * kSeen + i]);
            for (std::size_t i = 0; ids && i < kSlots; ++i) x.push_back(i == slot ? 1.0f : 0.0f);
            z.push_back(resets[row]);
            w.push_back(weights[row]);
            for (std::size_t i = 0; p < kCount && i < network.memory(); ++i)
              m.push_back(memory[row * units + i]);
          }
          Tape<float> tape;
          const Var y = network.forward(
              tape, storage.data() + team.offset(group), gradients.data() + team.offset(group),
              tape.input(x.data(), kSteps * kCount, inputs), kCount, m.data(), z.data());
          tape.backward(tape.dot(tape.row_sum(tape.square(y)), w.data()));
          for (std::size_t p = 0; p < kSteps * kCount; ++p)
            for (std::size_t o = 0; o < kOutputs; ++o)
              same = same &&
                     tape.value(y)[p * kOutputs + o] == outcome.outputs[(p * kSlots + slot) * kOutputs + o];
        }
        CAPTURE(static_cast<int>(recurrence), ids, groups.size(), team.groups());
        CHECK(same);
        // Sums over rows in another order.
        float worst = 0;
        for (std::size_t i = 0; i < gradients.size(); ++i)
          worst = std::max(worst,
                           std::abs(gradients[i] - outcome.gradients[i]) / (1.0f + std::abs(gradients[i])));
        CHECK(worst < 2e-5f);

        // Steps have the bits of the sequence.
        AgentTeam::Workspace workspace;
        auto state = memory;
        std::vector<float> out(kCount * kSlots * kOutputs);
        bool stepwise = true;
        for (std::size_t t = 0; t < kSteps; ++t) {
          team.step(storage.data(), observations.data() + t * kCount * kSlots * kSeen, kCount, state.data(),
                    resets.data() + t * kCount * kSlots, out.data(), workspace);
          for (std::size_t i = 0; i < out.size(); ++i)
            stepwise = stepwise && out[i] == outcome.outputs[t * out.size() + i];
        }
        CHECK(stepwise);
      }
}

TEST_CASE("Agent team: gradients against central differences", "[agent_team]") {
  constexpr std::size_t kTeams = 2, kLong = 2;
  for (const Recurrence recurrence : kKinds)
    for (const std::vector<int>& groups : groupings()) {
      TeamConfig config = config_of(recurrence, groups, true);
      config.network.hidden = {4};
      config.network.memory_units = 2;
      if (groups.size() == kSlots && groups[1] != groups[0]) config = mixed(config);
      const AgentTeam team = AgentTeam::create(config, kSlots, kSeen, 2).value();
      auto storage = initialised<double>(team, 6);
      std::vector<double> gradients(team.stored());
      const std::size_t rows = kLong * kTeams * kSlots;
      const auto x = normal_numbers<double>(rows * kSeen, 7);
      const auto memory = normal_numbers<double>(kTeams * kSlots * team.memory(), 8);
      const auto weights = normal_numbers<double>(rows * 2, 9);
      const auto resets = some_resets(rows);
      CHECK(mara::gradient_check(storage, gradients, [&](Tape<double>& tape) {
              return tape.dot(tape.square(team.forward(tape, storage.data(), gradients.data(), x.data(),
                                                       kLong, kTeams, memory.data(), resets.data())),
                              weights.data());
            }) < 1e-6);
    }
}

TEST_CASE("Agent team: with shared parameters and no ids, permuted agents have permuted outputs",
          "[agent_team]") {
  const std::size_t order[kSlots] = {2, 0, 3, 1};
  const std::vector<std::uint8_t> resets(kRows, 0);
  const auto observations = normal_numbers<float>(kRows * kSeen, 1);
  for (const Recurrence recurrence : kKinds) {
    for (const bool ids : {false, true}) {
      const AgentTeam team =
          AgentTeam::create(config_of(recurrence, {}, ids), kSlots, kSeen, kOutputs).value();
      const auto storage = initialised<float>(team, 3);
      const std::size_t units = team.memory();
      const auto memory = normal_numbers<float>(kCount * kSlots * units, 4);
      const auto permuted = [&](const std::vector<float>& from, std::size_t width) {
        std::vector<float> to(from.size());
        for (std::size_t row = 0; width > 0 && row < from.size() / width; ++row)
          std::copy_n(from.data() + (row / kSlots * kSlots + order[row % kSlots]) * width, width,
                      to.data() + row * width);
        return to;
      };
      const std::vector<float> weights(kRows, 1.0f);
      const auto straight = run(team, storage, observations, memory, resets, weights);
      const auto mixed =
          run(team, storage, permuted(observations, kSeen), permuted(memory, units), resets, weights);
      CHECK((permuted(straight.outputs, kOutputs) == mixed.outputs) == !ids);
    }
  }
}

TEST_CASE("Agent team: absent agents change nothing of the others", "[agent_team]") {
  const auto observations = normal_numbers<float>(kRows * kSeen, 1);
  const auto resets = some_resets(kRows);
  auto others = observations;
  std::vector<float> weights(kRows);
  Random random(5);
  for (std::size_t row = 0; row < kRows; ++row) {
    const bool absent = random.below(3) == 0;
    weights[row] = absent ? 0.0f : 1.0f + static_cast<float>(row % 4);
    for (std::size_t i = 0; absent && i < kSeen; ++i) others[row * kSeen + i] = 1000.0f;
  }
  for (const std::vector<int>& groups : groupings()) {
    const AgentTeam team =
        AgentTeam::create(config_of(Recurrence::kNone, groups, false), kSlots, kSeen, kOutputs).value();
    const auto storage = initialised<float>(team, 3);
    const auto first = run(team, storage, observations, {}, resets, weights),
               second = run(team, storage, others, {}, resets, weights);
    bool same = true, differs = false;
    for (std::size_t i = 0; i < first.outputs.size(); ++i) {
      const bool equal = first.outputs[i] == second.outputs[i];
      (weights[i / kOutputs] == 0.0f ? differs : same) =
          weights[i / kOutputs] == 0.0f ? differs || !equal : same && equal;
    }
    CHECK(same);
    CHECK(differs);
    CHECK(first.gradients == second.gradients);
  }
}

TEST_CASE("Agent team: names of parameters", "[agent_team]") {
  const auto names = [](const std::vector<int>& groups) {
    const AgentTeam team =
        AgentTeam::create(config_of(Recurrence::kNone, groups, true), kSlots, kSeen, kOutputs).value();
    const auto storage = initialised<float>(team, 1);
    std::vector<std::string> all;
    team.visit(storage.data(), [&](const std::string& name, mara::ParameterView<const float> view) {
      all.push_back(name);
      if (name.ends_with("0.weight")) CHECK(view.rows == kSeen + kSlots);
    });
    return all;
  };
  CHECK(names({}) == std::vector<std::string>{"0.weight", "0.bias", "head.weight", "head.bias"});
  const auto two = names({0, 1, 1, 0});
  REQUIRE(two.size() == 8);
  CHECK(two[0] == "group.0.0.weight");
  CHECK(two[7] == "group.1.head.bias");
}

TEST_CASE("Agent team: what cannot be made is refused by name", "[agent_team]") {
  const auto message = [](std::vector<int> groups, std::size_t slots, std::size_t seen, std::size_t outputs) {
    const auto made =
        AgentTeam::create(config_of(Recurrence::kGru, std::move(groups), false), slots, seen, outputs);
    return made ? std::string("made") : made.error().message;
  };
  CHECK(message({}, 2, 3, 4) == "made");
  CHECK(message({}, 0, 3, 4).find("slots = 0") != std::string::npos);
  CHECK(message({}, 2, 0, 4).find("observation = 0") != std::string::npos);
  CHECK(message({}, 2, 3, 0).find("outputs = 0") != std::string::npos);
  CHECK(message({0, 1}, 3, 3, 4).find("2 numbers for 3 slots") != std::string::npos);
  CHECK(message({0, -1, 1}, 3, 3, 4).find("groups[1] = -1") != std::string::npos);
  CHECK(message({0, 7, 1}, 3, 3, 4).find("groups[1] = 7") != std::string::npos);
  CHECK(message({0, 2, 0}, 3, 3, 4).find("number 1 is skipped") != std::string::npos);
  TeamConfig config = mixed(config_of(Recurrence::kNone, {0, 1, 0}, false));
  config.group_networks[1].hidden = {3, 0};
  CHECK(AgentTeam::create(config, 3, 3, 4).error().message.find("group_networks[1]: hidden[1] = 0") == 0);
  config.group_networks.pop_back();
  CHECK(AgentTeam::create(config, 3, 3, 4).error().message == "group_networks: 1 networks for 2 groups");
}

TEST_CASE("Agent team: after the first call of a size nothing is allocated", "[agent_team]") {
  const AgentTeam team =
      AgentTeam::create(config_of(Recurrence::kLstm, {0, 1, 1, 0}, true), kSlots, kSeen, kOutputs).value();
  const auto storage = initialised<float>(team, 3);
  const auto observations = normal_numbers<float>(kRows * kSeen, 1);
  auto memory = normal_numbers<float>(kCount * kSlots * team.memory(), 4);
  const auto resets = some_resets(kRows);
  std::vector<float> gradients(team.stored()), out(kCount * kSlots * kOutputs);
  AgentTeam::Workspace workspace;
  Tape<float> tape;
  const auto all = [&] {
    team.step(storage.data(), observations.data(), kCount, memory.data(), resets.data(), out.data(),
              workspace);
    tape.clear();
    tape.backward(tape.sum(team.forward(tape, storage.data(), gradients.data(), observations.data(), kSteps,
                                        kCount, memory.data(), resets.data())));
  };
  all();
  const float* held[] = {workspace.inputs.data(), workspace.outputs.data(), workspace.memory.data()};
  const std::size_t capacity = tape.capacity();
  all();
  CHECK(workspace.inputs.data() == held[0]);
  CHECK(workspace.outputs.data() == held[1]);
  CHECK(workspace.memory.data() == held[2]);
  CHECK(tape.capacity() == capacity);
}
