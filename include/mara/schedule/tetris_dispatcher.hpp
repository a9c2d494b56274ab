#pragma once
// Tetris on nodes: the pair of waiting job and node that pack best, short jobs favoured.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/schedule/job_order.hpp"
#include "mara/schedule/node_alignment.hpp"
#include "mara/schedule/place.hpp"
#include "mara/simulation/dispatch.hpp"

namespace mara {

/// What Tetris favours jobs for having little of.
enum class RemainingMeasure : std::uint8_t {
  kTime,    ///< remaining time
  kVolume,  ///< remaining time x what the job asks for (the sum of its parts of all GPUs, CPU and memory)
};

/// Choices of a TetrisDispatcher.
struct TetrisOptions {
  /// Weight of what remains, beside epsilon; 0: packing alone.
  double remaining_weight = 1.0;
  RemainingMeasure remaining = RemainingMeasure::kTime;
};

/// Whether the options make sense; the error names the field and the value.
inline Status check_options(const TetrisOptions& options) {
  return check_non_negative(options.remaining_weight, "remaining_weight");
}

/// Tetris (Grandl et al., SIGCOMM'14, sections 3.2 and 3.3): again and again the pair of waiting job and node
/// with room for it that has the highest score starts: node_alignment - remaining_weight x epsilon x
/// remaining, where epsilon = (mean alignment) / (mean remaining) of the waiting jobs that fit somewhere,
/// each with its best node, so that both terms weigh alike. What remains is the expected time at the
/// requested size (JobOrder's: the user's estimate if there is one), divided by the job's speed on the node's
/// type; with RemainingMeasure::kVolume times the resources that it asks for. Jobs larger than any node get
/// wholly free nodes, as Consolidated gives them, and the mean alignment of these. Non-preemptive. Ties: the
/// earlier submitted; the lower type, then the lower node.
///
/// What is free only shrinks during a decision, and so do scores: a heap with lazy re-scoring gives the exact
/// order. Waiting jobs with equal demands and speeds form a group, of which only the shortest needs a score.
/// A decision costs O(nodes + groups x nodes that have changed since the last), and O(nodes + log groups) for
/// each job started and for each group whose best node was taken.
class TetrisDispatcher {
 public:
  explicit TetrisDispatcher(TetrisOptions options = {}) noexcept : options_(options) {}

  std::string_view name() const noexcept {
    if (!(options_.remaining_weight > 0.0)) return "tetris";
    return options_.remaining == RemainingMeasure::kTime ? "tetris-srtf" : "tetris-volume";
  }

  void enter(Dispatch& dispatch, JobSlot slot) {
    const ActiveJob& job = dispatch.job(slot);
    const auto [found, added] = index_.try_emplace({job.demand_class, job.job.type_speed}, groups_.size());
    if (added) open_group(dispatch, job);
    if (slot >= group_of_.size()) group_of_.resize(slot + std::size_t{1}, {kNobody, {}});
    const Waiting waiting{detail::expected_remaining_s(dispatch, job), job.sequence, slot};
    group_of_[slot] = {found->second, waiting};
    Group& group = groups_[found->second];
    group.jobs.insert(waiting);
    group.remaining_s += waiting.remaining_s;
  }
  void leave(Dispatch&, JobSlot slot) { forget(slot); }

  void decide(Dispatch& dispatch) {
    const FreeResources& free = dispatch.free();
    look_at_nodes(free);
    double alignment = 0.0, remaining = 0.0;
    for (Group& group : groups_) {
      if (group.jobs.empty()) continue;
      refresh(free, group);
      double best = -1.0;
      for (const Best& of_type : group.best) best = std::max(best, of_type.alignment);
      if (best < 0.0) continue;
      alignment += best * static_cast<double>(group.jobs.size());
      remaining += group.remaining_s * group.factor;
    }
    factor_ = remaining > 0.0 ? options_.remaining_weight * alignment / remaining : 0.0;
    heap_.clear();
    for (std::size_t g = 0; g < groups_.size(); ++g) push(g);
    std::make_heap(heap_.begin(), heap_.end());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Candidate stale = heap_.back();
      heap_.pop_back();
      Group& group = groups_[stale.group];
      refresh(free, group);
      if (!push(stale.group)) continue;
      if (!(heap_.back() < stale)) {
        const Candidate best = heap_.back();
        heap_.pop_back();
        if (!start(dispatch, group, best)) continue;
        if (!push(stale.group)) continue;
      }
      std::push_heap(heap_.begin(), heap_.end());
    }
  }

