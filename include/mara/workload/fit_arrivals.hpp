#pragma once
// What a workload model knows about arrivals, estimated from a trace: gaps, their regimes, slow changes of
// rate.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mara/core/portable_math.hpp"
#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/generate.hpp"
#include "mara/workload/quantile_table.hpp"
#include "mara/workload/trace_table.hpp"
#include "mara/workload/workload_model.hpp"

namespace mara::detail {

inline constexpr double kHourSeconds = 3600.0;
inline constexpr double kDaySeconds = 86400.0;

/// Regime of each gap: K times its mid-rank share, so that every regime holds a K-th of the gaps.
inline std::vector<std::size_t> rank_regimes(const std::vector<double>& gaps, std::size_t regimes) {
  std::vector<double> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> out;
  for (const double gap : gaps) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), gap);
    const double rank = 0.5 * static_cast<double>((low - sorted.begin()) + (high - sorted.begin()));
    const auto regime =
        static_cast<std::size_t>(rank / static_cast<double>(sorted.size()) * static_cast<double>(regimes));
    out.push_back(std::min(regime, regimes - 1));
  }
  return out;
}

/// Gap table and Markov chain of `gaps`; the repeats are left at 0.
template <class Model>
void fit_gaps(const std::vector<double>& gaps, const std::vector<std::size_t>& regime_of, std::size_t regimes,
              Model& model) {
  model.gaps = quantiles_of(gaps);
  // A quarter of a count everywhere: no transition is impossible because the trace was short.
  model.regimes.assign(
      regimes, GapRegime{std::vector<double>(regimes, 0.25 / static_cast<double>(regimes)), 0.0, 0.0});
  for (std::size_t i = 1; i < regime_of.size(); ++i)
    model.regimes[regime_of[i - 1]].next[regime_of[i]] += 1.0;
  // Alternate scaling of rows and columns (Sinkhorn): every regime must stay visited a K-th of the time.
  for (int round = 0; round < 200; ++round) {
    for (std::size_t j = 0; j < regimes; ++j) {
      double sum = 0.0;
      for (const GapRegime& regime : model.regimes) sum += regime.next[j];
      for (GapRegime& regime : model.regimes) regime.next[j] /= sum;
    }
    for (GapRegime& regime : model.regimes) {
      const double sum = std::accumulate(regime.next.begin(), regime.next.end(), 0.0);
      for (double& p : regime.next) p /= sum;
    }
  }
}

/// Estimated rates over the span of a trace, relative to the mean.
struct RateCurve {
  double first_s = 0.0;
  std::vector<double> hourly;  ///< 24, by hour of the time axis
  std::vector<double> daily;   ///< by day since first_s; 1 past the end

  /// Integral of the rate from first_s to each time (not falling, none before first_s).
  std::vector<double> warp(std::span<const double> times) const {
    std::vector<double> out;
    double at = first_s, sum = 0.0;
    for (const double t : times) {
      while (at < t) {
        const double hour = std::floor(at / kHourSeconds);
        const double to = std::min(t, (hour + 1.0) * kHourSeconds);
        // An hour belongs to the day that its present piece begins in.
        const auto day = static_cast<std::size_t>((at - first_s) / kDaySeconds);
        const double by_day = day < daily.size() ? daily[day] : 1.0;
        const double by_hour = hourly.empty() ? 1.0 : hourly[static_cast<std::size_t>(std::fmod(hour, 24.0))];
        sum += (to - at) * by_day * by_hour;
        at = to;
      }
      out.push_back(sum);
    }
    return out;
  }
};

