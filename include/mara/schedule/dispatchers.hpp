#pragma once
// The schedulers of a platform, node by node: orders, placement rules, backfilling, and whole rules.

#include "mara/schedule/backfill.hpp"
#include "mara/schedule/conservative_backfill.hpp"
#include "mara/schedule/discretised_las.hpp"
#include "mara/schedule/fair_share_dispatcher.hpp"
#include "mara/schedule/fragmentation.hpp"
#include "mara/schedule/fragmentation_watch.hpp"
#include "mara/schedule/job_order.hpp"
#include "mara/schedule/list_dispatcher.hpp"
#include "mara/schedule/lower_bound.hpp"
#include "mara/schedule/max_min_dispatcher.hpp"
#include "mara/schedule/optimal_dispatcher.hpp"
#include "mara/schedule/place.hpp"
#include "mara/schedule/place_scored.hpp"
#include "mara/schedule/pooled_dispatcher.hpp"
#include "mara/schedule/slot_window.hpp"
#include "mara/schedule/tetris_dispatcher.hpp"
