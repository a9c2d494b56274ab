#pragma once
// A bounded memory of pieces of episodes, drawn uniformly or by priority.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/random.hpp"
#include "mara/learning/sequence.hpp"
#include "mara/learning/sum_tree.hpp"

namespace mara {

/// A ring of at most `capacity` pieces; the oldest makes room for the newest. With alpha > 0 pieces are drawn
/// in proportion to priority^alpha (Schaul et al., "Prioritized experience replay", ICLR 2016, section 3.3),
/// otherwise uniformly; with replacement in both cases. Memory: capacity times SequenceArrays::bytes(shape,
/// 1), grown as the ring fills, plus the tree of priorities.
class SequenceReplay {
 public:
  SequenceReplay() = default;
  /// Errors (kInvalidArgument): capacity or steps of 0, alpha outside [0, 1], more than 2^40 bytes.
  static Result<SequenceReplay> create(const SequenceShape& shape, std::size_t capacity, double alpha = 0.0) {
    const auto bad = [](const std::string& field, const std::string& value, const char* rule) {
      return Error{ErrorCode::kInvalidArgument, "replay: " + field + " = " + value + ", " + rule};
    };
    if (capacity == 0) return bad("capacity", "0", "at least 1 is needed");
    if (shape.steps == 0) return bad("steps", "0", "at least 1 is needed");
    if (!(alpha >= 0.0 && alpha <= 1.0)) return bad("alpha", std::to_string(alpha), "not in [0, 1]");
    const double bytes = static_cast<double>(SequenceArrays::bytes(shape, 1)) * static_cast<double>(capacity);
    if (bytes > 0x1p40) return bad("capacity", std::to_string(capacity), "would take more than 2^40 bytes");
    SequenceReplay replay;
    replay.shape_ = shape;
    replay.capacity_ = capacity;
    replay.alpha_ = alpha;
    if (alpha > 0.0) replay.tree_ = SumTree(capacity);
    return replay;
  }

  const SequenceShape& shape() const noexcept { return shape_; }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t size() const noexcept { return size_; }
  bool prioritised() const noexcept { return alpha_ > 0.0; }
  /// Bytes of all pieces and priorities once the ring is full.
  std::size_t bytes() const noexcept {
    return SequenceArrays::bytes(shape_, capacity_) + (prioritised() ? tree_.bytes() : 0);
  }
  const SumTree& tree() const noexcept { return tree_; }

  /// Adds a piece of the same shape. It gets the largest priority there has been, so that it is seen once.
  void add(const Sequence& piece) {
    if (size_ < capacity_) grow(size_ + 1);
    const std::size_t place = next_;
    SequenceArrays::visit(
        shape_,
        [place](const char*, std::size_t times, std::size_t width, const auto& from, auto& to) {
          std::copy(from.begin(), from.end(),
                    to.begin() + static_cast<std::ptrdiff_t>(place * times * width));
        },
        piece.arrays(), arrays_);
    if (prioritised()) tree_.set(place, largest_);
    next_ = (next_ + 1) % capacity_;
    size_ = std::min(size_ + 1, capacity_);
  }

  /// Draws `count` pieces into `batch`. By priority: one from each of `count` equal stretches of the sum,
  /// with importance weights (size P)^-beta divided by the largest one that a stored piece could have.
  /// Uniformly: weights 1. Errors (kState): nothing is stored.
  Status sample(Random& random, std::size_t count, double beta, SequenceBatch& batch) const {
    if (size_ == 0) return Error{ErrorCode::kState, "replay: nothing is stored, so nothing can be drawn"};
    batch.count = count;
    batch.places.resize(count);
    batch.importance.assign(count, 1.0f);
    if (prioritised()) {
      const double stretch = tree_.total() / static_cast<double>(count);
      for (std::size_t b = 0; b < count; ++b) {
        const std::size_t place = tree_.find((static_cast<double>(b) + random.uniform()) * stretch);
        batch.places[b] = place;
        batch.importance[b] = static_cast<float>(std::pow(tree_.smallest() / tree_.priority(place), beta));
      }
    } else {
      for (std::size_t& place : batch.places) place = static_cast<std::size_t>(random.below64(size_));
    }
    gather(batch);
    return {};
  }

