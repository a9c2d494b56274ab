#pragma once
// The environment checker: plays a user's own game and names what a learner would stumble over.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mara/environment/any_game.hpp"
#include "mara/environment/environment_game.hpp"
#include "mara/environment/game_play.hpp"
#include "mara/environment/game_report.hpp"

namespace mara {
namespace detail {

/// A Game as it is; an Environment in as many slots as the options say.
template <class G>
AnyGame as_game(G game, const GameCheckOptions& options) {
  if constexpr (std::same_as<G, AnyGame>)
    return game;
  else if constexpr (Game<G>)
    return AnyGame(std::move(game));
  else
    return AnyGame(EnvironmentGame<G>(std::move(game), options.slots));
}

/// What a callable makes, called with a number or with nothing.
template <MakerCall Make>
decltype(auto) call_maker(Make& make) {
  if constexpr (std::invocable<Make&, int>)
    return make(0);
  else
    return make();
}
template <MakerCall Make>
using MadeBy = std::remove_cvref_t<decltype(call_maker(std::declval<Make&>()))>;

/// Says in words what a class lacks that is neither a Game nor an Environment; never compiles.
template <class T>
void refuse_game() {
  constexpr bool environment = requires {
    T::kObservation;
  };
  static_assert(!environment,
                "mara: this class has kObservation but is no Environment; `mara::check_environment<E>()` of "
                "mara/pipeline/checks.hpp says what it lacks");
  if constexpr (!environment) static_assert(GameCheck<T>::value);
}

/// The checks, on games of one maker.
class GameChecker {
 public:
  using Play = GamePlay;
  GameChecker(const std::function<AnyGame()>& make, std::uint64_t seed, const GameCheckOptions& options)
      : make_(make), seed_(seed), options_(options) {}

  GameReport run() {
    try {
      check();
    } catch (const std::exception& thrown) {
      report_.add("throws", std::string("an exception leaves the game: ") + thrown.what());
    } catch (...) {
      report_.add("throws", "something that is no std::exception is thrown out of the game");
    }
    return std::move(report_);
  }

 private:
  void check() {
    AnyGame first = make_();
    if (!check_shape(first.shape())) return;
    Play play(first, options_, report_);
    if (!play_all(play)) return;
    note_arrivals(play.moments(), first.shape());
    if (check_same_again(first, play.moments())) check_side_by_side(play.moments());
    if (options_.illegal_choices)
      check_choices(Play::Choices::kIllegal, "illegal-choice",
                    "options that the mask forbids, numbers out of bounds");
    if (options_.wild_choices)
      check_choices(Play::Choices::kWild, "wild-choice", "options that do not exist, numbers that are none");
  }

  bool check_shape(const GameShape& shape) {
    const auto positive = [this](const char* what, std::size_t extent) {
      if (extent == 0) report_.add("extents", std::string("shape().") + what + " is 0");
    };
    positive("agents", shape.agents);
    positive("observation", shape.observation);
    positive("state", shape.state);
    constexpr std::size_t kMost = std::size_t{1} << 26;
    if (shape.agents > kMost || shape.observation > kMost || shape.state > kMost ||
        shape.agents * shape.observation > kMost)
      report_.add("extents", "shape(): more than 2^26 numbers, " + std::to_string(shape.agents) +
                                 " agents x " + std::to_string(shape.observation) + ", state " +
                                 std::to_string(shape.state));
    if (const Status good = check_action_shape(shape.action); !good)
      report_.add("action-shape", "shape()." + good.error().message);
    return report_.good();
  }

  std::uint64_t seed_of(int episode) const { return seed_ + static_cast<std::uint64_t>(episode); }

  /// False when an episode could not begin.
  bool play_all(Play& play) const {
    for (int episode = 0; episode < options_.episodes; ++episode) {
      if (!play.begin(episode, seed_of(episode))) return false;
      while (play.advance()) {
      }
    }
    return true;
  }

  /// Where and in what two plays of the same seeds and choices differ; empty when they do not.
  static std::string compare(const std::vector<GameMoment>& a, const std::vector<GameMoment>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (const std::string what = difference(a[i], b[i]); !what.empty())
        return what + " differ first at moment " + std::to_string(i) + " of the play";
    return a.size() == b.size() ? std::string() : std::string("one of them ends earlier");
  }

  /// The same seeds and choices, on another object and on the same one.
  bool check_same_again(AnyGame& first, const std::vector<GameMoment>& reference) {
    GameReport ignored;
    AnyGame second = make_();
    Play fresh(second, options_, ignored);
    play_all(fresh);
    if (const std::string what = compare(reference, fresh.moments()); !what.empty()) {
      report_.add("not-reproducible", "two games with the same seeds and choices do not play alike: " + what);
      return false;
    }
    Play interrupted(first, options_, report_);  // leaves an episode half-played
    if (interrupted.begin(0, seed_of(options_.episodes))) interrupted.advance();
    Play again(first, options_, ignored);
    play_all(again);
    if (const std::string what = compare(reference, again.moments()); !what.empty()) {
      report_.add(
          "reset-leaves-traces",
          "reset() with the same seed does not give the same episode on a game that has been played: " +
              what);
      return false;
    }
    return true;
  }

