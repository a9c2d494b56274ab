#include "mara/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

#include "catch.hpp"

using mara::ThreadPool;

TEST_CASE("every index runs exactly once", "[parallel]") {
  for (const int threads : {-1, 0, 1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == std::max(threads, 1));
    for (const std::size_t count : {0u, 1u, 2u, 7u, 64u, 1000u, 4097u}) {
      INFO("threads " << threads << ", count " << count);
      std::vector<int> runs(count, 0);  // plain ints: two runs of one index would be a race
      pool.for_each(count, [&](std::size_t i) { ++runs[i]; });
      CHECK(std::all_of(runs.begin(), runs.end(), [](int n) { return n == 1; }));
    }
  }
}

TEST_CASE("results do not depend on the number of threads", "[parallel]") {
  const auto compute = [](int threads) {
    ThreadPool pool(threads);
    std::vector<double> values(500);
    pool.for_each(values.size(), [&](std::size_t i) {
      double x = static_cast<double>(i) + 1.0;
      for (int k = 0; k < 100; ++k) x = x * 0.5 + 1.0 / x;
      values[i] = x;
    });
    return values;
  };
  const std::vector<double> alone = compute(1);
  CHECK(compute(2) == alone);
  CHECK(compute(4) == alone);
}

TEST_CASE("a pool serves many short loops, and writes are seen after each", "[parallel]") {
  ThreadPool pool(4);
  std::vector<long> values(16, 0);
  for (long round = 1; round <= 3000; ++round) {
    pool.for_each(values.size(), [&](std::size_t i) { values[i] += round; });
    if (values[static_cast<std::size_t>(round) % 16] != round * (round + 1) / 2) FAIL("round " << round);
  }
  CHECK(std::accumulate(values.begin(), values.end(), 0L) == 16L * 3000 * 3001 / 2);
}

TEST_CASE("more than one thread takes part", "[parallel]") {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  std::vector<std::thread::id> who(2);
  pool.for_each(2, [&](std::size_t i) {
    who[i] = std::this_thread::get_id();
    ++arrived;
    while (arrived.load() < 2) std::this_thread::yield();  // passes only when both indices run at once
  });
  CHECK(who[0] != who[1]);
}

TEST_CASE("a loop inside a body runs in that thread", "[parallel]") {
  ThreadPool pool(3);
  ThreadPool other(2);
  std::vector<std::vector<int>> runs(20, std::vector<int>(30, 0));
  std::atomic<int> strangers{0};
  pool.for_each(runs.size(), [&](std::size_t i) {
    const auto self = std::this_thread::get_id();
    pool.for_each(15, [&](std::size_t j) {
      ++runs[i][j];
      if (std::this_thread::get_id() != self) ++strangers;
    });
    other.for_each(15, [&](std::size_t j) {
      ++runs[i][15 + j];
      if (std::this_thread::get_id() != self) ++strangers;
    });
  });
  CHECK(strangers == 0);
  for (const auto& row : runs) CHECK(std::all_of(row.begin(), row.end(), [](int n) { return n == 1; }));
}

TEST_CASE("calls from several threads take turns", "[parallel]") {
  ThreadPool pool(3);
  std::vector<std::vector<int>> runs(4, std::vector<int>(200, 0));
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < runs.size(); ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < 50; ++round) pool.for_each(200, [&](std::size_t i) { ++runs[c][i]; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const auto& row : runs) CHECK(std::all_of(row.begin(), row.end(), [](int n) { return n == 50; }));
}

TEST_CASE("pools come and go without work", "[parallel]") {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
  SUCCEED();
}
