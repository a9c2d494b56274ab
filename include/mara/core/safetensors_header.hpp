#pragma once
// The header of a safetensors file: its JSON text, read strictly, and what it says about the bytes that
// follow. Format: https://huggingface.co/docs/safetensors/ ("Format").

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/core/checksum.hpp"
#include "mara/core/json_cursor.hpp"
#include "mara/core/merge_sort.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// A tensor as the header of a file describes it.
struct TensorInfo {
  std::string name;
  std::string dtype;                 ///< "F32", "F64", "BF16", ...
  std::vector<std::uint64_t> shape;  ///< row-major; empty: a single number
  std::uint64_t count = 0;           ///< numbers: the product of the shape
  std::uint64_t begin = 0, end = 0;  ///< where its bytes are, counted from the end of the header
};

/// A line of the free text that may accompany the tensors.
struct MetadataEntry {
  std::string key, value;
};

/// What the header of a file says. The tensors cover `bytes` bytes without a gap or an overlap.
struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;      ///< in the order of their bytes
  std::vector<MetadataEntry> metadata;  ///< "__metadata__", in the order of the file
  std::uint64_t bytes = 0;              ///< of all tensors
};

/// The longest header that is read or written, bytes: the limit of the reference implementation.
inline constexpr std::uint64_t kMostSafetensorsHeader = 100'000'000;

/// "[2, 3]": a shape as messages and headers show it.
inline std::string tensor_shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text += "]";
}

/// Metadata key of the checksum that mara's writer adds, 16 hexadecimal digits: the FNV-1a of name, dtype and
/// shape of each tensor in the order of their bytes, then of all their bytes, plus the FNV-1a of key and
/// value of every other line of metadata (modulo 2^64, a zero byte behind each text). A file without it is
/// not checked for damage; a tool that changes a file must drop it.
inline constexpr std::string_view kSafetensorsChecksum = "fnv1a";

/// Computes what kSafetensorsChecksum describes.
class SafetensorsChecksum {
 public:
  void add(const TensorInfo& tensor) {
    add_text(content_, tensor.name);
    add_text(content_, tensor.dtype);
    add_text(content_, tensor_shape_text(tensor.shape));
  }
  void add(const MetadataEntry& entry) {
    Fnv1a hash;
    add_text(hash, entry.key);
    add_text(hash, entry.value);
    if (entry.key != kSafetensorsChecksum) metadata_ += hash.value();
  }
  void add(std::string_view bytes) noexcept { content_.add(bytes); }
  std::string text() const {
    const std::uint64_t value = content_.value() + metadata_;
    std::string digits(16, '0');
    for (std::size_t i = 0; i < 16; ++i) digits[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    return digits;
  }

 private:
  static void add_text(Fnv1a& hash, std::string_view text) noexcept {
    hash.add(text);
    hash.add(std::string_view("", 1));  // an end, so that no two lists of texts look alike
  }
  Fnv1a content_;
  std::uint64_t metadata_ = 0;
};

/// Bytes of one number of a dtype; 0 for a dtype that is not known here.
inline std::uint64_t dtype_bytes(std::string_view dtype) noexcept {
  constexpr std::pair<std::string_view, std::uint64_t> kKnown[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"I64", 8},     {"U64", 8}, {"F64", 8}};
  for (const auto& [name, bytes] : kKnown)
    if (name == dtype) return bytes;
  return 0;
}

namespace detail {

/// a * b to `product`; false when it does not fit.
constexpr bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& product) noexcept {
  if (b != 0 && a > ~std::uint64_t{0} / b) return false;
  product = a * b;
  return true;
}

