# mara_flags: how mara's own programs are compiled. Never exported: users choose their own flags.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(mara_flags INTERFACE)
# No contraction: a fused multiply-add on one compiler and not on the other would give other bits.
target_compile_options(mara_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -ffp-contract=off)
# GCC 12 and 13 see overlaps in std::string that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(mara_flags INTERFACE -Wno-restrict)
endif()
if(MARA_NATIVE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-march=native MARA_HAS_MARCH_NATIVE)
endif()
# A target may ask for an architecture by its property MARA_ARCHITECTURE.
set(other "$<TARGET_PROPERTY:MARA_ARCHITECTURE>")
set(native "$<$<BOOL:${MARA_HAS_MARCH_NATIVE}>:-march=native>")
target_compile_options(mara_flags INTERFACE "$<IF:$<BOOL:${other}>,-march=${other},${native}>")
if(MARA_WERROR)
  # The three that GCC's optimiser reports inside correct library code stay warnings.
  target_compile_options(
    mara_flags INTERFACE -Werror $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized
                         -Wno-error=array-bounds -Wno-error=stringop-overflow>)
endif()
if(MARA_SANITIZE)
  target_compile_options(mara_flags INTERFACE -fsanitize=${MARA_SANITIZE} -fno-sanitize-recover=all
                                              -fno-omit-frame-pointer)
  target_compile_definitions(mara_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(mara_flags INTERFACE -fsanitize=${MARA_SANITIZE})
endif()
