#pragma once
// Learners of games of any shape: PPO, Q-learning and MADDPG families, and what trains, evaluates and keeps
// them. Apart from mara.hpp, since it takes longer to compile than all of that.

#include "mara/action/exploration.hpp"
#include "mara/critic/centralised_values.hpp"
#include "mara/critic/independent_values.hpp"
#include "mara/critic/monotonic_mixing.hpp"
#include "mara/critic/no_mixing.hpp"
#include "mara/critic/optimistic_mixing.hpp"
#include "mara/critic/pooled_values.hpp"
#include "mara/critic/sum_mixing.hpp"
#include "mara/environment/games.hpp"
#include "mara/environment/joint_game.hpp"
#include "mara/learning/any_trainer.hpp"
#include "mara/learning/exact_evaluation.hpp"
#include "mara/learning/maddpg.hpp"
#include "mara/learning/q_learning.hpp"
#include "mara/learning/q_learning_policy.hpp"
#include "mara/learning/small_game_configs.hpp"
#include "mara/learning/team_ppo.hpp"
#include "mara/learning/team_ppo_policy.hpp"
#include "mara/learning/training.hpp"
