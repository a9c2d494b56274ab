#pragma once
// Several choices as one: every combination of options is an option of its own.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mara/action/masked_categorical.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// All combinations of the options of some heads, numbered with the last head fastest. At most 32, since
/// masks have so many bits.
class FlatOptions {
 public:
  /// One combination, of no head.
  FlatOptions() = default;
  /// `heads`: options of each. Errors (kInvalidArgument): a head without options, more than 32 combinations.
  static Result<FlatOptions> create(std::vector<int> heads) {
    FlatOptions made;
    for (const int n : heads) {
      if (n < 1) return Error{ErrorCode::kInvalidArgument, "a head of " + std::to_string(n) + " options"};
      if (n > 32 || made.count_ * n > 32)
        return Error{ErrorCode::kInvalidArgument, "more than 32 combinations of the options of " +
                                                      std::to_string(heads.size()) + " heads"};
      made.count_ *= n;
    }
    made.heads_ = std::move(heads);
    return made;
  }

  int count() const noexcept { return count_; }
  const std::vector<int>& heads() const noexcept { return heads_; }
  /// The combinations all of whose options are legal; head_mask(h) -> OptionMask of head h.
  template <class HeadMask>
  OptionMask mask(HeadMask&& head_mask) const {
    // From the first head to the last, every legal prefix is followed by every legal option.
    OptionMask flat = 1u;
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      const OptionMask own =
          head_mask(h) & (heads_[h] >= 32 ? ~OptionMask{0} : (OptionMask{1} << heads_[h]) - 1u);
      OptionMask longer = 0;
      for (OptionMask left = flat; left != 0; left &= left - 1)
        longer |= own << (std::countr_zero(left) * heads_[h]);
      flat = longer;
    }
    return flat;
  }
  /// Writes the option of every head that makes up combination `flat`.
  void split(std::int32_t flat, std::int32_t* options) const noexcept {
    for (std::size_t h = heads_.size(); h-- > 0; flat /= heads_[h]) options[h] = flat % heads_[h];
  }

 private:
  std::vector<int> heads_;
  int count_ = 1;
};

}  // namespace mara
