#pragma once
// Plays several games at once and cuts their episodes into pieces for a replay.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/parallel.hpp"
#include "mara/learning/game_runner.hpp"
#include "mara/learning/sequence_replay.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

/// How many games are played, and how.
struct CollectorConfig {
  std::uint64_t seed = 1;
  std::size_t environments = 1;
  std::int32_t episode_steps = 0;  ///< time limit; 0: the game's own only
};

/// What a pass of play did.
struct CollectorReport {
  std::int64_t env_steps = 0;  ///< all environments together
  std::int64_t episodes = 0;   ///< that ended
  double team_return = 0.0;    ///< sum over these of their team returns, as the game pays

  double mean_return() const noexcept {
    return episodes == 0 ? std::numeric_limits<double>::quiet_NaN()
                         : team_return / static_cast<double>(episodes);
  }
};

/// Games in play. Each has its own random stream and memory and is played on its own, so that the same bits
/// come out for any number of threads; pieces reach the replay in the order of the games.
class SequenceCollector {
 public:
  SequenceCollector() = default;
  /// `make` builds game number i; `memory`: recurrent numbers per slot. Errors (kInvalidArgument): no
  /// environments, a count above kLargestCount, negative episode_steps; kShapeMismatch: games that are not
  /// alike; those of reset().
  static Result<SequenceCollector> create(const CollectorConfig& config, const GameMaker& make,
                                          std::size_t sequence_steps, std::size_t memory) {
    if (config.environments == 0)
      return Error{ErrorCode::kInvalidArgument, "environments = 0, at least 1 is needed"};
    const std::pair<const char*, std::size_t> counts[] = {
        {"environments", config.environments}, {"sequence_steps", sequence_steps}, {"memory", memory}};
    for (const auto& [field, value] : counts)
      if (value > kLargestCount)
        return Error{ErrorCode::kInvalidArgument,
                     std::string(field) + " = " + std::to_string(value) + ", more than 2^31"};
    if (config.episode_steps < 0)
      return Error{ErrorCode::kInvalidArgument,
                   "episode_steps = " + std::to_string(config.episode_steps) + ", must not be negative"};
    SequenceCollector made;
    made.config_ = config;
    made.make_ = make;
    for (std::size_t e = 0; e < config.environments; ++e) {
      Player player(made.runner(e));
      if (e == 0) made.shape_ = {player.runner.shape(), sequence_steps, memory};
      if (player.runner.shape() != made.shape_.game)
        return Error{ErrorCode::kShapeMismatch,
                     "environment " + std::to_string(e) + " has another shape than environment 0"};
      player.prepare(made.shape_);
      if (Status begun = player.runner.begin(made.episode_seed(e, 0)); !begun) return begun.error();
      player.begin_piece(true);
      made.players_.push_back(std::move(player));
    }
    return made;
  }

  const SequenceShape& shape() const noexcept { return shape_; }
  std::size_t environments() const noexcept { return players_.size(); }

  /// Plays `steps` steps of every game with the networks of `team` in `storage` and adds the pieces that end
  /// to `replay`: at the end of an episode, or when they have shape().steps steps.
  /// choose(slot, outputs, masks, random, options, numbers) -> bool says the action of a present slot from
  /// its row of outputs; it is called on several threads, each with a stream of its own. Errors: those of
  /// GameRunner, which name the game; numbers that are not finite never reach `replay`.
  template <class Choose>
  Result<CollectorReport> play(ThreadPool& pool, const AgentTeam& team, const float* storage,
                               std::size_t steps, const Choose& choose, SequenceReplay& replay) {
    std::vector<Status> outcomes(players_.size());
    pool.for_each(players_.size(), [&](std::size_t e) {
      outcomes[e] = play_one(players_[e], e, team, storage, steps, choose);
    });
    CollectorReport report;
    for (std::size_t e = 0; e < players_.size(); ++e) {
      if (!outcomes[e]) return outcomes[e].error();
      Player& player = players_[e];
      for (std::size_t i = 0; i < player.ended; ++i) replay.add(player.pieces[i]);
      report.env_steps += static_cast<std::int64_t>(steps);
      report.episodes += player.report.episodes;
      report.team_return += player.report.team_return;
    }
    return report;
  }

