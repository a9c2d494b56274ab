// No operation of the tape takes memory from the heap once its arena has grown.
#include <vector>

#include "allocation_counter.hpp"
#include "catch.hpp"
#include "operation_table.hpp"

TEST_CASE("no operation allocates in the steady state", "[autodiff][allocation]") {
  using S = float;
  const auto table = mara_test::operations<S>();
  struct Run {
    std::vector<S> x, dx;
    std::vector<mara::Var> operands;
  };
  std::vector<Run> runs;
  for (const auto& operation : table) {
    const auto numbers = mara_test::operand_numbers(operation);
    runs.push_back({{numbers.begin(), numbers.end()}, std::vector<S>(numbers.size()), {}});
    runs.back().operands.resize(operation.operands.size());
  }
  mara::Tape<S> tape;
  const auto step = [&](std::size_t k) {
    Run& run = runs[k];
    tape.clear();
    std::size_t at = 0;
    for (std::size_t o = 0; o < run.operands.size(); ++o) {
      const auto& shape = table[k].operands[o];
      run.operands[o] = tape.variable(run.x.data() + at, run.dx.data() + at, shape.rows, shape.cols);
      at += shape.rows * shape.cols;
    }
    tape.backward(tape.mean(table[k].apply(tape, run.operands)));
    return tape.status().has_value();
  };
  for (std::size_t k = 0; k < table.size(); ++k) {
    REQUIRE(step(k));
    const std::size_t before = mara_test::allocations;
    const bool good = step(k);
    const std::size_t after = mara_test::allocations;
    CAPTURE(table[k].name);
    CHECK(good);
    CHECK(after == before);
  }
  const std::size_t before = mara_test::allocations;
  ::operator delete(::operator new(1));
  CHECK(mara_test::allocations == before + 1);  // the counter counts
}
