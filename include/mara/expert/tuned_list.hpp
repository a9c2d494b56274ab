#pragma once
// The parameters of the list scheduler that ship.

#include "mara/expert/list_scheduler.hpp"

namespace mara {

/// Found by minimise_cross_entropy() (population 64, elite 10, 25 iterations, 8 new workloads each, cost:
/// mean log ratio of the mean JCT to that of heSRPT) from a start made by hand, on workloads fitted to the
/// first 60 % of the Philly trace muri_trace3.csv at 0.5 to 1.2 times its rate, on the default cluster (three
/// types, 32 GPUs each). `mara-lab tune` goes on from here for other workloads.
inline constexpr ListParameters kTunedListParameters{{0.3650, 0.0437, 0.3122, -0.0538, 0.2058, 0.4700,
                                                      -0.1077, 0.4212, 0.1255, -0.1616, -0.4493, -0.1194,
                                                      -0.2361, -0.1493, 0.1967, -0.1051}};

}  // namespace mara
