// What the comparisons with peers share.

#include "peers.hpp"

#include <algorithm>
#include <cmath>

#include "mara/core/check_finite.hpp"
#include "peer_run.hpp"

namespace lab {

void PeerCheck::compare(double ours, double theirs, const std::string& label) {
  ++compared;
  const double error = std::fabs(ours - theirs);
  // Not "error > tolerance": a NaN is a mismatch.
  if (!(error <= tolerance)) {
    if (mismatches++ == 0)
      first_mismatch = label + ": " + mara::format_number(ours) + ", expected " + mara::format_number(theirs);
  }
  largest_error = std::max(largest_error, error);
}

void PeerCheck::compare(const std::string& ours, const std::string& theirs, const std::string& label) {
  ++compared;
  if (ours == theirs) return;
  if (mismatches++ == 0) first_mismatch = label + ": " + ours + ", expected " + theirs;
}

mara::Status compare_columns(const std::string& golden, std::vector<PeerColumn>& columns) {
  return for_each_golden(golden, [&](mara::Csv& csv) -> mara::Status {
    const auto id = csv.integer("job_id", 0, INT64_MAX);
    if (!id) return id.error();
    for (PeerColumn& column : columns) {
      const auto found = column.ours.find(*id);
      const PeerTimes none;
      const PeerTimes& times = found == column.ours.end() ? none : found->second;
      const std::string label = "job " + std::to_string(*id);
      const auto start = golden_number(csv, column.plain ? column.name : column.name + "_start");
      if (!start) return start.error();
      column.check.compare(times.started ? times.start_s : std::nan(""), *start, label + " start");
      if (column.plain) continue;
      const auto end = golden_number(csv, column.name + "_end");
      if (!end) return end.error();
      column.check.compare(times.started ? times.end_s : std::nan(""), *end, label + " end");
    }
    return {};
  });
}

}  // namespace lab
