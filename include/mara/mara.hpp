#pragma once
// Everything that composing, training and deploying schedulers takes. Not in it, so that it compiles quickly:
// games and their learners (<mara/learning/learners.hpp>), the readers of trace files
// (<mara/workload/workload.hpp>), the simulation node by node (<mara/simulation/platform.hpp>) and its
// schedulers (<mara/schedule/dispatchers.hpp>), and interop/, whose adapters are included one by one. A
// program that only deploys an actor includes <mara/deploy/deploy.hpp> instead.

// In the order of the floors:
// clang-format off
#include "mara/core/archive.hpp"
#include "mara/core/check_finite.hpp"
#include "mara/core/json.hpp"
#include "mara/core/normal_quantile.hpp"
#include "mara/core/parallel.hpp"
#include "mara/core/parse.hpp"
#include "mara/core/portable_math.hpp"
#include "mara/core/random.hpp"
#include "mara/core/resource.hpp"
#include "mara/core/result.hpp"
#include "mara/core/safetensors.hpp"
#include "mara/math/dense.hpp"
#include "mara/math/random_batch.hpp"
#include "mara/math/softmax.hpp"
#include "mara/math/statistics.hpp"
#include "mara/math/trigonometric.hpp"

#include "mara/autodiff/gradient_check.hpp"
#include "mara/autodiff/tape.hpp"

#include "mara/nn/adam.hpp"
#include "mara/nn/adamw.hpp"
#include "mara/nn/attention.hpp"
#include "mara/nn/embedding.hpp"
#include "mara/nn/learning_rate.hpp"
#include "mara/nn/mlp.hpp"
#include "mara/nn/mlp_inference.hpp"
#include "mara/nn/network.hpp"
#include "mara/nn/network_inference.hpp"
#include "mara/nn/optimiser.hpp"
#include "mara/nn/recurrent.hpp"
#include "mara/nn/rms_prop.hpp"
#include "mara/nn/set_pooling.hpp"
#include "mara/nn/sgd.hpp"
#include "mara/nn/single_output.hpp"
#include "mara/nn/value_normaliser.hpp"
#include "mara/nn/weights_file.hpp"
#include "mara/cluster/allocation.hpp"
#include "mara/cluster/cluster.hpp"
#include "mara/workload/bind_jobs.hpp"
#include "mara/workload/dense_start.hpp"
#include "mara/workload/device_profile.hpp"
#include "mara/workload/fit.hpp"
#include "mara/workload/generate.hpp"
#include "mara/workload/goodness_of_fit.hpp"
#include "mara/workload/job.hpp"
#include "mara/workload/quantile_table.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/trace_table.hpp"
#include "mara/workload/workload_model.hpp"
#include "mara/workload/workload_model_json.hpp"

#include "mara/flow/matching.hpp"
#include "mara/flow/potential_field.hpp"
#include "mara/flow/velocity_field.hpp"
#include "mara/simulation/interval_log.hpp"
#include "mara/simulation/job_log.hpp"
#include "mara/simulation/metrics.hpp"
#include "mara/simulation/simulate.hpp"
#include "mara/action/tiered_request.hpp"

#include "mara/schedule/rules.hpp"
#include "mara/environment/cluster_environment.hpp"
#include "mara/environment/pendulum.hpp"
#include "mara/environment/sequential_scheduler.hpp"

#include "mara/critic/centralised.hpp"
#include "mara/expert/cross_entropy.hpp"
#include "mara/expert/list_scheduler.hpp"
#include "mara/expert/tuned_list.hpp"

#include "mara/guidance/flow_from_expert.hpp"
#include "mara/guidance/flow_policy.hpp"
#include "mara/guidance/modes.hpp"

#include "mara/learning/mappo_policy.hpp"
#include "mara/learning/ppo.hpp"

#include "mara/deploy/deploy.hpp"
#include "mara/pipeline/pipeline.hpp"
