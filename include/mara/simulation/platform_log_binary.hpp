#pragma once
// The jobs and placements of a platform simulation in a compact binary form, written as they come and read
// back.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <ostream>
#include <string>

#include "mara/core/checksum.hpp"
#include "mara/core/result.hpp"
#include "mara/simulation/platform_log_bytes.hpp"
#include "mara/simulation/platform_records.hpp"

namespace mara {

/// Format of the binary log, version 1. All multi-byte numbers are little-endian; `double` is the 8 bytes of
/// an IEEE 754 double, `count` an unsigned LEB128 number, `signed` a zigzag-coded one.
///
///   header    8 bytes "MARALOG\n", then the version in 4 bytes
///   records   until the end record, each beginning with one byte, its kind
///   end       kind 0; jobs: count; intervals: count; then 8 bytes: FNV-1a of all bytes before these 8
///   interval  kind 1; sequence: count; job id: signed; start, end: double; placement
///   job       kind 2; flags: count; sequence: count; job id: signed; submit, end: double; and those of which
///             the flag is set:
///             bit 0 finished, bit 1 rejected, bit 2 started (first start: double), bit 3 entered (double;
///             else it is submit), bit 4 executed and attained (2 double), bit 5 overhead (double), bit 6
///             lost (double), bit 7 preemptions, migrations, failures (3 count), bit 8 deadline (double), bit
///             9 tenant (count), bit 10 class of service (count), bit 11 speed-up (kind: 1 byte; for the
///             table 8 double, else its parameter: double; without the flag linear), bit 12 speeds by type (a
///             count and so many double; without the flag none), bit 13 what it asks for are slices of a
///             profile (its number: count); then work: double; requested milli-GPU: count; last placement
///   placement number of shares: count; each: node: count; share in milli: count, of a slice first 0, the
///             number of its profile and its start (3 count); devices: 8 bytes; CPU in milli: count; memory
///             in MiB: count
inline constexpr std::uint32_t kPlatformLogVersion = 1;

/// A sink that writes the binary log. Memory: one record.
class BinaryLog {
 public:
  /// The stream must outlive the log and be open in binary mode.
  explicit BinaryLog(std::ostream& out) : out_(&out) {
    for (const char c : detail::kPlatformLogMagic) record_.byte(static_cast<unsigned char>(c));
    record_.fixed(kPlatformLogVersion, 4);
    write();
  }

