// Starts and ends computed on paper, for every rule.
//
// The cluster: 2 fast GPUs (speed 1) and 2 slow ones (speed 1/2). Times in seconds; T is the run time on the
// requested GPUs of the fast type, so a job takes 2 T on the slow one. F fits the memory of fast GPUs only.
//
//   job     A   B   C   D   E   F
//   submit  0   0   1   2   3   4
//   GPUs    1   2   1   2   1   1
//   T      10   6   4   2   1   3

#include "mara/schedule/rules.hpp"
#include "schedule_helpers.hpp"

using namespace schedule_test;

namespace {

Cluster two_and_two() {
  return Cluster{{pool("fast", 2, 80 * 1024), pool("slow", 2, 16 * 1024)}};
}

std::vector<Job> six_jobs() {
  auto jobs = numbered({job(0, 1, 10), job(0, 2, 6), job(1, 1, 4), job(2, 2, 2), job(3, 1, 1), job(4, 1, 3)});
  jobs[5].demand.gpu_memory_mib = 60 * 1024;
  return jobs;
}

}  // namespace

TEST_CASE("worked example: fcfs") {
  // t=0  A takes 1 fast (to 10). B needs 2: 1 fast is free, so 2 slow (to 12).
  // t=1  C takes the other fast (to 5). D (t=2), E (t=3), F (t=4) find nothing free.
  // t=5  C ends: D does not fit and is passed over, E takes the fast GPU (to 6). t=6: F takes it (to 9).
  // t=10 A ends: both fast GPUs are free, D (to 12).
  const auto result = run(two_and_two(), six_jobs(), Fcfs{});
  require_times(starts(result), {0, 0, 1, 10, 5, 6});
  require_times(ends(result), {10, 12, 5, 12, 6, 9});
}

TEST_CASE("worked example: fcfs whose head of the queue blocks") {
  // As above to t=5, when D blocks E and F. t=10: D takes the fast GPUs (to 12); E waits, F behind it.
  // t=12 B and D end: E and F take 1 fast each (to 13 and 15).
  const auto result = run(two_and_two(), six_jobs(), StrictFcfs{});
  require_times(starts(result), {0, 0, 1, 10, 12, 12});
  require_times(ends(result), {10, 12, 5, 12, 13, 15});
}

TEST_CASE("worked example: sjf") {
  // t=0 B (6 < 10) first: 2 fast (to 6). A: 1 slow (to 20). t=1 C: 1 slow (1 + 8 = 9). D, E, F wait.
  // t=6 B ends: E (T=1) takes 1 fast (to 7); D (2) needs 2; F (3) takes the other (to 9).
  // t=7 E ends: 1 fast is free, D waits. t=9 C (slow) and F end: D takes 2 fast (to 11).
  const auto result = run(two_and_two(), six_jobs(), Sjf{});
  require_times(starts(result), {0, 0, 1, 9, 6, 6});
  require_times(ends(result), {20, 6, 9, 11, 7, 9});
}

TEST_CASE("worked example: srtf without restart costs") {
  // Remaining times on fast GPUs in brackets.
  // t=0    B (6) 2 fast; A (10) 1 slow.
  // t=1    C (4) 1 fast; B (5) needs 2: slow; A (9.5) 1 fast.
  // t=2    D (2) 2 fast; C (3) 1 slow; B (4.5) does not fit; A (8.5) 1 slow.
  // t=3    D (1) before E (1), submitted earlier: 2 fast; E 1 slow; C (2.5) 1 slow; B (4.5), A (8) wait.
  // t=4    D ends. E (.5), C (2) 1 fast each; F (3) fits fast only: waits; B (4.5) 2 slow; A (8) waits.
  // t=4.5  E ends. C (1.5), F (3) 1 fast each; B (4.25) 2 slow; A waits.
  // t=6    C ends. F (1.5) fast; B (3.5) 2 slow; A (8) 1 fast.
  // t=7.5  F ends. B (2.75) 2 fast; A (6.5) 1 slow.
  // t=10.25 B ends. A (6.5 - 2.75/2 = 5.125) fast, to 15.375.
  const auto result = run(two_and_two(), six_jobs(), Srtf{});
  require_times(starts(result), {0, 0, 1, 2, 3, 4.5});
  require_times(ends(result), {15.375, 10.25, 6, 4, 4.5, 7.5});
}

