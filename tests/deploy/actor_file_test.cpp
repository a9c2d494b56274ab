// The weights file: no damaged, foreign or outdated one is taken for an actor.
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "deploy_helpers.hpp"

using namespace mara;
using namespace mara::test;

namespace {

using Bytes = std::vector<char>;

Bytes read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}
void write(const std::string& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// What a good file holds, to be spoiled.
deploy::ActorFile good_file() {
  const SmallActor actor = small_actor();
  const TemporaryPath file("mara_actor_good");
  actor.save(file.path).value();
  return deploy::read_actor_file(file.path).value();
}

/// Error of loading `file`, without the path.
Error load_error(const deploy::ActorFile& file) {
  const TemporaryPath path("mara_actor_spoiled");
  deploy::write_actor_file(file, path.path).value();
  const auto loaded = SmallActor::load(path.path, 8);
  if (loaded) return {ErrorCode::kState, "loaded"};
  Error error = loaded.error();
  const std::string prefix = path.path + ": ";
  REQUIRE(error.message.rfind(prefix, 0) == 0);
  error.message.erase(0, prefix.size());
  return error;
}

}  // namespace

TEST_CASE("a weights file tells its shape to programs that do not know it", "[deploy]") {
  const deploy::ActorFile file = good_file();
  CHECK(file.types == 3);
  CHECK(deploy::shape_text(file.sizes) == std::to_string(ClusterObservation<3>::kSize) + "-16-8-10");
  CHECK(file.hidden == Activation::kTanh);
  CHECK(file.time_unit_s == 300.0);
  CHECK(file.type_names == std::vector<std::string>{"a100", "v100", "t4"});
  CHECK(file.parameters.size() == SmallActor::Network::kParameters);
  CHECK(load_error(file).message == "loaded");
}

TEST_CASE("a file of another shape is refused by name", "[deploy]") {
  const TemporaryPath path("mara_actor_shape");
  small_actor().save(path.path).value();
  const std::string inputs = std::to_string(ClusterObservation<3>::kSize);
  const auto wider = deploy::Actor<3, 16, 16>::load(path.path, 8);
  REQUIRE_FALSE(wider);
  CHECK(wider.error().code == ErrorCode::kShapeMismatch);
  CHECK(wider.error().message ==
        path.path + ": sizes = " + inputs + "-16-8-10, the actor is compiled for " + inputs + "-16-16-10");
  const auto deeper = deploy::Actor<3, 16, 8, 8>::load(path.path, 8);
  REQUIRE_FALSE(deeper);
  const auto fewer_types = deploy::Actor<2, 16, 8>::load(path.path, 8);
  REQUIRE_FALSE(fewer_types);
  CHECK(fewer_types.error().message == path.path + ": types = 3, the actor is compiled for 2");
}

TEST_CASE("every field is checked", "[deploy]") {
  const deploy::ActorFile good = good_file();
  deploy::ActorFile bad = good;
  bad.parameters[5] = std::nanf("");
  CHECK(load_error(bad).code == ErrorCode::kNumerical);
  CHECK(load_error(bad).message == "parameters[5]: must be finite, is nan");
  bad = good;
  bad.parameters.back() = -std::numeric_limits<float>::infinity();
  CHECK(load_error(bad).message ==
        "parameters[" + std::to_string(good.parameters.size() - 1) + "]: must be finite, is -inf");
  bad = good;
  bad.parameters.pop_back();
  CHECK(load_error(bad).code == ErrorCode::kShapeMismatch);
  CHECK(load_error(bad).message.rfind("parameters: " + std::to_string(bad.parameters.size()) + " numbers",
                                      0) == 0);
  bad = good;
  bad.types = 0;
  CHECK(load_error(bad).message == "types = 0, must be at least 1");
  bad = good;
  bad.hidden = static_cast<Activation>(9);
  CHECK(load_error(bad).message == "hidden_activation = 9 is unknown");
  for (const double unit : {0.0, -300.0, std::nan("")}) {
    bad = good;
    bad.time_unit_s = unit;
    CHECK(load_error(bad).message.rfind("time_unit_s: must be", 0) == 0);
  }
  bad = good;
  bad.sizes[1] = std::uint64_t{1} << 60;
  CHECK(load_error(bad).code == ErrorCode::kInvalidArgument);
  bad = good;
  bad.sizes.clear();
  bad.parameters.clear();
  CHECK(load_error(bad).message.rfind("sizes = none", 0) == 0);
  bad = good;
  bad.type_names.pop_back();
  CHECK(load_error(bad).message == "type_names: 2 names, the actor is compiled for 3 GPU types");
}

TEST_CASE("weights trained on other observations are refused", "[deploy]") {
  const deploy::ActorFile good = good_file();
  deploy::ActorFile bad = good;
  std::swap(bad.reference_numbers[0], bad.reference_numbers[7]);  // as if two features had changed places
  CHECK(load_error(bad).code == ErrorCode::kShapeMismatch);
  CHECK(load_error(bad).message.rfind(
            "was trained on other observations: number 0 of the reference state was", 0) == 0);
  bad = good;
  bad.reference_numbers[3] = std::nanf("");
  CHECK(load_error(bad).message.rfind("was trained on other observations: number 3", 0) == 0);
  bad = good;
  bad.reference_numbers.pop_back();
  CHECK(load_error(bad).message.rfind("reference_numbers: ", 0) == 0);
  bad = good;
  for (float& number : bad.reference_numbers) number *= 1.0f + 1e-6f;  // another C library
  CHECK(load_error(bad).message == "loaded");
}

TEST_CASE("the reference state exercises the encoder for every number of types", "[deploy]") {
  const auto distinct = [](const std::vector<float>& numbers) {
    std::vector<float> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    return std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  };
  const auto one = deploy::reference_numbers<1>(kUnit);
  const auto eight = deploy::reference_numbers<8>(kUnit);
  CHECK(one.size() == 3 * static_cast<std::size_t>(ClusterObservation<1>::kSize));
  CHECK(distinct(one) > 25);
  CHECK(distinct(eight) > 50);
  for (const float number : eight) CHECK(std::isfinite(number));
}

TEST_CASE("damaged and foreign files are refused", "[deploy]") {
  const TemporaryPath path("mara_actor_damaged");
  CHECK(SmallActor::load(path.path, 8).error().code == ErrorCode::kIo);
  small_actor().save(path.path).value();
  const Bytes good = read(path.path);
  for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 97) {  // one byte wrong
    Bytes bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write(path.path, bad);
    CHECK_FALSE(SmallActor::load(path.path, 8));
  }
  for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 53) {  // cut off
    write(path.path, Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)));
    CHECK_FALSE(SmallActor::load(path.path, 8));
  }
  ArchiveWriter other("mappo");
  other.put_value("env_steps", std::int64_t{3});
  other.write(path.path).value();
  const auto loaded = SmallActor::load(path.path, 8);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message.find("holds 'mappo', expected 'actor'") != std::string::npos);
  write(path.path, Bytes{'h', 'e', 'l', 'l', 'o'});
  CHECK_FALSE(SmallActor::load(path.path, 8));
}

TEST_CASE("saving to where nothing can be written is an error", "[deploy]") {
  const auto status = small_actor().save("/nonexistent-folder/actor");
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kIo);
}

TEST_CASE("max_agents is checked on loading", "[deploy]") {
  const TemporaryPath path("mara_actor_agents");
  small_actor().save(path.path).value();
  CHECK(SmallActor::load(path.path, 0).error().message ==
        path.path + ": max_agents = 0, must be in [1, 1000000]");
}
