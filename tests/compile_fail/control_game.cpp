// Compiles: the game that the game_*.cpp break one by one fits. The words for what is no game leave makers
// and conversions as they are.
#include <string>
#include <type_traits>

#include "mara/environment/check_environment.hpp"
#include "toy_game.hpp"

static_assert(std::is_convertible_v<toy::TwoAgents, mara::AnyGame>);
static_assert(!std::is_copy_constructible_v<mara::AnyGame> && std::is_move_constructible_v<mara::AnyGame>);
static_assert(!std::is_convertible_v<std::string, mara::AnyGame> &&
              !std::is_convertible_v<int, mara::AnyGame>);
static_assert(!std::is_convertible_v<mara::Error, mara::AnyGame>);
static_assert(!std::is_constructible_v<mara::AnyGame, mara::GameMaker>);
static_assert(!std::is_constructible_v<mara::AnyGame, int>);
static_assert(!std::is_constructible_v<mara::GameMaker, toy::TwoAgents>);

int taken(const mara::GameMaker&) {
  return 0;
}
int taken(const mara::AnyGame&) {
  return 1;
}

int main() {
  const auto lambda = [](int) { return toy::TwoAgents(); };
  const mara::GameReport report = mara::check_environment(lambda, 1);
  const mara::GameReport same = mara::check_environment<toy::TwoAgents>(1, mara::GameCheckOptions{});
  return report.good() && same.good() ? taken(lambda) : 2;
}