TEST_CASE("worked example: srtf weighs restart costs") {
  // One fast and one slow GPU; a start costs 1 s, a restart 2 s. P (submit 0, T=10), Q (1, 4), R (2, 3.5).
  const Cluster cluster{{pool("fast", 1), pool("slow", 1)}};
  SECTION("moving would only break even: R stays") {
    // t=0 P fast: start cost to 1.
    // t=1 Q could end in 1 + 4 = 5, P in 10: Q takes the fast GPU (cost to 2). P moves to the slow one: 2 +
    // 20 s. t=2 Q needs 4 more. R is shorter (3.5), but not with its start cost (4.5): Q stays. R on slow: 1
    // + 7 = 8 s. It
    //     comes before P (2 + 10), which is preempted before it did any work on the slow GPU.
    // t=6 Q ends. R has 3.5 - 3/2 = 2 left: 4 s if it stays, 2 + 2 if it moves: it stays (to 10). P resumes
    // on the
    //     fast GPU: 2 + 10 s, to 18.
    const auto result = run(cluster, numbered({job(0, 1, 10), job(1, 1, 4), job(2, 1, 3.5)}), Srtf{}, {1, 2});
    require_times(starts(result), {0, 1, 2});
    require_times(ends(result), {18, 6, 10});
    CHECK(result.records[0].restarts == 2);  // moved at 1, preempted at 2
    CHECK(result.records[1].restarts == 0);
    CHECK(result.records[2].restarts == 0);
  }
  SECTION("moving repays its cost: R moves") {
    // R with T=5: at t=6 it has 5 - 3/2 = 3.5 left: 7 s if it stays, 2 + 3.5 if it moves: it moves, to 11.5.
    // P resumes on the slow GPU: cost to 8, then 3.5 s at speed 1/2: 8.25 left at 11.5. Staying takes 16.5 s,
    // moving 2 + 8.25: it moves, to 21.75.
    const auto result = run(cluster, numbered({job(0, 1, 10), job(1, 1, 4), job(2, 1, 5)}), Srtf{}, {1, 2});
    require_times(ends(result), {21.75, 6, 11.5});
    CHECK(result.records[0].restarts == 3);
    CHECK(result.records[2].restarts == 1);
  }
}

TEST_CASE("worked example: tetris") {
  // No CPU or memory is asked for, so alignment is (GPUs/2)(free/2), on slow GPUs times 1/2 (suitability).
  SECTION("weight 1") {
    // t=0 Pairs: A .5 and .25, B 1 and .5: sum 2.25. 1/time: A 1/10 and 1/20, B 1/6 and 1/12: sum .4.
    //     epsilon = 2.25/.4 = 5.625. On fast: B 1 + .94 before A .5 + .56: B 2 fast (to 6). A slow (to 20).
    // t=1 C slow (to 9).
    // t=6 B ends. Alignment with free fast GPUs: D 1, E .5, F .5 (0 on slow: none free): sum 2. 1/time: D 1/2
    // + 1/4,
    //     E 1 + 1/2, F 1/3: sum 31/12. epsilon = 24/31 = .77. D 1 + .39 = 1.39, E .5 + .77 = 1.27, F .76: D
    //     (to 8).
    // t=8 E (.5 + epsilon) before F: E (to 9), F (to 11).
    const auto result = run(two_and_two(), six_jobs(), Tetris{});
    require_times(starts(result), {0, 0, 1, 6, 8, 8});
    require_times(ends(result), {20, 6, 9, 8, 9, 11});
  }
  SECTION("weight 0, packing alone") {
    // The same: at t=8 E and F tie at .5 and E was submitted earlier.
    const auto result = run(two_and_two(), six_jobs(), Tetris{{.remaining_time_weight = 0.0}});
    require_times(ends(result), {20, 6, 9, 8, 9, 11});
  }
  SECTION("weight 10, nearly sjf") {
    // t=6: E .5 + 7.74 = 8.24, D 1 + 3.87 = 4.87, F .5 + 2.58 = 3.08. E takes 1 fast (to 7), D does not fit,
    // F takes 1 (to 9). t=9: D (to 11).
    const auto result = run(two_and_two(), six_jobs(), Tetris{{.remaining_time_weight = 10.0}});
    require_times(ends(result), {20, 6, 9, 11, 7, 9});
  }
}

// The elastic rules: speed-up by Amdahl's law with f = 2/3: S(1) = 1, S(2) = 3/2, S(4) = 2. All submitted at
// 0:
//   job                 X    Y    Z
//   requests (at most)  2(4) 2(4) 1(2)
//   work                12   6    3
namespace {
std::vector<Job> three_elastic(double slow) {
  const SpeedUp amdahl{SpeedUp::Kind::kAmdahl, 2.0 / 3.0};
  return numbered(
      {job(0, 2, 8, slow, 4, amdahl), job(0, 2, 4, slow, 4, amdahl), job(0, 1, 3, slow, 2, amdahl)});
}
}  // namespace