/// The indices 0..count-1 in an order in which no less(later, earlier).
template <class Less>
std::vector<std::size_t> sorted_indices(std::size_t count, const Less& less) {
  std::vector<std::size_t> order(count), scratch(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  merge_sort(order.data(), scratch.data(), count, less);
  return order;
}

/// Reads the header's JSON: an object of tensors and at most one "__metadata__". A template for the sake of
/// those who never read one.
template <class Cursor>
class SafetensorsHeaderReader {
 public:
  explicit SafetensorsHeaderReader(std::string_view json) : json_(json) {}

  Result<SafetensorsHeader> read() {
    const bool good = json_.object(
        [this](std::string& key) { return key == "__metadata__" ? metadata() : tensor(std::move(key)); });
    if (!good || !json_.finish()) return json_.error();
    if (const Status unique = check_names(); !unique) return unique.error();
    if (const Status extents = check_extents(); !extents) return extents.error();
    return std::move(header_);
  }

 private:
  bool metadata() {
    if (seen_metadata_) return json_.fail("\"__metadata__\" twice");
    seen_metadata_ = true;
    return json_.object([this](std::string& key) {
      header_.metadata.push_back({std::move(key), {}});
      return json_.string(header_.metadata.back().value);
    });
  }

  bool tensor(std::string&& name) {
    header_.tensors.emplace_back();
    TensorInfo& info = header_.tensors.back();
    info.name = std::move(name);
    std::vector<std::uint64_t> offsets;
    bool dtype = false, shape = false;
    const auto natural_numbers = [this](std::vector<std::uint64_t>& numbers) {
      return json_.array([&] {
        numbers.push_back(0);
        return json_.natural(numbers.back());
      });
    };
    const bool good = json_.object([&](const std::string& key) {
      if (key == "dtype" && !std::exchange(dtype, true)) return json_.string(info.dtype);
      if (key == "shape" && !std::exchange(shape, true)) return natural_numbers(info.shape);
      if (key == "data_offsets" && offsets.empty()) return natural_numbers(offsets);
      return json_.fail(in(info, "key " + detail::quoted(key) + " is unknown, or there twice"));
    });
    if (!good) return false;
    if (!dtype) return json_.fail(in(info, "has no \"dtype\""));
    if (!shape) return json_.fail(in(info, "has no \"shape\""));
    if (offsets.size() != 2) return json_.fail(in(info, "\"data_offsets\" must be two numbers"));
    info.begin = offsets[0];
    info.end = offsets[1];
    return true;
  }

  Status check_names() const {
    const auto& tensors = header_.tensors;
    const auto by_name = sorted_indices(
        tensors.size(), [&](std::size_t a, std::size_t b) { return tensors[a].name < tensors[b].name; });
    for (std::size_t i = 1; i < by_name.size(); ++i)
      if (tensors[by_name[i]].name == tensors[by_name[i - 1]].name)
        return Error{ErrorCode::kParse, in(tensors[by_name[i]], "is there twice")};
    const auto& metadata = header_.metadata;
    const auto by_key = sorted_indices(
        metadata.size(), [&](std::size_t a, std::size_t b) { return metadata[a].key < metadata[b].key; });
    for (std::size_t i = 1; i < by_key.size(); ++i)
      if (metadata[by_key[i]].key == metadata[by_key[i - 1]].key)
        return Error{ErrorCode::kParse,
                     "metadata " + detail::quoted(metadata[by_key[i]].key) + " is there twice"};
    return {};
  }

  Status check_extents() {
    auto& tensors = header_.tensors;
    for (TensorInfo& info : tensors) {
      if (info.begin > info.end)
        return Error{ErrorCode::kParse, in(info, offsets(info) + " end before they begin")};
      info.count = 1;
      bool fits = true;
      for (const std::uint64_t extent : info.shape) fits = fits && multiply(info.count, extent, info.count);
      const std::uint64_t each = dtype_bytes(info.dtype);
      std::uint64_t bytes = 0;
      if (!fits || !multiply(info.count, each, bytes))
        return Error{ErrorCode::kParse,
                     in(info, "shape " + tensor_shape_text(info.shape) + " is larger than any memory")};
      if (each > 0 && bytes != info.end - info.begin)
        return Error{ErrorCode::kParse,
                     in(info, "shape " + tensor_shape_text(info.shape) + " of " + info.dtype + " needs " +
                                  std::to_string(bytes) + " bytes, " + offsets(info) + " are " +
                                  std::to_string(info.end - info.begin))};
    }
    const auto order = sorted_indices(tensors.size(), [&](std::size_t a, std::size_t b) {
      return tensors[a].begin != tensors[b].begin ? tensors[a].begin < tensors[b].begin
                                                  : tensors[a].end < tensors[b].end;
    });
    std::vector<TensorInfo> sorted;
    sorted.reserve(tensors.size());
    for (const std::size_t i : order) {
      const TensorInfo& info = tensors[i];
      if (info.begin != header_.bytes)
        return Error{ErrorCode::kParse,
                     in(info, "begins at byte " + std::to_string(info.begin) +
                                  ", the tensors before it end at " + std::to_string(header_.bytes))};
      header_.bytes = info.end;
      sorted.push_back(std::move(tensors[i]));
    }
    tensors = std::move(sorted);
    return {};
  }

  static std::string offsets(const TensorInfo& info) {
    return "data_offsets " + tensor_shape_text({info.begin, info.end});
  }
  static std::string in(const TensorInfo& info, const std::string& what) {
    return "tensor " + detail::quoted(info.name) + ": " + what;
  }

  Cursor json_;
  SafetensorsHeader header_;
  bool seen_metadata_ = false;
};

}  // namespace detail

/// Reads the JSON text of a header. kParse, with the place or the tensor, for text that is no such header
/// (JSON that is not UTF-8, anything but spaces behind it), a name that occurs twice, a shape whose bytes are
/// not those of its offsets or that overflows 64 bits, and tensors that overlap or leave a gap.
template <class Cursor = JsonCursor>
Result<SafetensorsHeader> parse_safetensors_header(std::string_view json) {
  if (json.size() > kMostSafetensorsHeader)
    return Error{ErrorCode::kParse, "header: " + std::to_string(json.size()) + " bytes, at most " +
                                        std::to_string(kMostSafetensorsHeader)};
  if (json.empty() || json.front() != '{') return Error{ErrorCode::kParse, "header: does not begin with '{'"};
  return detail::SafetensorsHeaderReader<Cursor>(json).read();
}

}  // namespace mara
