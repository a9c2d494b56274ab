// A critic made for the observation of one agent instead of the global state.
// EXPECT: mara: the critic's Model needs `static constexpr std::size_t kInputs`, equal to
// EXPECT: CriticCheck<[^>]*Narrow
#include "toy.hpp"

struct Narrow {
  template <class E>
  struct Model : mara::critic::Centralised<8>::Model<E> {
    using mara::critic::Centralised<8>::Model<E>::Model;
    static constexpr std::size_t kInputs = static_cast<std::size_t>(E::kObservation);
  };
};

int main() {
  return mara::check_critic<Narrow, toy::Environment>() ? 0 : 1;
}
