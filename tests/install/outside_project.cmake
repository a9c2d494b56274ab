# Configures, builds and runs the project PROJECT beside this file, which knows only the installed package (the
# subdirectory project: only the source tree).
cmake_minimum_required(VERSION 3.25)

set(source "${CMAKE_CURRENT_LIST_DIR}/${PROJECT}")
set(build "${WORK}/${PROJECT}")
file(REMOVE_RECURSE "${build}")

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  if(NOT code STREQUAL "0")
    message("${output}")
    message(FATAL_ERROR "failed (${code}): ${ARGN}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

string(REPLACE "|" ":" prefixes "${PREFIX_PATH}")
set(ENV{CMAKE_PREFIX_PATH} "${WORK}/prefix:${prefixes}:$ENV{CMAKE_PREFIX_PATH}")
set(arguments "-DMARA_ROOT=${ROOT}" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"
              "-DCMAKE_CXX_COMPILER=${COMPILER}"
              "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}")
run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${source}" -B "${build}" ${arguments})
run("${CMAKE_COMMAND}" --build "${build}" --config Release)
run("${CMAKE_COMMAND}" --build "${build}" --config Release --target run)
message("${output}")
