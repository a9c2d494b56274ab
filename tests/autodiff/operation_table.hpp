#pragma once
// Every operation of the tape with operands it accepts: the tests of gradients and of memory walk over
// this one table.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mara/autodiff/tape.hpp"
#include "mara/core/random.hpp"

namespace mara_test {

using mara::Tape;
using mara::Var;

/// Rows and columns of an operand, and where its numbers lie.
struct Operand {
  std::size_t rows = 0, cols = 0;
  bool positive = false;  ///< above 0.2, for log and the like
};

template <class S>
struct Operation {
  const char* name;
  std::vector<Operand> operands;
  Var (*apply)(Tape<S>&, const std::vector<Var>&);
};

// What the caller of an operation owns. Row 3 has no legal option and no column.
inline constexpr std::uint32_t kMasks[5] = {0b1111u, 0b0101u, 0b0010u, 0b0000u, 0b1110u};
inline constexpr std::int32_t kColumns[5] = {2, 0, 3, -1, 7};
inline constexpr std::int32_t kIndices[7] = {4, 0, 0, -1, 2, 9, 4};
inline constexpr std::int32_t kSizes[4] = {2, 0, 1, 2};
template <class S>
inline constexpr S kWeights[20] = {S(0.5), S(0),    S(1),   S(0.25), S(1),   S(2),   S(0),
                                   S(1),   S(0.75), S(1),   S(1),    S(1.5), S(0.5), S(0),
                                   S(1),   S(0.1),  S(0.3), S(2.5),  S(1),   S(0)};

/// Numbers at least 0.05 away from 0, +-0.5 and +-1 and no two equal: no operation has a kink there.
inline std::vector<double> smooth_numbers(std::size_t count, std::uint64_t seed) {
  mara::Random random(seed);
  std::vector<double> x(count);
  for (double& v : x) {
    do v = random.uniform(-1.6, 1.6);
    while (std::fabs(v) < 0.05 || std::fabs(std::fabs(v) - 0.5) < 0.05 ||
           std::fabs(std::fabs(v) - 1.0) < 0.05);
  }
  return x;
}

template <class S>
std::vector<Operation<S>> operations() {
  using T = Tape<S>;
  using X = std::vector<Var>;
  const Operand m{5, 4}, above{5, 4, true}, col{5, 1}, row{1, 4}, one{1, 1};
  return {
      {"add", {m, m}, [](T& t, const X& x) { return t.add(x[0], x[1]); }},
      {"sub", {m, m}, [](T& t, const X& x) { return t.sub(x[0], x[1]); }},
      {"mul", {m, m}, [](T& t, const X& x) { return t.mul(x[0], x[1]); }},
      {"div", {m, above}, [](T& t, const X& x) { return t.div(x[0], x[1]); }},
      {"minimum", {m, m}, [](T& t, const X& x) { return t.minimum(x[0], x[1]); }},
      {"maximum", {m, m}, [](T& t, const X& x) { return t.maximum(x[0], x[1]); }},
      {"mul of one node", {m}, [](T& t, const X& x) { return t.mul(x[0], x[0]); }},
      {"scale", {m}, [](T& t, const X& x) { return t.scale(x[0], S(-2.5)); }},
      {"add_scalar", {m}, [](T& t, const X& x) { return t.square(t.add_scalar(x[0], S(0.7))); }},
      {"neg", {m}, [](T& t, const X& x) { return t.neg(x[0]); }},
      {"square", {m}, [](T& t, const X& x) { return t.square(x[0]); }},
      {"sqrt", {above}, [](T& t, const X& x) { return t.sqrt(x[0]); }},
      {"abs", {m}, [](T& t, const X& x) { return t.abs(x[0]); }},
      {"clamp", {m}, [](T& t, const X& x) { return t.clamp(x[0], S(-0.5), S(1)); }},
      {"huber", {m}, [](T& t, const X& x) { return t.huber(x[0], S(0.5)); }},
      {"exp", {m}, [](T& t, const X& x) { return t.exp(x[0]); }},
      {"log", {above}, [](T& t, const X& x) { return t.log(x[0]); }},
      {"relu", {m}, [](T& t, const X& x) { return t.relu(x[0]); }},
      {"tanh", {m}, [](T& t, const X& x) { return t.tanh(x[0]); }},
      {"sigmoid", {m}, [](T& t, const X& x) { return t.sigmoid(x[0]); }},
      {"softplus", {m}, [](T& t, const X& x) { return t.softplus(x[0]); }},
      {"elu", {m}, [](T& t, const X& x) { return t.elu(x[0]); }},
      {"gelu", {m}, [](T& t, const X& x) { return t.gelu(x[0]); }},
      {"add_rows", {m, col}, [](T& t, const X& x) { return t.square(t.add_rows(x[0], x[1])); }},
      {"sub_rows", {m, col}, [](T& t, const X& x) { return t.square(t.sub_rows(x[0], x[1])); }},
      {"mul_rows", {m, col}, [](T& t, const X& x) { return t.mul_rows(x[0], x[1]); }},
      {"div_rows", {m, {5, 1, true}}, [](T& t, const X& x) { return t.div_rows(x[0], x[1]); }},
      {"add_cols", {m, row}, [](T& t, const X& x) { return t.square(t.add_cols(x[0], x[1])); }},
      {"sub_cols", {m, row}, [](T& t, const X& x) { return t.square(t.sub_cols(x[0], x[1])); }},
      {"mul_cols", {m, row}, [](T& t, const X& x) { return t.mul_cols(x[0], x[1]); }},
      {"div_cols", {m, {1, 4, true}}, [](T& t, const X& x) { return t.div_cols(x[0], x[1]); }},
      {"add_number", {m, one}, [](T& t, const X& x) { return t.square(t.add_number(x[0], x[1])); }},
      {"sub_number", {m, one}, [](T& t, const X& x) { return t.square(t.sub_number(x[0], x[1])); }},
      {"mul_number", {m, one}, [](T& t, const X& x) { return t.mul_number(x[0], x[1]); }},
      {"div_number", {m, {1, 1, true}}, [](T& t, const X& x) { return t.div_number(x[0], x[1]); }},
      {"row_sum", {m}, [](T& t, const X& x) { return t.square(t.row_sum(x[0])); }},
      {"row_mean", {m}, [](T& t, const X& x) { return t.square(t.row_mean(x[0])); }},
      {"row_max", {m}, [](T& t, const X& x) { return t.square(t.row_max(x[0])); }},
      {"col_sum", {m}, [](T& t, const X& x) { return t.square(t.col_sum(x[0])); }},
      {"col_mean", {m}, [](T& t, const X& x) { return t.square(t.col_mean(x[0])); }},
      {"sum", {m}, [](T& t, const X& x) { return t.square(t.sum(t.square(x[0]))); }},
      {"mean", {m}, [](T& t, const X& x) { return t.exp(t.mean(t.square(x[0]))); }},
      {"dot", {m}, [](T& t, const X& x) { return t.square(t.dot(t.square(x[0]), kWeights<S>)); }},
      {"weighted_mean", {m}, [](T& t, const X& x) { return t.square(t.weighted_mean(x[0], kWeights<S>)); }},
      {"softmax", {m}, [](T& t, const X& x) { return t.softmax(x[0]); }},
      {"log_softmax", {m}, [](T& t, const X& x) { return t.log_softmax(x[0]); }},
      {"masked_softmax", {m}, [](T& t, const X& x) { return t.masked_softmax(x[0], kMasks); }},
      {"masked_log_softmax", {m}, [](T& t, const X& x) { return t.masked_log_softmax(x[0], kMasks); }},
      {"softmax of 37 columns", {{3, 37}}, [](T& t, const X& x) { return t.softmax(x[0]); }},
      {"log_softmax of 37 columns", {{3, 37}}, [](T& t, const X& x) { return t.log_softmax(x[0]); }},
      {"log_sum_exp", {m}, [](T& t, const X& x) { return t.log_sum_exp(x[0]); }},
      {"gather", {m}, [](T& t, const X& x) { return t.square(t.gather(x[0], kColumns)); }},
      {"gather_rows", {m}, [](T& t, const X& x) { return t.square(t.gather_rows(x[0], kIndices, 7)); }},
      {"concat",
       {m, {5, 3}, col},
       [](T& t, const X& x) {
         return t.square(t.concat({x[0], x[1], x[2], x[0]}));
       }},
      {"concat_rows",
       {m, {2, 4}},
       [](T& t, const X& x) {
         return t.square(t.concat_rows({x[0], x[1], x[0]}));
       }},
      {"slice_cols", {m}, [](T& t, const X& x) { return t.square(t.slice_cols(x[0], 1, 2)); }},
      {"slice_rows", {m}, [](T& t, const X& x) { return t.square(t.slice_rows(x[0], 2, 3)); }},
      {"reshape", {m}, [](T& t, const X& x) { return t.row_max(t.reshape(x[0], 2, 10)); }},
      // That it stops the gradient of a variable no difference can show: see tape_test.cpp.
      {"stop_gradient",
       {m},
       [](T& t, const X& x) { return t.mul(x[0], t.stop_gradient(t.input(kWeights<S>, 5, 4))); }},
      {"row_dot", {m, m}, [](T& t, const X& x) { return t.row_dot(x[0], x[1]); }},
      {"row_dot of one node", {m}, [](T& t, const X& x) { return t.row_dot(x[0], x[0]); }},
      {"row_cosine", {m, m}, [](T& t, const X& x) { return t.row_cosine(x[0], x[1], S(1e-6)); }},
      {"row_matmul", {m, {5, 12}}, [](T& t, const X& x) { return t.row_matmul(x[0], x[1]); }},
      {"row_matmul to one column", {m, m}, [](T& t, const X& x) { return t.row_matmul(x[0], x[1]); }},
      {"matmul", {m, {4, 3}}, [](T& t, const X& x) { return t.matmul(x[0], x[1]); }},
      {"matmul of one node", {{4, 4}}, [](T& t, const X& x) { return t.matmul(x[0], x[0]); }},
      {"segment_sum", {m}, [](T& t, const X& x) { return t.square(t.segment_sum(x[0], kSizes, 4)); }},
      {"segment_mean", {m}, [](T& t, const X& x) { return t.square(t.segment_mean(x[0], kSizes, 4)); }},
      {"segment_max", {m}, [](T& t, const X& x) { return t.square(t.segment_max(x[0], kSizes, 4)); }},
      {"segment_softmax", {m}, [](T& t, const X& x) { return t.segment_softmax(x[0], kSizes, 4); }},
  };
}

/// Numbers for all operands of an operation, one after the other.
template <class S>
std::vector<double> operand_numbers(const Operation<S>& operation) {
  std::size_t count = 0;
  for (const Operand& o : operation.operands) count += o.rows * o.cols;
  std::vector<double> x = smooth_numbers(count, 11);
  std::size_t at = 0;
  for (const Operand& o : operation.operands)
    for (std::size_t i = 0; i < o.rows * o.cols; ++i, ++at)
      if (o.positive) x[at] = std::fabs(x[at]) + 0.2;
  return x;
}

}  // namespace mara_test
