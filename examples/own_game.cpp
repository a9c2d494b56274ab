// A game of one's own: written, checked, learnt with three learners, played once.
// Two printers and three clerks: each clerk waits or sends a page to one of the printers. A printer serves
// one clerk at a time; two at once jam it and neither gets a page. Best: both printers busy in every step, 2
// pages.
#include <array>
#include <cstdio>
#include <mara/learning/learners.hpp>
using namespace mara;

class Printers {
 public:
  const GameShape& shape() const { return shape_; }
  Status reset(std::uint64_t) {
    step_ = 0;
    return {};
  }
  bool present(std::size_t) const { return true; }        // nobody leaves
  bool arrived(std::size_t) const { return step_ == 0; }  // everybody comes at the start
  void observe(float* rows) const {                       // who am I?
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) *rows++ = i == j ? 1.0f : 0.0f;
  }
  void global_state(float* row) const { *row = 0.1f * static_cast<float>(step_); }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  OptionMask mask(std::size_t, std::size_t) const { return 0b111; }  // wait, printer 1, printer 2
  void choose(std::size_t slot, const std::int32_t* options, const float*) { chosen_[slot] = options[0]; }
  StepOutcome step() {
    std::array<int, 3> users{};
    for (const int option : chosen_) ++users[static_cast<std::size_t>(option)];
    float pages = 0.0f;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto option = static_cast<std::size_t>(chosen_[i]);
      rewards_[i] = option > 0 && users[option] == 1 ? 1.0f : 0.0f;
      pages += rewards_[i];
    }
    return {pages, false, ++step_ == 10};  // team reward; terminated; truncated
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  GameShape shape_{3, 3, 1, ActionShape::discrete(3)};  // agents, observation, state, action
  std::array<std::uint32_t, 3> order_{0, 1, 2};
  std::array<int, 3> chosen_{};
  std::array<float, 3> rewards_{};
  int step_ = 0;
};

template <GameTrainer T>
void learn(const char* name, typename T::Config config) {
  const GameMaker make = [](int) { return AnyGame(Printers()); };
  auto trainer = T::create(config, make).value();
  TrainingConfig plan;
  plan.steps = 30'000;
  plan.evaluate_every = 5'000;
  plan.stop_at = 20.0;
  const TrainingResult result = train(*trainer, make, plan).value();
  std::printf("%s: %.1f pages in 10 steps, after %lld steps of training\n", name, result.best.mean,
              static_cast<long long>(result.best.env_steps));
}

int main() {
  // What is wrong with a game, it says in words, such as "agent 2: mask of head 0 is empty".
  const GameReport report = check_environment([] { return Printers(); }, 1);
  if (!report.good()) return std::fprintf(stderr, "%s\n", report.text().c_str()), 1;

  TeamPpoTrainer<critic::CentralisedValues>::Config mappo;
  mappo.total_steps = 30'000;
  mappo.actor.network.output_gain = 1.0f;  // explores less evenly at first; the default is 0.01
  learn<TeamPpoTrainer<critic::CentralisedValues>>("MAPPO", mappo);
  QLearningConfig q;
  q.environments = 8;
  q.epsilon.anneal_steps = 10'000;
  learn<QTrainer<critic::MonotonicMixing>>("QMIX", q);
  learn<QTrainer<critic::NoMixing>>("IQL", q);
}