  /// Two games in turn: each must play as if it were alone.
  void check_side_by_side(const std::vector<GameMoment>& reference) {
    GameReport ignored;
    AnyGame left = make_(), right = make_();
    Play one(left, options_, ignored), other(right, options_, ignored);
    for (int episode = 0; episode < options_.episodes; ++episode) {
      if (!one.begin(episode, seed_of(episode)) || !other.begin(episode, seed_of(episode + 1))) return;
      bool on = true, other_on = true;
      while (on || other_on) {
        on = on && one.advance();
        other_on = other_on && other.advance();
      }
    }
    if (const std::string what = compare(reference, one.moments()); !what.empty())
      report_.add("shared-state",
                  "a game plays differently while another one of its kind is played: " + what);
  }

  /// Choices that a game may refuse or correct, but that must not spoil it.
  void check_choices(Play::Choices choices, const std::string& name, const std::string& what) {
    GameReport found;
    AnyGame game = make_();
    Play play(game, options_, found, choices);
    try {
      play_all(play);
    } catch (const std::exception& thrown) {
      found.add("throws", std::string("an exception leaves the game: ") + thrown.what());
    }
    for (const GameViolation& violation : found.violations)
      if (report_.find(violation.name) == nullptr)
        report_.add(name, "after " + what + ": " + violation.name + ": " + violation.words);
  }

  void note_arrivals(const std::vector<GameMoment>& moments, const GameShape& shape) {
    std::size_t present = 0, staying = 0, marked = 0;
    for (std::size_t i = 0; i < moments.size(); ++i)
      for (std::size_t slot = 0; slot < shape.agents; ++slot) {
        if (moments[i].present[slot] == 0) continue;
        ++present;
        if (moments[i].rewards.empty() || moments[i - 1].present[slot] == 0) continue;
        ++staying;
        marked += moments[i].arrived[slot];
      }
    if (present == 0) report_.note("nobody was ever present");
    if (staying > 0 && marked == staying)
      report_.note("everybody counts as arrived in every step: recurrent learners have no memory here");
  }

  const std::function<AnyGame()>& make_;
  std::uint64_t seed_;
  const GameCheckOptions& options_;
  GameReport report_;
};

}  // namespace detail

/// Plays games of one maker at random and reports each violation of the Game concept by name and in words.
/// `make`: a GameMaker, or a callable that builds a Game or an Environment, with a number or with nothing as
/// argument. Names of violations:
/// - extents, action-shape, shape-changed: shape();
/// - reset-failed, throws: an error of reset(), an exception from anywhere (nothing more is checked then);
/// - not-reproducible: two objects, same seeds and choices, different play; reset-leaves-traces: the same on
/// one
///   object that has been played; shared-state: the same on two objects played in turn;
/// - turn-order: an absent slot or none at all, a slot twice, a present slot missing;
/// - arrived-after-reset, arrival-unmarked, returned: who is new and does not say so;
/// - observation-not-finite, observation-not-written, observation-changes, and the same with state;
/// writes-outside;
///   observation-of-absent: numbers other than 0 in the row of an absent agent;
/// - mask-empty, mask-beyond, mask-changes;
/// - team-reward-not-finite, reward-not-finite, rewards-size, reward-of-absent;
/// - illegal-choice, wild-choice: one of these, but only after choices that are not allowed.
/// Notes: episodes without end, both flags at once, everybody arrived at every step, nobody ever present.
/// Nothing crosses this function as an exception. A game that writes far outside its rows may still crash.
/// A maker of anything else is refused by the compiler in words.
template <detail::MakerCall Make>
GameReport check_environment(Make&& make, std::uint64_t seed, const GameCheckOptions& options = {}) {
  using Made = detail::MadeBy<Make>;
  if constexpr (Game<Made> || Environment<Made>) {
    const std::function<AnyGame()> maker = [&make, &options] {
      return detail::as_game<Made>(detail::call_maker(make), options);
    };
    return detail::GameChecker(maker, seed, options).run();
  } else {
    detail::refuse_game<Made>();
    return {};
  }
}

/// The same for a Game or Environment that is built without arguments.
template <class E>
requires(std::is_class_v<E> && !detail::MakerCall<E>) GameReport
    check_environment(std::uint64_t seed, const GameCheckOptions& options = {}) {
  if constexpr (!Game<E> && !Environment<E>) {
    detail::refuse_game<E>();
    return {};
  } else {
    static_assert(std::default_initializable<E>,
                  "mara: check_environment<E>(seed) builds E without arguments; where that cannot be, "
                  "check_environment(make, seed) takes a callable that builds it");
    if constexpr (std::default_initializable<E>)
      return check_environment([] { return E(); }, seed, options);
    else
      return {};
  }
}

}  // namespace mara
