#pragma once
// Reads safetensors files, and believes nothing.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mara/core/check_finite.hpp"
#include "mara/core/file.hpp"
#include "mara/core/parse.hpp"
#include "mara/core/result.hpp"
#include "mara/core/safetensors_header.hpp"

namespace mara {

namespace detail {

/// A half of IEEE 754 ("F16") as a float, exactly.
inline float float_of_half(std::uint16_t half) noexcept {
  const std::uint32_t sign = std::uint32_t{half} >> 15 << 31, exponent = half >> 10 & 31,
                      fraction = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float tiny = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -tiny : tiny;
}
/// The upper half of a float ("BF16").
inline float float_of_bfloat(std::uint16_t half) noexcept {
  return std::bit_cast<float>(std::uint32_t{half} << 16);
}

}  // namespace detail

/// A file that was read and found to keep to the format: no lie in the header, no byte too many or too few,
/// and a right checksum where there is one.
class SafetensorsFile {
 public:
  /// Errors start with the path: kIo; kParse for a file that does not keep to the format.
  template <PathLike Path>
  static Result<SafetensorsFile> open(const Path& path) {
    InputFile file;
    if (const Status opened = file.open(path); !opened) return opened.error();
    SafetensorsFile read;
    read.name_ = FilePath(path).string();
    // The header is judged before the numbers are read, and memory grows with what is there.
    const auto next = [&file](std::uint64_t most, std::string& bytes) { return file.read(most, bytes); };
    if (const Status status = read.take(next); !status)
      return status.error().code == ErrorCode::kIo ? status.error() : read.fail(status.error());
    return read;
  }
  /// The same from memory; errors start with `name`.
  template <std::convertible_to<std::string_view> Bytes>
  static Result<SafetensorsFile> parse(const Bytes& bytes, std::string_view name) {
    SafetensorsFile read;
    read.name_ = name;
    std::string_view left = bytes;
    const auto next = [&left](std::uint64_t most, std::string& to) {
      const std::string_view part =
          left.substr(0, most < left.size() ? static_cast<std::size_t>(most) : left.size());
      to += part;
      left.remove_prefix(part.size());
      return Status();
    };
    if (const Status status = read.take(next); !status) return read.fail(status.error());
    return read;
  }

  const std::vector<TensorInfo>& tensors() const noexcept { return header_.tensors; }
  const std::vector<MetadataEntry>& metadata() const noexcept { return header_.metadata; }
  /// The tensor of this name, or null.
  const TensorInfo* find(std::string_view name) const noexcept {
    for (const TensorInfo& tensor : header_.tensors)
      if (tensor.name == name) return &tensor;
    return nullptr;
  }
  /// The value of a metadata key, or null.
  const std::string* find_metadata(std::string_view key) const noexcept {
    for (const MetadataEntry& entry : header_.metadata)
      if (entry.key == key) return &entry.value;
    return nullptr;
  }
  /// The error with the file's name before it.
  Error fail(const Error& error) const { return {error.code, name_ + ": " + error.message}; }

  /// Copies the numbers of one of tensors() as float or double. Errors, with the name of the file and of the
  /// tensor, that leave `to` as it was: kShapeMismatch for another count; kParse for a dtype that is not F32,
  /// F64, F16 or BF16; kNumerical, with place and value, for a number that is not finite, or a double that no
  /// float can hold.
  template <class S>
  Status read(const TensorInfo& tensor, std::span<S> to) const {
    static_assert(std::is_same_v<S, float> || std::is_same_v<S, double>);
    const std::string name = "tensor " + detail::quoted(tensor.name);
    if (tensor.count != to.size())
      return fail({ErrorCode::kShapeMismatch, name + ": shape " + tensor_shape_text(tensor.shape) +
                                                  ", expected " + std::to_string(to.size()) + " numbers"});
    const char* from = buffer_.data() + tensor.begin;
    if (tensor.dtype == "F32") return convert<float>(tensor, from, to, [](float x) { return x; });
    if (tensor.dtype == "F64") return convert<double>(tensor, from, to, [](double x) { return x; });
    if (tensor.dtype == "F16") return convert<std::uint16_t>(tensor, from, to, detail::float_of_half);
    if (tensor.dtype == "BF16") return convert<std::uint16_t>(tensor, from, to, detail::float_of_bfloat);
    return unreadable(tensor);
  }
  /// Appends all numbers of one of tensors(). Memory is taken only for what the file has. Errors: as read().
  template <class S>
  Status append(const TensorInfo& tensor, std::vector<S>& to) const {
    // Of a dtype that is not known here the count says nothing about the bytes.
    if (dtype_bytes(tensor.dtype) == 0) return unreadable(tensor);
    const std::size_t begin = to.size();
    to.resize(begin + static_cast<std::size_t>(tensor.count));
    const Status status = read(tensor, std::span<S>(to.data() + begin, to.size() - begin));
    if (!status) to.resize(begin);
    return status;
  }

