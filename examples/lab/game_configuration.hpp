#pragma once
// Hyper-parameters as JSON, for the record of a run.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "mara/action/exploration.hpp"
#include "mara/interop/reflect_json.hpp"
#include "mara/math/activation.hpp"
#include "mara/nn/agent_team.hpp"
#include "train_options.hpp"

namespace lab {

inline nlohmann::ordered_json network_record(const mara::AgentNetworkConfig& c) {
  nlohmann::ordered_json record = {{"hidden", c.hidden},
                                   {"activation", mara::name_of(c.activation)},
                                   {"recurrence", std::string(mara::enum_name(c.recurrence))}};
  if (c.recurrence != mara::Recurrence::kNone) record["memory_units"] = c.memory_units;
  record["dueling"] = c.dueling;
  record["output_gain"] = mara::detail::json_float(c.output_gain);
  return record;
}

inline nlohmann::ordered_json noise_record(const mara::ParameterNoise& c) {
  return {{"deviation", c.deviation}, {"target", c.target}, {"growth", c.growth}, {"period", c.period}};
}

inline nlohmann::ordered_json team_record(const mara::TeamConfig& c) {
  nlohmann::ordered_json record = network_record(c.network);
  record["groups"] = c.groups;
  record["agent_ids"] = c.agent_ids;
  return record;
}

inline nlohmann::ordered_json epsilon_record(const mara::EpsilonSchedule& c) {
  const char* const kinds[] = {"constant", "linear", "exponential"};
  return {{"kind", kinds[std::min<int>(static_cast<int>(c.kind), 2)]},
          {"start", c.start},
          {"finish", c.finish},
          {"anneal_steps", c.anneal_steps}};
}

}  // namespace lab