/// Hours of the day with more and fewer arrivals. Each hour's mean count is shrunk towards the mean of all by
/// the share of the variance between hours that days cannot explain (Buehlmann's credibility); empty when
/// that is less than three quarters: a weak profile under bursty arrivals costs more than it explains.
inline std::vector<double> fit_hours(std::span<const double> submit) {
  constexpr std::size_t kFewestDays = 14;
  const double first_day = std::ceil(submit.front() / kDaySeconds);
  const double whole_days = std::floor(submit.back() / kDaySeconds) - first_day;
  if (!(whole_days >= static_cast<double>(kFewestDays))) return {};
  const auto days = static_cast<std::size_t>(whole_days);
  std::vector<std::vector<double>> counts(24, std::vector<double>(days, 0.0));
  for (const double t : submit) {
    const double since = t - first_day * kDaySeconds;
    if (since < 0.0 || !(since < whole_days * kDaySeconds)) continue;
    const auto hour = static_cast<std::size_t>(since / kHourSeconds);
    counts[hour % 24][hour / 24] += 1.0;
  }
  std::vector<double> means;
  double noise = 0.0;
  for (const auto& hour : counts) {
    const Moments m = moments(hour);
    means.push_back(m.mean);
    noise += m.variance / static_cast<double>(days) / 24.0;
  }
  const Moments between = moments(means);
  if (!(between.variance > 0.0)) return {};
  const double credibility = 1.0 - noise / between.variance;
  if (credibility < 0.75) return {};
  std::vector<double> hourly;
  for (const double mean : means)
    hourly.push_back(std::max(0.05, 1.0 + credibility * (mean / between.mean - 1.0)));
  const double scale = moments(hourly).mean;
  for (double& factor : hourly) factor /= scale;
  return hourly;
}

/// Days with more and fewer arrivals than a model without daily changes explains: what its sample's variance
/// of daily counts lacks is put down to the rate. Fills sigma and correlation of `modulation` and gives each
/// day's rate (mean 1), its count shrunk as in fit_hours; empty when that is less than a tenth.
inline std::vector<double> fit_days(std::span<const double> submit, std::span<const TraceJob> sample,
                                    RateModulation& modulation) {
  constexpr std::size_t kFewestDays = 14;
  const std::vector<double> counts = window_counts(submit, kDaySeconds);
  if (counts.size() < kFewestDays) return {};
  std::vector<double> times;
  for (const TraceJob& job : sample) times.push_back(job.submit_s);
  const Moments m = moments(counts);
  const double extra = m.variance - m.mean * dispersion(times, kDaySeconds);
  const double credibility = m.variance > 0.0 ? extra / m.variance : 0.0;
  if (credibility < 0.1) return {};
  modulation.sigma = std::min(3.0, std::sqrt(portable_log(1.0 + extra / (m.mean * m.mean))));
  double lagged = 0.0;
  for (std::size_t d = 1; d < counts.size(); ++d) lagged += (counts[d] - m.mean) * (counts[d - 1] - m.mean);
  lagged /= static_cast<double>(counts.size() - 1);
  modulation.correlation = std::clamp(lagged / extra, 0.0, 0.95);
  std::vector<double> rates;
  for (const double count : counts)
    rates.push_back(std::max(0.1, 1.0 + credibility * (count / m.mean - 1.0)));
  const double scale = moments(rates).mean;
  for (double& rate : rates) rate /= scale;
  return rates;
}

/// Fits gaps, regimes and modulation of `model` to the times (not falling); gives the regime of every gap.
/// Two rounds: without daily changes, to learn what the gaps' own burstiness explains, then in the time that
/// the estimated rates make uniform. Errors: those of generate().
template <class Model>
Result<std::vector<std::size_t>> fit_arrivals(std::span<const double> submit, std::size_t regimes,
                                              std::size_t sample_jobs, std::uint64_t seed, Model& model) {
  model.modulation.hourly = fit_hours(submit);
  RateCurve curve{submit.front(), model.modulation.hourly, {}};
  std::vector<std::size_t> regime_of;
  for (int round = 0;; ++round) {
    const std::vector<double> warped = curve.warp(submit);
    std::vector<double> gaps;
    for (std::size_t i = 1; i < warped.size(); ++i) gaps.push_back(warped[i] - warped[i - 1]);
    regime_of = rank_regimes(gaps, regimes);
    fit_gaps(gaps, regime_of, regimes, model);
    if (round == 1) return regime_of;
    Random random(seed);
    GenerateOptions options;
    options.jobs = sample_jobs;
    auto sample = generate(model, random, options);
    if (!sample) return sample.error();
    curve.daily = fit_days(submit, *sample, model.modulation);
    if (curve.daily.empty()) return regime_of;
  }
}

}  // namespace mara::detail
