#pragma once
// The commands of mara-lab. To add one: an options struct in options.hpp, a run function here, one line in
// main.cpp.

#include "game_options.hpp"
#include "mara/core/result.hpp"
#include "options.hpp"

namespace lab {

/// Trains the learners, measures every policy and writes the report (compare_command.cpp).
mara::Status run_compare(const CompareOptions& options);
/// Plays a game with the best weights of a training (train_command.cpp).
mara::Status run_evaluate(const EvaluateOptions& options);
/// Trains learners on games with known answers and says which they reach (games_command.cpp).
mara::Status run_games(const GamesOptions& options);
/// Runs policies on the jobs of a trace, on a cluster down to the device (simulate_command.cpp).
mara::Status run_simulate(const SimulateOptions& options);
/// Summarises a trace and fits a workload model to it (trace_command.cpp).
mara::Status run_trace(const TraceOptions& options);
/// Trains a learner on a game (train_command.cpp).
mara::Status run_train(const TrainOptions& options);
/// Tunes the parameters of the list scheduler (tune_command.cpp).
mara::Status run_tune(const TuneOptions& options);
/// Compares the engine with independent simulators (validate_command.cpp).
mara::Status run_validate(const ValidateOptions& options);

}  // namespace lab
