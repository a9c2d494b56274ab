#pragma once
// Whether this is a build for sanitizers, in which trainings of minutes are left to the other builds: what
// they execute, the shorter tests of the same learners execute too.

#if defined(__SANITIZE_ADDRESS__)
#define MARA_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MARA_TEST_SANITIZED 1
#endif
#endif

namespace mara::test {

#ifdef MARA_TEST_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace mara::test