TEST_CASE("worked example: optimus") {
  SECTION("two types: 2 fast GPUs, 4 slow ones of speed .4") {
    // t=0 Smallest grants in order of GPU-seconds Z 3, Y 8, X 16: Z 1 fast, Y 1 fast (half), X 1 slow (half).
    //     Z and Y: no larger grant on fast is free, and 4 slow (Y: .8 < 1) or 2 slow (Z: .6 < 1) are slower.
    //     X on slow GPUs: rates .4, .6, .8 of work 12; prices .4, .8, 1.6. Gain to 2: (.2/12)/.4 = .042; to
    //     4:
    //     (.4/12)/1.2 = .028. It steps to 2, then to 4.
    // t=3 Z ends. Y has 3 left, X 12 - 2.4 = 9.6. Y (4 GPU-seconds) 1 fast, X (12.8) 1 fast: rate 1, better
    // than any
    //     number of slow ones.
    // t=6 Y ends. X has 6.6 left: from 1 to 2 fast GPUs, rate 1.5: 4.4 s, to 10.4.
    const Cluster cluster{{pool("fast", 2), pool("slow", 4)}};
    const auto result = run(cluster, three_elastic(0.4), Optimus{});
    require_times(starts(result), {0, 0, 0});
    require_times(ends(result), {10.4, 6, 3});
  }
  SECTION("one type: which gain decides") {
    const Cluster cluster{{pool("fast", 4)}};
    // 1/time: t=0 Z, Y, X 1 GPU each. The fourth to X: .5/12 = .042, Y: .5/6 = .083, Z: .5/3 = .167: Z.
    // t=2 Z ends. Y (4 left), X (10) have 1 each. To 2: Y .5/4, X .5/10: Y, then X.
    // t=14/3 Y ends (4/1.5 s later). X has 10 - 4 = 6 left: 4 GPUs, rate 2: to 23/3.
    require_times(ends(run(cluster, three_elastic(1.0), Optimus{})), {23.0 / 3, 14.0 / 3, 2});
    // time: t=0 the fourth GPU saves X 12 - 8 = 4 s, Y 2 s, Z 1 s: X.
    // t=3 Z ends. X has 12 - 4.5 = 7.5 left, Y 3. To 2 GPUs: X saves 2.5 s, Y 1 s; both get them.
    // t=5 Y ends. X has 4.5 left: 4 GPUs, to 7.25.
    require_times(ends(run(cluster, three_elastic(1.0), Optimus{{.gain = MarginalGain::kTime}})),
                  {7.25, 5, 3});
  }
}

TEST_CASE("worked example: hesrpt") {
  // 2 fast GPUs, 4 slow ones of speed .4. Exponent at 2 GPUs: p = log2(1.5) = .585; 1/(1-p) = 2.409. Shares
  // of what is left: 1 - (2/3)^2.409 = .624 with 3 jobs, 1 - (1/2)^2.409 = .812 with 2, 1 for the last.
  //
  // t=0   Z (3 GPU-seconds): free 2 + 1.6 = 3.6, target 2.24: double, 2 fast. Y (8): free 1.6, target 1.30:
  //       half, 1 slow. X (16): free 1.2: half, 1 slow. From what is left Y takes 2 slow (rate .6; there is
  //       no room for 4), then X 2 slow.
  // t=2   Z ends. Y has 6 - 1.2 = 4.8 left (6.4 GPU-seconds), X 10.8 (14.4). Y: target .812 x 3.6 = 2.92;
  //       it holds 2, so 2 need 1.41 and 4 need 5.66: 2 fast (3.2 s). X: target 1.6: 2 slow, then all 4
  //       (rate .8) from what is left.
  // t=5.2 Y ends. X has 10.8 - .8 x 3.2 = 8.24 left; target 3.6, it holds 4, which need 2.83: up to 4,
  //       soonest on 2 fast (rate 1.5), to 5.2 + 8.24/1.5.
  const Cluster cluster{{pool("fast", 2), pool("slow", 4)}};
  const auto result = run(cluster, three_elastic(0.4), Hesrpt{});
  require_times(starts(result), {0, 0, 0});
  require_times(ends(result), {5.2 + 8.24 / 1.5, 5.2, 2});
  CHECK(result.records[0].restarts == 2);
  CHECK(result.records[1].restarts == 1);
  CHECK(result.records[2].restarts == 0);
}
