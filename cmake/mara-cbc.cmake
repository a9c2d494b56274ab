# mara_cbc: COIN-OR Clp and Cbc for mara's own programs, where they are installed; MARA_WITH_CBC is defined then.
# Without them the target is empty: max-min fairness and the integer program are left out, their tests say so.
# Never linked to mara::mara: users of mara/interop/cbc.hpp link with Cbc themselves.
find_path(MARA_CBC_INCLUDE NAMES coin/Cbc_C_Interface.h coin-or/Cbc_C_Interface.h)
find_path(MARA_CLP_INCLUDE NAMES coin/Clp_C_Interface.h coin-or/Clp_C_Interface.h)
find_library(MARA_CBC_LIBRARY NAMES CbcSolver)
find_library(MARA_CLP_LIBRARY NAMES Clp)
mark_as_advanced(MARA_CBC_INCLUDE MARA_CLP_INCLUDE MARA_CBC_LIBRARY MARA_CLP_LIBRARY)

add_library(mara_cbc INTERFACE)
if(MARA_CBC_INCLUDE AND MARA_CLP_INCLUDE AND MARA_CBC_LIBRARY AND MARA_CLP_LIBRARY)
  target_include_directories(mara_cbc SYSTEM INTERFACE "${MARA_CBC_INCLUDE}" "${MARA_CLP_INCLUDE}")
  target_link_libraries(mara_cbc INTERFACE "${MARA_CBC_LIBRARY}" "${MARA_CLP_LIBRARY}")
  target_compile_definitions(mara_cbc INTERFACE MARA_WITH_CBC)
else()
  message(STATUS "mara: COIN-OR Cbc or Clp not found: no integer programs and no max-min fairness")
endif()
