// mara-lab compare: every rule, the tuned list scheduler, the flow, unguided MAPPO and guided MARA on the
// same jobs.

#include <iostream>
#include <mutex>
#include <thread>

#include "commands.hpp"
#include "experiment.hpp"
#include "expert_file.hpp"
#include "mara/interop/reflect_json.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace lab {
namespace {

/// An epoch of the flow counts as this many environment steps in the progress bar; it takes about as long.
constexpr double kFlowShare = 5000.0;

/// What one seed gives.
struct SeedResult {
  std::optional<PolicyOutcome> flow, mappo, mara;
  TrainingCurve mappo_curve, mara_curve;
  ExpertFlowReport flow_report;
  double flow_seconds = 0.0;
  std::function<Status(const std::string&)> save;  ///< writes mara's weights
  Status status;
};

/// The rules' outcomes, and the level of the best of them on the validation workloads.
Status play_rules(const Scenario& scenario, const Validation& validation, const ListParameters& expert,
                  ReportInput& input, double& best_rule_s) {
  Status status;
  best_rule_s = INFINITY;
  std::string best;
  for_each_rule([&](auto& rule) {
    if (!status) return;
    auto outcome = judge(scenario, rule, std::string(rule.name()), -1);
    if (!outcome) {
      status = outcome.error();
      return;
    }
    input.outcomes.push_back(std::move(*outcome));
    const double jct = validation.jct_s(rule);
    if (jct < best_rule_s) {
      best_rule_s = jct;
      best = rule.name();
    }
  });
  if (!status) return status;
  ListScheduler<kTypes> list(expert, scenario.time_unit_s);
  auto outcome = judge(scenario, list, "tuned-list", -1);
  if (!outcome) return outcome.error();
  input.outcomes.push_back(std::move(*outcome));
  input.validation = {{best, best_rule_s}, {"tuned-list", validation.jct_s(list)}};
  return {};
}

void train_mappo(const Scenario& scenario, const Validation& validation, double best_rule_s,
                 std::uint64_t seed, std::int64_t steps, Progress& progress, std::size_t task,
                 SeedResult& out) {
  auto trained =
      train_learner(scenario, validation, best_rule_s, "mappo", seed, steps, guidance::None{}, nullptr,
                    [&](std::int64_t done, double jct) { progress.update(task, done, jct); });
  if (!trained) {
    out.status = trained.error();
    return;
  }
  out.mappo_curve = trained->curve;
  auto scheduler = deployed(*trained->actor, scenario);
  if (!scheduler) {
    out.status = scheduler.error();
    return;
  }
  auto outcome = judge(scenario, *scheduler, "mappo", static_cast<int>(seed));
  if (outcome) {
    out.mappo = std::move(*outcome);
  } else {
    out.status = outcome.error();
  }
}

void train_mara(const Scenario& scenario, const Validation& validation, double best_rule_s,
                const ListParameters& expert, std::uint64_t seed, std::int64_t steps, int flow_steps,
                Progress& progress, std::size_t flow_task, std::size_t task, SeedResult& out) {
  int epochs = 0;
  auto flow = train_scenario_flow(scenario, expert, seed, flow_steps,
                                  [&](int, int) { progress.update(flow_task, ++epochs); });
  if (!flow) {
    out.status = flow.error();
    return;
  }
  out.flow_report = flow->report;
  out.flow_seconds = flow->seconds;
  SequentialScheduler<kTypes, FlowHead<Flow3>> executed("flow-executed", FlowHead<Flow3>(flow->flow),
                                                        {scenario.time_unit_s}, kMaxAgents);
  auto flow_outcome = judge(scenario, executed, "flow-executed", static_cast<int>(seed));
  if (!flow_outcome) {
    out.status = flow_outcome.error();
    return;
  }
  out.flow = std::move(*flow_outcome);
  guidance::AllActionRegulariser mode;
  mode.weight = 1.0f;
  auto trained = train_learner(scenario, validation, best_rule_s, "mara", seed, steps, mode, flow->flow,
                               [&](std::int64_t done, double jct) { progress.update(task, done, jct); });
  if (!trained) {
    out.status = trained.error();
    return;
  }
  out.mara_curve = trained->curve;
  auto scheduler = deployed(*trained->actor, scenario);
  if (!scheduler) {
    out.status = scheduler.error();
    return;
  }
  auto outcome = judge(scenario, *scheduler, "mara", static_cast<int>(seed));
  out.save = [actor = std::make_shared<std::decay_t<decltype(*scheduler)>>(std::move(*scheduler))](
                 const std::string& path) { return actor->save(path); };
  if (outcome) {
    out.mara = std::move(*outcome);
  } else {
    out.status = outcome.error();
  }
}

std::string text(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

}  // namespace

Status run_compare(const CompareOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (const Status ready = check_report_target(options.out); !ready) return ready;
  const auto expert = load_expert(options.expert);
  if (!expert) return expert.error();
  ScenarioOptions wanted;
  wanted.trace = options.trace;
  wanted.format = options.format;
  wanted.model = options.model;
  wanted.cluster = options.cluster;
  wanted.load = options.load.value_or(0.0);
  wanted.seed = options.seed;
  auto made = make_scenario(wanted);
  if (!made) return made.error();
  const Scenario& scenario = *made;
  auto validation = Validation::create(scenario, 12, options.seed);
  if (!validation) return validation.error();

  ReportInput input;
  input.cluster = scenario.cluster;
  input.seed = options.seed;
  input.return_label = "team return per step, unshaped";
  double best_rule_s = INFINITY;
  if (const Status played = play_rules(scenario, *validation, *expert, input, best_rule_s); !played)
    return played;

  const auto seeds = static_cast<std::size_t>(options.seeds);
  const int threads = options.threads > 0
                          ? options.threads
                          : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<SeedResult> mara_results(seeds), mappo_results(seeds);
  Progress progress("training");
  std::vector<std::size_t> flow_tasks, mara_tasks, mappo_tasks;
  const ExpertFlowConfig flows = flow_config(1, options.flow_steps);
  for (std::size_t i = 0; i < seeds; ++i) {
    flow_tasks.push_back(
        progress.add("flow", flows.iterations * flows.flow.matching.epochs + flows.final_epochs, kFlowShare));
    mara_tasks.push_back(progress.add("mara", options.steps));
    mappo_tasks.push_back(progress.add("mappo", options.steps));
  }
  // Every training is sequential and has its own random streams, so results do not depend on the number of
  // threads.
  ThreadPool pool(threads);
  pool.for_each(2 * seeds, [&](std::size_t task) {
    const std::size_t i = task / 2;
    const std::uint64_t seed = options.seed + i;
    if (task % 2 == 0) {
      train_mara(scenario, *validation, best_rule_s, *expert, seed, options.steps, options.flow_steps,
                 progress, flow_tasks[i], mara_tasks[i], mara_results[i]);
    } else {
      train_mappo(scenario, *validation, best_rule_s, seed, options.steps, progress, mappo_tasks[i],
                  mappo_results[i]);
    }
  });
  progress.finish();
  for (std::size_t i = 0; i < seeds; ++i) {
    if (!mara_results[i].status) return mara_results[i].status;
    if (!mappo_results[i].status) return mappo_results[i].status;
  }
  for (auto& r : mara_results) input.outcomes.push_back(std::move(*r.flow));
  for (auto& r : mappo_results) input.outcomes.push_back(std::move(*r.mappo));
  for (auto& r : mara_results) input.outcomes.push_back(std::move(*r.mara));
  for (auto& r : mappo_results) input.training.push_back(r.mappo_curve);
  for (auto& r : mara_results) input.training.push_back(r.mara_curve);

  input.workload = scenario.description + ": " + std::to_string(scenario.jobs.size()) + " jobs over " +
                   text((scenario.jobs.back().submit_s - scenario.jobs.front().submit_s) / 86400.0, 1) +
                   " days, load " + text(scenario.load, 2) + " of " +
                   std::to_string(scenario.cluster.gpus()) + " GPUs";
  input.configuration = to_json(options);
  input.configuration["time_unit_s"] = scenario.time_unit_s;
  input.configuration["expert_theta"] = expert->theta;
  input.notes.push_back(
      "Load: requested GPU-seconds at the speed of the fastest type, per second and GPU of the cluster; the "
      "training workloads have " +
      text(scenario.train_load, 2) + " times a factor of 0.5 to 1.2.");
  input.notes.push_back(
      "All policies decide at every arrival and completion and choose from the same options: GPU type x "
      "{half, "
      "exactly, double} the requested GPUs.");
  std::int64_t flow_steps = 0;
  for (const auto& r : mara_results) flow_steps += r.flow_report.env_steps;
  input.notes.push_back(
      "Beside its environment steps MARA needs a field: " +
      std::to_string(flow_steps / static_cast<std::int64_t>(seeds)) + " simulated steps and " +
      std::to_string(mara_results[0].flow_report.rows) +
      " labels of the tuned list scheduler per seed; the tuning of that scheduler is a separate command "
      "(mara-lab tune).");
  input.notes.push_back(
      "mappo and mara: the weights that did best on 12 workloads drawn from the model, never on the jobs "
      "above.");
  if (scenario.skipped_rows > 0) {
    input.notes.push_back(std::to_string(scenario.skipped_rows) +
                          " rows of the trace describe no GPU job that ran and were left out.");
  }
  input.total_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  // The weights of the first seed's actor, for <mara/deploy/deploy.hpp>.
  input.files.push_back({"mara.actor",
                         "The weights of mara's actor (of the first seed), for <mara/deploy/deploy.hpp>.",
                         mara_results[0].save});

  const auto rows = make_rows(input);
  if (!rows) return rows.error();
  if (const Status written = write_report(input, *rows, options.out); !written) return written;
  if (options.json) {
    std::cout << results_json(input, *rows).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << input.workload << '\n' << '\n' << render_table(*rows) << '\n';
    for (const TrainingCurve& curve : input.training) {
      std::cout << curve.name << ", seed " << curve.seed << ": ";
      if (curve.steps_to_best_rule) {
        std::cout << "reached the best rule on the validation workloads after " << *curve.steps_to_best_rule
                  << " steps\n";
      } else {
        std::cout << "did not reach the best rule on the validation workloads in " << curve.env_steps
                  << " steps\n";
      }
    }
    std::cout << "report: " << options.out << "/index.html\n";
  }
  return {};
}

}  // namespace lab
