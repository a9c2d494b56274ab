#pragma once
// Placement by scores of nodes: best fit, worst fit, Tetris, fragmentation gradient descent; and random.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/libm.hpp"
#include "mara/schedule/fragmentation.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/place_random.hpp"

namespace mara {

/// A node's score for a demand that it can hold; for a share of a device, or one slice, also which device
/// (-1: the tightest).
struct NodeScore {
  double score = 0.0;
  int device = -1;
};

/// A score of nodes; the highest wins. kOfNodeAlone: the score depends on the demand and on what is free on
/// the node and on nothing else, so that it may be kept until the node changes.
template <class S>
concept NodeScoring = requires(S scoring, const FreeResources& free, const PlacementDemand& demand,
                               std::size_t node) {
  { scoring.name() } -> std::convertible_to<std::string_view>;
  { S::kOfNodeAlone } -> std::convertible_to<bool>;
  { scoring.score(free, demand, node) } -> std::same_as<NodeScore>;
};

/// The node with the highest score among those that can hold the demand (ties: the lowest node). Demands that
/// no node could ever hold get wholly free nodes, as Consolidated gives them. Cost: O(nodes), and a score for
/// each node that has changed since a demand of this kind was last placed.
template <NodeScoring Scoring>
class ScoredPlacement {
 public:
  ScoredPlacement() = default;
  explicit ScoredPlacement(Scoring scoring) : scoring_(std::move(scoring)) {}

  std::string_view name() const noexcept { return scoring_.name(); }
  Scoring& scoring() noexcept { return scoring_; }

  bool place(const FreeResources& free, const PlacementDemand& demand, Placement& placement) {
    placement.clear();
    if (demand.devices > 0 && free.free_milli() < demand.gpus().value) return false;
    const std::size_t nodes = free.size();
    std::size_t best = nodes;
    NodeScore highest{kNowhere, -1};
    if constexpr (Scoring::kOfNodeAlone) {
      std::vector<Kept>& kept = kept_scores(demand, nodes);
      for (std::size_t node = 0; node < nodes; ++node) {
        Kept& entry = kept[node];
        const std::uint64_t fingerprint = free.fingerprint(node);
        if (entry.fingerprint != fingerprint || !entry.known) {
          entry.score = score_of(free, demand, node);
          entry.fingerprint = fingerprint;
          entry.known = true;
        }
        if (!(entry.score.score > highest.score)) continue;
        highest = entry.score;
        best = node;
      }
    } else {
      for (std::size_t node = 0; node < nodes; ++node) {
        const NodeScore score = score_of(free, demand, node);
        if (!(score.score > highest.score)) continue;
        highest = score;
        best = node;
      }
    }
    if (best == nodes) {
      if (demand.devices <= 1 || largest_node(free, demand) >= demand.devices) return false;
      return detail::gather(free, demand, detail::IndexRange{free.size()}, true, placement);
    }
    free.give(best, demand, demand.devices, placement, highest.device);
    return true;
  }

 private:
  struct Kept {
    std::uint64_t fingerprint = 0;
    NodeScore score;
    bool known = false;
  };
  static constexpr double kNowhere = -std::numeric_limits<double>::infinity();

  // Of a node that cannot hold the demand: kNowhere.
  NodeScore score_of(const FreeResources& free, const PlacementDemand& demand, std::size_t node) {
    return free.can_host(node, demand, demand.devices) ? scoring_.score(free, demand, node)
                                                       : NodeScore{kNowhere, -1};
  }

  static int largest_node(const FreeResources& free, const PlacementDemand& demand) noexcept {
    int largest = 0;
    for (std::size_t node = 0; node < free.size(); ++node)
      if ((free.type_bit(node) & demand.types) != 0) largest = std::max(largest, free.capacity(node, demand));
    return largest;
  }
  std::vector<Kept>& kept_scores(const PlacementDemand& demand, std::size_t nodes) {
    std::vector<Kept>& kept = kept_[demand];
    if (kept.size() != nodes) kept.assign(nodes, {});
    return kept;
  }

  Scoring scoring_;
  std::map<PlacementDemand, std::vector<Kept>> kept_;
};

/// Best fit: the node that is left with the least, CPU and GPU counting half each: floor(100 (1 - CPU left /
/// (2 cpu_unit) - GPU left / (2 gpu_unit))), the tightest device (the baseline of Weng et al., ATC'23; whole
/// hundredths, so that near-equals are ties).
struct BestFitScoring {
  double cpu_unit = 128000.0;  ///< milli
  double gpu_unit = 8000.0;    ///< milli

