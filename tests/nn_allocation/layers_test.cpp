// Nothing is allocated by a training step or an evaluation of layers once it is under way. A program of its
// own: the counter replaces operator new.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocation_counter.hpp"
#include "catch.hpp"
#include "mara/nn/adamw.hpp"
#include "mara/nn/attention.hpp"
#include "mara/nn/embedding.hpp"
#include "mara/nn/gradient_clip.hpp"
#include "mara/nn/network.hpp"
#include "mara/nn/recurrent.hpp"
#include "mara/nn/rms_prop.hpp"
#include "mara/nn/sgd.hpp"

using mara::RowGroups;
using mara::Tape;
using mara::Var;

namespace {

/// Allocations of 20 steps after the first.
template <class Step>
std::size_t allocations_of(const Step& step) {
  if (!step()) return ~std::size_t{0};
  const std::size_t before = mara_test::allocations;
  bool good = true;
  for (int i = 0; i < 20; ++i) good &= step();
  return good ? mara_test::allocations - before : ~std::size_t{0};
}

constexpr std::size_t kBatch = 12, kSteps = 5;

std::vector<float> numbers(std::size_t count) {
  mara::Random random(count);
  std::vector<float> x(count);
  for (float& v : x) v = static_cast<float>(random.normal());
  return x;
}

}  // namespace

TEST_CASE("a training step of recurrent cells allocates nothing after the first", "[nn][allocation]") {
  mara::Random random(1);
  mara::Gru<float, 6, 17> gru;
  mara::Lstm<float, 6, 17> lstm;
  mara::Embedding<float, 9, 6> table;
  gru.initialise(random);
  lstm.initialise(random);
  table.initialise(random);
  mara::RmsProp<float> gru_optimiser(gru.kStored, {.max_gradient_norm = 0.5});
  mara::AdamW<float> lstm_optimiser(lstm.kStored);
  mara::Sgd<float> table_optimiser(table.kStored, {.momentum = 0.9, .nesterov = true});
  const auto state = numbers(kBatch * 17);
  std::vector<std::int32_t> indices(kSteps * kBatch);
  std::vector<std::uint8_t> resets(kSteps * kBatch);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<std::int32_t>(i % 9);
    resets[i] = i % 7 == 0;
  }
  Tape<float> tape;
  CHECK(allocations_of([&] {
          tape.clear();
          gru.zero_gradients();
          lstm.zero_gradients();
          table.zero_gradients();
          const Var x = table.forward(tape, indices.data(), indices.size());
          const Var h = tape.input(state.data(), kBatch, 17);
          const auto states = lstm.forward(tape, x, h, h, resets.data());
          const Var both =
              tape.mul(gru.forward(tape, x, h, resets.data()), tape.add(states.hidden, states.cell));
          tape.backward(tape.mean(tape.square(both)));
          const std::array<std::span<float>, 2> groups{gru.gradients(), lstm.gradients()};
          mara::clip_by_global_norm(std::span<const std::span<float>>(groups), 1.0);
          return tape.status().has_value() &&
                 gru_optimiser.step(gru.parameters(), gru.gradients()).has_value() &&
                 lstm_optimiser.step(lstm.parameters(), lstm.gradients()).has_value() &&
                 table_optimiser.step(table.parameters(), table.gradients()).has_value();
        }) == 0);
}

TEST_CASE("a training step with attention over agents allocates nothing after the first",
          "[nn][allocation]") {
  mara::Random random(1);
  mara::Network<float, mara::DenseLayer<5, 12, mara::Activation::kGelu>, mara::LayerNormLayer<12>> encoder;
  mara::SelfAttention<float, 12, 16, 2> mixer;
  mara::AttentionPool<float, 16, 8, 2> pool;
  encoder.initialise(random);
  mixer.initialise(random);
  pool.initialise(random);
  const auto x = numbers(kBatch * 4 * 5);
  std::vector<std::uint8_t> alive(kBatch * 4);
  for (std::size_t i = 0; i < alive.size(); ++i) alive[i] = i % 3 != 0;
  const RowGroups groups{.count = kBatch, .rows_each = 4, .alive = alive.data()};
  Tape<float> tape;
  CHECK(allocations_of([&] {
          tape.clear();
          encoder.zero_gradients();
          mixer.zero_gradients();
          pool.zero_gradients();
          const Var rows =
              mixer.forward(tape, encoder.forward(tape, tape.input(x.data(), kBatch * 4, 5)), groups);
          const Var teams = tape.concat(pool.forward(tape, rows, groups), mara::set_mean(tape, rows, groups));
          tape.backward(tape.mean(tape.square(tape.concat(teams, mara::set_max(tape, rows, groups)))));
          return tape.status().has_value();
        }) == 0);
}

TEST_CASE("evaluation of layers allocates nothing after construction", "[nn][allocation]") {
  mara::GruInference<float, 6, 17> gru;
  mara::LstmInference<float, 6, 17> lstm;
  mara::EmbeddingInference<float, 9, 6> table;
  mara::NetworkInference<float, mara::DenseLayer<5, 12, mara::Activation::kTanh>, mara::LayerNormLayer<12>>
      encoder;
  mara::SelfAttentionInference<float, 12, 16, 2> mixer(4);
  mara::AttentionPoolInference<float, 16, 8, 2> pool(4);
  const auto x = numbers(100 * 6);
  std::vector<float> state(100 * 17), cell(100 * 17), rows(100 * 16), out(100 * 16);
  const std::int32_t indices[3] = {1, 0, 8};
  const RowGroups groups{.count = 25, .rows_each = 4};
  const std::size_t before = mara_test::allocations;
  gru.step(x.data(), 100, state.data());
  lstm.step(x.data(), 100, state.data(), cell.data());
  table.forward(indices, 3, out.data());
  encoder.forward(x.data(), 100, rows.data());
  bool good = mixer.forward(rows.data(), groups, out.data()).has_value();
  good &= pool.forward(out.data(), groups, rows.data()).has_value();
  const std::size_t after = mara_test::allocations;
  CHECK(good);
  CHECK(after == before);
  ::operator delete(::operator new(1));
  CHECK(mara_test::allocations == after + 1);  // the counter counts
}
