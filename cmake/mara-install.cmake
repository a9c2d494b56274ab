# Installs the headers, the workload models and the CMake package with its components deploy and mara.
include(CMakePackageConfigHelpers)

set(mara_package_dir "${CMAKE_INSTALL_DATAROOTDIR}/cmake/mara")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/mara" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/models" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/mara" OPTIONAL)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# One export set a component, so that asking for deploy loads nothing of the other.
install(TARGETS mara_deploy EXPORT mara-deploy-targets)
install(TARGETS mara EXPORT mara-mara-targets)
install(EXPORT mara-deploy-targets NAMESPACE mara:: DESTINATION "${mara_package_dir}")
install(EXPORT mara-mara-targets NAMESPACE mara:: DESTINATION "${mara_package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/mara-config.cmake.in" "${PROJECT_BINARY_DIR}/mara-config.cmake"
  INSTALL_DESTINATION "${mara_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/mara-config-version.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/mara-config.cmake" "${PROJECT_BINARY_DIR}/mara-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/mara-dependencies.cmake" DESTINATION "${mara_package_dir}")
