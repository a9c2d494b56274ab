#pragma once
// The list scheduler's parameters as a JSON file.

#include <string>
#include <vector>

#include "files.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/expert/tuned_list.hpp"
#include "mara/interop/reflect_json.hpp"
#include "mara/workload/csv.hpp"

namespace lab {

/// What the file holds.
struct ExpertFile {
  std::vector<double> theta;
  std::string command;  ///< that wrote it
};

/// Reads the parameters from `path`; those that ship when it is empty. Errors name the file and the field.
inline mara::Result<mara::ListParameters> load_expert(const std::string& path);
/// Whether they may be written to `path` (check_target_file).
inline mara::Status check_expert_target(const std::string& path);
/// Writes them. Errors: kIo.
inline mara::Status save_expert(const std::string& path, const mara::ListParameters& parameters,
                                const std::string& command);

}  // namespace lab

BOOST_HANA_ADAPT_STRUCT(lab::ExpertFile, theta, command);

namespace lab {

inline mara::Result<mara::ListParameters> load_expert(const std::string& path) {
  if (path.empty()) return mara::kTunedListParameters;
  const auto text = mara::read_text_file(path);
  if (!text) return text.error();
  ExpertFile file;
  if (const mara::Status read = mara::from_json_text(*text, file); !read) {
    return mara::Error{read.error().code, path + ": " + read.error().message};
  }
  mara::ListParameters parameters;
  if (file.theta.size() != parameters.theta.size()) {
    return mara::Error{mara::ErrorCode::kInvalidArgument,
                       path + ": theta: " + std::to_string(file.theta.size()) + " numbers, expected " +
                           std::to_string(parameters.theta.size())};
  }
  for (std::size_t i = 0; i < file.theta.size(); ++i) {
    if (const auto ok = mara::check_range(file.theta[i], -100.0, 100.0, "theta[" + std::to_string(i) + "]");
        !ok) {
      return mara::Error{ok.error().code, path + ": " + ok.error().message};
    }
    parameters.theta[i] = file.theta[i];
  }
  return parameters;
}

inline mara::Status check_expert_target(const std::string& path) {
  return check_target_file(path, "--out",
                           [](const std::string& there) { return load_expert(there).has_value(); });
}

inline mara::Status save_expert(const std::string& path, const mara::ListParameters& parameters,
                                const std::string& command) {
  const ExpertFile file{{parameters.theta.begin(), parameters.theta.end()}, command};
  return write_file(path,
                    mara::to_json(file).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace lab
