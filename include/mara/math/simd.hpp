#pragma once
// Vectors of float and double as wide as the instruction set the compiler was told of: AVX-512, AVX2 with
// FMA, NEON, or 128 bits. GNU vector extensions give arithmetic and comparison; what they lack is here,
// through compiler builtins where they exist (<immintrin.h> alone costs more compile time than all of mara's
// kernels).

#include <cstddef>
#include <cstdint>
#include <cstring>

#if !defined(__GNUC__)
#error "mara needs the GNU vector extensions (g++ or clang++)"
#endif
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#define MARA_INLINE [[gnu::always_inline]] inline

namespace mara::simd {

#if defined(__AVX512F__)
#define MARA_SIMD_AVX512
inline constexpr std::size_t kBytes = 64;
inline constexpr int kRegisters = 32;
#elif defined(__AVX2__) && defined(__FMA__)
#define MARA_SIMD_AVX2
inline constexpr std::size_t kBytes = 32;
inline constexpr int kRegisters = 16;
#elif defined(__aarch64__)
#define MARA_SIMD_NEON
inline constexpr std::size_t kBytes = 16;
inline constexpr int kRegisters = 32;
#else
inline constexpr std::size_t kBytes = 16;
inline constexpr int kRegisters = 16;
#endif

/// True when fma() rounds once; without the hardware it is a product and a sum.
#if defined(MARA_SIMD_AVX512) || defined(MARA_SIMD_AVX2) || defined(MARA_SIMD_NEON)
inline constexpr bool kFused = true;
#else
inline constexpr bool kFused = false;
#endif

/// Name of the instruction set in use, for reports.
inline constexpr const char* kName =
#if defined(MARA_SIMD_AVX512)
    "avx512";
#elif defined(MARA_SIMD_AVX2)
    "avx2+fma";
#elif defined(MARA_SIMD_NEON)
    "neon";
#else
    "generic 128 bit";
#endif

typedef float VecF __attribute__((vector_size(kBytes)));
typedef double VecD __attribute__((vector_size(kBytes)));
typedef std::int32_t VecI __attribute__((vector_size(kBytes)));  ///< also the outcome of comparing VecF
typedef long long VecL __attribute__((vector_size(kBytes)));     ///< also the outcome of comparing VecD

/// Vector type of a scalar type.
template <class S>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef VecF type;
};
template <>
struct VectorOf<double> {
  typedef VecD type;
};
template <class S>
using Vec = typename VectorOf<S>::type;

/// Numbers in one vector.
template <class S>
inline constexpr std::size_t kLanes = kBytes / sizeof(S);

