#pragma once
// Pieces of episodes for replay: what all slots of a game saw, did and got during a number of steps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "mara/environment/game.hpp"
#include "mara/learning/game_runner.hpp"

namespace mara {

/// Extents of a stored piece.
struct SequenceShape {
  GameShape game;
  std::size_t steps = 1;   ///< most steps of a piece: T
  std::size_t memory = 0;  ///< recurrent numbers per slot

  friend bool operator==(const SequenceShape&, const SequenceShape&) = default;
};

/// Arrays of pieces of one shape. A piece never crosses the end of an episode: its last frame is what follows
/// its last step, before any reset. Steps past its length are padding: zeros, nobody present, masks of 1.
/// Widths are per piece; how pieces and times are laid out is up to the owner of the arrays.
struct SequenceArrays {
  std::vector<float> observations;             ///< T + 1 times slots x observation
  std::vector<float> states;                   ///< T + 1 times global state
  std::vector<std::uint8_t> present, arrived;  ///< T + 1 times slots
  /// T + 1 times slots x heads: of a step as they were at each agent's turn, of the last frame as seen before
  /// anybody chose.
  std::vector<OptionMask> masks;
  std::vector<std::int32_t> options;   ///< T times slots x heads
  std::vector<float> numbers;          ///< T times slots x numbers of the box part, as the game got them
  std::vector<float> team_rewards;     ///< T
  std::vector<float> rewards;          ///< T times slots
  std::vector<std::uint8_t> ends;      ///< T: StepEnd
  std::vector<std::uint32_t> lengths;  ///< steps that count, in [1, T]
  std::vector<std::uint8_t> fresh;     ///< 1 where the piece begins its episode
  std::vector<float> memory;           ///< slots x memory, before the first step

  /// Calls f(name, times, width, arrays.member...) for every array, always in the same order.
  template <class F, class... Arrays>
  static void visit(const SequenceShape& shape, F&& f, Arrays&... arrays) {
    const GameShape& game = shape.game;
    const std::size_t steps = shape.steps, frames = steps + 1, slots = game.agents;
    const std::size_t heads = game.action.choices(), numbers = game.action.numbers();
    f("observations", frames, slots * game.observation, arrays.observations...);
    f("states", frames, game.state, arrays.states...);
    f("present", frames, slots, arrays.present...);
    f("arrived", frames, slots, arrays.arrived...);
    f("masks", frames, slots * heads, arrays.masks...);
    f("options", steps, slots * heads, arrays.options...);
    f("numbers", steps, slots * numbers, arrays.numbers...);
    f("team_rewards", steps, std::size_t{1}, arrays.team_rewards...);
    f("rewards", steps, slots, arrays.rewards...);
    f("ends", steps, std::size_t{1}, arrays.ends...);
    f("lengths", std::size_t{1}, std::size_t{1}, arrays.lengths...);
    f("fresh", std::size_t{1}, std::size_t{1}, arrays.fresh...);
    f("memory", std::size_t{1}, slots * shape.memory, arrays.memory...);
  }

  /// Room for `pieces` pieces; what is new is zero.
  void resize(const SequenceShape& shape, std::size_t pieces) {
    visit(
        shape,
        [pieces](const char*, std::size_t times, std::size_t width, auto& values) {
          values.resize(pieces * times * width);
        },
        *this);
  }
  /// Zeros for `pieces` pieces.
  void clear(const SequenceShape& shape, std::size_t pieces) {
    visit(
        shape,
        [pieces](const char*, std::size_t times, std::size_t width, auto& values) {
          values.assign(pieces * times * width, typename std::decay_t<decltype(values)>::value_type{});
        },
        *this);
  }
  /// Bytes of `pieces` pieces.
  static std::size_t bytes(const SequenceShape& shape, std::size_t pieces) {
    std::size_t total = 0;
    SequenceArrays none;
    visit(
        shape,
        [&](const char*, std::size_t times, std::size_t width, auto& values) {
          total += pieces * times * width * sizeof(values[0]);
        },
        none);
    return total;
  }
};

/// One piece while it is being played.
class Sequence {
 public:
  explicit Sequence(const SequenceShape& shape = {}) : shape_(shape) { arrays_.clear(shape, 1); }

  const SequenceShape& shape() const noexcept { return shape_; }
  const SequenceArrays& arrays() const noexcept { return arrays_; }
  SequenceArrays& arrays() noexcept { return arrays_; }
  std::size_t length() const noexcept { return arrays_.lengths[0]; }
  bool full() const noexcept { return length() == shape_.steps; }

  /// Forgets all steps. `fresh`: an episode begins. memory[slots x memory] before the first step.
  void begin(bool fresh, const float* memory) {
    arrays_.clear(shape_, 1);
    std::fill(arrays_.masks.begin(), arrays_.masks.end(), OptionMask{1});
    arrays_.fresh[0] = fresh ? 1 : 0;
    if (!arrays_.memory.empty()) std::copy_n(memory, arrays_.memory.size(), arrays_.memory.begin());
  }
  /// Adds a step: `frame` is what was seen before it (with the masks of the turns). There is room for one.
  void add(const GameFrame& frame, const GameActions& actions, const StepOutcome& outcome,
           std::span<const float> rewards) {
    const std::size_t t = length();
    put_frame(t, frame);
    put(t, actions.options, arrays_.options);
    put(t, actions.numbers, arrays_.numbers);
    put(t, rewards, arrays_.rewards);
    arrays_.team_rewards[t] = outcome.team_reward;
    arrays_.ends[t] = static_cast<std::uint8_t>(step_end(outcome));
    ++arrays_.lengths[0];
  }
  /// The frame that follows the last step.
  void close(const GameFrame& frame) { put_frame(length(), frame); }

 private:
  template <class From, class To>
  static void put(std::size_t t, const From& from, To& to) {
    std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(t * from.size()));
  }
  void put_frame(std::size_t t, const GameFrame& frame) {
    put(t, frame.observations, arrays_.observations);
    put(t, frame.state, arrays_.states);
    put(t, frame.present, arrays_.present);
    put(t, frame.arrived, arrays_.arrived);
    put(t, frame.masks, arrays_.masks);
  }

  SequenceShape shape_;
  SequenceArrays arrays_;
};

/// Pieces drawn from a replay, time-major: [times x count x width], for instance observations [(T + 1) x
/// count x slots x observation]; lengths, fresh and memory [count x width].
struct SequenceBatch : SequenceArrays {
  std::size_t count = 0;
  std::vector<std::size_t> places;  ///< where each piece lies in the replay
  std::vector<float> importance;    ///< weight of each piece in the loss, at most 1

  /// Whether step t of piece b counts.
  bool valid(std::size_t t, std::size_t b) const noexcept { return t < lengths[b]; }
};

}  // namespace mara
