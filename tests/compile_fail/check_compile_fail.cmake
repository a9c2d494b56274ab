# cmake -DCOMPILER= -DSOURCE= -DINCLUDES=a|b -DSTANDARD=-std=c++20 -P check_compile_fail.cmake
cmake_minimum_required(VERSION 3.25)

string(REPLACE "|" ";" includes "${INCLUDES}")
list(TRANSFORM includes PREPEND "-I")
set(ENV{LC_ALL} C)  # plain quotes in the diagnostics
execute_process(COMMAND "${COMPILER}" ${STANDARD} ${includes} -fsyntax-only "${SOURCE}"
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)

get_filename_component(name "${SOURCE}" NAME)
file(STRINGS "${SOURCE}" expectations REGEX "^// EXPECT: ")
if(name MATCHES "^control")
  if(NOT code STREQUAL "0")
    message("${output}")
    message(FATAL_ERROR "${name} must compile")
  endif()
  return()
endif()

if(NOT expectations)
  message(FATAL_ERROR "${name} has no line '// EXPECT: <regular expression>'")
elseif(code STREQUAL "0")
  message(FATAL_ERROR "${name} compiled, but must not")
elseif(NOT code STREQUAL "1")
  message("${output}")
  message(FATAL_ERROR "${COMPILER} did not run as it should (${code})")
endif()
foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^// EXPECT: *" "" expected "${expectation}")
  if(NOT output MATCHES "${expected}")
    message("${output}")
    message(FATAL_ERROR "${name}: nothing in the diagnostics matches '${expected}'")
  endif()
endforeach()
