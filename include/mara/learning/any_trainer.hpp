#pragma once
// A learner of any type behind one type, so that what drives it is compiled once.

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "mara/learning/game_trainer.hpp"

namespace mara {

/// Holds a policy by value; moves, does not copy. Fulfils GamePolicy.
class AnyPolicy {
 public:
  template <GamePolicy P>
  requires(!std::same_as<std::remove_cvref_t<P>, AnyPolicy>) AnyPolicy(P policy)
      : held_(std::make_unique<Holder<P>>(std::move(policy))) {}

  void begin(std::uint64_t seed) { held_->begin(seed); }
  void look(const GameFrame& frame) { held_->look(frame); }
  bool choose(std::size_t slot, const OptionMask* masks, std::int32_t* options, float* numbers) {
    return held_->choose(slot, masks, options, numbers);
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual void begin(std::uint64_t seed) = 0;
    virtual void look(const GameFrame& frame) = 0;
    virtual bool choose(std::size_t slot, const OptionMask* masks, std::int32_t* options, float* numbers) = 0;
  };
  template <class P>
  struct Holder final : Interface {
    explicit Holder(P p) : policy(std::move(p)) {}
    void begin(std::uint64_t seed) override { policy.begin(seed); }
    void look(const GameFrame& frame) override { policy.look(frame); }
    bool choose(std::size_t slot, const OptionMask* masks, std::int32_t* options, float* numbers) override {
      return policy.choose(slot, masks, options, numbers);
    }
    P policy;
  };
  std::unique_ptr<Interface> held_;
};

/// Holds a learner. Fulfils GameLearner.
class AnyTrainer {
 public:
  template <GameLearner T>
  explicit AnyTrainer(std::unique_ptr<T> trainer) : held_(std::make_unique<Holder<T>>(std::move(trainer))) {}

  Result<TrainingReport> update() { return held_->update(); }
  std::int64_t env_steps() const { return held_->env_steps(); }
  std::span<const float> weights() const { return held_->weights(); }
  AnyPolicy policy(std::span<const float> weights) const { return held_->policy(weights); }
  Status save(const FilePath& path) const { return held_->save(path); }
  Status load(const FilePath& path) { return held_->load(path); }

  /// The learner itself where it is a T; null otherwise.
  template <GameLearner T>
  const T* get() const noexcept {
    const auto* holder = dynamic_cast<const Holder<T>*>(held_.get());
    return holder == nullptr ? nullptr : holder->trainer.get();
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual Result<TrainingReport> update() = 0;
    virtual std::int64_t env_steps() const = 0;
    virtual std::span<const float> weights() const = 0;
    virtual AnyPolicy policy(std::span<const float> weights) const = 0;
    virtual Status save(const FilePath& path) const = 0;
    virtual Status load(const FilePath& path) = 0;
  };
  template <class T>
  struct Holder final : Interface {
    explicit Holder(std::unique_ptr<T> t) : trainer(std::move(t)) {}
    Result<TrainingReport> update() override { return trainer->update(); }
    std::int64_t env_steps() const override { return trainer->env_steps(); }
    std::span<const float> weights() const override { return trainer->weights(); }
    AnyPolicy policy(std::span<const float> weights) const override {
      return AnyPolicy(trainer->policy(weights));
    }
    Status save(const FilePath& path) const override { return trainer->save(path); }
    Status load(const FilePath& path) override { return trainer->load(path); }
    std::unique_ptr<T> trainer;
  };
  std::unique_ptr<Interface> held_;
};

static_assert(GameLearner<AnyTrainer>);

}  // namespace mara
