#pragma once
// Activation functions that the dense kernels fuse.

#include <cmath>
#include <cstddef>

namespace mara {

/// What follows the affine map of a dense layer.
enum class Activation { kIdentity, kTanh, kRelu };

}  // namespace mara
