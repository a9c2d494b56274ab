#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "learning/tiny_games.hpp"
#include "mara/core/random.hpp"
#include "mara/environment/check_environment.hpp"
#include "mara/environment/game_registry.hpp"

using namespace mara::test;
using mara::check_environment;
using mara::GameCheckOptions;
using mara::GameReport;

namespace {

/// What is wrong with a Visitors game.
enum class Fault {
  kNone,
  kNoAgents,
  kNoObservation,
  kNoState,
  kHugeExtents,
  kBadOptions,
  kBadBounds,
  kShapeGrows,
  kResetFails,
  kSecondResetFails,
  kThrowsInStep,
  kThrowsANumber,
  kOwnSeed,
  kLeftovers,
  kGlobalState,
  kOrderAbsent,
  kOrderTwice,
  kOrderLacks,
  kOrderBeyond,
  kNotArrived,
  kReturns,
  kNewUnmarked,
  kObservationNaN,
  kStateInfinite,
  kAbsentRow,
  kWritesAfter,
  kWritesBefore,
  kStateWritesAfter,
  kRowForgotten,
  kStateForgotten,
  kObserveDraws,
  kStateDraws,
  kMaskEmpty,
  kMaskBeyond,
  kMaskChanges,
  kTeamNaN,
  kRewardNaN,
  kRewardsShort,
  kRewardsLong,
  kAbsentPaid,
  kTrustsMask,
  kTrustsBounds,
  kTrustsNumbers,
  kBothFlags,
  kNeverEnds,
  kAlwaysArrived,
  kNobody,
};

/// Four slots whose visitors come and go; two heads and a number each. A head's option that the visitor
/// before took is forbidden. Sound unless a fault is asked for.
class Visitors {
 public:
  static constexpr std::size_t kSlots = 4, kSees = 3, kState = 2;

  explicit Visitors(Fault fault = Fault::kNone) : fault_(fault), random_(0) {
    shape_ = {kSlots, kSees, kState, {{3, 2}, {{-1.0f, 2.0f}}}};
    if (is(Fault::kNoAgents)) shape_.agents = 0;
    if (is(Fault::kNoObservation)) shape_.observation = 0;
    if (is(Fault::kNoState)) shape_.state = 0;
    if (is(Fault::kHugeExtents)) shape_.observation = std::size_t{1} << 40;
    if (is(Fault::kBadOptions)) shape_.action.heads[1] = 33;
    if (is(Fault::kBadBounds)) shape_.action.box[0] = {1.0f, 1.0f};
    if (is(Fault::kOwnSeed)) random_ = mara::Random(static_cast<std::uint64_t>(++objects_));
  }

