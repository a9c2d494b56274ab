// mara-lab: experiments with mara from the command line. Exit codes: 0 success, 1 internal error, 2 bad
// input.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "help.hpp"
#include "mara/interop/reflect_options.hpp"
#include "options.hpp"

namespace {

constexpr int kInternalError = 1;
constexpr int kBadInput = 2;

/// A subcommand and what it does once its options are parsed.
struct Command {
  CLI::App* app;
  std::function<mara::Status()> run;
};

/// Registers a command whose options are the members of Options. `positional` names the member (a string)
/// that is given as a plain argument instead, if any.
template <class Options>
Command add_command(CLI::App& root, const char* name, const char* help, mara::Status (*run)(const Options&),
                    const char* positional = nullptr) {
  CLI::App* app = root.add_subcommand(name, help);
  auto options = std::make_shared<Options>();
  if (const auto added = mara::add_options(*app, *options); !added)
    mara::detail::die("options of a command", added.error().message);
  if (positional != nullptr) {
    const std::string option = std::string("--") + positional;
    const CLI::Option* named = app->get_option(option);
    const std::string description = named->get_description(), type = named->get_type_name();
    app->remove_option(app->get_option(option));
    mara::for_each_member(*options, [&](std::string_view member, auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
        if (member == positional)
          app->add_option(positional, value, description)->required()->type_name(type);
      }
    });
  }
  return {app, [options, run] {
            if (auto valid = validate(*options); !valid) return valid;
            return run(*options);
          }};
}

/// One line on stderr, whatever the message holds.
int fail(std::string_view where, std::string message, int code) {
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(where.size()), where.data(), message.c_str());
  return code;
}

int exit_code(mara::ErrorCode code) {
  switch (code) {
    case mara::ErrorCode::kState:
    case mara::ErrorCode::kShapeMismatch:
      return kInternalError;
    case mara::ErrorCode::kInvalidArgument:
    case mara::ErrorCode::kParse:
    case mara::ErrorCode::kIo:
    case mara::ErrorCode::kCapacityExceeded:
    case mara::ErrorCode::kNumerical:
      return kBadInput;
  }
  return kInternalError;
}

int run(int argc, char** argv) {
  CLI::App root{"Learning and measuring GPU schedulers with mara.", "mara-lab"};
  root.formatter(std::make_shared<lab::HelpFormatter>());
  root.require_subcommand(1);
  const Command commands[] = {
      add_command(
          root, "compare",
          "Train MAPPO and flow-guided MARA, compare them with every rule on the same jobs, write a report",
          &lab::run_compare),
      add_command(root, "evaluate", "Play a game with the best weights of a training", &lab::run_evaluate,
                  "run"),
      add_command(root, "games", "Train learners on games with known answers and say which they reach",
                  &lab::run_games),
      add_command(root, "simulate", "Run policies on the jobs of a trace, on a cluster of nodes and devices",
                  &lab::run_simulate),
      add_command(root, "trace", "Summarise a trace; fit a workload model to it", &lab::run_trace, "file"),
      add_command(root, "train", "Train a learner on a game", &lab::run_train),
      add_command(root, "tune", "Tune the parameters of the list scheduler that guides MARA", &lab::run_tune),
      add_command(root, "validate", "Compare the engine with independent simulators, job by job",
                  &lab::run_validate),
  };
  root.footer("`mara-lab COMMAND --help` explains the options of a command.");
  std::string where = "mara-lab";
  // Before --help is looked at, which would explain the commands and call that a success.
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (!first.empty() && first[0] != '-' &&
      std::none_of(std::begin(commands), std::end(commands),
                   [&](const Command& command) { return command.app->get_name() == first; }))
    return fail(where, "unknown command '" + std::string(first) + "' (see --help)", kBadInput);
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help
    return root.exit(success);
  } catch (const CLI::ParseError& error) {
    for (const Command& command : commands)
      if (command.app->parsed()) where += " " + command.app->get_name();
    return fail(where, std::string(error.what()) + " (see --help)", kBadInput);
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    where += " " + command.app->get_name();
    const mara::Status status = command.run();
    if (!status) return fail(where, status.error().message, exit_code(status.error().code));
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return fail(where, "the results cannot be written to stdout", kBadInput);
    return 0;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return fail("mara-lab", std::string("internal error: ") + error.what(), kInternalError);
  }
}
