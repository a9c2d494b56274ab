#pragma once
// COIN-OR Clp and Cbc as solvers of linear and integer linear programs, through their C interfaces. A program
// that includes this header links with CbcSolver and Clp itself (in mara's own build: mara_cbc); mara::mara
// does not bring them. Where their headers are not installed MARA_HAS_CBC is 0 and nothing is declared.

#if __has_include(<coin/Cbc_C_Interface.h>) && __has_include(<coin/Clp_C_Interface.h>)
#define MARA_HAS_CBC 1
#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>
#elif __has_include(<coin-or/Cbc_C_Interface.h>) && __has_include(<coin-or/Clp_C_Interface.h>)
#define MARA_HAS_CBC 1
#include <coin-or/Cbc_C_Interface.h>
#include <coin-or/Clp_C_Interface.h>
#else
#define MARA_HAS_CBC 0
#endif

#if MARA_HAS_CBC

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/result.hpp"
#include "mara/schedule/linear_program.hpp"

namespace mara {

namespace detail {

/// A program as COIN-OR reads it: by columns, without gaps, to be minimised.
struct CoinProgram {
  std::vector<int> start, index;
  std::vector<double> value, cost;
  int columns = 0, rows = 0;

  explicit CoinProgram(const LinearProgram& program)
      : columns(static_cast<int>(program.variables())), rows(static_cast<int>(program.rows.size())) {
    start.assign(program.variables() + 1, 0);
    for (const auto& row : program.rows)
      for (const LinearProgram::Term& term : row) ++start[term.variable + 1];
    for (std::size_t v = 0; v < program.variables(); ++v) start[v + 1] += start[v];
    index.resize(static_cast<std::size_t>(start.back()));
    value.resize(index.size());
    std::vector<int> next(start.begin(), start.end() - 1);
    for (std::size_t r = 0; r < program.rows.size(); ++r)
      for (const LinearProgram::Term& term : program.rows[r]) {
        const auto at = static_cast<std::size_t>(next[term.variable]++);
        index[at] = static_cast<int>(r);
        value[at] = term.factor;
      }
    for (const double gain : program.objective) cost.push_back(-gain);
  }
};

/// Whether a program has a shape, and numbers that a solver may see; COIN-OR would crash on others.
inline Status check_program(const LinearProgram& program) {
  const std::size_t columns = program.variables(), rows = program.rows.size();
  if (columns == 0) return Error{ErrorCode::kInvalidArgument, "linear program: no variable"};
  if (program.lower.size() != columns || program.upper.size() != columns ||
      program.integer.size() != columns || program.row_lower.size() != rows ||
      program.row_upper.size() != rows)
    return Error{ErrorCode::kShapeMismatch, "linear program: bounds do not match variables or rows"};
  const auto ordered = [](const char* what, std::size_t i, double low, double high) -> Status {
    if (low <= high) return {};  // false for NaN
    return Error{ErrorCode::kInvalidArgument, std::string("linear program: ") + what + " " +
                                                  std::to_string(i) + " lies between " + format_number(low) +
                                                  " and " + format_number(high)};
  };
  for (std::size_t v = 0; v < columns; ++v) {
    if (auto ok = check_finite(program.objective[v], "objective[" + std::to_string(v) + "]"); !ok) return ok;
    if (auto ok = ordered("variable", v, program.lower[v], program.upper[v]); !ok) return ok;
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (auto ok = ordered("row", r, program.row_lower[r], program.row_upper[r]); !ok) return ok;
    for (const LinearProgram::Term& term : program.rows[r]) {
      if (term.variable >= columns)
        return Error{ErrorCode::kInvalidArgument, "linear program: row " + std::to_string(r) +
                                                      " names variable " + std::to_string(term.variable)};
      if (auto ok = check_finite(term.factor, "row " + std::to_string(r)); !ok) return ok;
    }
  }
  return {};
}

}  // namespace detail

/// Continuous programs by Clp's simplex method. Bits depend on the version of Clp.
class ClpSolver {
 public:
  static constexpr bool kInteger = false;
  static constexpr std::string_view name() noexcept { return "clp"; }