  static constexpr bool kOfNodeAlone = true;
  static constexpr std::string_view name() noexcept { return "best-fit"; }
  NodeScore score(const FreeResources& free, const PlacementDemand& demand, std::size_t node) const noexcept {
    std::int64_t gpu = -demand.gpus().value;
    for (const std::int16_t left : free.device_free(node)) gpu += left;
    const double cpu = static_cast<double>((free.cpu(node) - demand.cpu).value);
    return {std::trunc(100.0 * (1.0 - 0.5 * cpu / cpu_unit - 0.5 * static_cast<double>(gpu) / gpu_unit)), -1};
  }
};

/// The node with the fewest free milli-GPU, so that whole nodes stay free for large jobs (case S14).
struct PackingScoring {
  static constexpr bool kOfNodeAlone = true;
  static constexpr std::string_view name() noexcept { return "packing"; }
  NodeScore score(const FreeResources& free, const PlacementDemand&, std::size_t node) const noexcept {
    std::int64_t gpu = 0;
    for (const std::int16_t left : free.device_free(node)) gpu += left;
    return {-static_cast<double>(gpu), -1};
  }
};

/// The node with the most free milli-GPU: spreads the load.
struct SpreadingScoring {
  static constexpr bool kOfNodeAlone = true;
  static constexpr std::string_view name() noexcept { return "spreading"; }
  NodeScore score(const FreeResources& free, const PlacementDemand& demand, std::size_t node) const noexcept {
    return {-PackingScoring{}.score(free, demand, node).score, -1};
  }
};

/// Tetris: dot product of the demand and what is free, each resource divided by the node's capacity (Grandl
/// et al., "Multi-resource packing for cluster schedulers", SIGCOMM'14). A resource of which the node has
/// none counts 0.
struct TetrisScoring {
  static constexpr bool kOfNodeAlone = true;
  static constexpr std::string_view name() noexcept { return "tetris"; }
  NodeScore score(const FreeResources& free, const PlacementDemand& demand, std::size_t node) const noexcept {
    std::int64_t gpu = 0;
    for (const std::int16_t left : free.device_free(node)) gpu += left;
    const auto term = [](std::int64_t asked, std::int64_t left, std::int64_t there) {
      if (there <= 0) return 0.0;
      const double capacity = static_cast<double>(there);
      return (static_cast<double>(asked) / capacity) * (static_cast<double>(left) / capacity);
    };
    return {term(demand.gpus().value, gpu, std::int64_t{1000} * free.devices(node)) +
                term(demand.cpu.value, free.cpu(node).value, free.cpu_capacity(node).value) +
                term(demand.memory_mib, free.memory_mib(node), free.memory_capacity(node)),
            -1};
  }
};

/// Fragmentation gradient descent (Weng et al., ATC'23): the place at which the expected fragmentation grows
/// least. Score: floor(100 sigmoid((F before - F after) / 1000)); for a share of a device the best device
/// (ties: the lowest).
class FragmentationScoring {
 public:
  FragmentationScoring() : fragmentation_({}) {}
  explicit FragmentationScoring(std::vector<TypicalDemand> mix) : fragmentation_(std::move(mix)) {}

  static constexpr bool kOfNodeAlone = true;
  static constexpr std::string_view name() noexcept { return "fgd"; }

  NodeScore score(const FreeResources& free, const PlacementDemand& demand, std::size_t node) {
    NodeFree state(free, node);
    const double before = fragmentation_(state);
    state.cpu -= demand.cpu.value;
    if (demand.devices == 0) return {rank(before - fragmentation_(state)), -1};
    if (demand.profile != kNoMigProfile) return score_slices(free, demand, node, state, before);
    if (demand.share == 1000) {
      std::int32_t left = demand.devices;
      for (int d = 0; d < state.devices && left > 0; ++d) {
        std::int16_t& device = state.free[static_cast<std::size_t>(d)];
        if (device < 1000) continue;
        device = 0;
        --left;
      }
      return {rank(before - fragmentation_(state)), -1};
    }
    NodeScore best{-std::numeric_limits<double>::infinity(), -1};
    for (int d = 0; d < state.devices; ++d) {
      std::int16_t& device = state.free[static_cast<std::size_t>(d)];
      if (device < demand.share || seen_before(state, d)) continue;
      device = static_cast<std::int16_t>(device - demand.share);
      const double score = rank(before - fragmentation_(state));
      device = static_cast<std::int16_t>(device + demand.share);
      if (score > best.score) best = {score, d};
    }
    return best;
  }

  const Fragmentation& fragmentation() const noexcept { return fragmentation_; }

 private:
  // One slice: the best device. Several: where they would go.
  MARA_FOR_SLICES NodeScore score_slices(const FreeResources& free, const PlacementDemand& demand,
                                         std::size_t node, NodeFree& state, double before) {
    NodeScore best{-std::numeric_limits<double>::infinity(), -1};
    for (int d = 0; d < state.devices && demand.devices == 1; ++d) {
      if (seen_before(state, d) || free.slices(node, demand, 1, d) == 0) continue;
      placement_.clear();
      free.give(node, demand, 1, placement_, d);
      const std::int16_t milli = state.free[static_cast<std::size_t>(d)];
      const MigUse use = state.use[static_cast<std::size_t>(d)];
      state.take(placement_.shares.front());
      const double score = rank(before - fragmentation_(state));
      state.free[static_cast<std::size_t>(d)] = milli;
      state.use[static_cast<std::size_t>(d)] = use;
      if (score > best.score) best = {score, d};
    }
    if (demand.devices == 1) return best;
    placement_.clear();
    free.give(node, demand, demand.devices, placement_);
    for (const NodeShare& slice : placement_.shares) state.take(slice);
    return {rank(before - fragmentation_(state)), -1};
  }
  static double rank(double gain) noexcept { return std::trunc(100.0 / (1.0 + libm::exp(-gain / 1000.0))); }
  // Devices with equally much left are interchangeable.
  static bool seen_before(const NodeFree& state, int device) noexcept {
    for (int d = 0; d < device; ++d)
      if (state.free[static_cast<std::size_t>(d)] == state.free[static_cast<std::size_t>(device)] &&
          (state.mig == nullptr ||
           state.use[static_cast<std::size_t>(d)] == state.use[static_cast<std::size_t>(device)]))
        return true;
    return false;
  }

  Fragmentation fragmentation_;
  Placement placement_;
};

}  // namespace mara
