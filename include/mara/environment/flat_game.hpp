#pragma once
// A game of several choices as one of a single choice: what learners of one value an option play.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/action/flat_options.hpp"
#include "mara/environment/any_game.hpp"

namespace mara {

/// The same game with one head, whose options are the combinations of the options of all heads (FlatOptions).
/// Fulfils Game.
class FlatGame {
 public:
  /// Errors (kInvalidArgument): numbers in the action, more than 32 combinations.
  static Result<FlatGame> create(AnyGame game) {
    GameShape shape = game.shape();
    if (shape.action.numbers() > 0)
      return Error{ErrorCode::kInvalidArgument, "flat game: an action with " +
                                                    std::to_string(shape.action.numbers()) +
                                                    " numbers has no list of options"};
    auto flat = FlatOptions::create(shape.action.heads);
    if (!flat) return Error{flat.error().code, "flat game: " + flat.error().message};
    shape.action = ActionShape::discrete(flat->count());
    return FlatGame(std::move(game), std::move(shape), std::move(*flat));
  }

  const GameShape& shape() const noexcept { return shape_; }
  const AnyGame& game() const noexcept { return game_; }
  Status reset(std::uint64_t seed) { return game_.reset(seed); }
  bool present(std::size_t slot) const { return game_.present(slot); }
  bool arrived(std::size_t slot) const { return game_.arrived(slot); }
  void observe(float* rows) const { game_.observe(rows); }
  void global_state(float* row) const { game_.global_state(row); }
  std::span<const std::uint32_t> turn_order() const { return game_.turn_order(); }
  OptionMask mask(std::size_t slot, std::size_t) const {
    return flat_.mask([&](std::size_t head) { return game_.mask(slot, head); });
  }
  void choose(std::size_t slot, const std::int32_t* options, const float*) {
    flat_.split(options[0], options_.data());
    game_.choose(slot, options_.data(), nullptr);
  }
  StepOutcome step() { return game_.step(); }
  std::span<const float> rewards() const { return game_.rewards(); }

 private:
  FlatGame(AnyGame game, GameShape shape, FlatOptions flat)
      : game_(std::move(game)),
        shape_(std::move(shape)),
        flat_(std::move(flat)),
        options_(flat_.heads().size()) {}

  AnyGame game_;
  GameShape shape_;
  FlatOptions flat_;
  std::vector<std::int32_t> options_;
};

static_assert(Game<FlatGame>);

}  // namespace mara
