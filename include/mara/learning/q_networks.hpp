#pragma once
// What a value learner trains: agents and mixer, in one storage.

#include <cstddef>
#include <string>
#include <utility>

#include "mara/critic/mixing.hpp"
#include "mara/nn/agent_team.hpp"

namespace mara {

namespace detail {
/// The second mixer of mixings that have one.
template <class M>
struct CentralOf {
  struct type {};
};
template <class M>
requires(M::kCentral) struct CentralOf<M> {
  using type = typename M::Central;
};
}  // namespace detail

/// The plan of all networks: parameters of the agents, then of the mixer, then (kCentral) of the agents and
/// of the mixer of the unrestricted value. Online and target networks are two storages of this plan.
template <Mixing M>
class QNetworks {
 public:
  using Central = typename detail::CentralOf<M>::type;

  /// `state`: numbers that the mixer sees. Errors: those of AgentTeam and of the mixer.
  static Result<QNetworks> create(const TeamConfig& team, const MixerConfig& mixer, std::size_t slots,
                                  std::size_t observation, std::size_t options, std::size_t state) {
    QNetworks made;
    auto agents = AgentTeam::create(team, slots, observation, options);
    if (!agents) return Error{agents.error().code, "team: " + agents.error().message};
    made.team_ = std::move(*agents);
    auto mixing = M::create(mixer, slots, state);
    if (!mixing) return mixing.error();
    made.mixer_ = std::move(*mixing);
    if constexpr (M::kCentral) {
      auto central = Central::create(mixer, slots, state);
      if (!central) return central.error();
      made.central_ = std::move(*central);
    }
    return made;
  }

  const AgentTeam& team() const noexcept { return team_; }
  const M& mixer() const noexcept { return mixer_; }
  const Central& central() const noexcept { return central_; }

  /// Where the parts begin in the storage.
  std::size_t mixer_at() const noexcept { return team_.stored(); }
  std::size_t central_team_at() const noexcept { return mixer_at() + mixer_.stored(); }
  std::size_t central_at() const noexcept {
    return central_team_at() + (M::kCentral ? team_.stored() : std::size_t{0});
  }
  std::size_t stored() const noexcept {
    if constexpr (M::kCentral) {
      return central_at() + central_.stored();
    } else {
      return central_at();
    }
  }

  template <class S>
  void initialise(Random& random, S* storage) const {
    team_.initialise(random, storage);
    mixer_.initialise(random, storage + mixer_at());
    if constexpr (M::kCentral) {
      team_.initialise(random, storage + central_team_at());
      central_.initialise(random, storage + central_at());
    }
  }
  /// Calls f(name, view) for every parameter; names of the mixer begin with "mixer.", those of the
  /// unrestricted value with "central.".
  template <class S, class F>
  void visit(S* storage, F&& f) const {
    team_.visit(storage, f);
    mixer_.visit(storage + mixer_at(), "mixer.", f);
    if constexpr (M::kCentral) {
      team_.visit(storage + central_team_at(),
                  [&](const std::string& name, auto view) { f("central." + name, view); });
      central_.visit(storage + central_at(), "central.mixer.", f);
    }
  }

 private:
  AgentTeam team_;
  M mixer_ = {};
  Central central_ = {};
};

}  // namespace mara