 private:
  Error unreadable(const TensorInfo& tensor) const {
    return fail({ErrorCode::kParse, "tensor " + detail::quoted(tensor.name) + ": dtype " +
                                        detail::quoted(tensor.dtype) + ", expected F32, F64, F16 or BF16"});
  }
  /// Reads and checks everything; next(most, bytes) appends what comes next.
  template <class Next>
  Status take(Next&& next) {
    const auto bad = [](const std::string& what) { return Error{ErrorCode::kParse, what}; };
    std::string bytes;
    std::uint64_t length = 0;
    if (const Status status = next(sizeof length, bytes); !status) return status;
    if (bytes.size() < sizeof length)
      return bad("is no safetensors file: " + std::to_string(bytes.size()) + " bytes");
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length > kMostSafetensorsHeader)
      return bad("is no safetensors file: header of " + std::to_string(length) + " bytes, at most " +
                 std::to_string(kMostSafetensorsHeader));
    bytes.clear();
    if (const Status status = next(length, bytes); !status) return status;
    if (bytes.size() < length)
      return bad("is truncated: header of " + std::to_string(length) + " bytes, the file has " +
                 std::to_string(bytes.size()));
    auto header = parse_safetensors_header(bytes);
    if (!header) return header.error();
    header_ = std::move(*header);
    bytes.clear();
    buffer_.clear();
    if (const Status status = next(header_.bytes, buffer_); !status) return status;
    if (buffer_.size() < header_.bytes)
      return bad("is truncated: tensors of " + std::to_string(header_.bytes) + " bytes, the file has " +
                 std::to_string(buffer_.size()));
    if (const Status status = next(1, bytes); !status) return status;
    if (!bytes.empty()) return bad("there are bytes behind the last tensor");
    SafetensorsChecksum sum;
    for (const MetadataEntry& entry : header_.metadata) sum.add(entry);
    for (const TensorInfo& tensor : header_.tensors) sum.add(tensor);
    sum.add(buffer_);
    const std::string* expected = find_metadata(kSafetensorsChecksum);
    if (expected != nullptr && *expected != sum.text())
      return bad(
          "checksum does not match: the file is damaged, or a tool changed it and left \"fnv1a\" in its "
          "metadata");
    return {};
  }

  /// to[i] = value(number i of type Stored), once all of them are known to be finite.
  template <class Stored, class S, class F>
  Status convert(const TensorInfo& tensor, const char* from, std::span<S> to, F&& value) const {
    const auto number = [&](std::size_t i) {
      Stored stored;
      std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
      return value(stored);
    };
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto x = number(i);
      if (x >= std::numeric_limits<S>::lowest() && x <= std::numeric_limits<S>::max()) continue;
      return fail({ErrorCode::kNumerical, "tensor " + detail::quoted(tensor.name) + ": number " +
                                              place(tensor, i) + " must be finite, is " +
                                              format_number(static_cast<double>(x))});
    }
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<S>(number(i));
    return {};
  }
  /// "[2, 5]": where the i-th number of a tensor is.
  static std::string place(const TensorInfo& tensor, std::uint64_t i) {
    std::vector<std::uint64_t> at(tensor.shape.size());
    for (std::size_t d = at.size(); d-- > 0; i /= tensor.shape[d]) at[d] = i % tensor.shape[d];
    return tensor_shape_text(at);
  }

  std::string name_;
  SafetensorsHeader header_;
  std::string buffer_;
};

}  // namespace mara