 private:
  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kSlots = static_cast<std::size_t>(kMaxDeviceTypes);

  struct Waiting {
    double remaining_s = 0.0;
    std::uint64_t sequence = 0;
    JobSlot slot = 0;
    friend bool operator<(const Waiting& a, const Waiting& b) noexcept {
      return a.remaining_s < b.remaining_s || (a.remaining_s == b.remaining_s && a.sequence < b.sequence);
    }
  };
  // The best node of a type for a group; of one without devices: of all nodes, as type 0.
  struct Best {
    double alignment = -1.0;  // below 0: it fits nowhere
    std::size_t node = 0;
    bool stale = true;  // the node has changed: an upper bound
  };
  struct Group {
    PlacementDemand demand;
    std::array<double, kSlots> speed{};
    double factor = 1.0;  // of the remaining time
    bool spread = false;  // larger than any node
    std::set<Waiting> jobs;
    double remaining_s = 0.0;  // of all of them together
    std::array<Best, kSlots> best{};
  };
  struct Candidate {
    double score = 0.0;
    std::uint64_t sequence = 0;
    std::size_t group = 0, type = 0;
    bool operator<(const Candidate& other) const noexcept {  // the top of the heap is the largest
      return score < other.score || (score == other.score && sequence > other.sequence);
    }
  };

  void open_group(const Dispatch& dispatch, const ActiveJob& job) {
    Group& group = groups_.emplace_back();
    group.demand = job.demand;
    for (std::size_t t = 0; t < kSlots; ++t) group.speed[t] = job.job.type_speed[t];
    if (job.demand.devices == 0) group.speed[0] = 1.0;
    const auto& nodes = dispatch.platform().nodes;
    if (options_.remaining == RemainingMeasure::kVolume) group.factor = part_of_platform(nodes, job.demand);
    group.spread = job.demand.devices > 1 && std::none_of(nodes.begin(), nodes.end(), [&](const Node& node) {
                     return node.devices >= job.demand.devices && (job.demand.types >> node.type & 1u) != 0;
                   });
  }
  static double part_of_platform(const std::vector<Node>& nodes, const PlacementDemand& demand) noexcept {
    double gpus = 0.0, cpu = 0.0, memory = 0.0;
    for (const Node& node : nodes) {
      gpus += 1000.0 * node.devices;
      cpu += static_cast<double>(node.cpu.value);
      memory += static_cast<double>(node.memory_mib);
    }
    const auto part = [](std::int64_t asked, double there) {
      return there > 0.0 ? static_cast<double>(asked) / there : 0.0;
    };
    return part(demand.gpus().value, gpus) + part(demand.cpu.value, cpu) + part(demand.memory_mib, memory);
  }
  void forget(JobSlot slot) {
    if (slot >= group_of_.size() || group_of_[slot].first == kNobody) return;
    Group& group = groups_[group_of_[slot].first];
    group.jobs.erase(group_of_[slot].second);
    group.remaining_s = group.jobs.empty() ? 0.0 : group.remaining_s - group_of_[slot].second.remaining_s;
    group_of_[slot].first = kNobody;
  }

  static std::size_t slot_of(const FreeResources& free, const Group& group, std::size_t node) noexcept {
    return group.demand.devices == 0 ? 0 : static_cast<std::size_t>(std::countr_zero(free.type_bit(node)));
  }
  bool fits(const FreeResources& free, const Group& group, std::size_t node) const noexcept {
    return !group.spread && free.can_host(node, group.demand, group.demand.devices);
  }

