#pragma once
// One include for Catch2 v2 and v3.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // NOLINT
#else
#include <catch2/catch.hpp>
#endif
