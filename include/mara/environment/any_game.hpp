#pragma once
// A game of any type behind one type, so that learners are compiled once for all games.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "mara/environment/check_game_members.hpp"
#include "mara/environment/game.hpp"

namespace mara {

/// Holds a game by value; moves, does not copy. Fulfils Game itself. A class that is no Game is refused by
/// the compiler in words that name what it lacks (detail::GameCheck).
class AnyGame {
 public:
  template <Game G>
  requires(!std::same_as<std::remove_cvref_t<G>, AnyGame>) AnyGame(G game)
      : held_(std::make_unique<Holder<G>>(std::move(game))) {
    static_assert(detail::GameCheck<G>::value);
  }
  /// Never compiles: says what the class lacks. Implicit for classes that resemble a game, so that makers of
  /// them come here too; nothing that can be called, and no other class, converts to AnyGame.
  template <class G>
  requires(std::is_class_v<G> && !std::same_as<G, AnyGame> && !Game<G> &&
           !detail::MakerCall<G>) explicit(!detail::kResemblesGame<G>) AnyGame(G) {
    static_assert(detail::GameCheck<G>::value);
  }

  const GameShape& shape() const noexcept { return held_->shape(); }
  Status reset(std::uint64_t seed) { return held_->reset(seed); }
  bool present(std::size_t slot) const { return held_->present(slot); }
  bool arrived(std::size_t slot) const { return held_->arrived(slot); }
  void observe(float* rows) const { held_->observe(rows); }
  void global_state(float* row) const { held_->global_state(row); }
  std::span<const std::uint32_t> turn_order() const { return held_->turn_order(); }
  OptionMask mask(std::size_t slot, std::size_t head) const { return held_->mask(slot, head); }
  void choose(std::size_t slot, const std::int32_t* options, const float* numbers) {
    held_->choose(slot, options, numbers);
  }
  StepOutcome step() { return held_->step(); }
  std::span<const float> rewards() const { return held_->rewards(); }

  /// The game itself where it is a G; null otherwise.
  template <Game G>
  const G* get() const noexcept {
    const auto* holder = dynamic_cast<const Holder<G>*>(held_.get());
    return holder == nullptr ? nullptr : &holder->game;
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual const GameShape& shape() const = 0;
    virtual Status reset(std::uint64_t seed) = 0;
    virtual bool present(std::size_t slot) const = 0;
    virtual bool arrived(std::size_t slot) const = 0;
    virtual void observe(float* rows) const = 0;
    virtual void global_state(float* row) const = 0;
    virtual std::span<const std::uint32_t> turn_order() const = 0;
    virtual OptionMask mask(std::size_t slot, std::size_t head) const = 0;
    virtual void choose(std::size_t slot, const std::int32_t* options, const float* numbers) = 0;
    virtual StepOutcome step() = 0;
    virtual std::span<const float> rewards() const = 0;
  };
  template <class G>
  struct Holder final : Interface {
    explicit Holder(G g) : game(std::move(g)) {}
    const GameShape& shape() const override { return game.shape(); }
    Status reset(std::uint64_t seed) override { return game.reset(seed); }
    bool present(std::size_t slot) const override { return game.present(slot); }
    bool arrived(std::size_t slot) const override { return game.arrived(slot); }
    void observe(float* rows) const override { game.observe(rows); }
    void global_state(float* row) const override { game.global_state(row); }
    std::span<const std::uint32_t> turn_order() const override { return game.turn_order(); }
    OptionMask mask(std::size_t slot, std::size_t head) const override { return game.mask(slot, head); }
    void choose(std::size_t slot, const std::int32_t* options, const float* numbers) override {
      game.choose(slot, options, numbers);
    }
    StepOutcome step() override { return game.step(); }
    std::span<const float> rewards() const override { return game.rewards(); }
    G game;
  };
  std::unique_ptr<Interface> held_;
};

/// Builds game number i; all games of one maker are alike.
using GameMaker = std::function<AnyGame(int)>;

static_assert(Game<AnyGame>);

}  // namespace mara