  Result<ProgramSolution> solve(const LinearProgram& program) {
    if (auto ok = detail::check_program(program); !ok) return ok.error();
    if (program.whole())
      return Error{ErrorCode::kInvalidArgument, "linear program: Clp does not solve integer variables"};
    const detail::CoinProgram coin(program);
    Clp_Simplex* model = Clp_newModel();
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, coin.columns, coin.rows, coin.start.data(), coin.index.data(), coin.value.data(),
                    program.lower.data(), program.upper.data(), coin.cost.data(), program.row_lower.data(),
                    program.row_upper.data());
    Clp_dual(model, 0);
    if (Clp_status(model) != 0) Clp_primal(model, 0);
    const int status = Clp_status(model);
    ProgramSolution solution;
    if (status == 0) {
      const double* x = Clp_getColSolution(model);
      solution.x.assign(x, x + coin.columns);
      solution.objective = solution.bound = -Clp_objectiveValue(model);
      solution.optimal = true;
    }
    Clp_deleteModel(model);
    if (status == 0) return solution;
    return Error{status <= 2 ? ErrorCode::kInvalidArgument : ErrorCode::kState,
                 status == 1   ? "linear program: infeasible"
                 : status == 2 ? "linear program: unbounded"
                               : "linear program: Clp gave up, status " + std::to_string(status)};
  }
};

/// When Cbc may stop.
struct CbcLimits {
  double seconds = 10.0;       ///< of wall clock; what is found by then depends on the machine
  int nodes = 0;               ///< of the search tree; 0: as many as it takes. The same on every machine
  double relative_gap = 1e-6;  ///< (bound - objective) / objective that counts as optimal
};

/// Integer programs by Cbc's branch and cut (Forrest & Lougee-Heimer, "CBC user guide", INFORMS Tutorials in
/// Operations Research, 2005), on one thread.
class CbcSolver {
 public:
  static constexpr bool kInteger = true;
  static constexpr std::string_view name() noexcept { return "cbc"; }

  explicit CbcSolver(CbcLimits limits = {}) noexcept : limits_(limits) {}

  Result<ProgramSolution> solve(const LinearProgram& program) {
    if (!program.whole()) return ClpSolver{}.solve(program);
    if (auto ok = detail::check_program(program); !ok) return ok.error();
    if (auto ok = check_positive(limits_.seconds, "seconds"); !ok) return ok.error();
    if (auto ok = check_non_negative(limits_.relative_gap, "relative_gap"); !ok) return ok.error();
    const detail::CoinProgram coin(program);
    Cbc_Model* model = Cbc_newModel();
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "log", "0");
    Cbc_loadProblem(model, coin.columns, coin.rows, coin.start.data(), coin.index.data(), coin.value.data(),
                    program.lower.data(), program.upper.data(), coin.cost.data(), program.row_lower.data(),
                    program.row_upper.data());
    for (std::size_t v = 0; v < program.variables(); ++v)
      if (program.integer[v]) Cbc_setInteger(model, static_cast<int>(v));
    Cbc_setParameter(model, "timeMode", "elapsed");
    Cbc_setMaximumSeconds(model, limits_.seconds);
    if (limits_.nodes > 0) Cbc_setMaximumNodes(model, limits_.nodes);
    Cbc_setAllowableFractionGap(model, limits_.relative_gap);
    Cbc_solve(model);
    ProgramSolution solution;
    const bool infeasible = Cbc_isProvenInfeasible(model) != 0 || Cbc_isContinuousUnbounded(model) != 0;
    const double* x = infeasible ? nullptr : Cbc_bestSolution(model);
    if (x != nullptr) {
      solution.x.assign(x, x + coin.columns);
      for (std::size_t v = 0; v < program.variables(); ++v) {
        if (program.integer[v]) solution.x[v] = std::round(solution.x[v]);
        solution.objective += program.objective[v] * solution.x[v];
      }
      solution.optimal = Cbc_isProvenOptimal(model) != 0;
      solution.cut_off = !solution.optimal;
      solution.bound = std::max(solution.objective, -Cbc_getBestPossibleObjValue(model));
    }
    Cbc_deleteModel(model);
    if (x != nullptr) return solution;
    if (infeasible) return Error{ErrorCode::kInvalidArgument, "integer program: infeasible or unbounded"};
    return Error{ErrorCode::kState,
                 "integer program: no solution within " + format_number(limits_.seconds) + " s"};
  }

 private:
  CbcLimits limits_;
};

}  // namespace mara

#endif  // MARA_HAS_CBC
