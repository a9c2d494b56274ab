#pragma once
// What check_environment() found.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/result.hpp"

namespace mara {

/// How thoroughly check_environment() looks.
struct GameCheckOptions {
  int episodes = 4;             ///< played at random, each several times over
  int most_steps = 1000;        ///< an episode is left after so many
  std::size_t slots = 64;       ///< for an Environment: those of the EnvironmentGame around it
  bool illegal_choices = true;  ///< also plays options that the mask forbids and numbers out of bounds
  bool wild_choices =
      false;  ///< also options that do not exist and numbers that are none: may crash a bad game
};

/// A kind of violation, where it was first seen, and how often.
struct GameViolation {
  std::string name;   ///< see check_environment()
  std::string words;  ///< what is wrong, where first, and what is expected
  std::size_t times = 1;
};

/// The findings on a game.
struct GameReport {
  std::vector<GameViolation> violations;  ///< one of each kind, in the order in which they were found
  std::vector<std::string> notes;         ///< allowed, but perhaps not meant
  std::size_t episodes = 0, steps = 0;    ///< played in all

  bool good() const noexcept { return violations.empty(); }
  /// The violation of that name; null when there is none.
  const GameViolation* find(std::string_view name) const noexcept {
    for (const GameViolation& violation : violations)
      if (violation.name == name) return &violation;
    return nullptr;
  }
  void add(std::string_view name, std::string words) {
    for (GameViolation& violation : violations)
      if (violation.name == name) {
        ++violation.times;
        return;
      }
    violations.push_back({std::string(name), std::move(words), 1});
  }
  void note(std::string words) {
    for (const std::string& known : notes)
      if (known == words) return;
    notes.push_back(std::move(words));
  }
  /// Several lines for a person.
  std::string text() const {
    std::string lines = std::to_string(violations.size()) +
                        (violations.size() == 1 ? " violation in " : " violations in ") +
                        std::to_string(episodes) + " episodes, " + std::to_string(steps) + " steps\n";
    for (const GameViolation& violation : violations) {
      lines += violation.name + ": " + violation.words;
      if (violation.times > 1) lines += " (" + std::to_string(violation.times) + " times)";
      lines += "\n";
    }
    for (const std::string& words : notes) lines += "note: " + words + "\n";
    return lines;
  }
  /// An error (kState) with the text when something is wrong.
  Status status() const {
    if (good()) return {};
    return Error{ErrorCode::kState, "game: " + text()};
  }
};

}  // namespace mara
