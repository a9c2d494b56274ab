#pragma once
// Counts what the whole test program allocates, so that no call can hide.

#include <cstddef>

namespace mara::test {

/// Calls of operator new so far, all threads together.
std::size_t allocations() noexcept;

}  // namespace mara::test
