#pragma once
// What the checkpoints of all trainers share: reading that can fail at any section, and optimisers.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mara/core/archive.hpp"
#include "mara/core/file.hpp"
#include "mara/core/result.hpp"

namespace mara {

/// Names of the sections that hold the state of an optimiser.
struct OptimiserSections {
  std::string first, second, steps;
};
/// Those of the optimiser of one network of several.
inline OptimiserSections optimiser_of(const std::string& network) {
  return {network + "_first", network + "_second", network + "_updates"};
}
template <class Optimiser>
void save_optimiser(ArchiveWriter& out, const OptimiserSections& sections, const Optimiser& optimiser) {
  out.put(sections.first, optimiser.first_moment());
  out.put(sections.second, optimiser.second_moment());
  out.put_value(sections.steps, optimiser.steps());
}

/// Reads the sections of a checkpoint in their order, until the first error, which stays. A load() reads
/// everything into values of its own, asks for status(), and only then touches the trainer.
class CheckpointReader {
 public:
  /// `kind`: what the trainer calls its archives. Errors: those of ArchiveReader::open.
  CheckpointReader(const FilePath& path, std::string_view kind)
      : name_(path.string()), archive_(ArchiveReader::open(path, kind)) {
    if (!archive_) status_ = archive_.error();
  }

  /// The error of the first thing that failed; its message names the file.
  const Status& status() const noexcept { return status_; }

  /// The next section: one value, or an array whose extent must agree, or an array of any extent.
  template <class T>
  void value(std::string_view section, T& to) {
    if (status_) status_ = archive_->get_value(section, to);
  }
  template <class Array>
  void exact(std::string_view section, Array& to) {
    if (status_) status_ = archive_->get_exact(section, std::span<typename Array::value_type>(to));
  }
  template <class T>
  void all(std::string_view section, std::vector<T>& to) {
    if (status_) status_ = archive_->get(section, to);
  }
  /// The next section is a number of something of which the trainer has `count`. Error: kShapeMismatch.
  void expect(const std::string& section, std::uint64_t count) {
    std::uint64_t found = count;
    value(section, found);
    if (found != count)
      take(Error{ErrorCode::kShapeMismatch,
                 section + " = " + std::to_string(found) + ", the trainer has " + std::to_string(count)});
  }
  /// The next sections are an optimiser, made alike. Errors: extents that differ.
  template <class Optimiser>
  void optimiser(const OptimiserSections& sections, Optimiser& to) {
    std::vector<float> first(to.first_moment().size()), second(to.second_moment().size());
    std::uint64_t steps = 0;
    exact(sections.first, first);
    exact(sections.second, second);
    value(sections.steps, steps);
    if (status_) take(to.restore(first, second, steps));
  }
  /// The next sections are what part.load(archive) reads. Errors: those of load().
  template <class Part>
  void part(Part& to) {
    if (status_) take(to.load(*archive_));
  }
  /// What came of a step between the sections. An error gets the name of the file when it has none.
  void take(const Status& step) {
    if (!status_ || step) return;
    const std::string &why = step.error().message, named = name_ + ": ";
    status_ = Error{step.error().code, why.starts_with(named) ? why : named + why};
  }

 private:
  std::string name_;
  Result<ArchiveReader> archive_;
  Status status_;
};

}  // namespace mara