  /// Fills the arrays of `batch` from batch.places.
  void gather(SequenceBatch& batch) const {
    const std::size_t count = batch.count = batch.places.size();
    SequenceArrays::visit(
        shape_,
        [&](const char*, std::size_t times, std::size_t width, const auto& from, auto& to) {
          to.resize(times * count * width);
          for (std::size_t t = 0; t < times; ++t)
            for (std::size_t b = 0; b < count; ++b)
              std::copy_n(from.data() + (batch.places[b] * times + t) * width, width,
                          to.data() + (t * count + b) * width);
        },
        arrays_, static_cast<SequenceArrays&>(batch));
  }

  /// New priorities of pieces that were drawn, say errors; 1e-6 is added so that none becomes impossible. One
  /// that is not finite counts as the largest so far. Without alpha nothing happens.
  void set_priorities(std::span<const std::size_t> places, std::span<const double> priorities) {
    if (!prioritised()) return;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double raised = std::pow(std::fabs(priorities[i]) + 1e-6, alpha_);
      const double priority = std::isfinite(raised) ? raised : largest_;
      largest_ = std::max(largest_, priority);
      tree_.set(places[i], priority);
    }
  }

  void save(ArchiveWriter& out) const {
    out.put_value("replay_size", static_cast<std::uint64_t>(size_));
    out.put_value("replay_next", static_cast<std::uint64_t>(next_));
    SequenceArrays::visit(
        shape_,
        [&](const char* name, std::size_t times, std::size_t width, const auto& values) {
          out.put(name, std::span(values.data(), size_ * times * width));
        },
        arrays_);
    if (!prioritised()) return;
    out.put_value("largest_priority", largest_);
    out.put("priorities", tree_.priorities().first(size_));
  }
  /// Reads what a replay of the same shape saved into this one, which is as create() made it. Errors: those
  /// of the archive, kParse when places or extents do not fit. The content is undefined after an error.
  Status load(ArchiveReader& in) {
    std::uint64_t size = 0, next = 0;
    Status status = in.get_value("replay_size", size);
    if (status) status = in.get_value("replay_next", next);
    if (!status) return status;
    if (size > capacity_ || next >= capacity_ || (size < capacity_ && next != size))
      return Error{ErrorCode::kParse, "replay: size = " + std::to_string(size) + ", next = " +
                                          std::to_string(next) + ", capacity " + std::to_string(capacity_)};
    SequenceArrays::visit(
        shape_,
        [&](const char* name, std::size_t times, std::size_t width, auto& values) {
          values.resize(static_cast<std::size_t>(size) * times * width);
          if (status) status = in.get_exact(name, std::span(values.data(), values.size()));
        },
        arrays_);
    if (status && prioritised()) {
      std::vector<double> priorities(static_cast<std::size_t>(size));
      status = in.get_value("largest_priority", largest_);
      if (status) status = in.get_exact("priorities", std::span<double>(priorities));
      for (std::size_t i = 0; i < priorities.size(); ++i) tree_.set(i, priorities[i]);
    }
    if (!status) return status;
    for (const std::uint32_t length : arrays_.lengths)
      if (length == 0 || length > shape_.steps)
        return Error{ErrorCode::kParse, "replay: a piece of " + std::to_string(length) + " steps"};
    size_ = static_cast<std::size_t>(size);
    next_ = static_cast<std::size_t>(next);
    return {};
  }

 private:
  /// Room for `pieces` pieces: doubles, and never takes more than the capacity.
  void grow(std::size_t pieces) {
    if (pieces <= arrays_.lengths.size()) return;
    const std::size_t room = std::min(capacity_, std::max<std::size_t>(16, 2 * arrays_.lengths.size()));
    SequenceArrays::visit(
        shape_,
        [room](const char*, std::size_t times, std::size_t width, auto& values) {
          values.reserve(room * times * width);
        },
        arrays_);
    arrays_.resize(shape_, std::max(pieces, room));
  }

  SequenceShape shape_;
  std::size_t capacity_ = 0, size_ = 0, next_ = 0;
  double alpha_ = 0.0, largest_ = 1.0;
  SequenceArrays arrays_;
  SumTree tree_;
};

}  // namespace mara
