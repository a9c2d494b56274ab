#pragma once
// Weights files: the parameters of any network as named tensors that other tools read too.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mara/core/safetensors.hpp"
#include "mara/nn/parameter_view.hpp"

namespace mara {

/// Writes all parameters of a network as a safetensors file: for each the name that visit_parameters() gives,
/// the shape [rows, cols] of its view, and the numbers row-major without padding. A reader of `path` sees the
/// old file or the new one. Errors start with the path: kNumerical for a number that is not finite, with the
/// parameter and its place (nothing is written); kInvalidArgument for names that occur twice; kIo.
template <HasParameters N>
Status save_weights(const N& network, const FilePath& path, const std::vector<MetadataEntry>& metadata = {}) {
  SafetensorsWriter out;
  Status status;
  for (const MetadataEntry& entry : metadata) out.metadata(entry.key, entry.value);
  network.visit_parameters([&](const std::string& name, auto view) {
    std::vector<typename decltype(view)::Value> numbers(view.size());
    view.copy_to(numbers.data());
    for (std::size_t i = 0; i < numbers.size() && status; ++i) {
      if (std::isfinite(numbers[i])) continue;
      status = Error{ErrorCode::kNumerical, path.string() + ": tensor " + detail::quoted(name) + ": number " +
                                                tensor_shape_text({i / view.cols, i % view.cols}) +
                                                " must be finite, is " +
                                                format_number(static_cast<double>(numbers[i]))};
    }
    out.tensor(name, {view.rows, view.cols}, std::span(std::as_const(numbers)));
  });
  return status ? out.write(path) : status;
}

/// Sets all parameters of a network from a file: F32, F64, F16 or BF16 tensors of exactly the names and
/// shapes of its parameters; a parameter of one row may also be a tensor of one dimension. Everything is
/// checked before anything is changed. Errors start with the path: kParse for a parameter that is missing, a
/// tensor that is none, or another dtype; kShapeMismatch; kNumerical for a number that is not finite. They
/// name the parameter and the value.
template <HasParameters N>
Status set_weights(N& network, const SafetensorsFile& file) {
  Status status;
  std::vector<const TensorInfo*> tensors;
  const auto refuse = [&](ErrorCode code, const std::string& name, const std::string& what) {
    status = file.fail({code, "tensor " + detail::quoted(name) + ": " + what});
  };
  network.visit_parameters([&](const std::string& name, auto view) {
    if (!status) return;
    const TensorInfo* tensor = file.find(name);
    if (tensor == nullptr) return refuse(ErrorCode::kParse, name, "is missing");
    tensors.push_back(tensor);
    const std::vector<std::uint64_t> exact{view.rows, view.cols}, row{view.cols};
    if (tensor->shape != exact && !(view.rows == 1 && tensor->shape == row))
      return refuse(
          ErrorCode::kShapeMismatch, name,
          "shape " + tensor_shape_text(tensor->shape) + ", the network has " + tensor_shape_text(exact));
    std::vector<typename decltype(view)::Value> numbers(view.size());
    status = file.read(*tensor, std::span(numbers));
  });
  for (const TensorInfo& tensor : file.tensors()) {
    bool known = false;
    for (const TensorInfo* each : tensors) known = known || each == &tensor;
    if (status && !known) refuse(ErrorCode::kParse, tensor.name, "is not of this network");
  }
  if (!status) return status;
  std::size_t next = 0;
  network.visit_parameters([&](const std::string&, auto view) {
    std::vector<typename decltype(view)::Value> numbers(view.size());
    file.read(*tensors[next++], std::span(numbers)).value();  // it went well before
    view.copy_from(numbers.data());
  });
  return {};
}

/// The same from the path of a file. Errors: also those of SafetensorsFile::open().
template <HasParameters N>
Status load_weights(N& network, const FilePath& path) {
  const auto file = SafetensorsFile::open(path);
  if (!file) return file.error();
  return set_weights(network, *file);
}

}  // namespace mara
