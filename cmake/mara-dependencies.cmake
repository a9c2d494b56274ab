# What the headers outside mara::deploy include. Read by the build and by the installed package.
set(MARA_DEPENDENCIES Eigen3 Boost xtensor nlohmann_json Threads)
set(MARA_DEPENDENCY_TARGETS Eigen3::Eigen Boost::headers xtensor nlohmann_json::nlohmann_json Threads::Threads)
