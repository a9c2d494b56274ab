# cmake -DWORK=<scratch folder> -P check_floors_test.cmake: the floors check finds what it is there to find.
cmake_minimum_required(VERSION 3.25)

# Writes a small tree, lines "header: include" in ARGN, runs the check, and compares with what is expected: "" or
# a piece of the message.
function(expect name expected)
  file(REMOVE_RECURSE "${WORK}")
  foreach(header mara/core/a.hpp mara/math/a.hpp mara/nn/a.hpp mara/workload/a.hpp mara/cluster/a.hpp
                 mara/learning/a.hpp mara/deploy/a.hpp mara/interop/a.hpp mara/mara.hpp)
    file(WRITE "${WORK}/${header}" "#pragma once\n#include <vector>\n")
  endforeach()
  foreach(line IN LISTS ARGN)
    string(REGEX MATCH "^([^:]+): (.*)$" matched "${line}")
    file(APPEND "${WORK}/${CMAKE_MATCH_1}" "#include ${CMAKE_MATCH_2}\n")
  endforeach()
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${WORK}" -P "${CMAKE_CURRENT_LIST_DIR}/check_floors.cmake"
                  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(FIND "${output}" "${expected}" at)
  if(expected STREQUAL "" AND NOT code EQUAL 0)
    message(SEND_ERROR "${name}: refused: ${output}")
  elseif(NOT expected STREQUAL "" AND (code EQUAL 0 OR at EQUAL -1))
    message(SEND_ERROR "${name}: expected '${expected}', got (${code}): ${output}")
  endif()
endfunction()

expect("a sound tree" "" "mara/math/a.hpp: \"mara/core/a.hpp\"" "mara/workload/a.hpp: \"mara/cluster/a.hpp\""
       "mara/learning/a.hpp: <Eigen/Core>" "mara/deploy/a.hpp: \"mara/nn/a.hpp\""
       "mara/mara.hpp: \"mara/interop/a.hpp\"")
expect("a higher floor" "nn/ (floor 3) may not include learning/" "mara/nn/a.hpp: \"mara/learning/a.hpp\"")
expect("a neighbour" "cluster/ (floor 3) may not include workload/" "mara/cluster/a.hpp: <mara/workload/a.hpp>")
expect("an adapter" "may not include interop/" "mara/learning/a.hpp: \"mara/interop/a.hpp\"")
expect("the umbrella" "includes the umbrella mara/mara.hpp" "mara/deploy/a.hpp: \"mara/mara.hpp\"")
expect("a package in core" "core/ includes no third-party header" "mara/core/a.hpp: <boost/hana.hpp>")
expect("a package that deploy reaches" "deploy/ reaches mara/nn/a.hpp" "mara/nn/a.hpp: <Eigen/Core>"
       "mara/deploy/a.hpp: \"mara/nn/a.hpp\"")
expect("training in deploy" "deploy/ reaches mara/learning/a.hpp" "mara/deploy/a.hpp: \"mara/learning/a.hpp\"")
expect("a header that is not there" "which does not exist" "mara/core/a.hpp: \"mara/core/b.hpp\"")
expect("a relative include" "write it as" "mara/core/a.hpp: \"a.hpp\"")
expect("CLI11 in the umbrella" "an umbrella reaches mara/interop/a.hpp" "mara/interop/a.hpp: <CLI/CLI.hpp>"
       "mara/mara.hpp: \"mara/interop/a.hpp\"")
expect("an unknown package" "does not depend on" "mara/learning/a.hpp: <CLI/CLI.hpp>")
