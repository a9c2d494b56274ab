#pragma once
// Writes safetensors files.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mara/core/file.hpp"
#include "mara/core/json_cursor.hpp"
#include "mara/core/parse.hpp"
#include "mara/core/result.hpp"
#include "mara/core/safetensors_header.hpp"

namespace mara {

/// Collects tensors and writes them. What is wrong with one of them is told by write().
class SafetensorsWriter {
 public:
  /// A line of free text. Errors: text that is not UTF-8, a key that is there already or
  /// kSafetensorsChecksum.
  void metadata(std::string_view key, std::string_view value) {
    bool known = key == kSafetensorsChecksum;
    for (const MetadataEntry& entry : metadata_) known = known || entry.key == key;
    if (known || !is_utf8(key)) return fail("metadata", key, "is no new key in UTF-8");
    if (!is_utf8(value)) return fail("metadata", key, "is not UTF-8");
    metadata_.push_back({std::string(key), std::string(value)});
  }

  /// A tensor of float ("F32") or double ("F64"), row-major. Numbers are written as they are, also those that
  /// a reader will refuse. Errors: a name that is not UTF-8, is "__metadata__" or is there already; another
  /// count of values than the shape has.
  template <class S>
  void tensor(std::string_view name, std::vector<std::uint64_t> shape, std::span<const S> values) {
    static_assert(std::is_same_v<S, float> || std::is_same_v<S, double>);
    bool known = name == "__metadata__";
    for (const TensorInfo& tensor : tensors_) known = known || tensor.name == name;
    if (known || !is_utf8(name)) return fail("tensor", name, "is no new name in UTF-8");
    TensorInfo info;
    info.name = name;
    info.dtype = sizeof(S) == 4 ? "F32" : "F64";
    info.count = 1;
    bool fits = true;
    for (const std::uint64_t extent : shape) fits = fits && detail::multiply(info.count, extent, info.count);
    info.shape = std::move(shape);
    if (!fits || info.count != values.size())
      return fail("tensor", name,
                  "shape " + tensor_shape_text(info.shape) + " does not have " +
                      std::to_string(values.size()) + " values");
    std::string& buffer = sizeof(S) == 4 ? floats_ : doubles_;
    info.begin = buffer.size();
    if (!values.empty()) buffer.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    info.end = buffer.size();
    tensors_.push_back(std::move(info));
  }

  /// Writes beside `path` and renames, so that a reader sees the old file or the new one. Errors start with
  /// the path: kInvalidArgument, see metadata() and tensor(); kIo.
  Status write(const FilePath& path) const {
    if (!error_.empty()) return Error{ErrorCode::kInvalidArgument, path.string() + ": " + error_};
    return write_file(path, header(), doubles_, floats_);
  }
  /// The whole file in memory. Errors: as write(), without the path.
  Status write(std::string& bytes) const {
    if (!error_.empty()) return Error{ErrorCode::kInvalidArgument, error_};
    bytes = header() + doubles_ + floats_;
    return {};
  }

 private:
  void fail(std::string_view kind, std::string_view which, const std::string& what) {
    if (error_.empty()) error_ = std::string(kind) + " " + detail::quoted(which) + ": " + what;
  }

  /// Length and JSON text, padded with spaces to a multiple of eight bytes. Doubles come first, so that every
  /// number is aligned where the file is.
  std::string header() const {
    SafetensorsChecksum sum;
    std::string json = "{\"__metadata__\":{", tensors;
    for (const MetadataEntry& entry : metadata_) {
      sum.add(entry);
      append_json_string(json, entry.key);
      json += ':';
      append_json_string(json, entry.value);
      json += ',';
    }
    for (const bool doubles : {true, false}) {
      for (const TensorInfo& tensor : tensors_) {
        if ((tensor.dtype == "F64") != doubles) continue;
        sum.add(tensor);
        const std::uint64_t base = doubles ? 0 : doubles_.size();
        tensors += ',';
        append_json_string(tensors, tensor.name);
        tensors += ":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":" + tensor_shape_text(tensor.shape) +
                   ",\"data_offsets\":" + tensor_shape_text({base + tensor.begin, base + tensor.end}) + '}';
      }
    }
    sum.add(doubles_);
    sum.add(floats_);
    append_json_string(json, kSafetensorsChecksum);
    json += ":\"" + sum.text() + "\"}" + tensors + '}';
    json.append((8 - json.size() % 8) % 8, ' ');
    const std::uint64_t length = json.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + json;
  }

  std::vector<MetadataEntry> metadata_;
  std::vector<TensorInfo> tensors_;  // offsets within doubles_ or floats_
  std::string doubles_, floats_, error_;
};

}  // namespace mara