  void save(ArchiveWriter& out) const {
    for (const Player& player : players_) {
      player.runner.save(out);
      out.put_value("team_return", player.team_return);
      out.put("memory", player.memory);
      SequenceArrays::visit(
          shape_,
          [&out](const char* name, std::size_t, std::size_t, const auto& values) { out.put(name, values); },
          player.current.arrays());
    }
  }
  /// Continues where the games that were saved stood; they were made alike. Errors: of the archive, of the
  /// games, and pieces that do not fit. Nothing has changed after an error.
  Status load(ArchiveReader& in) {
    std::vector<Player> players;
    for (std::size_t e = 0; e < players_.size(); ++e) {
      Player player(runner(e));
      player.prepare(shape_);
      Status status = player.runner.load(in);
      if (status) status = in.get_value("team_return", player.team_return);
      if (status) status = in.get_exact("memory", std::span<float>(player.memory));
      SequenceArrays::visit(
          shape_,
          [&](const char* name, std::size_t, std::size_t, auto& values) {
            if (status) status = in.get_exact(name, std::span(values.data(), values.size()));
          },
          player.current.arrays());
      if (!status) return status;
      if (player.current.length() >= shape_.steps)
        return Error{ErrorCode::kParse, "a piece in play has " + std::to_string(player.current.length()) +
                                            " steps, there is no room for another"};
      players.push_back(std::move(player));
    }
    players_ = std::move(players);
    return {};
  }

 private:
  struct Player {
    explicit Player(GameRunner r) : runner(std::move(r)) {}
    void prepare(const SequenceShape& shape) {
      frame = GameFrame(shape.game);
      actions = GameActions(shape.game);
      memory.assign(shape.game.agents * shape.memory, 0.0f);
      current = Sequence(shape);
    }
    void begin_piece(bool fresh) {
      if (fresh) std::fill(memory.begin(), memory.end(), 0.0f);
      current.begin(fresh, memory.data());
    }

    GameRunner runner;
    GameFrame frame;
    GameActions actions;
    Sequence current;
    std::vector<float> memory, outputs;
    double team_return = 0.0;  ///< of the episode so far
    std::vector<Sequence> pieces;
    std::size_t ended = 0;  ///< pieces of this pass
    CollectorReport report;
    AgentTeam::Workspace workspace;
  };

  GameRunner runner(std::size_t e) const {
    return GameRunner(make_(static_cast<int>(e)), Random(config_.seed, 0x67616d6500000000ull + e),
                      config_.episode_steps, static_cast<std::int64_t>(e));
  }
  std::uint64_t episode_seed(std::size_t e, std::uint64_t episode) const noexcept {
    return Random(config_.seed, 0x6570000000000000ull + (static_cast<std::uint64_t>(e) << 32) + episode)
        .next64();
  }

  template <class Choose>
  Status play_one(Player& player, std::size_t e, const AgentTeam& team, const float* storage,
                  std::size_t steps, const Choose& choose) {
    const std::size_t heads = shape_.game.action.choices(), numbers = shape_.game.action.numbers(),
                      width = team.outputs();
    player.ended = 0;
    player.report = {};
    player.outputs.resize(shape_.game.agents * width);
    player.frame.read(player.runner.game());
    for (std::size_t t = 0; t < steps; ++t) {
      team.step(storage, player.frame.observations.data(), 1, player.memory.data(),
                player.frame.arrived.data(), player.outputs.data(), player.workspace);
      const auto outcome =
          player.runner.turn(player.frame, player.actions, [&](std::size_t slot, const OptionMask* masks) {
            return choose(slot, player.outputs.data() + slot * width, masks, player.runner.random(),
                          player.actions.options.data() + slot * heads,
                          player.actions.numbers.data() + slot * numbers);
          });
      if (!outcome) return outcome.error();
      player.current.add(player.frame, player.actions, *outcome, player.runner.rewards());
      player.team_return += static_cast<double>(outcome->team_reward);
      player.frame.read(player.runner.game());
      const bool over = step_end(*outcome) != StepEnd::kContinues, cut = over || player.current.full();
      if (cut) {  // learners ask what every agent would do there, but not after a termination
        const bool goes_on = step_end(*outcome) != StepEnd::kTerminated;
        if (const Status fine = player.runner.check(player.frame, goes_on); !fine) return fine;
        player.current.close(player.frame);
        if (player.ended == player.pieces.size()) player.pieces.emplace_back(shape_);
        std::swap(player.pieces[player.ended++], player.current);
      }
      if (over) {
        ++player.report.episodes;
        player.report.team_return += std::exchange(player.team_return, 0.0);
        if (Status begun = player.runner.begin(episode_seed(e, player.runner.episode())); !begun)
          return begun;
        player.frame.read(player.runner.game());
      }
      if (cut) player.begin_piece(over);
    }
    return {};
  }

  CollectorConfig config_;
  GameMaker make_;
  SequenceShape shape_;
  std::vector<Player> players_;
};

}  // namespace mara
