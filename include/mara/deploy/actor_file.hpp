#pragma once
// The weights file of an actor: what a training program hands to whoever schedules with it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/parse.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/safetensors.hpp"
#include "mara/math/activation.hpp"

namespace mara::deploy {

/// The contents of a weights file. It is a safetensors file: tensors "0.weight" [inputs, width], "0.bias" [1,
/// width], "1.weight", ..., and "reference_numbers"; in the metadata "kind" = "mara actor", "format_version",
/// "types", "hidden_activation" ("tanh"), "time_unit_s" and, where the names are known, "type_name_0",
/// "type_name_1", ...
struct ActorFile {
  std::int32_t types = 0;            ///< GPU types that the observation and the options are made for
  std::vector<std::uint64_t> sizes;  ///< inputs, hidden widths, options
  Activation hidden = Activation::kTanh;
  double time_unit_s = 0.0;              ///< of the observations
  std::vector<std::string> type_names;   ///< of the cluster it was trained for, fastest first; empty: unknown
  std::vector<float> parameters;         ///< for each layer weights[in][out], then bias[out]
  std::vector<float> reference_numbers;  ///< what the trainer observed in the reference state
};

/// "kind" and "format_version" of the file.
inline constexpr std::string_view kActorFileKind = "mara actor", kActorFileVersion = "1";

/// "83-64-64-10": a shape as messages show it.
inline std::string shape_text(const std::vector<std::uint64_t>& sizes) {
  std::string text;
  for (const std::uint64_t size : sizes) text += (text.empty() ? "" : "-") + std::to_string(size);
  return text.empty() ? "none" : text;
}

/// Success when all numbers are finite; otherwise kNumerical with the index of the first that is not.
inline Status check_weights(const float* weights, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (auto finite = check_finite(static_cast<double>(weights[i]), "parameters[" + std::to_string(i) + "]");
        !finite)
      return finite;
  return {};
}

/// Writes beside `path` and renames, so that a reader sees the old file or the new one. Errors start with the
/// path: kIo; kShapeMismatch for another number of parameters than the sizes ask for; kInvalidArgument for a
/// type name that is not UTF-8.
template <PathLike Path>
Status write_actor_file(const ActorFile& file, const Path& path) {
  SafetensorsWriter out;
  out.metadata("kind", kActorFileKind);
  out.metadata("format_version", kActorFileVersion);
  out.metadata("types", std::to_string(file.types));
  out.metadata("hidden_activation", name_of(file.hidden));
  out.metadata("time_unit_s", format_number(file.time_unit_s));
  for (std::size_t t = 0; t < file.type_names.size(); ++t)
    out.metadata("type_name_" + std::to_string(t), file.type_names[t]);
  std::span<const float> left(file.parameters.data(), file.parameters.size());
  const auto put = [&](const std::string& name, std::uint64_t rows, std::uint64_t cols) {
    std::uint64_t count = 0;
    if (!mara::detail::multiply(rows, cols, count) || count > left.size()) return false;
    out.tensor(name, {rows, cols}, left.first(static_cast<std::size_t>(count)));
    left = left.subspan(static_cast<std::size_t>(count));
    return true;
  };
  bool enough = true;
  for (std::size_t layer = 0; layer + 1 < file.sizes.size() && enough; ++layer) {
    const std::string name = std::to_string(layer);
    enough = put(name + ".weight", file.sizes[layer], file.sizes[layer + 1]) &&
             put(name + ".bias", 1, file.sizes[layer + 1]);
  }
  if (!enough || !left.empty())
    return Error{ErrorCode::kShapeMismatch, FilePath(path).string() +
                                                ": parameters: " + std::to_string(file.parameters.size()) +
                                                " numbers do not fit sizes = " + shape_text(file.sizes)};
  out.tensor("reference_numbers", {file.reference_numbers.size()},
             std::span<const float>(file.reference_numbers.data(), file.reference_numbers.size()));
  return out.write(path);
}

namespace detail {

/// The metadata of an actor's file. Errors: see read_actor_file().
template <class File>
Status read_actor_metadata(const File& in, ActorFile& file) {
  const auto text = [&in](std::string_view key) {
    const std::string* found = in.find_metadata(key);
    return found == nullptr ? std::string() : *found;
  };
  const auto refuse = [&in](ErrorCode code, const std::string& what) { return in.fail({code, what}); };
  for (const auto& [key, expected] : {std::pair{std::string_view("kind"), kActorFileKind},
                                      std::pair{std::string_view("format_version"), kActorFileVersion}})
    if (text(key) != expected)
      return refuse(ErrorCode::kParse, std::string(key) + " = " + mara::detail::quoted(text(key)) +
                                           ", expected " + mara::detail::quoted(expected));
  const auto types = parse_int(text("types"), "types");
  if (!types) return in.fail(types.error());
  if (*types < 1 || *types > kMaxGpuTypes)
    return refuse(ErrorCode::kInvalidArgument, "types = " + std::to_string(*types) + ", must be in [1, " +
                                                   std::to_string(kMaxGpuTypes) + "]");
  file.types = static_cast<std::int32_t>(*types);
  const std::string hidden = text("hidden_activation");
  int activation = 0;
  while (activation < kActivations && hidden != name_of(static_cast<Activation>(activation))) ++activation;
  if (activation == kActivations)
    return refuse(ErrorCode::kInvalidArgument,
                  "hidden_activation = " + mara::detail::quoted(hidden) + " is unknown");
  file.hidden = static_cast<Activation>(activation);
  const auto unit = parse_double(text("time_unit_s"), "time_unit_s");
  if (!unit) return in.fail(unit.error());
  file.time_unit_s = *unit;
  for (;;) {
    const std::string* name = in.find_metadata("type_name_" + std::to_string(file.type_names.size()));
    if (name == nullptr) break;
    file.type_names.push_back(*name);
  }
  if (const Status good = check_positive(file.time_unit_s, "time_unit_s"); !good)
    return in.fail(good.error());
  return {};
}

/// The tensors of an actor's file. Errors: see read_actor_file().
template <class File>
Status read_actor_tensors(const File& in, ActorFile& file) {
  const auto refuse = [&in](ErrorCode code, const std::string& name, const std::string& what) {
    return in.fail({code, "tensor " + mara::detail::quoted(name) + ": " + what});
  };
  std::size_t used = 0;
  for (std::size_t layer = 0;; ++layer) {
    const std::string name = std::to_string(layer);
    const TensorInfo* weight = in.find(name + ".weight");
    const TensorInfo* bias = in.find(name + ".bias");
    if (weight == nullptr && layer > 0) break;
    if (weight == nullptr) return refuse(ErrorCode::kParse, name + ".weight", "is missing");
    if (bias == nullptr) return refuse(ErrorCode::kParse, name + ".bias", "is missing");
    if (weight->shape.size() != 2 || (layer > 0 && weight->shape[0] != file.sizes.back()))
      return refuse(ErrorCode::kShapeMismatch, name + ".weight",
                    "shape " + tensor_shape_text(weight->shape) + ", expected [" +
                        (layer > 0 ? std::to_string(file.sizes.back()) : "inputs") + ", width]");
    const std::uint64_t width = weight->shape[1];
    if (bias->shape != std::vector<std::uint64_t>{1, width} &&
        bias->shape != std::vector<std::uint64_t>{width})
      return refuse(
          ErrorCode::kShapeMismatch, name + ".bias",
          "shape " + tensor_shape_text(bias->shape) + ", expected " + tensor_shape_text({1, width}));
    if (layer == 0) file.sizes.push_back(weight->shape[0]);
    file.sizes.push_back(width);
    for (const TensorInfo* tensor : {weight, bias})
      if (const Status read = in.append(*tensor, file.parameters); !read) return read;
    used += 2;
  }
  const TensorInfo* reference = in.find("reference_numbers");
  if (reference == nullptr) return refuse(ErrorCode::kParse, "reference_numbers", "is missing");
  if (in.tensors().size() != used + 1)
    return in.fail({ErrorCode::kParse, "has " + std::to_string(in.tensors().size()) +
                                           " tensors, an actor of sizes = " + shape_text(file.sizes) +
                                           " has " + std::to_string(used + 1)});
  return in.append(*reference, file.reference_numbers);
}

}  // namespace detail

/// The actor in a safetensors file that was read already. Errors: see read_actor_file().
template <class File>
Result<ActorFile> actor_in(const File& in) {
  ActorFile file;
  if (const Status status = detail::read_actor_metadata(in, file); !status) return status.error();
  if (const Status status = detail::read_actor_tensors(in, file); !status) return status.error();
  return file;
}

/// Reads a weights file of any shape, for programs that choose the actor by it. Errors start with the path:
/// those of SafetensorsFile::open(); kParse for what is no actor's file, or lacks something; kInvalidArgument
/// for a field outside its domain; kShapeMismatch for tensors that are no perceptron; kNumerical for a number
/// that is not finite.
template <PathLike Path>
Result<ActorFile> read_actor_file(const Path& path) {
  const auto in = SafetensorsFile::open(path);
  if (!in) return in.error();
  return actor_in(*in);
}

}  // namespace mara::deploy
