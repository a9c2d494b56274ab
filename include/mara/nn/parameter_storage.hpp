#pragma once
// Flat storage of a network's parameters: what the evaluated and the trained form of every layer share.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/core/result.hpp"
#include "mara/math/aligned.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

/// The shape of a network: a type without state that says how many numbers there are, where they lie in one
/// flat storage and how they begin. kParameters: exact number; kStored: with padding. visit(storage, prefix,
/// f) calls f(name, ParameterView) in a fixed order; initialise(random, storage) fills zeroed storage.
template <class Shape>
concept ParameterShape = requires(Random& random, float* storage) {
  { Shape::kParameters } -> std::convertible_to<std::size_t>;
  { Shape::kStored } -> std::convertible_to<std::size_t>;
  Shape::initialise(random, storage);
  Shape::visit(storage, std::string{}, [](const std::string&, ParameterView<float>) {});
};

/// Parameters of a network that is only evaluated: no gradients. Base of the inference classes.
template <class S, ParameterShape ShapeOf>
class InferenceParameters {
 public:
  using Shape = ShapeOf;
  static constexpr std::size_t kParameters = Shape::kParameters;  ///< exact number
  static constexpr std::size_t kStored = Shape::kStored;          ///< with padding

  /// All parameters zero.
  InferenceParameters() : parameters_(kStored) {}

  /// The storage, kStored numbers with their padding.
  std::span<const S> parameters() const noexcept { return parameters_; }

  /// Copies storage of the same shape; another size is an error and changes nothing.
  Status set_storage(std::span<const S> stored) {
    if (stored.size() != kStored)
      return Error{ErrorCode::kShapeMismatch, "storage: " + std::to_string(stored.size()) +
                                                  " numbers, the network has " + std::to_string(kStored)};
    parameters_.assign(stored.begin(), stored.end());
    return {};
  }

  /// Copies kParameters numbers in exact order (as visited, row-major); another count is an error and changes
  /// nothing.
  Status set_parameters(std::span<const S> exact) { return set_exact_parameters(*this, exact); }
  /// All parameters in exact order, kParameters numbers.
  std::vector<S> exact_parameters() const { return mara::exact_parameters<S>(*this); }

  /// Calls f(name, ParameterView) for every parameter in order.
  template <class F>
  void visit_parameters(F&& f) {
    Shape::visit(parameters_.data(), std::string{}, f);
  }
  template <class F>
  void visit_parameters(F&& f) const {
    Shape::visit(static_cast<const S*>(parameters_.data()), std::string{}, f);
  }

 protected:
  AlignedVector<S> parameters_;
};

/// Parameters of a network that is trained, and their gradients in the same layout. Base of the trained
/// classes.
template <class S, ParameterShape ShapeOf>
class TrainedParameters {
 public:
  using Shape = ShapeOf;
  static constexpr std::size_t kParameters = Shape::kParameters;  ///< exact number
  static constexpr std::size_t kStored = Shape::kStored;          ///< with padding

  /// All parameters zero until initialise().
  TrainedParameters() : parameters_(kStored), gradients_(kStored) {}

  /// Random first parameters, as the shape says; `options` are handed on to it.
  template <class... Options>
  void initialise(Random& random, const Options&... options) {
    std::fill(parameters_.begin(), parameters_.end(), S(0));
    Shape::initialise(random, parameters_.data(), options...);
  }

  /// The storage of parameters and of their gradients, kStored numbers each. Padding stays zero.
  std::span<S> parameters() noexcept { return parameters_; }
  std::span<const S> parameters() const noexcept { return parameters_; }
  std::span<S> gradients() noexcept { return gradients_; }
  std::span<const S> gradients() const noexcept { return gradients_; }
  void zero_gradients() noexcept { std::fill(gradients_.begin(), gradients_.end(), S(0)); }

  /// Calls f(name, ParameterView) for every parameter in order.
  template <class F>
  void visit_parameters(F&& f) {
    Shape::visit(parameters_.data(), std::string{}, f);
  }
  template <class F>
  void visit_parameters(F&& f) const {
    Shape::visit(static_cast<const S*>(parameters_.data()), std::string{}, f);
  }
  /// The same for their gradients.
  template <class F>
  void visit_gradients(F&& f) const {
    Shape::visit(static_cast<const S*>(gradients_.data()), std::string{}, f);
  }

 protected:
  AlignedVector<S> parameters_;
  AlignedVector<S> gradients_;
};

}  // namespace mara
