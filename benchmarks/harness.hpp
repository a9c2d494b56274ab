#pragma once
// Timing of several things against each other on a machine that is not quiet: in turn, round after round, by
// processor time, with the speed of the core measured right before and after each. Absolute times differ from
// machine to machine and with its load; ratios within a round hold, and their medians are what counts.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "limits.hpp"

namespace bench {

/// Command line of a program with this harness.
struct Options {
  int rounds = 21;         ///< each thing is timed once a round
  double slice_s = 0.004;  ///< for so long each time
  bool json = false;       ///< JSON instead of Markdown
  bool quick = false;      ///< only to see that it runs: short slices
};

/// Reads the options; --help and an unknown option end the program (code 0 and 2). `purpose`: one line.
inline Options parse_options(int count, char** arguments, const char* purpose, Options options = {}) {
  const auto usage = [&](std::FILE* to, int code) {
    std::fprintf(to,
                 "%s\n"
                 "  --rounds N  rounds, medians are over them (%d)\n"
                 "  --quick     short slices of time\n"
                 "  --json      JSON instead of Markdown\n",
                 purpose, options.rounds);
    std::exit(code);
  };
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help" || argument == "-h") usage(stdout, 0);
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--rounds" && i + 1 < count) {
      options.rounds = std::atoi(arguments[++i]);
      if (options.rounds < 1) {
        std::fprintf(stderr, "--rounds %s: must be a number >= 1\n", arguments[i]);
        std::exit(2);
      }
    } else {
      std::fprintf(stderr, "unknown option: %s\n", arguments[i]);
      usage(stderr, 2);
    }
  }
  if (options.quick) options.slice_s *= 0.1;
  return options;
}

/// The middle of `values`, which are reordered; the mean of the two in the middle when their number is even;
/// 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// One thing to time: run(n) does it n times.
struct Contestant {
  Work work;
  std::function<void(std::size_t)> run;
};

/// A contestant that calls `body` again and again; memory counts as changed after each call.
template <class Body>
Contestant contestant(const Work& work, Body body) {
  return {work, [body = std::move(body)](std::size_t calls) mutable {
            for (std::size_t i = 0; i < calls; ++i) {
              body();
              asm volatile("" : : : "memory");
            }
          }};
}

/// Median over the rounds of a / b within the round. Where the core changes its speed between rounds, medians
/// of a and of b may come from different speeds; this does not.
inline double paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ratios.push_back(a[i] / b[i]);
  return median(std::move(ratios));
}

/// What was measured of one contestant, a value a round.
struct Timing {
  std::vector<double> seconds;  ///< of one call
  std::vector<double> limit_s;  ///< of one call, at the speeds around it; empty without a meter

  double ns() const { return 1e9 * median(seconds); }
  double limit_ns() const { return 1e9 * median(limit_s); }
  /// Time over limit, paired.
  double to_limit() const { return paired_ratio(seconds, limit_s); }
  /// How many times as long as `other`, paired.
  double over(const Timing& other) const { return paired_ratio(seconds, other.seconds); }
};

/// Times all contestants, options.rounds times each, in turn. With a meter, speeds are measured before and
/// after each and the limit is taken at their mean.
inline std::vector<Timing> time_in_turn(const std::vector<Contestant>& contestants, const Options& options,
                                        const Meter* meter = nullptr) {
  std::vector<Timing> timings(contestants.size());
  std::vector<std::size_t> calls(contestants.size(), 1);
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    contestants[i].run(1);  // memory in place
    for (double took = 0.0; took < 0.25 * options.slice_s; calls[i] *= 2) {
      const double begin = processor_seconds();
      contestants[i].run(calls[i]);
      took = processor_seconds() - begin;
      if (took >= 0.25 * options.slice_s) {
        const double wanted = static_cast<double>(calls[i]) * options.slice_s / took;
        calls[i] = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
        break;
      }
    }
  }
  for (int round = 0; round < options.rounds; ++round) {
    Speeds before;
    if (meter != nullptr) before = meter->measure();
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      contestants[i].run(1 + calls[i] / 20);  // its data in the caches again
      const double begin = processor_seconds();
      contestants[i].run(calls[i]);
      timings[i].seconds.push_back((processor_seconds() - begin) / static_cast<double>(calls[i]));
      if (meter == nullptr) continue;
      const Speeds after = meter->measure();
      timings[i].limit_s.push_back(0.5 * (limit_seconds(contestants[i].work, before, meter->caches()) +
                                          limit_seconds(contestants[i].work, after, meter->caches())));
      before = after;
    }
  }
  return timings;
}

}  // namespace bench
