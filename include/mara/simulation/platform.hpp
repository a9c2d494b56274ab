#pragma once
// The simulation node by node: engine, models of cost, measures, logs.

#include "mara/cluster/mig.hpp"
#include "mara/cluster/platform_text.hpp"
#include "mara/simulation/failures.hpp"
#include "mara/simulation/interference.hpp"
#include "mara/simulation/muri_overhead.hpp"
#include "mara/simulation/platform_log.hpp"
#include "mara/simulation/platform_log_binary.hpp"
#include "mara/simulation/platform_log_check.hpp"
#include "mara/simulation/platform_metrics.hpp"
#include "mara/simulation/platform_simulator.hpp"
