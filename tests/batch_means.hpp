#pragma once
// What tests of queueing theory estimate.

#include <cmath>
#include <cstddef>
#include <vector>

struct Estimate {
  double mean = 0.0, standard_error = 0.0;
};

/// Mean and standard error of a correlated series from the means of 50 consecutive batches.
inline Estimate batch_means(const std::vector<double>& values) {
  constexpr std::size_t kBatches = 50;
  const std::size_t length = values.size() / kBatches;
  double sum = 0.0, squares = 0.0;
  for (std::size_t b = 0; b < kBatches; ++b) {
    double batch = 0.0;
    for (std::size_t i = 0; i < length; ++i) batch += values[b * length + i];
    batch /= static_cast<double>(length);
    sum += batch;
    squares += batch * batch;
  }
  const double n = static_cast<double>(kBatches), mean = sum / n;
  return {mean, std::sqrt((squares / n - mean * mean) / (n - 1.0))};
}