/// All lanes x.
template <class S>
MARA_INLINE Vec<S> broadcast(S x) noexcept {
  if constexpr (kLanes<S> == 16) {
    return Vec<S>{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
  } else if constexpr (kLanes<S> == 8) {
    return Vec<S>{x, x, x, x, x, x, x, x};
  } else if constexpr (kLanes<S> == 4) {
    return Vec<S>{x, x, x, x};
  } else {
    return Vec<S>{x, x};
  }
}

/// Lanes from memory of any alignment.
template <class S>
MARA_INLINE Vec<S> load(const S* p) noexcept {
  Vec<S> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Lanes to memory of any alignment.
MARA_INLINE void store(float* p, VecF v) noexcept {
  std::memcpy(p, &v, sizeof v);
}
MARA_INLINE void store(double* p, VecD v) noexcept {
  std::memcpy(p, &v, sizeof v);
}

/// Holds v in a register. Without it the compiler reads an operand of several multiply-adds from memory again
/// for each of them, and loads become the bottleneck.
template <class V>
MARA_INLINE void hold(V& v) noexcept {
#if defined(MARA_SIMD_NEON)
  asm("" : "+w"(v));
#elif defined(MARA_SIMD_AVX512)
  asm("" : "+v"(v));
#elif defined(__SSE2__)
  asm("" : "+x"(v));
#endif
}

/// a * b + c, rounded once where kFused.
MARA_INLINE VecF fma(VecF a, VecF b, VecF c) noexcept {
#if __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#elif defined(MARA_SIMD_AVX512)
  return __builtin_ia32_vfmaddps512_mask(a, b, c, static_cast<unsigned short>(-1), 4);
#elif defined(MARA_SIMD_AVX2)
  return __builtin_ia32_vfmaddps256(a, b, c);
#elif defined(MARA_SIMD_NEON)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}
MARA_INLINE VecD fma(VecD a, VecD b, VecD c) noexcept {
#if __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#elif defined(MARA_SIMD_AVX512)
  return __builtin_ia32_vfmaddpd512_mask(a, b, c, static_cast<unsigned char>(-1), 4);
#elif defined(MARA_SIMD_AVX2)
  return __builtin_ia32_vfmaddpd256(a, b, c);
#elif defined(MARA_SIMD_NEON)
  return vfmaq_f64(c, a, b);
#else
  return a * b + c;
#endif
}

/// The smaller of two; where one is NaN, b.
MARA_INLINE VecF min(VecF a, VecF b) noexcept {
#if defined(MARA_SIMD_AVX512) && __has_builtin(__builtin_ia32_minps512)
  return __builtin_ia32_minps512(a, b, 4);
#elif defined(MARA_SIMD_AVX512) && __has_builtin(__builtin_ia32_minps512_mask)
  return __builtin_ia32_minps512_mask(a, b, VecF{}, static_cast<unsigned short>(-1), 4);
#elif defined(MARA_SIMD_AVX2) && __has_builtin(__builtin_ia32_minps256)
  return __builtin_ia32_minps256(a, b);
#else
  return a < b ? a : b;
#endif
}
/// The larger of two; where one is NaN, b.
MARA_INLINE VecF max(VecF a, VecF b) noexcept {
#if defined(MARA_SIMD_AVX512) && __has_builtin(__builtin_ia32_maxps512)
  return __builtin_ia32_maxps512(a, b, 4);
#elif defined(MARA_SIMD_AVX512) && __has_builtin(__builtin_ia32_maxps512_mask)
  return __builtin_ia32_maxps512_mask(a, b, VecF{}, static_cast<unsigned short>(-1), 4);
#elif defined(MARA_SIMD_AVX2) && __has_builtin(__builtin_ia32_maxps256)
  return __builtin_ia32_maxps256(a, b);
#else
  return a > b ? a : b;
#endif
}
MARA_INLINE VecD min(VecD a, VecD b) noexcept {
  return a < b ? a : b;
}
MARA_INLINE VecD max(VecD a, VecD b) noexcept {
  return a > b ? a : b;
}

/// Where mask is set a, elsewhere b (a mask is the outcome of comparing two vectors).
MARA_INLINE VecF select(VecI mask, VecF a, VecF b) noexcept {
  return mask ? a : b;
}
MARA_INLINE VecD select(VecL mask, VecD a, VecD b) noexcept {
  return mask ? a : b;
}

/// Square root, correctly rounded.
MARA_INLINE VecF sqrt(VecF x) noexcept {
#if __has_builtin(__builtin_elementwise_sqrt)
  return __builtin_elementwise_sqrt(x);
#elif defined(MARA_SIMD_AVX512) && defined(__clang__) && __has_builtin(__builtin_ia32_sqrtps512)
  return __builtin_ia32_sqrtps512(x, 4);
#elif defined(MARA_SIMD_AVX512) && __has_builtin(__builtin_ia32_sqrtps512_mask)
  return __builtin_ia32_sqrtps512_mask(x, VecF{}, static_cast<unsigned short>(-1), 4);
#elif defined(MARA_SIMD_AVX2) && __has_builtin(__builtin_ia32_sqrtps256)
  return __builtin_ia32_sqrtps256(x);
#elif defined(__SSE2__) && __has_builtin(__builtin_ia32_sqrtps)
  return __builtin_ia32_sqrtps(x);
#else
  for (std::size_t i = 0; i < kLanes<float>; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}
MARA_INLINE VecD sqrt(VecD x) noexcept {
  for (std::size_t i = 0; i < kLanes<double>; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
}

/// kLanes<double> numbers from memory as doubles.
MARA_INLINE VecD load_as_double(const float* p) noexcept {
  typedef float Half __attribute__((vector_size(kBytes / 2)));
  Half half;
  std::memcpy(&half, p, sizeof half);
  return __builtin_convertvector(half, VecD);
}
MARA_INLINE VecD load_as_double(const double* p) noexcept {
  return load(p);
}

#if defined(MARA_SIMD_AVX2)
namespace detail {
/// All bits set in the first `count` lanes.
MARA_INLINE VecI lane_mask_float(std::size_t count) noexcept {
  return static_cast<std::int32_t>(count) > VecI{0, 1, 2, 3, 4, 5, 6, 7};
}
MARA_INLINE VecL lane_mask_double(std::size_t count) noexcept {
  return static_cast<long long>(count) > VecL{0, 1, 2, 3};
}
}  // namespace detail
#endif

/// The first `count` lanes (0 < count <= lanes) from memory, the others 0; touches no other memory.
MARA_INLINE VecF load_partial(const float* p, std::size_t count) noexcept {
#if defined(MARA_SIMD_AVX512)
  return __builtin_ia32_loadups512_mask(p, VecF{}, static_cast<unsigned short>((1u << count) - 1u));
#elif defined(MARA_SIMD_AVX2)
  return __builtin_ia32_maskloadps256(reinterpret_cast<const VecF*>(p), detail::lane_mask_float(count));
#else
  if (count == kLanes<float>) return load(p);
  VecF v = {};
  for (std::size_t i = 0; i < count; ++i) v[i] = p[i];
  return v;
#endif
}
MARA_INLINE VecD load_partial(const double* p, std::size_t count) noexcept {
#if defined(MARA_SIMD_AVX512)
  return __builtin_ia32_loadupd512_mask(p, VecD{}, static_cast<unsigned char>((1u << count) - 1u));
#elif defined(MARA_SIMD_AVX2)
  return __builtin_ia32_maskloadpd256(reinterpret_cast<const VecD*>(p), detail::lane_mask_double(count));
#else
  if (count == kLanes<double>) return load(p);
  VecD v = {};
  for (std::size_t i = 0; i < count; ++i) v[i] = p[i];
  return v;
#endif
}

/// The first `count` lanes (0 < count <= lanes) to memory; touches no other memory.
MARA_INLINE void store_partial(float* p, VecF v, std::size_t count) noexcept {
#if defined(MARA_SIMD_AVX512)
  __builtin_ia32_storeups512_mask(p, v, static_cast<unsigned short>((1u << count) - 1u));
#elif defined(MARA_SIMD_AVX2)
  __builtin_ia32_maskstoreps256(reinterpret_cast<VecF*>(p), detail::lane_mask_float(count), v);
#else
  if (count == kLanes<float>) return store(p, v);
  for (std::size_t i = 0; i < count; ++i) p[i] = v[i];
#endif
}
MARA_INLINE void store_partial(double* p, VecD v, std::size_t count) noexcept {
#if defined(MARA_SIMD_AVX512)
  __builtin_ia32_storeupd512_mask(p, v, static_cast<unsigned char>((1u << count) - 1u));
#elif defined(MARA_SIMD_AVX2)
  __builtin_ia32_maskstorepd256(reinterpret_cast<VecD*>(p), detail::lane_mask_double(count), v);
#else
  if (count == kLanes<double>) return store(p, v);
  for (std::size_t i = 0; i < count; ++i) p[i] = v[i];
#endif
}

}  // namespace mara::simd