  void job(const JobOutcome& outcome) {
    using namespace detail;
    const Job& job = *outcome.job;
    std::size_t speeds = job.type_speed.size();
    while (speeds > 0 && job.type_speed[speeds - 1] == 0.0) --speeds;
    const bool table = job.speed_up.kind == SpeedUp::Kind::kTable && job.speed_up.table != nullptr;
    const bool linear = job.speed_up.kind == SpeedUp::Kind::kPower && job.speed_up.parameter == 1.0;
    std::uint64_t flags = 0;
    const auto flag = [&](bool set, LogFlag which) { flags |= set ? std::uint64_t{which} : 0; };
    flag(outcome.finished, kFlagFinished);
    flag(outcome.rejected, kFlagRejected);
    flag(outcome.started, kFlagStarted);
    flag(outcome.entered_s != job.submit_s, kFlagEntered);
    flag(outcome.executed_s != 0.0 || outcome.attained_gpu_s != 0.0, kFlagExecuted);
    flag(outcome.overhead_s != 0.0, kFlagOverhead);
    flag(outcome.lost_s != 0.0, kFlagLost);
    flag(outcome.preemptions != 0 || outcome.migrations != 0 || outcome.failures != 0, kFlagMoves);
    flag(std::isfinite(job.deadline_s), kFlagDeadline);
    flag(job.tenant != 0, kFlagTenant);
    flag(job.sla != 0, kFlagSla);
    flag(!linear, kFlagSpeedUp);
    flag(speeds > 0, kFlagSpeeds);
    flag(outcome.mig_profile != kNoMigProfile, kFlagSlices);
    record_.byte(2);
    record_.count(flags);
    record_.count(outcome.sequence);
    record_.signed_count(job.id);
    record_.number(job.submit_s);
    record_.number(outcome.end_s);
    if (outcome.started) record_.number(outcome.start_s);
    if ((flags & kFlagEntered) != 0) record_.number(outcome.entered_s);
    if ((flags & kFlagExecuted) != 0) {
      record_.number(outcome.executed_s);
      record_.number(outcome.attained_gpu_s);
    }
    if ((flags & kFlagOverhead) != 0) record_.number(outcome.overhead_s);
    if ((flags & kFlagLost) != 0) record_.number(outcome.lost_s);
    if ((flags & kFlagMoves) != 0)
      for (const int moves : {outcome.preemptions, outcome.migrations, outcome.failures})
        record_.count(static_cast<std::uint64_t>(moves));
    if ((flags & kFlagDeadline) != 0) record_.number(job.deadline_s);
    if ((flags & kFlagTenant) != 0) record_.count(static_cast<std::uint64_t>(job.tenant));
    if ((flags & kFlagSla) != 0) record_.count(static_cast<std::uint64_t>(job.sla));
    if ((flags & kFlagSpeedUp) != 0) {
      record_.byte(static_cast<unsigned>(table ? SpeedUp::Kind::kTable : job.speed_up.kind));
      if (table)
        for (const double value : job.speed_up.table->at) record_.number(value);
      else
        record_.number(job.speed_up.parameter);
    }
    if ((flags & kFlagSpeeds) != 0) {
      record_.count(speeds);
      for (std::size_t t = 0; t < speeds; ++t) record_.number(job.type_speed[t]);
    }
    if ((flags & kFlagSlices) != 0) record_.count(static_cast<std::uint64_t>(outcome.mig_profile));
    record_.number(job.work);
    record_.count(static_cast<std::uint64_t>(job.requested.value));
    record_.placement(*outcome.last);
    write();
    ++jobs_;
  }
  void interval(const PlacedInterval& interval) {
    record_.byte(1);
    record_.count(interval.sequence);
    record_.signed_count(interval.job->id);
    record_.number(interval.start_s);
    record_.number(interval.end_s);
    record_.placement(*interval.placement);
    write();
    ++intervals_;
  }

  /// Writes the end record; nothing may come after it. Errors: kIo when the stream failed.
  Status finish() {
    record_.byte(0);
    record_.count(jobs_);
    record_.count(intervals_);
    write();
    record_.fixed(hash_.value(), 8);
    write();
    out_->flush();
    if (!*out_) return Error{ErrorCode::kIo, "the log cannot be written"};
    return {};
  }

 private:
  void write() {
    hash_.add(record_.bytes());
    out_->write(record_.bytes().data(), static_cast<std::streamsize>(record_.bytes().size()));
    record_.clear();
  }

