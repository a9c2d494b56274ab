#pragma once
// Many random numbers at once: blocks of Philox side by side in the lanes of a vector.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "mara/core/random.hpp"
#include "mara/math/trigonometric.hpp"

namespace mara::math {

namespace detail {

typedef std::uint64_t VecU64 __attribute__((vector_size(simd::kBytes)));
inline constexpr std::size_t kBlocksAtOnce = simd::kBytes / 8;

/// Product of the low halves of two vectors of 64-bit numbers whose upper halves are 0.
MARA_INLINE VecU64 multiply_words(VecU64 a, std::uint32_t b) noexcept {
#if defined(MARA_SIMD_AVX512) && __has_builtin(__builtin_ia32_pmuludq512_mask)
  typedef int Words __attribute__((vector_size(64)));
  typedef long long Longs __attribute__((vector_size(64)));
  const VecU64 factor = VecU64{} + b;
  return (VecU64)__builtin_ia32_pmuludq512_mask((Words)a, (Words)factor, Longs{},
                                                static_cast<unsigned char>(-1));
#else
  return a * b;
#endif
}

/// Words of kBlocksAtOnce consecutive blocks of a stream from block `index` on, as philox4x32() makes them:
/// words[w][i] is word w of block index + i.
MARA_INLINE void philox_blocks(const Random::State& stream, std::uint64_t index,
                               VecU64 (&words)[4]) noexcept {
  constexpr std::uint64_t kLow = 0xffffffffu;
  VecU64 block;
  for (std::size_t i = 0; i < kBlocksAtOnce; ++i) block[i] = index + i;
  VecU64 c0 = block & kLow, c1 = block >> 32;
  VecU64 c2 = VecU64{} + (stream.stream & kLow), c3 = VecU64{} + (stream.stream >> 32);
  auto key0 = static_cast<std::uint32_t>(stream.seed), key1 = static_cast<std::uint32_t>(stream.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const VecU64 a = multiply_words(c0, 0xD2511F53u), b = multiply_words(c2, 0xCD9E8D57u);
    const VecU64 n0 = (b >> 32) ^ c1 ^ std::uint64_t{key0}, n2 = (a >> 32) ^ c3 ^ std::uint64_t{key1};
    c1 = b & kLow;
    c3 = a & kLow;
    c0 = n0;
    c2 = n2;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/// Where the next whole block of a stream begins.
inline std::uint64_t next_block(const Random::State& state) noexcept {
  return (state.position + 3) / 4;
}

}  // namespace detail

/// The next `count` words of `random`, the same that random() would give one by one once the block that it is
/// in has been left; the stream goes on with the block after the last one used.
inline void fill_words(Random& random, std::uint32_t* out, std::size_t count) noexcept {
  Random::State state = random.state();
  std::uint64_t block = detail::next_block(state);
  for (std::size_t begin = 0; begin < count;
       begin += 4 * detail::kBlocksAtOnce, block += detail::kBlocksAtOnce) {
    detail::VecU64 words[4];
    detail::philox_blocks(state, block, words);
    std::uint32_t ordered[4 * detail::kBlocksAtOnce];
    for (std::size_t i = 0; i < detail::kBlocksAtOnce; ++i)
      for (std::size_t w = 0; w < 4; ++w) ordered[4 * i + w] = static_cast<std::uint32_t>(words[w][i]);
    const std::size_t now = std::min(count - begin, 4 * detail::kBlocksAtOnce);
    std::copy_n(ordered, now, out + begin);
  }
  state.position = 4 * (detail::next_block(state) + (count + 3) / 4);
  random = Random(state);
}

/// `count` standard normal numbers, |value| < 6.7: pairs of words of fill_words() by the method of Box and
/// Muller
/// ("A note on the generation of random normal deviates", Ann. Math. Stat. 29, 1958). The same bits on every
/// instruction set with fused multiply-adds.
inline void fill_normals(Random& random, float* out, std::size_t count) noexcept {
  constexpr std::size_t kW = simd::kLanes<float>;
  constexpr std::size_t kPairs = 4 * kW;
  const auto c = [](float value) { return simd::broadcast(value); };
  std::uint32_t words[2 * kPairs];
  for (std::size_t begin = 0; begin < count; begin += 2 * kPairs) {
    const std::size_t now = std::min(count - begin, 2 * kPairs);
    fill_words(random, words, now + now % 2);
    alignas(64) std::int32_t radius_bits[kPairs] = {}, angle_bits[kPairs] = {};
    for (std::size_t i = 0; i < (now + 1) / 2; ++i) {
      radius_bits[i] = static_cast<std::int32_t>(words[2 * i] >> 1);
      angle_bits[i] = static_cast<std::int32_t>(words[2 * i + 1]);
    }
    alignas(64) float first[kPairs], second[kPairs];
    for (std::size_t i = 0; i < kPairs; i += kW) {
      simd::VecI r, a;
      std::memcpy(&r, radius_bits + i, sizeof r);
      std::memcpy(&a, angle_bits + i, sizeof a);
      // (k + 1/2) / 2^31 for a k of 31 bits: never 0, fine near 0, where the large numbers come from.
      const simd::VecF u = simd::fma(__builtin_convertvector(r, simd::VecF), c(0x1p-31f), c(0x1p-32f));
      const simd::VecF radius = simd::sqrt(simd::max(simd::VecF{}, c(-2.0f) * simd::log(u)));
      const simd::SineCosine at =
          simd::sine_cosine(__builtin_convertvector(a, simd::VecF) * c(1.46291808e-9f));  // pi / 2^31
      simd::store(first + i, radius * at.cosine);
      simd::store(second + i, radius * at.sine);
    }
    for (std::size_t i = 0; i < now; ++i) out[begin + i] = i % 2 == 0 ? first[i / 2] : second[i / 2];
  }
}

/// Permutes `values` uniformly as Random::shuffle does, with words of fill_words() instead of single ones.
/// `words`: room for as many words as there are values.
inline void shuffle(Random& random, std::uint32_t* values, std::size_t count, std::uint32_t* words) noexcept {
  fill_words(random, words, count);
  for (std::size_t left = count; left > 1; --left) {
    const auto bound = static_cast<std::uint32_t>(left);
    const std::uint64_t product = std::uint64_t{words[left - 1]} * bound;
    auto pick = static_cast<std::uint32_t>(product >> 32);
    // Lemire's rejection (Random::below); the rare second trial takes single words.
    if (static_cast<std::uint32_t>(product) < bound) [[unlikely]] {
      if (static_cast<std::uint32_t>(product) < (0u - bound) % bound) pick = random.below(bound);
    }
    std::swap(values[left - 1], values[pick]);
  }
}

}  // namespace mara::math
