#pragma once
// The concept of single-agent environments with numbers as actions, many of them stepped together.

#include <concepts>
#include <cstddef>

#include "mara/core/archive.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// Requirements (E is the batch, e an object of it):
/// - E::kObservation, E::kActions: numbers of an observation and of an action;
/// - e.size() -> std::size_t: environments in the batch;
/// - e.reset(): new episodes in all of them;
/// - e.observe(float* rows): writes size() x kObservation, the state now;
/// - e.step(const float* actions, float* rewards) -> Result<std::size_t>: actions size() x kActions in,
/// rewards
///   size() out; how many episodes ended. A number that is not finite is an error and changes nothing;
/// - e.terminated(i), e.truncated(i) -> bool: whether the last step ended the episode of environment i, and
/// how.
///   terminated: the value of the final state is 0; truncated: a time limit, the value counts. The final
///   state can be observed until reset_ended();
/// - e.reset_ended(): new episodes where the last step ended one;
/// - e.save(ArchiveWriter&), e.load(ArchiveReader&) -> Status: everything that decides how it goes on.
template <class E>
concept BatchEnvironment = requires(E e, const E& c, const float* actions, float* out, std::size_t i,
                                    ArchiveWriter& writer, ArchiveReader& reader) {
  requires E::kObservation >
  0 && E::kActions > 0;
  { c.size() } -> std::same_as<std::size_t>;
  { e.reset() } -> std::same_as<void>;
  { c.observe(out) } -> std::same_as<void>;
  { e.step(actions, out) } -> std::same_as<Result<std::size_t>>;
  { c.terminated(i) } -> std::same_as<bool>;
  { c.truncated(i) } -> std::same_as<bool>;
  { e.reset_ended() } -> std::same_as<void>;
  { c.save(writer) } -> std::same_as<void>;
  { e.load(reader) } -> std::same_as<Status>;
};

}  // namespace mara
