#pragma once
// Extents of mixers: how values of single agents become a value of the team.

#include <cstddef>
#include <vector>

namespace mara {

/// Defaults are those of QMIX (Rashid et al. 2018, section 5 and appendix C) and of weighted QMIX (Rashid et
/// al. 2020, appendix). Mixers read what concerns them.
struct MixerConfig {
  std::size_t width = 32;  ///< units of the mixing network of QMIX
  std::vector<std::size_t>
      hyper_hidden{};  ///< hidden widths of the networks that make its weights; none: linear
  std::vector<std::size_t> central_hidden{256, 256};  ///< of the unrestricted mixer of weighted QMIX
};

}  // namespace mara
