// Jobs of a trace that ask for slices: the column, the work, the errors.
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/cluster/platform_text.hpp"
#include "mara/simulation/platform_records.hpp"
#include "mara/workload/read_csv.hpp"
#include "mara/workload/rigid_jobs.hpp"
#include "mara/workload/write_csv.hpp"

using namespace mara;

namespace {

Trace parsed(const std::string& text) {
  auto trace = parse_trace_csv(text, "t.csv");
  INFO((trace ? "" : trace.error().message));
  REQUIRE(trace.has_value());
  return std::move(*trace);
}
std::string refused(const std::string& text, const char* platform = "a100%mig:2x1") {
  const auto trace = parse_trace_csv(text, "t.csv");
  if (!trace) return trace.error().message;
  const auto jobs = rigid_jobs(*trace, parse_platform(platform).value());
  REQUIRE(!jobs.has_value());
  return jobs.error().message;
}

}  // namespace

TEST_CASE("mig_profile in a trace: there and back") {
  const Trace trace = parsed(
      "id,submit,duration,gpus,types,mig_profile\n"
      "1,0,70,1,,3g\n2,1,70,2,a100|h100,1g\n3,2,70,0.5,v100,\n4,3,70,1,,\n");
  CHECK(trace.jobs[0].allowed_types == "%3g");
  CHECK(trace.jobs[1].allowed_types == "a100|h100%1g");
  CHECK(trace.jobs[2].allowed_types == "v100");
  CHECK(trace.jobs[3].allowed_types.empty());
  const std::string text = trace_csv_text(trace).value();
  CHECK(text ==
        "id,submit,duration,gpus,types,mig_profile\n"
        "1,0,70,1,,3g\n2,1,70,2,a100|h100,1g\n3,2,70,0.5,v100,\n4,3,70,1,,\n");
  CHECK(parsed(text).jobs == trace.jobs);
  CHECK(trace_csv_text(parsed("id,submit,duration,gpus\n1,0,70,1\n")).value() ==
        "id,submit,duration,gpus\n1,0,70,1\n");
}

TEST_CASE("mig_profile in a trace: what makes no sense is refused by field") {
  CHECK(refused("id,submit,duration,gpus,mig_profile\n1,0,70,0.5,1g\n") ==
        "t.csv:2: field 'gpus': value '0.5' is no number of slices");
  CHECK(refused("id,submit,duration,gpus,mig_profile\n1,0,70,1,1g%2g\n") ==
        "t.csv:2: field 'mig_profile': value '1g%2g' is no name of a profile");
  CHECK(refused("id,submit,duration,gpus,mig_profile\n1,0,70,1,9g\n") ==
        "job 1: field 'mig_profile': mig_profile: '9g' is no profile of the platform, which has 1g, 2g, 3g, "
        "4g, 7g");
  CHECK(refused("id,submit,duration,gpus,mig_profile\n1,0,70,1,1g\n", "v100:2x1") ==
        "job 1: field 'mig_profile': mig_profile: '1g' is no profile of the platform, which has no device "
        "type in "
        "slices");
  CHECK(refused("id,submit,duration,gpus,types,mig_profile\n1,0,70,1,a30,3g\n", "a30%mig:2x1,a100%mig:1x1") ==
        "job 1: field 'mig_profile': none of the types that it may use has the profile '3g'");
  CHECK(refused("id,submit,duration,gpus\n1,0,70,0.5\n") ==
        "job 1: field 'gpus': 0.5 is a fraction, but the types that it may use are given whole or in slices");
  CHECK(refused("id,submit,duration,gpus,mig_profile\n1,0,70,5,3g\n") ==
        "job 1: field 'gpus': 5 GPUs are more than any type of the platform that it may use has");
}

TEST_CASE("rigid jobs on slices: as many as GPUs asked for, their run time is the trace's") {
  const Platform platform = parse_platform("v100:1x1,a30%mig:1x2,a100%mig:2x1").value();
  const Trace trace = parsed(
      "id,submit,duration,gpus,types,mig_profile\n"
      "1,0,70,1,a100,3g\n2,0,70,4,a100,3g\n3,0,70,8,a30,1g\n4,0,70,1,,2g\n5,0,70,1,,\n6,0,70,0.5,,\n");
  const RigidJobs jobs = rigid_jobs(trace, platform).value();
  REQUIRE(jobs.jobs.size() == 6);
  CHECK(jobs.mig_profiles == std::vector<std::int32_t>{3, 3, 0, 1, kNoMigProfile, kNoMigProfile});
  CHECK(jobs.jobs[0].work == Approx(70.0 * 3 / 7));
  CHECK(jobs.jobs[1].work == Approx(70.0 * 4 * 3 / 7));
  CHECK(jobs.jobs[1].max_gpus == 4);
  CHECK(jobs.jobs[2].work == Approx(70.0 * 8 / 4));
  CHECK(jobs.jobs[3].work == Approx(70.0 / 2));  // of the first type that has the profile
  CHECK(jobs.jobs[4].work == 70.0);
  CHECK(jobs.jobs[5].work == 35.0);
  CHECK(jobs.jobs[0].type_speed[0] == 0.0);

  RigidSource source(jobs);
  Submission next;
  for (const std::int32_t profile : jobs.mig_profiles) {
    REQUIRE(source.next(next));
    CHECK(next.mig_profile == profile);
  }
  CHECK(rigid_jobs(parsed("id,submit,duration,gpus\n1,0,70,1\n"), platform).value().mig_profiles.empty());

  // Too large, and whoever waits for it, is left out together with its profile.
  const Trace large = parsed(
      "id,submit,duration,gpus,mig_profile,after\n1,0,70,3,7g,\n2,0,70,1,1g,1\n3,0,70,1,2g,\n4,0,70,2,7g,\n");
  RigidOptions drop;
  drop.too_large = TooLarge::kDrop;
  const RigidJobs kept = rigid_jobs(large, platform, drop).value();
  CHECK(kept.dropped == 2);
  CHECK(kept.mig_profiles == std::vector<std::int32_t>{1, 4});
}
