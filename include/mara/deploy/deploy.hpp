#pragma once
// All that a scheduler needs to embed a trained actor. Nothing but a C++20 compiler is required.

#include "mara/deploy/actor.hpp"
#include "mara/deploy/actor_file.hpp"
#include "mara/deploy/reference_state.hpp"
#include "mara/deploy/row_actor.hpp"
