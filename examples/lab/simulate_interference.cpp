// What mara-lab simulate is told of the neighbours of jobs.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mara/simulation/interference.hpp"
#include "simulate_models.hpp"
#include "simulate_option_text.hpp"

namespace lab {
namespace {

using namespace mara;  // NOLINT

constexpr double kMostBandwidth = 1e9;  // GB/s

/// "GB/S[/GB/S]": needs of memory and PCIe.
std::optional<std::pair<double, double>> needs(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto number = [](std::string_view part) -> std::optional<double> {
    const auto values = numbers(part, kMostBandwidth);
    return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
  };
  const auto memory = number(text.substr(0, slash));
  const auto pcie = slash == std::string_view::npos ? std::optional(0.0) : number(text.substr(slash + 1));
  if (!memory || !pcie) return std::nullopt;
  return std::pair(*memory, *pcie);
}

/// Fills in --bandwidth.
Status set_bandwidths(const SimulateOptions& options, Platform& platform) {
  for (const std::string_view part : split_at_commas(options.bandwidth)) {
    const auto set = setting(part);
    const auto number = set ? numbers(set->value, kMostBandwidth) : std::nullopt;
    if (!number || number->size() != 1 || !((*number)[0] > 0.0))
      return refuse_option("bandwidth", "must be TYPE=X or pcie=X,... (GB/s, above 0 and at most 1e9)", part);
    if (set->name == "pcie") {
      for (Node& node : platform.nodes) node.pcie_gb_s = (*number)[0];
      continue;
    }
    const auto type = std::find_if(platform.types.begin(), platform.types.end(),
                                   [&](const DeviceType& t) { return t.name == set->name; });
    if (type == platform.types.end()) return refuse_option("bandwidth", "the cluster has no such type", part);
    type->bandwidth_gb_s = (*number)[0];
  }
  return {};
}

Result<BandwidthInterference> make_bandwidth(const SimulateOptions& options, std::string_view text,
                                             const RigidJobs& jobs) {
  if (options.bandwidth.empty())
    return refuse_option("interference", "bandwidth needs the bandwidths that there are, --bandwidth",
                         options.interference);
  const std::string rule = "must be bandwidth:MODEL=X[/Y],... (GB/s of memory and PCIe, 0 to 1e9)";
  std::vector<double> memory(jobs.models.size(), 0.0), pcie(jobs.models.size(), 0.0);
  std::vector<bool> named(jobs.models.size(), false);
  std::optional<std::pair<double, double>> others;
  const auto parts = split_at_commas(text);
  if (parts.empty()) return refuse_option("interference", rule, options.interference);
  for (const std::string_view part : parts) {
    const auto set = setting(part);
    const auto need = set ? needs(set->value) : std::nullopt;
    if (!need) return refuse_option("interference", rule, part);
    if (set->name == "*") {
      others = need;
      continue;
    }
    const auto model = std::find(jobs.models.begin(), jobs.models.end(), set->name);
    if (model == jobs.models.end())
      return refuse_option("interference", "no job of the trace has this model", part);
    const auto at = static_cast<std::size_t>(model - jobs.models.begin());
    named[at] = true;
    memory[at] = need->first;
    pcie[at] = need->second;
  }
  for (std::size_t at = 0; others && at < named.size(); ++at) {
    if (named[at]) continue;
    memory[at] = others->first;
    pcie[at] = others->second;
  }
  auto model = BandwidthInterference::make(std::move(memory), std::move(pcie));
  if (!model) return at_option("interference", model.error());
  return model;
}

Result<MeasuredPairs> make_measured(const SimulateOptions& options, const RigidJobs& jobs,
                                    const GavelThroughputs* throughputs, const Platform& platform,
                                    std::vector<std::string>& notes) {
  if (throughputs == nullptr)
    return refuse_option("interference", "measured needs a table of pairs, --throughputs",
                         options.interference);
  // Who shares a device has less than one.
  std::vector<std::pair<std::string, int>> profiles;
  for (const std::string& model : jobs.models)
    profiles.emplace_back(throughputs->job_index(model, 1) >= 0 ? model : std::string(), 1);
  std::vector<std::string> types;
  for (const DeviceType& type : platform.types) types.push_back(type.name);
  auto model = MeasuredPairs::make(*throughputs, types, profiles);
  if (!model) return at_option("interference", model.error());
  std::size_t unknown = 0;
  for (const Job& job : jobs.jobs)
    if (job.requested.value > 0 && job.requested.value < 1000 &&
        (job.profile < 0 || profiles[static_cast<std::size_t>(job.profile)].first.empty()))
      ++unknown;
  if (unknown > 0)
    notes.push_back(std::to_string(unknown) + (unknown == 1 ? " job" : " jobs") +
                    " on a share of a device are of no model in the table of throughputs; whoever shares "
                    "with them, and they, go at half their speed");
  return model;
}

}  // namespace

Result<std::optional<AnyInterference>> make_interference(const SimulateOptions& options,
                                                         const RigidJobs& jobs,
                                                         const GavelThroughputs* throughputs,
                                                         Platform& platform,
                                                         std::vector<std::string>& notes) {
  using Any = std::optional<AnyInterference>;
  const std::string& text = options.interference;
  constexpr std::string_view kBandwidth = "bandwidth:", kSharing = "sharing:";
  if (!options.bandwidth.empty()) {
    if (!text.starts_with(kBandwidth))
      return refuse_option("bandwidth", "means nothing without --interference bandwidth:...",
                           options.bandwidth);
    if (auto set = set_bandwidths(options, platform); !set) return set.error();
  }
  if (text == "none") return Any();
  if (text.starts_with(kBandwidth)) {
    auto model = make_bandwidth(options, std::string_view(text).substr(kBandwidth.size()), jobs);
    if (!model) return model.error();
    return Any(AnyInterference(std::move(*model)));
  }
  const bool shares = std::any_of(jobs.jobs.begin(), jobs.jobs.end(), [](const Job& job) {
    return job.requested.value > 0 && job.requested.value < 1000;
  });
  if (!shares)
    notes.push_back("every job asks for whole devices, so nobody shares one: --interference " + text +
                    " has no effect");
  if (text == "measured") {
    auto model = make_measured(options, jobs, throughputs, platform, notes);
    if (!model) return model.error();
    return Any(AnyInterference(std::move(*model)));
  }
  TimeSharing sharing;
  if (text == "sharing") return Any(AnyInterference(sharing));
  const auto seconds = text.starts_with(kSharing)
                           ? numbers(std::string_view(text).substr(kSharing.size()), 1e9)
                           : std::optional<std::vector<double>>();
  if (!seconds || seconds->size() != 2 || !((*seconds)[0] > 0.0))
    return refuse_option(
        "interference",
        "must be none, sharing, sharing:QUANTUM,SWITCH (seconds), bandwidth:MODEL=X[/Y],... or measured",
        text);
  sharing.quantum_s = (*seconds)[0];
  sharing.switch_s = (*seconds)[1];
  return Any(AnyInterference(sharing));
}

}  // namespace lab
