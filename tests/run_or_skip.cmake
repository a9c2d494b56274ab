# cmake -P run_or_skip.cmake PROGRAM [ARGUMENT...]: runs a test whose data may be absent and passes its output on. The
# line "skipped: set MARA_..." marks the test as skipped for ctest, so a run that failed must not show it.
set(command "")
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 3 ${last})
  list(APPEND command "${CMAKE_ARGV${i}}")
endforeach()
execute_process(COMMAND ${command} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code STREQUAL "0")
  string(REPLACE "skipped: set MARA_" "skipped (set MARA_...): MARA_" output "${output}")
  message("${output}")
  message(FATAL_ERROR "${command} ended with ${code}")
endif()
message("${output}")
