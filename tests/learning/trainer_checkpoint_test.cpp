// Reading a checkpoint: the first error stays, names the file once, and says what it was.
#include "mara/learning/trainer_checkpoint.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/nn/adam.hpp"
#include "mara/nn/rms_prop.hpp"

using namespace mara;

namespace {

struct Written {
  std::string path = (std::filesystem::temp_directory_path() / "mara_trainer_checkpoint_test").string();

  explicit Written(const ArchiveWriter& out) { REQUIRE(out.write(path)); }
  ~Written() { std::filesystem::remove(path); }
};

/// A part that reads nothing and fails.
struct Broken {
  std::string why;
  int loads = 0;
  Status load(ArchiveReader&) {
    ++loads;
    return Error{ErrorCode::kNumerical, why};
  }
};

}  // namespace

TEST_CASE("a checkpoint is read section by section", "[learning]") {
  ArchiveWriter out("sample");
  out.put_value("number", 7);
  out.put("exact", std::vector<float>{1.0f, 2.0f});
  out.put("all", std::vector<int>{3, 4, 5});
  out.put_value("environments", std::uint64_t{8});
  const Written file(out);
  CheckpointReader in(file.path, "sample");
  int number = 0;
  std::array<float, 2> exact{};
  std::vector<int> all;
  in.value("number", number);
  in.exact("exact", exact);
  in.all("all", all);
  in.expect("environments", 8);
  REQUIRE(in.status());
  CHECK(number == 7);
  CHECK(exact == std::array{1.0f, 2.0f});
  CHECK(all == std::vector<int>{3, 4, 5});
}

TEST_CASE("the first error of a checkpoint stays, and nothing more is read", "[learning]") {
  ArchiveWriter out("sample");
  out.put_value("environments", std::uint64_t{8});
  out.put_value("number", 7);
  const Written file(out);
  CheckpointReader in(file.path, "sample");
  in.expect("environments", 3);
  const std::string expected = file.path + ": environments = 8, the trainer has 3";
  REQUIRE_FALSE(in.status());
  CHECK(in.status().error().code == ErrorCode::kShapeMismatch);
  CHECK(in.status().error().message == expected);
  int number = 0;
  Broken part{"never read"};
  in.value("number", number);
  in.part(part);
  in.take(Error{ErrorCode::kIo, "later"});
  CHECK(number == 0);
  CHECK(part.loads == 0);
  CHECK(in.status().error().message == expected);

  CheckpointReader other(file.path, "another");
  other.expect("environments", 8);
  CHECK(other.status().error().message == file.path + ": holds 'sample', expected 'another'");
  CheckpointReader missing("/nowhere/at/all", "sample");
  missing.expect("environments", 8);
  CHECK(missing.status().error().code == ErrorCode::kIo);
}

TEST_CASE("errors of parts name the file, once", "[learning]") {
  const Written file{ArchiveWriter("sample")};
  for (const std::string& why : {std::string("is odd"), file.path + ": is odd"}) {
    CheckpointReader in(file.path, "sample");
    in.take({});
    CHECK(in.status());
    Broken part{why};
    in.part(part);
    REQUIRE_FALSE(in.status());
    CHECK(in.status().error().code == ErrorCode::kNumerical);
    CHECK(in.status().error().message == file.path + ": is odd");
  }
}

TEST_CASE("optimisers go on where they were; extents must agree", "[learning]") {
  Adam<float> adam(3);
  RmsProp<float> rms(3);
  std::vector<float> x(3);
  const std::vector<float> gradient{1.0f, -2.0f, 0.5f};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(adam.step(x, gradient));
    REQUIRE(rms.step(x, gradient));
  }
  ArchiveWriter out("sample");
  save_optimiser(out, optimiser_of("actor"), adam);
  save_optimiser(out, {"a", "b", "c"}, rms);
  const Written file(out);
  Adam<float> again(3), larger(4);
  RmsProp<float> rms_again(3);
  CheckpointReader in(file.path, "sample");
  in.optimiser(optimiser_of("actor"), again);
  in.optimiser({"a", "b", "c"}, rms_again);
  REQUIRE(in.status());
  std::vector<float> one(3), two(3);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(adam.step(one, gradient));
    REQUIRE(rms.step(one, gradient));
    REQUIRE(again.step(two, gradient));
    REQUIRE(rms_again.step(two, gradient));
  }
  CHECK(one == two);

  CheckpointReader foreign(file.path, "sample");
  foreign.optimiser(optimiser_of("actor"), larger);
  REQUIRE_FALSE(foreign.status());
  CHECK(foreign.status().error().message == file.path + ": section 'actor_first': 3 values, expected 4");
  CHECK(larger.steps() == 0);
}
