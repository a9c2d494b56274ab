#pragma once
// The preemption overheads of Muri's simulator.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mara/cluster/placement.hpp"
#include "mara/core/result.hpp"
#include "mara/workload/job.hpp"

namespace mara {

/// Seconds that every running job loses at every decision, by its model and its GPUs, as measured for Muri
/// (Zhao et al., "Multi-resource interleaving for deep learning training", SIGCOMM'22) and charged by its
/// simulator: whether the job is preempted or not, and of the progress since the last decision at most all.
/// GPU counts between those measured (1, 2, 4, ..., 32) count as the next larger one, larger ones as 32.
class MuriOverhead {
 public:
  static constexpr bool kChargesDecisions = true;

  /// `models`: names by Job::profile (RigidJobs::models). Errors: kInvalidArgument for a name of which no
  /// overhead is known.
  static Result<MuriOverhead> make(std::span<const std::string> models) {
    MuriOverhead overhead;
    for (const std::string& model : models) {
      const Row* row = find(model);
      if (row == nullptr)
        return Error{ErrorCode::kInvalidArgument,
                     "Muri's overheads: model '" + model + "' is not one of " + names()};
      overhead.rows_.push_back(row);
    }
    return overhead;
  }

  double start_s(const Job&, const Placement&) const noexcept { return 0.0; }
  double resume_s(const Job&, const Placement&) const noexcept { return 0.0; }
  double migrate_s(const Job&, const Placement&, const Placement&) const noexcept { return 0.0; }
  /// 0 for a job without a model.
  double decision_loss_s(const Job& job) const noexcept {
    if (job.profile < 0 || static_cast<std::size_t>(job.profile) >= rows_.size()) return 0.0;
    std::size_t column = 0;
    while (column + 1 < kColumns && (std::int64_t{1000} << column) < job.requested.value) ++column;
    return rows_[static_cast<std::size_t>(job.profile)]->seconds[column];
  }

 private:
  static constexpr std::size_t kColumns = 6;
  struct Row {
    std::string_view model;
    std::array<double, kColumns> seconds;  // on 1, 2, 4, 8, 16, 32 GPUs
  };
  static constexpr std::array<Row, 8> kRows{{
      {"vgg16", {7, 7, 8, 9, 9, 10}},
      {"vgg19", {7, 7, 8, 9, 10, 10}},
      {"resnet18", {4, 5, 5, 7, 7, 7}},
      {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
      {"bert", {10, 10, 10, 10, 10, 10}},
      {"gpt2", {10, 10, 10, 10, 10, 10}},
      {"a2c", {38, 39, 39, 46, 46, 46}},
      {"dqn", {5, 5, 6, 6, 8, 8}},
  }};
  static const Row* find(std::string_view model) noexcept {
    for (const Row& row : kRows)
      if (row.model == model) return &row;
    return nullptr;
  }
  static std::string names() {
    std::string text;
    for (const Row& row : kRows) text += (text.empty() ? "" : ", ") + std::string(row.model);
    return text;
  }

  std::vector<const Row*> rows_;  // by profile
};

}  // namespace mara