  const mara::GameShape& shape() const { return shape_; }
  mara::Status reset(std::uint64_t seed) {
    if (is(Fault::kResetFails) || (is(Fault::kSecondResetFails) && resets_ > 0))
      return mara::Error{mara::ErrorCode::kIo, "the house is closed"};
    ++resets_;
    if (!is(Fault::kOwnSeed)) random_ = mara::Random(seed);
    if (is(Fault::kGlobalState)) common_ = mara::Random(seed);
    steps_ = 0;
    draws_ = 0;
    if (!is(Fault::kLeftovers)) last_ = 0.0f;
    here_.assign(kSlots, false);
    new_.assign(kSlots, false);
    for (std::size_t slot = 0; slot < kSlots; ++slot) here_[slot] = new_[slot] = slot != 3;
    if (is(Fault::kNobody)) here_.assign(kSlots, false), new_ = here_;
    if (is(Fault::kNotArrived)) new_[1] = false;
    rewards_.assign(kSlots, 0.0f);
    begin_turns();
    return {};
  }
  bool present(std::size_t slot) const { return here_.at(slot); }
  bool arrived(std::size_t slot) const { return new_.at(slot) || is(Fault::kAlwaysArrived); }
  void observe(float* rows) const {
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const float there = here_[slot] ? 1.0f : 0.0f;
      rows[kSees * slot] = there;
      rows[kSees * slot + 1] = there * last_;
      if (!(is(Fault::kRowForgotten) && slot == 2)) rows[kSees * slot + 2] = there * static_cast<float>(slot);
      if (is(Fault::kAbsentRow) && !here_[slot]) rows[kSees * slot + 1] = 5.0f;
    }
    if (is(Fault::kObservationNaN) && steps_ == 2) rows[0] = std::numeric_limits<float>::quiet_NaN();
    if (is(Fault::kWritesAfter)) rows[kSees * kSlots] = 0.0f;
    if (is(Fault::kWritesBefore)) rows[-1] = 0.0f;
    if (is(Fault::kObserveDraws)) rows[0] = static_cast<float>(++draws_);
  }
  void global_state(float* row) const {
    row[0] = static_cast<float>(steps_);
    if (!is(Fault::kStateForgotten)) row[1] = last_;
    if (is(Fault::kStateInfinite) && steps_ == 1) row[1] = std::numeric_limits<float>::infinity();
    if (is(Fault::kStateWritesAfter)) row[kState] = 1.0f;
    if (is(Fault::kStateDraws)) row[0] = static_cast<float>(++draws_);
  }
  std::span<const std::uint32_t> turn_order() const { return order_; }
  mara::OptionMask mask(std::size_t, std::size_t head) const {
    if (is(Fault::kMaskEmpty) && steps_ == 1) return 0u;
    if (is(Fault::kMaskBeyond)) return head == 0 ? 0b1000u : 0b111u;
    if (is(Fault::kMaskChanges)) return ++draws_ % 2 == 0 ? 0b01u : 0b11u;
    const mara::OptionMask all = head == 0 ? 0b111u : 0b11u;
    return taken_[head] < 0 ? all : all & ~(mara::OptionMask{1} << taken_[head]);
  }
  void choose(std::size_t slot, const std::int32_t* options, const float* numbers) {
    const bool forbidden = options[0] == taken_[0] || options[1] == taken_[1];
    if (is(Fault::kTrustsMask) && forbidden) spoilt_ = true;
    for (std::size_t h = 0; h < 2; ++h) taken_[h] = std::clamp(options[h], 0, h == 0 ? 2 : 1);
    float number = numbers[0];
    if (is(Fault::kTrustsBounds) && !(number >= -1.0f && number <= 2.0f)) number = std::log(-1.0f);
    if (!is(Fault::kTrustsNumbers) && !is(Fault::kTrustsBounds))
      number = number >= -1.0f ? std::min(number, 2.0f) : -1.0f;
    if (is(Fault::kTrustsNumbers) && std::abs(number) < 100.0f) number = 0.0f;
    sum_ += number + static_cast<float>(taken_[0] + static_cast<int>(slot));
  }
  mara::StepOutcome step() {
    ++steps_;
    if (is(Fault::kThrowsInStep) && steps_ == 3) throw std::runtime_error("the roof leaks");
    if (is(Fault::kThrowsANumber) && steps_ == 3) throw 7;
    last_ = sum_ / 16.0f;
    if (spoilt_) last_ = std::numeric_limits<float>::quiet_NaN();
    rewards_.assign(kSlots, 0.0f);
    for (std::size_t slot = 0; slot < kSlots; ++slot)
      if (here_[slot] || is(Fault::kAbsentPaid)) rewards_[slot] = 1.0f + last_;
    if (is(Fault::kRewardNaN)) rewards_[0] = std::numeric_limits<float>::quiet_NaN();
    if (is(Fault::kRewardsShort)) rewards_.pop_back();
    if (is(Fault::kRewardsLong)) rewards_.push_back(0.0f);
    if (is(Fault::kShapeGrows) && steps_ == 2) shape_.observation += 1;
    come_and_go();
    begin_turns();
    mara::StepOutcome outcome{last_, steps_ == 9, false};
    if (is(Fault::kTeamNaN)) outcome.team_reward = std::numeric_limits<float>::quiet_NaN();
    if (is(Fault::kBothFlags)) outcome.truncated = outcome.terminated;
    if (is(Fault::kNeverEnds)) outcome.terminated = false;
    if (is(Fault::kGlobalState)) outcome.team_reward = static_cast<float>(common_.uniform());
    return outcome;
  }
  std::span<const float> rewards() const { return rewards_; }

 private:
  bool is(Fault fault) const { return fault_ == fault; }
  /// Slot 3 is there in every third step, a new visitor each time; slot 1 leaves by lot, at most once.
  void come_and_go() {
    const bool out = random_.below(4) == 0;
    if (is(Fault::kNobody)) return;
    new_.assign(kSlots, false);
    const bool was = here_[3];
    here_[3] = steps_ % 3 == 1;
    new_[3] =
        here_[3] && !was && !(is(Fault::kReturns) && steps_ > 2) && !(is(Fault::kNewUnmarked) && steps_ < 2);
    if (out) here_[1] = false;
  }
  void begin_turns() {
    order_.clear();
    taken_[0] = taken_[1] = -1;
    sum_ = 0.0f;
    for (std::uint32_t slot = kSlots; slot-- > 0;)
      if (here_[slot]) order_.push_back(slot);
    if (order_.empty()) return;
    if (is(Fault::kOrderAbsent) && !here_[3]) order_.push_back(3);
    if (is(Fault::kOrderTwice)) order_.push_back(order_.front());
    if (is(Fault::kOrderLacks)) order_.pop_back();
    if (is(Fault::kOrderBeyond)) order_.push_back(4000000000u);
  }

