#pragma once
// A game of many agents as one of a single agent that decides for all: what single-agent learners play.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/action/flat_options.hpp"
#include "mara/environment/any_game.hpp"

namespace mara {

/// How the joint action is presented.
enum class JointAction : std::uint8_t {
  kHeads,  ///< the heads of slot 0, of slot 1, ..., then their numbers likewise: for PPO
  kFlat,   ///< one head whose options are all joint options, the last slot's (last) head fastest: for DQN
};

/// One agent, always present, that sees the observations of all slots beside each other (zeros for absent
/// agents) and chooses for all at once. Masks are those before anybody has chosen, so that a game in which
/// one agent's choice forbids another's may find an option illegal at its turn: the agent then gets the next
/// legal option with a lower number, or the lowest legal one. A head of an absent agent has option 0 only.
/// Individual reward: the team reward. Global state and ends are those of the game. Fulfils Game.
class JointGame {
 public:
  /// Errors (kInvalidArgument): kFlat with numbers in the action or more than 32 joint options.
  static Result<JointGame> create(AnyGame game, JointAction kind) {
    const GameShape& inner = game.shape();
    GameShape shape{1, inner.agents * inner.observation, inner.state, {}};
    const std::vector<int>& heads = inner.action.heads;
    std::vector<int> all;
    FlatOptions flat;
    for (std::size_t i = 0; i < inner.agents; ++i) {
      all.insert(all.end(), heads.begin(), heads.end());
      shape.action.box.insert(shape.action.box.end(), inner.action.box.begin(), inner.action.box.end());
    }
    if (kind == JointAction::kHeads) {
      shape.action.heads = all;
    } else {
      auto options = FlatOptions::create(all);
      if (!options)
        return Error{options.error().code, "joint game: " + options.error().message + ", of " +
                                               std::to_string(inner.agents) +
                                               " agents; present them as heads"};
      if (!shape.action.box.empty())
        return Error{ErrorCode::kInvalidArgument, "joint game: an action with " +
                                                      std::to_string(inner.action.numbers()) +
                                                      " numbers has no flat list of options"};
      flat = std::move(*options);
      shape.action.heads = {flat.count()};
    }
    return JointGame(std::move(game), kind, std::move(shape), std::move(all), std::move(flat));
  }

  const GameShape& shape() const noexcept { return shape_; }
  const AnyGame& game() const noexcept { return game_; }
  Status reset(std::uint64_t seed) {
    begun_ = first_ = true;
    reward_ = 0.0f;
    return game_.reset(seed);
  }
  bool present(std::size_t slot) const noexcept { return slot == 0 && begun_; }
  bool arrived(std::size_t slot) const noexcept { return present(slot) && first_; }
  void observe(float* rows) const { game_.observe(rows); }
  void global_state(float* row) const { game_.global_state(row); }
  std::span<const std::uint32_t> turn_order() const noexcept {
    static constexpr std::uint32_t kOrder[1] = {0};
    return std::span<const std::uint32_t>(kOrder).first(begun_ ? 1 : 0);
  }
  OptionMask mask(std::size_t, std::size_t head) const {
    if (kind_ == JointAction::kHeads) return head_mask(head);
    return flat_.mask([&](std::size_t h) { return head_mask(h); });
  }
  void choose(std::size_t slot, const std::int32_t* options, const float* numbers) {
    if (slot != 0) return;
    if (kind_ == JointAction::kHeads) {
      std::copy_n(options, options_.size(), options_.begin());
    } else {
      flat_.split(options[0], options_.data());
    }
    if (numbers != nullptr) std::copy_n(numbers, numbers_.size(), numbers_.begin());
  }
  StepOutcome step() {
    const std::size_t heads = game_.shape().action.choices(), numbers = game_.shape().action.numbers();
    const std::span<const std::uint32_t> order = game_.turn_order();
    order_.assign(order.begin(), order.end());
    for (const std::uint32_t slot : order_) {
      std::int32_t* options = options_.data() + slot * heads;
      for (std::size_t h = 0; h < heads; ++h) options[h] = legal(options[h], game_.mask(slot, h));
      game_.choose(slot, options, numbers_.data() + slot * numbers);
    }
    const StepOutcome outcome = game_.step();
    first_ = false;
    reward_ = outcome.team_reward;
    return outcome;
  }
  std::span<const float> rewards() const noexcept { return {&reward_, 1}; }

 private:
  JointGame(AnyGame game, JointAction kind, GameShape shape, std::vector<int> heads, FlatOptions flat)
      : game_(std::move(game)),
        kind_(kind),
        shape_(std::move(shape)),
        heads_(std::move(heads)),
        flat_(std::move(flat)),
        options_(heads_.size()),
        numbers_(shape_.action.box.size()) {}

  /// The mask of head `all`, counted over all slots.
  OptionMask head_mask(std::size_t all) const {
    const std::size_t heads = game_.shape().action.choices(), slot = all / heads;
    if (!game_.present(slot)) return 1u;
    const int options = heads_[all];
    const OptionMask known = options >= 32 ? ~OptionMask{0} : (OptionMask{1} << options) - 1u;
    return game_.mask(slot, all % heads) & known;
  }
  static std::int32_t legal(std::int32_t option, OptionMask mask) noexcept {
    if (option < 0 || option > 31) option = 0;
    if ((mask >> option & 1u) != 0 || mask == 0) return option;
    const OptionMask below = mask & ((OptionMask{1} << option) - 1u);
    return below != 0 ? 31 - std::countl_zero(below) : std::countr_zero(mask);
  }

  AnyGame game_;
  JointAction kind_;
  GameShape shape_;
  std::vector<int> heads_;  ///< options of every head of every slot
  FlatOptions flat_;        ///< their combinations, of kFlat
  std::vector<std::int32_t> options_;
  std::vector<float> numbers_;
  std::vector<std::uint32_t> order_;
  float reward_ = 0.0f;
  bool begun_ = false, first_ = false;
};

static_assert(Game<JointGame>);

}  // namespace mara
