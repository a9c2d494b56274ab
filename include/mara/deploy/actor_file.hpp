#pragma once
// The weights file of an actor: what a training program hands to whoever schedules with it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/math/activation.hpp"

namespace mara::deploy {

/// The contents of a weights file, an archive of kind "actor".
struct ActorFile {
  std::int32_t types = 0;            ///< GPU types that the observation and the options are made for
  std::vector<std::uint64_t> sizes;  ///< inputs, hidden widths, options
  Activation hidden = Activation::kTanh;
  double time_unit_s = 0.0;              ///< of the observations
  std::vector<std::string> type_names;   ///< of the cluster it was trained for, fastest first; empty: unknown
  std::vector<float> parameters;         ///< in the order of MlpShape
  std::vector<float> reference_numbers;  ///< what the trainer observed in the reference state
};

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

/// Writes beside `path` and renames, so that a reader sees the old file or the new one. Errors: kIo.
inline Status write_actor_file(const ActorFile& file, const std::string& path) {
  std::string names;
  for (const std::string& name : file.type_names) names += name + '\n';
  ArchiveWriter out("actor");
  out.put_value("types", file.types);
  out.put("sizes", file.sizes);
  out.put_value("hidden_activation", static_cast<std::int32_t>(file.hidden));
  out.put_value("time_unit_s", file.time_unit_s);
  out.put("type_names", std::vector<char>(names.begin(), names.end()));
  out.put("reference_numbers", file.reference_numbers);
  out.put("parameters", file.parameters);
  return out.write(path);
}

/// Reads a weights file of any shape, for programs that choose the actor by it. Errors start with the path:
/// kIo; kParse for what is no actor's file, or damaged; kInvalidArgument for a field outside its domain;
/// kShapeMismatch for another number of parameters than the sizes ask for; kNumerical for a weight that is
/// not finite, with its index.
inline Result<ActorFile> read_actor_file(const std::string& path) {
  auto opened = ArchiveReader::open(path, "actor");
  if (!opened) return opened.error();
  ArchiveReader& in = *opened;
  ActorFile file;
  std::int32_t hidden = -1;
  std::vector<char> names;
  Status status = in.get_value("types", file.types);
  if (status) status = in.get("sizes", file.sizes);
  if (status) status = in.get_value("hidden_activation", hidden);
  if (status) status = in.get_value("time_unit_s", file.time_unit_s);
  if (status) status = in.get("type_names", names);
  if (status) status = in.get("reference_numbers", file.reference_numbers);
  if (status) status = in.get("parameters", file.parameters);
  if (!status) return status.error();

  const auto fail = [&path](ErrorCode code, const std::string& what) {
    return Error{code, path + ": " + what};
  };
  if (file.types < 1)
    return fail(ErrorCode::kInvalidArgument,
                "types = " + std::to_string(file.types) + ", must be at least 1");
  if (hidden < 0 || hidden > static_cast<std::int32_t>(Activation::kRelu))
    return fail(ErrorCode::kInvalidArgument, "hidden_activation = " + std::to_string(hidden) + " is unknown");
  file.hidden = static_cast<Activation>(hidden);
  if (const Status good = check_positive(file.time_unit_s, "time_unit_s"); !good)
    return fail(good.error().code, good.error().message);
  for (std::string name; const char c : names) {
    if (c != '\n') {
      name += c;
    } else {
      file.type_names.push_back(std::move(name));
      name.clear();
    }
  }
  std::uint64_t expected = 0;
  for (std::size_t layer = 0; layer + 1 < file.sizes.size(); ++layer) {
    constexpr std::uint64_t kWidest = 1u << 20;  // keeps the product far from overflow
    if (file.sizes[layer] > kWidest || file.sizes[layer + 1] > kWidest)
      return fail(ErrorCode::kInvalidArgument,
                  "sizes = " + shape_text(file.sizes) + ", at most " + std::to_string(kWidest) + " each");
    expected += (file.sizes[layer] + 1) * file.sizes[layer + 1];
  }
  if (file.parameters.size() != expected)
    return fail(ErrorCode::kShapeMismatch, "parameters: " + std::to_string(file.parameters.size()) +
                                               " numbers, sizes = " + shape_text(file.sizes) + " need " +
                                               std::to_string(expected));
  if (const Status finite = check_weights(file.parameters.data(), file.parameters.size()); !finite)
    return fail(finite.error().code, finite.error().message);
  return file;
}

}  // namespace mara::deploy