  static inline int objects_ = 0;
  static inline mara::Random common_{0};
  Fault fault_;
  mara::GameShape shape_;
  mara::Random random_;
  std::vector<bool> here_ = std::vector<bool>(kSlots), new_ = std::vector<bool>(kSlots);
  std::vector<std::uint32_t> order_;
  std::vector<float> rewards_ = std::vector<float>(kSlots);
  int taken_[2] = {-1, -1};
  int steps_ = 0, resets_ = 0;
  mutable int draws_ = 0;
  float last_ = 0.0f, sum_ = 0.0f;
  bool spoilt_ = false;
};

static_assert(mara::Game<Visitors>);

GameReport check(Fault fault, GameCheckOptions options = {}) {
  return check_environment([fault] { return Visitors(fault); }, 5, options);
}

}  // namespace

TEST_CASE("checker: a sound game passes, whatever is chosen", "[games]") {
  GameCheckOptions all;
  all.wild_choices = true;
  const GameReport report = check(Fault::kNone, all);
  INFO(report.text());
  CHECK(report.good());
  CHECK(report.notes.empty());
  CHECK(report.status());
  CHECK(report.steps >= 36);
  CHECK(check_environment<Visitors>(7).good());
}

TEST_CASE("checker: each violation is found and named", "[games]") {
  struct Case {
    Fault fault;
    const char* name;
    const char* words;
  };
  const Case cases[] = {
      {Fault::kNoAgents, "extents", "agents is 0"},
      {Fault::kNoObservation, "extents", "observation is 0"},
      {Fault::kNoState, "extents", "state is 0"},
      {Fault::kHugeExtents, "extents", "more than 2^26"},
      {Fault::kBadOptions, "action-shape", "heads[1] = 33"},
      {Fault::kBadBounds, "action-shape", "box[0]"},
      {Fault::kShapeGrows, "shape-changed", "step 2"},
      {Fault::kResetFails, "reset-failed", "the house is closed"},
      {Fault::kSecondResetFails, "reset-failed", "reset(6) failed"},
      {Fault::kThrowsInStep, "throws", "the roof leaks"},
      {Fault::kThrowsANumber, "throws", "no std::exception"},
      {Fault::kOwnSeed, "not-reproducible", "who is present"},
      {Fault::kLeftovers, "reset-leaves-traces", "observations"},
      {Fault::kGlobalState, "shared-state", "team reward"},
      {Fault::kOrderAbsent, "turn-order", "slot 3, which is absent"},
      {Fault::kOrderTwice, "turn-order", "slot 2 twice"},
      {Fault::kOrderLacks, "turn-order", "lacks slot 0"},
      {Fault::kOrderBeyond, "turn-order", "slot 4000000000 of 4"},
      {Fault::kNotArrived, "arrived-after-reset", "arrived(1) is false"},
      {Fault::kReturns, "returned", "slot 3 is present again"},
      {Fault::kNewUnmarked, "arrival-unmarked", "slot 3 is present for the first time"},
      {Fault::kObservationNaN, "observation-not-finite", "observe(): number 0 is nan"},
      {Fault::kStateInfinite, "state-not-finite", "global_state(): number 1 is inf"},
      {Fault::kAbsentRow, "observation-of-absent", "row 3"},
      {Fault::kWritesAfter, "writes-outside", "observe() writes outside its 12 numbers"},
      {Fault::kWritesBefore, "writes-outside", "observe()"},
      {Fault::kStateWritesAfter, "writes-outside", "global_state()"},
      {Fault::kRowForgotten, "observation-not-written", "number 8"},
      {Fault::kStateForgotten, "state-not-written", "number 1"},
      {Fault::kObserveDraws, "observation-changes", "observe() twice"},
      {Fault::kStateDraws, "state-changes", "global_state() twice"},
      {Fault::kMaskEmpty, "mask-empty", "mask(3, 0) allows no option"},
      {Fault::kMaskBeyond, "mask-beyond", "beyond the 3 options"},
      {Fault::kMaskChanges, "mask-changes", "without a choice"},
      {Fault::kTeamNaN, "team-reward-not-finite", "nan"},
      {Fault::kRewardNaN, "reward-not-finite", "rewards()[0] is nan"},
      {Fault::kRewardsShort, "rewards-size", "3 numbers, there are 4 slots"},
      {Fault::kRewardsLong, "rewards-size", "5 numbers"},
      {Fault::kAbsentPaid, "reward-of-absent", "nobody was there"},
      {Fault::kTrustsMask, "illegal-choice", "not-finite"},
      {Fault::kTrustsBounds, "illegal-choice", "not-finite"},
      {Fault::kTrustsNumbers, "wild-choice", "not-finite"},
  };
  for (const Case& c : cases) {
    GameCheckOptions options;
    options.wild_choices = c.fault == Fault::kTrustsNumbers;
    const GameReport report = check(c.fault, options);
    INFO(c.name << ", found: " << report.text());
    CHECK_FALSE(report.good());
    const auto* found = report.find(c.name);
    REQUIRE(found != nullptr);
    CHECK(found->words.find(c.words) != std::string::npos);
    CHECK(report.status().error().message.find(c.name) != std::string::npos);
    // One fault is one violation, unless it entails others by its nature.
    const bool entails = c.fault == Fault::kMaskBeyond || c.fault == Fault::kObserveDraws;
    CHECK((entails || report.violations.size() == 1));
  }
}

