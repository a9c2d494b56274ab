#pragma once
// Slices of devices among the types that a job of a trace may use.

#include <string>
#include <string_view>

namespace mara {

/// TraceJob::allowed_types of a job that asks for slices: TYPES%PROFILE, such as "a100|a30%1g", or "%1g" for
/// slices of any type. Without a profile the types alone.
inline std::string join_slices(std::string_view types, std::string_view profile) {
  std::string text(types);
  if (!profile.empty()) text.append("%").append(profile);
  return text;
}

/// The parts of TraceJob::allowed_types; views of it.
struct AllowedTypes {
  std::string_view types;    ///< separated by '|'; empty: any
  std::string_view profile;  ///< empty: whole devices, or fractions
};

inline AllowedTypes split_slices(std::string_view allowed_types) noexcept {
  const std::size_t percent = allowed_types.rfind('%');
  if (percent == std::string_view::npos) return {allowed_types, {}};
  return {allowed_types.substr(0, percent), allowed_types.substr(percent + 1)};
}

}  // namespace mara
