#pragma once
// Keeping what a value network says when the scale of its targets changes.

#include <cmath>
#include <cstddef>

#include "mara/nn/parameter_view.hpp"

namespace mara {

/// PopArt (van Hasselt et al., "Learning values across many orders of magnitude", NeurIPS 2016, proposition
/// 1): changes the last layer so that output * new_deviation + new_mean is what output * old_deviation +
/// old_mean was. weight [inputs x outputs], bias [1 x outputs]. Deviations are positive.
template <class S>
void pop_art_rescale(ParameterView<S> weight, ParameterView<S> bias, double old_mean, double old_deviation,
                     double new_mean, double new_deviation) noexcept {
  const double ratio = old_deviation / new_deviation;
  for (std::size_t r = 0; r < weight.rows; ++r)
    for (std::size_t c = 0; c < weight.cols; ++c)
      weight.at(r, c) = static_cast<S>(static_cast<double>(weight.at(r, c)) * ratio);
  for (std::size_t c = 0; c < bias.cols; ++c)
    bias.at(0, c) = static_cast<S>(
        (old_deviation * static_cast<double>(bias.at(0, c)) + old_mean - new_mean) / new_deviation);
}

}  // namespace mara