  // What changed since the last look becomes known to every group.
  void look_at_nodes(const FreeResources& free) {
    changed_.clear();
    seen_.resize(free.size(), ~std::uint64_t{0});
    for (std::size_t node = 0; node < free.size(); ++node) {
      const std::uint64_t print = free.fingerprint(node);
      if (print != seen_[node]) changed_.push_back(node);
      seen_[node] = print;
    }
    for (Group& group : groups_) {
      if (group.jobs.empty() || group.spread) {
        // Nobody asks now, or asks for several nodes: all is looked at again when needed.
        for (Best& best : group.best) best = {};
        continue;
      }
      for (const std::size_t node : changed_) notice(free, group, node);
    }
  }
  void notice(const FreeResources& free, Group& group, std::size_t node) noexcept {
    if (group.demand.devices > 0 && (free.type_bit(node) & group.demand.types) == 0) return;
    Best& best = group.best[slot_of(free, group, node)];
    if (best.alignment >= 0.0 && best.node == node) best.stale = true;
    if (best.stale || !fits(free, group, node)) return;
    const double alignment = node_alignment(free, group.demand, node, group.demand.devices);
    if (alignment > best.alignment || (alignment == best.alignment && node < best.node))
      best = {alignment, node, false};
  }

  void refresh(const FreeResources& free, Group& group) {
    for (std::size_t t = 0; t < kSlots; ++t)
      if (group.best[t].stale) rescan(free, group, t);
  }
  void rescan(const FreeResources& free, Group& group, std::size_t type) {
    Best& best = group.best[type];
    best = {-1.0, 0, false};
    const bool typed = group.demand.devices > 0;
    if (typed ? (group.demand.types >> type & 1u) == 0 : type != 0) return;
    if (group.spread) {
      if (!gather(free, group, type)) return;
      double sum = 0.0;
      for (const NodeShare& share : placement_.shares)
        sum += node_alignment(free, group.demand, share.node, share.device_count());
      best.alignment = sum / static_cast<double>(placement_.shares.size());
      return;
    }
    for (std::size_t node = 0; node < free.size(); ++node) {
      if ((typed && free.type_bit(node) != std::uint32_t{1} << type) || !fits(free, group, node)) continue;
      const double alignment = node_alignment(free, group.demand, node, group.demand.devices);
      if (alignment > best.alignment) best = {alignment, node, false};
    }
  }
  bool gather(const FreeResources& free, const Group& group, std::size_t type) {
    PlacementDemand demand = group.demand;
    demand.types = std::uint32_t{1} << type;
    return detail::gather(free, demand, detail::IndexRange{free.size()}, true, placement_);
  }

  // Puts the group's best candidate behind the heap; false when it has none.
  bool push(std::size_t g) {
    const Group& group = groups_[g];
    if (group.jobs.empty()) return false;
    const Waiting& first = *group.jobs.begin();
    Candidate best{-std::numeric_limits<double>::infinity(), first.sequence, g, kSlots};
    for (std::size_t t = 0; t < kSlots; ++t) {
      if (group.best[t].alignment < 0.0 || !(group.speed[t] > 0.0)) continue;
      const double score =
          group.best[t].alignment - factor_ * group.factor * (first.remaining_s / group.speed[t]);
      if (best.type == kSlots || score > best.score) {
        best.score = score;
        best.type = t;
      }
    }
    if (best.type == kSlots) return false;
    heap_.push_back(best);
    return true;
  }

  // Starts the group's first job and tells all groups whose best node is another now.
  bool start(Dispatch& dispatch, Group& group, const Candidate& candidate) {
    const FreeResources& free = dispatch.free();
    if (group.spread) {
      if (!gather(free, group, candidate.type)) return false;
    } else {
      placement_.clear();
      free.give(group.best[candidate.type].node, group.demand, group.demand.devices, placement_);
    }
    const JobSlot slot = group.jobs.begin()->slot;
    if (!dispatch.start(slot, placement_)) return false;
    forget(slot);
    for (const NodeShare& share : placement_.shares) {
      seen_[share.node] = free.fingerprint(share.node);
      for (Group& other : groups_)
        for (Best& best : other.best)
          if (other.spread || (best.alignment >= 0.0 && best.node == share.node)) best.stale = true;
    }
    refresh(free, group);
    return true;
  }

  TetrisOptions options_;
  std::map<std::pair<std::uint32_t, std::array<double, kSlots>>, std::size_t> index_;
  std::vector<Group> groups_;                              // in order of first sight
  std::vector<std::pair<std::size_t, Waiting>> group_of_;  // by slot
  std::vector<std::uint64_t> seen_;                        // fingerprints of nodes
  std::vector<std::size_t> changed_;
  std::vector<Candidate> heap_;
  double factor_ = 0.0;
  Placement placement_;
};

}  // namespace mara
