#pragma once
// Linear and integer linear programs, and what solves them.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"

namespace mara {

/// Maximise objective . x under row_lower <= A x <= row_upper and lower <= x <= upper; x[i] is whole where
/// integer[i]. Infinite bounds are none.
struct LinearProgram {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  struct Term {
    std::size_t variable;
    double factor;
  };
  std::vector<double> objective, lower, upper;  // by variable, as the next
  std::vector<char> integer;
  std::vector<std::vector<Term>> rows;  // of A; a variable at most once in each
  std::vector<double> row_lower, row_upper;

  /// Adds a variable and says its number.
  std::size_t add_variable(double value, double low, double high, bool whole = false) {
    objective.push_back(value);
    lower.push_back(low);
    upper.push_back(high);
    integer.push_back(whole);
    return objective.size() - 1;
  }
  void add_row(std::vector<Term> terms, double low, double high) {
    rows.push_back(std::move(terms));
    row_lower.push_back(low);
    row_upper.push_back(high);
  }
  std::size_t variables() const noexcept { return objective.size(); }
  bool whole() const noexcept {
    for (const char one : integer)
      if (one) return true;
    return false;
  }
};

/// The best point that was found.
struct ProgramSolution {
  std::vector<double> x;
  double objective = 0.0;
  double bound = 0.0;    ///< no point is better than this
  bool optimal = false;  ///< proven best, within the solver's relative gap
  bool cut_off = false;  ///< the search ended early, at a limit of time or of nodes
};

/// Solves linear programs; with kInteger also those with integer variables. Errors: kInvalidArgument for an
/// infeasible or unbounded program, kState when the limits ended the search before any point was found.
template <class S>
concept LinearProgramSolver = requires(S solver, const LinearProgram& program) {
  { solver.name() } -> std::convertible_to<std::string_view>;
  { S::kInteger } -> std::convertible_to<bool>;
  { solver.solve(program) } -> std::same_as<Result<ProgramSolution>>;
};

}  // namespace mara
