#pragma once
// Independent simulators of the field, as configurations of mara's engine, and how its results compare with
// theirs.

#include <cstddef>
#include <string>
#include <vector>

#include "mara/core/result.hpp"

namespace lab {

/// One column of a peer's output beside ours.
struct PeerCheck {
  std::string peer{};  ///< "P1 Batsim"
  std::string what{};  ///< the policy
  std::string unit{};  ///< of the errors and the tolerance
  std::size_t compared = 0, mismatches = 0;
  double largest_error = 0.0, tolerance = 0.0;
  std::string first_mismatch{};  ///< empty when there is none

  /// Counts one comparison; `label` names it if it is the first mismatch.
  void compare(double ours, double theirs, const std::string& label);
  /// The same for things that are equal or not.
  void compare(const std::string& ours, const std::string& theirs, const std::string& label);
};

/// Where the inputs and the peers' outputs are.
struct PeerFolders {
  std::string traces, golden;
};

using PeerChecks = mara::Result<std::vector<PeerCheck>>;

PeerChecks check_batsim(const PeerFolders& folders);    ///< P1: EASY and conservative, starts and machines
PeerChecks check_muri(const PeerFolders& folders);      ///< P2: SRTF, SRSF, LAS, with and without overheads
PeerChecks check_tiresias(const PeerFolders& folders);  ///< P3: FIFO, first job that fits, shortest
PeerChecks check_deeprm(const PeerFolders& folders);    ///< P4: SJF and Packer behind a window
PeerChecks check_rlscheduler(const PeerFolders& folders);  ///< P5: FCFS, SJF, F1, with and without backfill
PeerChecks check_fgd(const PeerFolders& folders);          ///< P6: fragmentation, allocation ratios

}  // namespace lab
