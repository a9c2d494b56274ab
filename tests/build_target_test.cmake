# mara_add_build_test(NAME TARGET): a test that builds a target which the default build leaves out, so that a
# failure is one failed test and not a broken build. One at a time, since two builds of a folder disturb each other.
function(mara_add_build_test name target)
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(keep_going -k 0)
  elseif(CMAKE_GENERATOR MATCHES "Makefiles")
    set(keep_going -k)
  endif()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --config $<CONFIG> --target
                                ${target} --parallel ${cores} -- ${keep_going})
  set_tests_properties(${name} PROPERTIES LABELS generated RUN_SERIAL TRUE TIMEOUT 1800)
endfunction()
