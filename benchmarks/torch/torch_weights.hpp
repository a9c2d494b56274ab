#pragma once
// Weights from a network of mara to the one of libtorch, and back.

#include <cstddef>
#include <string>
#include <vector>

#include "mara/nn/parameter_view.hpp"
#include "torch_mlp.hpp"

namespace bench {

/// Gives `to` the weights of `from`, a perceptron of the same sizes. Whatever the storage of mara's weights
/// is, here they are numbers at (row, column).
template <mara::HasParameters Net>
void copy_weights(const Net& from, TorchMlp& to) {
  std::size_t visited = 0;
  std::vector<float> weights, bias;
  from.visit_parameters([&](const std::string&, const auto& view) {
    std::vector<float>& numbers = visited % 2 == 0 ? weights : bias;
    numbers.resize(view.size());
    view.copy_to(numbers.data());
    if (visited % 2 == 1) to.set_layer(visited / 2, weights.data(), bias.data());
    ++visited;
  });
}

/// The other way.
template <mara::HasParameters Net>
void copy_weights(const TorchMlp& from, Net& to) {
  std::size_t visited = 0;
  std::vector<float> weights, bias;
  to.visit_parameters([&](const std::string&, const auto& view) {
    if (visited % 2 == 0) {
      weights.resize(view.size());
      bias.resize(view.cols);
      from.get_layer(visited / 2, weights.data(), bias.data());
      view.copy_from(weights.data());
    } else {
      view.copy_from(bias.data());
    }
    ++visited;
  });
}

}  // namespace bench
