// mara-lab games: which learner reaches the known answer of which game.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "format.hpp"
#include "game_cases.hpp"
#include "mara/core/parallel.hpp"
#include "progress.hpp"

namespace lab {
namespace {

using mara::Error;
using mara::ErrorCode;
using mara::Status;
using nlohmann::ordered_json;

/// One training of a case.
struct Attempt {
  double got = 0.0;
  std::int64_t env_steps = 0;
  bool passed = false;
  Status status;
};

Attempt attempt(const GameCase& game, std::uint64_t seed, const std::function<void(std::int64_t)>& progress) {
  Attempt made;
  auto trainer = game.begin(seed);
  if (!trainer) {
    made.status = trainer.error();
    return made;
  }
  while (trainer->env_steps() < game.steps) {
    const auto round = trainer->update();
    if (!round) {
      made.status = round.error();
      return made;
    }
    progress(trainer->env_steps());
  }
  const auto got = game.result(*trainer);
  if (!got) {
    made.status = got.error();
    return made;
  }
  made.got = *got;
  made.env_steps = trainer->env_steps();
  made.passed = game.passes(*got);
  return made;
}

/// Whether `wanted` is empty or has the name, or what stands before a comma in it.
bool chosen(const std::vector<std::string>& wanted, const std::string& name) {
  if (wanted.empty()) return true;
  return std::find(wanted.begin(), wanted.end(), name.substr(0, name.find(','))) != wanted.end();
}

Status check_names(const std::vector<std::string>& wanted, const char* option,
                   const std::vector<GameCase>& cases, std::string GameCase::*member) {
  for (const std::string& name : wanted) {
    std::vector<std::string> known;
    for (const GameCase& game : cases) {
      const std::string& full = game.*member;
      const std::string first = full.substr(0, full.find(','));
      if (std::find(known.begin(), known.end(), first) == known.end()) known.push_back(first);
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
    return Error{ErrorCode::kInvalidArgument,
                 std::string("--") + option + ": '" + name + "' has no case; there are " + list};
  }
  return {};
}

}  // namespace

Status run_games(const GamesOptions& options) {
  std::vector<GameCase> cases = game_cases();
  if (const Status known = check_names(options.env, "env", cases, &GameCase::env); !known) return known;
  if (const Status known = check_names(options.learner, "learner", cases, &GameCase::learner); !known)
    return known;
  std::erase_if(cases, [&](const GameCase& game) {
    return !chosen(options.env, game.env) || !chosen(options.learner, game.learner);
  });
  if (cases.empty())
    return Error{ErrorCode::kInvalidArgument, "--learner: no case has this game and this learner"};

  const auto seeds = static_cast<std::size_t>(options.seeds);
  const int threads = options.threads > 0
                          ? options.threads
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<Attempt> attempts(cases.size() * seeds);
  Progress progress("games");
  std::vector<std::size_t> tasks;
  for (std::size_t i = 0; i < attempts.size(); ++i)
    tasks.push_back(progress.add(cases[i / seeds].env, cases[i / seeds].steps));
  mara::ThreadPool pool(threads);
  pool.for_each(attempts.size(), [&](std::size_t i) {
    attempts[i] = attempt(cases[i / seeds], i % seeds + 1,
                          [&](std::int64_t steps) { progress.update(tasks[i], steps); });
  });
  progress.finish();
  for (std::size_t i = 0; i < attempts.size(); ++i)
    if (!attempts[i].status)
      return Error{attempts[i].status.error().code, cases[i / seeds].env + ", " + cases[i / seeds].learner +
                                                        ", seed " + std::to_string(i % seeds + 1) + ": " +
                                                        attempts[i].status.error().message};

  std::size_t failed = 0;
  ordered_json rows = ordered_json::array();
  if (!options.json)
    std::printf("%-17s%-19s%-14s%-17s%24s%10s  %s\n", "game", "learner", "measure", "expected",
                "got (worst to best)", "env steps", "passed");
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const GameCase& game = cases[c];
    std::vector<double> got;
    std::size_t passed = 0;
    for (std::size_t s = 0; s < seeds; ++s) {
      got.push_back(attempts[c * seeds + s].got);
      passed += attempts[c * seeds + s].passed ? 1 : 0;
    }
    failed += passed == seeds ? 0 : 1;
    if (options.json) {
      rows.push_back({{"env", game.env},
                      {"learner", game.learner},
                      {"measure", game.measure},
                      {"expected", game.expected},
                      {"got", got},
                      {"env_steps", game.steps},
                      {"passed", passed},
                      {"seeds", seeds}});
      continue;
    }
    const auto [low, high] = std::minmax_element(got.begin(), got.end());
    const std::string range = format_fixed(*low, 4) + " to " + format_fixed(*high, 4);
    std::printf("%-17s%-19s%-14s%-17s%24s%10lld  %zu of %zu\n", game.env.c_str(), game.learner.c_str(),
                game.measure.c_str(), game.expected.c_str(), range.c_str(),
                static_cast<long long>(game.steps), passed, seeds);
  }
  if (options.json) std::printf("%s\n", ordered_json{{"cases", rows}}.dump(1).c_str());
  if (failed == 0) return {};
  return Error{ErrorCode::kState, std::to_string(failed) + " of " + std::to_string(cases.size()) +
                                      " cases did not reach the expected answer with every seed"};
}

}  // namespace lab
