#pragma once
// The centralised state-value critic V(s) of MAPPO (Yu et al. 2022).

#include <cstddef>
#include <span>

#include "mara/nn/mlp.hpp"

namespace mara::critic {

/// One value of the team's return for the environment's global state. As a pipeline parameter it names the
/// hidden widths; Model<E> is the network for an environment E.
template <std::size_t... Hidden>
struct Centralised {
  template <class E>
  class Model {
   public:
    static constexpr auto kInputs = static_cast<std::size_t>(E::kGlobalState);
    using Network = Mlp<float, kInputs, Hidden..., 1>;

    explicit Model(Random& random) : network_(Activation::kTanh) { network_.initialise(random, 1.0f); }

    Network& network() noexcept { return network_; }
    const Network& network() const noexcept { return network_; }

    /// Values (normalised) of `rows` global states, without a tape.
    void values(const float* states, std::size_t rows, float* out, typename Network::Workspace& work) const {
      network_.forward(states, rows, out, work);
    }
    /// The same on the tape: rows x 1.
    Var values(Tape<float>& tape, Var states) { return network_.forward(tape, states); }

   private:
    Network network_;
  };
};

}  // namespace mara::critic
