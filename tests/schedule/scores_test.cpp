// The formulas of Tetris and heSRPT against known values.

#include <array>
#include <cmath>

#include "mara/schedule/hesrpt.hpp"
#include "mara/schedule/sjf.hpp"
#include "mara/schedule/tetris.hpp"
#include "schedule_helpers.hpp"

using namespace schedule_test;

TEST_CASE("tetris: alignment is normalised by capacity (S14)") {
  // Nodes of 16 CPU and 64 GB; N1 has (16, 16) free, N2 (4, 64); the task asks (4, 8). No GPUs at all.
  const PackingVector capacity{0, 16, 64}, task{0, 4, 8};
  const double first = alignment_score(task, {0, 16, 16}, capacity);
  const double second = alignment_score(task, {0, 4, 64}, capacity);
  CHECK(first == 0.28125);
  CHECK(second == 0.1875);
  CHECK(first > second);
}

TEST_CASE("tetris: a resource of capacity 0 counts nothing") {
  const double score = alignment_score({2, 1, 1}, {4, 3, 3}, {4, 0, 0});
  CHECK(score == 0.5);
  CHECK(alignment_score({0, 0, 0}, {0, 0, 0}, {0, 0, 0}) == 0.0);
}

TEST_CASE("tetris: packs what fits the free resources best") {
  // 4 GPUs, 48 CPU. The first job holds 1 GPU and 40 CPU until 100; then 3 GPUs and 8 CPU are free. Of the
  // next two, with the same run time, the one that asks for GPUs rather than CPU is aligned with that: 2/4 x
  // 3/4 + 1/48 x 8/48 against 1/4 x 3/4 + 8/48 x 8/48. Together they do not fit.
  const Cluster cluster{{pool("only", 4)}};
  auto first = job(0, 1, 100), cpu_heavy = job(1, 1, 10), gpu_heavy = job(1, 2, 10);
  first.demand.cpu = Milli::whole(40);
  cpu_heavy.demand.cpu = Milli::whole(8);
  gpu_heavy.demand.cpu = Milli::whole(1);
  const auto jobs = numbered({first, cpu_heavy, gpu_heavy});
  require_times(starts(run(cluster, jobs, Tetris{})), {0, 11, 1});
  require_times(starts(run(cluster, jobs, Sjf{})), {0, 1, 11});  // equal times: the earlier submitted
}

TEST_CASE("hesrpt: shares have the closed form of the paper") {
  for (const double p : {0.05, 0.3, 0.5, 0.8, 0.95}) {
    for (const std::size_t jobs : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{10}}) {
      double left = 1.0, sum = 0.0;
      for (std::size_t i = jobs; i >= 1; --i) {  // smallest first
        const double n = static_cast<double>(jobs), x = static_cast<double>(i), q = 1.0 / (1.0 - p);
        const double share = left * hesrpt_share(i, p);
        CHECK(share == Approx(std::pow(x / n, q) - std::pow((x - 1) / n, q)).margin(1e-12));
        left -= share;
        sum += share;
      }
      CHECK(sum == Approx(1.0));
    }
  }
  // p = 1/2, three jobs: 5/9, 3/9, 1/9 of the whole.
  CHECK(hesrpt_share(3, 0.5) == Approx(5.0 / 9));
  CHECK(4.0 / 9 * hesrpt_share(2, 0.5) == Approx(3.0 / 9));
}

TEST_CASE("hesrpt: limits") {
  CHECK(hesrpt_share(5, 1.0) == 1.0);           // linear speed-up: SRPT
  CHECK(hesrpt_share(4, 0.0) == Approx(0.25));  // no speed-up: equal shares
  CHECK(hesrpt_share(0, 0.5) == 1.0);
  CHECK(hesrpt_share(100, 0.999) == Approx(1.0 - std::pow(0.99, 1000.0)));
}

TEST_CASE("hesrpt: exponent of a job") {
  CHECK(speed_up_exponent(job(0, 4, 1, 1, 8, {SpeedUp::Kind::kPower, 0.7})) == 0.7);
  // Amdahl with f = 2/3: S(2) = 3/2, S(4) = 2.
  CHECK(speed_up_exponent(job(0, 1, 1, 1, 8, {SpeedUp::Kind::kAmdahl, 2.0 / 3})) == Approx(std::log2(1.5)));
  CHECK(speed_up_exponent(job(0, 4, 1, 1, 8, {SpeedUp::Kind::kAmdahl, 2.0 / 3})) == Approx(0.5));
  CHECK(speed_up_exponent(job(0, 4, 1, 1, 8, {SpeedUp::Kind::kAmdahl, 0.0})) == Approx(0.0).margin(1e-12));
}

TEST_CASE("hesrpt: linear speed-ups give srpt") {
  // 4 GPUs, jobs that may use all of them (2 requested): the smallest takes everything.
  const Cluster cluster{{pool("only", 4)}};
  const auto jobs = numbered({job(0, 2, 6, 1, 4), job(0, 2, 2, 1, 4), job(0, 2, 4, 1, 4)});
  require_times(ends(run(cluster, jobs, Hesrpt{})), {6, 1, 3});  // work 4, 8, 12 at rate 4
}