TEST_CASE("checker: what is allowed but perhaps not meant is a note", "[games]") {
  const auto noted = [](Fault fault, const char* words) {
    GameCheckOptions options;
    options.most_steps = 50;
    const GameReport report = check(fault, options);
    INFO(report.text());
    CHECK(report.good());
    REQUIRE(report.notes.size() >= 1);
    CHECK(report.notes[0].find(words) != std::string::npos);
    CHECK(report.text().find("note: ") != std::string::npos);
  };
  noted(Fault::kBothFlags, "termination wins");
  noted(Fault::kNeverEnds, "had not ended after 50 steps");
  noted(Fault::kAlwaysArrived, "no memory");
  noted(Fault::kNobody, "nobody was ever present");
}

TEST_CASE("checker: illegal choices can be left out", "[games]") {
  GameCheckOptions options;
  options.illegal_choices = false;
  CHECK(check(Fault::kTrustsMask, options).good());
  CHECK(check(Fault::kTrustsBounds, options).good());
}

TEST_CASE("checker: counts what it finds, says where first", "[games]") {
  const GameReport report = check(Fault::kTeamNaN);
  CHECK(report.violations[0].times > 9);
  CHECK(report.violations[0].words.find("episode 0, step 1") != std::string::npos);
  CHECK(report.text().find("1 violation in ") == 0);
  CHECK(check(Fault::kNone).text().find("0 violations") == 0);
}

TEST_CASE("checker: the shipped games pass", "[games]") {
  CHECK(mara::game_names().size() == 17);
  GameCheckOptions options;
  options.wild_choices = true;
  for (const std::string_view name : mara::game_names()) {
    const auto make = mara::make_game(name);
    REQUIRE(make);
    const GameReport report = check_environment(*make, 3, options);
    INFO(name << ": " << report.text());
    CHECK(report.good());
    CHECK(report.notes.empty());
  }
  for (const std::size_t agents : std::vector<std::size_t>{1, 2, 7}) {
    CHECK(check_environment([agents] { return mara::SimpleSpread({agents}); }, 1, options).good());
    CHECK(check_environment([agents] { return mara::CongestionGame(agents); }, 1, options).good());
    CHECK(check_environment([agents] { return mara::SwitchRiddle(agents); }, 1, options).good() ==
          (agents > 1));
  }
  mara::ActionShape hybrid;
  hybrid.heads = {3, 32};
  hybrid.box = {{-2.0f, 4.0f}};
  CHECK(check_environment([&hybrid] { return mara::IdentityGame({hybrid, 20, .1f}); }, 1, options).good());
  CHECK(check_environment([] { return *mara::MatrixGame::create({1, 4}, {1, 2, 3, 4}); }, 1, options).good());
}

TEST_CASE("checker: environments are checked in slots", "[games]") {
  const GameReport seats = check_environment([] { return SeatGame(true, .1); }, 4);
  INFO(seats.text());
  CHECK(seats.good());
  REQUIRE(seats.notes.size() == 1);
  CHECK(seats.notes[0].find("no memory") != std::string::npos);
  CHECK(check_environment<Corridor>(1).good());
  GameCheckOptions few;
  few.slots = 2;
  const GameReport report = check_environment([] { return SeatGame(true, .1); }, 4, few);
  REQUIRE(report.find("reset-failed") != nullptr);
  CHECK(report.find("reset-failed")->words.find("3 agents, only 2 slots") != std::string::npos);
}

TEST_CASE("games by name: an unknown name lists those that there are", "[games]") {
  const auto made = mara::make_game("two-steps");
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("\"two-steps\" is unknown") != std::string::npos);
  for (const std::string_view name : mara::game_names())
    CHECK(made.error().message.find(name) != std::string::npos);
  const auto matrix = mara::make_game("penalty");
  REQUIRE(matrix);
  CHECK((*matrix)(3).get<mara::MatrixGame>()->payoffs()[0] == -25.0f);
  for (const mara::ShippedGame& game : mara::shipped_games()) CHECK_FALSE(game.about.empty());
}
