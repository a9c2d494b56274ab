#pragma once
// A checksum against damage, not against forgery.

#include <cstdint>
#include <span>
#include <string_view>

namespace mara {

/// FNV-1a, 64 bits, over bytes that arrive piece by piece.
class Fnv1a {
 public:
  void add(std::string_view bytes) noexcept {
    for (const char byte : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
  }
  std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ull;
};

/// The same of bytes that are all there.
inline std::uint64_t fnv1a(std::span<const unsigned char> bytes) noexcept {
  Fnv1a hash;
  hash.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return hash.value();
}

}  // namespace mara
