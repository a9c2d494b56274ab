#pragma once
// The jobs of a run as comma-separated text.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "mara/cluster/cluster.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/records.hpp"
#include "mara/workload/csv_text.hpp"

namespace mara {

/// Writes one line per job in simulation order: policy,job,submit,start,end,gpus,type. job is Job::id; times
/// are in seconds, the shortest decimals that read back as the same double; gpus and type are those of the
/// last grant. start, gpus and type are empty for a job that never started, end for one that did not finish.
/// `header` adds the line of column names. Errors: kIo when the stream fails.
inline Status write_jobs_csv(std::ostream& out, std::string_view policy, const SimulationResult& result,
                             const Cluster& cluster, bool header) {
  if (header) out << "policy,job,submit,start,end,gpus,type\n";
  const std::string policy_field = csv_field(policy);
  std::string line;
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    const JobRecord& record = result.records[i];
    const Grant grant = record.last_grant;
    line = policy_field + "," + std::to_string(result.jobs[i].id) + "," +
           format_number(result.jobs[i].submit_s) + ",";
    if (record.started) line += format_number(record.start_s);
    line += ',';
    if (record.finished) line += format_number(record.end_s);
    line += ',';
    if (!grant.empty()) line += gpus_text(grant.gpus);
    line += ',';
    if (grant.type >= 0 && grant.type < cluster.type_count())
      line += csv_field(cluster.types[static_cast<std::size_t>(grant.type)].name);
    line += '\n';
    out << line;
  }
  out.flush();
  if (!out) return Error{ErrorCode::kIo, "jobs of policy '" + std::string(policy) + "': the stream failed"};
  return {};
}

}  // namespace mara
