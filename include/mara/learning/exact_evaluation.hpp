#pragma once
// What a feed-forward policy is worth in games that can be solved: no sampling, so that a table of proofs has
// no noise of its own.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mara/environment/chain_game.hpp"
#include "mara/environment/dynamic_allocation_game.hpp"
#include "mara/environment/linear_quadratic_team.hpp"
#include "mara/environment/quadratic_team.hpp"
#include "mara/learning/evaluate.hpp"

namespace mara {

/// What a policy does at the first step of an episode in which everybody is present, everything is legal and
/// the agents see `observations` [agents x observation]; the global state is zero. Error (kNumerical): it has
/// no answer.
template <GamePolicy P>
Result<GameActions> answer(P& policy, const GameShape& shape, std::span<const float> observations) {
  GameFrame frame(shape);
  std::copy_n(observations.begin(), std::min(observations.size(), frame.observations.size()),
              frame.observations.begin());
  frame.present.assign(shape.agents, 1);
  frame.arrived.assign(shape.agents, 1);
  const std::size_t heads = shape.action.choices(), numbers = shape.action.numbers();
  for (std::size_t i = 0; i < shape.agents; ++i)
    for (std::size_t h = 0; h < heads; ++h) {
      const int options = shape.action.heads[h];
      frame.masks[i * heads + h] = options >= 32 ? ~OptionMask{0} : (OptionMask{1} << options) - 1;
    }
  GameActions actions(shape);
  policy.begin(1);
  policy.look(frame);
  for (std::size_t i = 0; i < shape.agents; ++i)
    if (!policy.choose(i, frame.masks.data() + i * heads, actions.options.data() + i * heads,
                       actions.numbers.data() + i * numbers))
      return Error{ErrorCode::kNumerical, "agent " + std::to_string(i) + " has no answer"};
  return actions;
}

/// DynamicAllocationGame: the discounted values of the policy in all states, for its two agents or for one
/// that decides for both (JointGame, heads or flat).
template <GamePolicy P>
Result<DynamicAllocationGame::Values> dynamic_allocation_values(P& policy, const GameShape& shape) {
  using G = DynamicAllocationGame;
  std::array<G::Values, 2> request{};
  for (std::size_t s = 0; s < G::kStates; ++s) {
    std::array<float, 2 * G::kStates> seen{};
    seen[s] = seen[G::kStates + s] = 1.0f;
    const auto done = answer(policy, shape, seen);
    if (!done) return done.error();
    const bool flat = done->options.size() == 1;  // 2 a0 + a1
    for (std::size_t i = 0; i < 2; ++i)
      request[i][s] = flat ? (done->options[0] >> (1 - i)) & 1 : done->options[i];
  }
  return G::values(G::joint_policy(request));
}

/// ChainGame: the discounted value of the first state under the policy.
template <GamePolicy P>
Result<double> chain_value(P& policy, const GameShape& shape) {
  std::array<double, ChainGame::kInner> right{};
  for (std::size_t s = 0; s < ChainGame::kInner; ++s) {
    std::array<float, ChainGame::kStates> seen{};
    seen[s] = 1.0f;
    const auto done = answer(policy, shape, seen);
    if (!done) return done.error();
    right[s] = done->options[0];
  }
  return ChainGame::policy_values(right)[0][right[0] > 0.5 ? 1 : 0];
}

/// QuadraticTeam: what the policy's numbers pay.
template <GamePolicy P>
Result<double> quadratic_team_value(P& policy, const GameShape& shape) {
  constexpr std::array<float, 2> kSeen{1.0f, 1.0f};
  const auto done = answer(policy, shape, kSeen);
  if (!done) return done.error();
  return QuadraticTeam::value(static_cast<double>(done->numbers[0]), static_cast<double>(done->numbers[1]));
}

/// LinearQuadraticTeam under a policy.
struct LinearQuadraticValue {
  double expected_return = 0.0;  ///< discounted, of an episode without end from x0 ~ U(-1, 1)
  double closed_loop = 0.0;      ///< slope of x' over x in [-1, 1], least squares
};

/// Values on a grid over [-3, 3] by repeated backing up, cubic between the points (Catmull and Rom, "A class
/// of local interpolating splines", 1974: exact for the squares that linear policies have as values); the
/// noise by Gauss-Hermite quadrature with 5 points (Abramowitz and Stegun, table 25.10, for the standard
/// normal distribution). Linear policies near the best get their return to 1e-5.
template <GamePolicy P>
Result<LinearQuadraticValue> linear_quadratic_value(P& policy, const GameShape& shape) {
  using G = LinearQuadraticTeam;
  constexpr int kPoints = 601, kSweeps = 400, kStarts = 2000;
  constexpr double kEdge = 3.0, kStep = 2.0 * kEdge / (kPoints - 1);
  constexpr std::array<double, 5> kNode{-2.85697001387281, -1.35562617997427, 0.0, 1.35562617997427,
                                        2.85697001387281};
  constexpr std::array<double, 5> kWeight{0.0112574113277207, 0.222075922005613, 0.533333333333333,
                                          0.222075922005613, 0.0112574113277207};
  std::vector<double> value(kPoints), reward(kPoints), next(kPoints), updated(kPoints);
  double products = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double x = -kEdge + static_cast<double>(i) * kStep;
    const std::array<float, 2> seen{static_cast<float>(x), static_cast<float>(x)};
    const auto done = answer(policy, shape, seen);
    if (!done) return done.error();
    const auto u0 = static_cast<double>(done->numbers[0]), u1 = static_cast<double>(done->numbers[1]);
    reward[i] = -(x * x + G::kCost[0] * u0 * u0 + G::kCost[1] * u1 * u1);
    next[i] = x + G::kGain[0] * u0 + G::kGain[1] * u1;
    if (std::abs(x) < 1.0 + kStep / 2.0) products += x * next[i], squares += x * x;
  }
  const auto at = [&](double x) {
    const double place = std::clamp((x + kEdge) / kStep, 1.0, kPoints - 2.000001);
    const auto low = static_cast<std::size_t>(place);
    const double t = place - static_cast<double>(low), a = value[low - 1], b = value[low], c = value[low + 1],
                 d = value[low + 2];
    return b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)));
  };
  const double deviation = std::sqrt(G::kNoiseVariance);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < kPoints; ++i) {
      double future = 0.0;
      for (std::size_t k = 0; k < kNode.size(); ++k)
        future += kWeight[k] * at(next[i] + deviation * kNode[k]);
      updated[i] = reward[i] + G::kDiscount * future;
    }
    value.swap(updated);
  }
  LinearQuadraticValue result;
  for (int i = 0; i < kStarts; ++i) result.expected_return += at(-1.0 + (i + 0.5) * 2.0 / kStarts) / kStarts;
  result.closed_loop = products / squares;
  return result;
}

}  // namespace mara
