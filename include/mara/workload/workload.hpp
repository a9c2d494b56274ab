#pragma once
// Everything about workloads.

#include "mara/workload/bind_jobs.hpp"
#include "mara/workload/csv.hpp"
#include "mara/workload/dense_start.hpp"
#include "mara/workload/device_profile.hpp"
#include "mara/workload/fit.hpp"
#include "mara/workload/fit_to_file.hpp"
#include "mara/workload/generate.hpp"
#include "mara/workload/goodness_of_fit.hpp"
#include "mara/workload/job.hpp"
#include "mara/workload/quantile_table.hpp"
#include "mara/workload/read_trace.hpp"
#include "mara/workload/trace.hpp"
#include "mara/workload/trace_table.hpp"
#include "mara/workload/workload_model.hpp"
#include "mara/workload/workload_model_json.hpp"
#include "mara/workload/write_csv.hpp"