  std::ostream* out_;
  detail::LogBytes record_;
  Fnv1a hash_;
  std::uint64_t jobs_ = 0, intervals_ = 0;
};

namespace detail {

template <class Sink>
void replay_job(LogReader& in, Placement& placement, Sink& sink) {
  constexpr std::uint64_t kMostInt = std::numeric_limits<int>::max();
  Job job;
  SpeedUpTable table;
  JobOutcome outcome;
  outcome.job = &job;
  outcome.last = &placement;
  const std::uint64_t flags = in.count(kAllFlags);
  const auto has = [flags](LogFlag which) { return (flags & which) != 0; };
  outcome.finished = has(kFlagFinished);
  outcome.rejected = has(kFlagRejected);
  outcome.started = has(kFlagStarted);
  outcome.sequence = in.count(~std::uint64_t{0});
  job.id = in.signed_count();
  job.submit_s = in.number();
  outcome.end_s = in.number();
  if (outcome.started) outcome.start_s = in.number();
  outcome.entered_s = has(kFlagEntered) ? in.number() : job.submit_s;
  if (has(kFlagExecuted)) {
    outcome.executed_s = in.number();
    outcome.attained_gpu_s = in.number();
  }
  if (has(kFlagOverhead)) outcome.overhead_s = in.number();
  if (has(kFlagLost)) outcome.lost_s = in.number();
  if (has(kFlagMoves))
    for (int* moves : {&outcome.preemptions, &outcome.migrations, &outcome.failures})
      *moves = static_cast<int>(in.count(kMostInt));
  if (has(kFlagDeadline)) job.deadline_s = in.number(true);
  if (has(kFlagTenant)) job.tenant = static_cast<int>(in.count(kMostInt));
  if (has(kFlagSla)) job.sla = static_cast<int>(in.count(kMostInt));
  if (has(kFlagSpeedUp)) {
    const std::uint64_t kind = in.fixed(1);
    if (kind > static_cast<std::uint64_t>(SpeedUp::Kind::kTable))
      in.fail("holds an unknown kind of speed-up");
    job.speed_up.kind = static_cast<SpeedUp::Kind>(kind);
    if (job.speed_up.kind == SpeedUp::Kind::kTable) {
      for (double& value : table.at) value = in.number();
      job.speed_up.table = &table;
    } else {
      job.speed_up.parameter = in.number();
    }
  }
  if (has(kFlagSpeeds)) {
    const std::uint64_t speeds = in.count(job.type_speed.size());
    for (std::uint64_t t = 0; t < speeds; ++t) job.type_speed[static_cast<std::size_t>(t)] = in.number();
  }
  if (has(kFlagSlices))
    outcome.mig_profile = static_cast<std::int32_t>(in.count(static_cast<std::uint64_t>(kMostMigNumber)));
  job.work = in.number();
  job.requested.value = static_cast<std::int64_t>(in.count(std::uint64_t{1} << 60));
  in.placement(placement);
  if (in.sound()) sink.job(outcome);
}

template <class Sink>
void replay_interval(LogReader& in, Placement& placement, Sink& sink) {
  Job job;
  PlacedInterval interval;
  interval.job = &job;
  interval.placement = &placement;
  interval.sequence = in.count(~std::uint64_t{0});
  job.id = in.signed_count();
  interval.start_s = in.number();
  interval.end_s = in.number();
  if (interval.end_s < interval.start_s) in.fail("holds an interval that ends before it starts");
  in.placement(placement);
  if (in.sound()) sink.interval(interval);
}

}  // namespace detail

/// Reads a binary log (`name` stands for it in messages) and tells `sink` about each record, in order. Of Job
/// the fields in the log are set; the others have their defaults. Memory: one record. What the sink has heard
/// before an error is to be thrown away. Errors: kParse for what is no log of this version, is cut short or
/// damaged, with the place.
template <SimulationSink Sink>
Status replay_binary_log(std::istream& stream, const std::string& name, Sink& sink) {
  detail::LogReader in(stream);
  for (const char c : detail::kPlatformLogMagic)
    if (in.fixed(1) != static_cast<unsigned char>(c)) in.fail("is no log of a platform simulation");
  const std::uint64_t version = in.fixed(4);
  if (in.sound() && version != kPlatformLogVersion)
    return Error{ErrorCode::kParse, name + ": is of version " + std::to_string(version) +
                                        ", this program reads version " +
                                        std::to_string(kPlatformLogVersion)};
  std::uint64_t jobs = 0, intervals = 0;
  Placement placement;
  while (in.sound()) {
    const std::uint64_t kind = in.fixed(1);
    if (!in.sound()) break;
    if (kind == 2) {
      detail::replay_job(in, placement, sink);
      ++jobs;
    } else if (kind == 1) {
      detail::replay_interval(in, placement, sink);
      ++intervals;
    } else if (kind == 0) {
      const bool counted = in.count(~std::uint64_t{0}) == jobs && in.count(~std::uint64_t{0}) == intervals;
      const std::uint64_t sum = in.checksum();
      if (in.fixed(8) != sum || !counted) in.fail("is damaged");
      if (in.sound() && !in.at_end()) in.fail("goes on behind its end");
      if (in.sound()) return {};
    } else {
      in.fail("holds an unknown kind of record");
    }
  }
  return in.error(name);
}

}  // namespace mara
