// The weights file: no damaged, foreign or outdated one is taken for an actor.
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "deploy_helpers.hpp"
#include "mara/core/archive.hpp"

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

TEST_CASE("a weights file is a safetensors file: names, shapes, metadata", "[deploy]") {
  const TemporaryPath path("mara_actor_tensors");
  const SmallActor actor =
      SmallActor::create(random_network(4), {1.0 / 3.0}, 8, {"a100", "v100", "t4"}).value();
  REQUIRE(actor.save(path.path));
  const auto file = SafetensorsFile::open(path.path).value();
  constexpr std::uint64_t kInputs = ClusterObservation<3>::kSize;
  using Shape = std::vector<std::uint64_t>;
  const std::vector<std::pair<std::string, Shape>> expected{{"0.weight", {kInputs, 16}},
                                                            {"0.bias", {1, 16}},
                                                            {"1.weight", {16, 8}},
                                                            {"1.bias", {1, 8}},
                                                            {"2.weight", {8, 10}},
                                                            {"2.bias", {1, 10}},
                                                            {"reference_numbers", {3 * kInputs}}};
  REQUIRE(file.tensors().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(file.tensors()[i].name == expected[i].first);
    CHECK(file.tensors()[i].shape == expected[i].second);
    CHECK(file.tensors()[i].dtype == "F32");
  }
  // Weights are [inputs, outputs], row-major, without the padding of the storage.
  std::vector<float> weight(16 * 8), bias(10);
  REQUIRE(file.read(*file.find("1.weight"), std::span(weight)));
  REQUIRE(file.read(*file.find("2.bias"), std::span(bias)));
  const std::vector<float> exact = random_network(4).exact_parameters();
  const std::size_t first = (kInputs + 1) * 16;
  CHECK(weight == std::vector<float>(exact.begin() + first, exact.begin() + first + 16 * 8));
  CHECK(bias == std::vector<float>(exact.end() - 10, exact.end()));
  const std::vector<std::pair<std::string, std::string>> metadata{
      {"kind", "mara actor"},  {"format_version", "1"},
      {"types", "3"},          {"hidden_activation", "tanh"},
      {"type_name_0", "a100"}, {"type_name_1", "v100"},
      {"type_name_2", "t4"},   {"time_unit_s", "0.3333333333333333"}};
  for (const auto& [key, value] : metadata) {
    REQUIRE(file.find_metadata(key) != nullptr);
    CHECK(*file.find_metadata(key) == value);
  }
  CHECK(deploy::read_actor_file(path.path).value().time_unit_s == 1.0 / 3.0);
}

TEST_CASE("every activation survives the file by its name", "[deploy]") {
  deploy::ActorFile file = good_file();
  const TemporaryPath path("mara_actor_activation");
  for (int a = 0; a < kActivations; ++a) {
    file.hidden = static_cast<Activation>(a);
    REQUIRE(deploy::write_actor_file(file, path.path));
    CHECK(deploy::read_actor_file(path.path).value().hidden == file.hidden);
    CHECK(*SafetensorsFile::open(path.path).value().find_metadata("hidden_activation") ==
          name_of(file.hidden));
  }
}

TEST_CASE("every field is checked", "[deploy]") {
  const deploy::ActorFile good = good_file();
  deploy::ActorFile bad = good;
  bad.parameters[5] = std::nanf("");
  CHECK(load_error(bad).code == ErrorCode::kNumerical);
  CHECK(load_error(bad).message == "tensor \"0.weight\": number [0, 5] must be finite, is nan");
  bad = good;
  bad.parameters.back() = -std::numeric_limits<float>::infinity();
  CHECK(load_error(bad).message == "tensor \"2.bias\": number [0, 9] must be finite, is -inf");
  bad = good;
  bad.types = 0;
  CHECK(load_error(bad).code == ErrorCode::kInvalidArgument);
  CHECK(load_error(bad).message == "types = 0, must be in [1, 8]");
  bad = good;
  bad.hidden = static_cast<Activation>(99);
  CHECK(load_error(bad).message == "hidden_activation = \"unknown\" is unknown");
  for (const double unit : {0.0, -300.0}) {
    bad = good;
    bad.time_unit_s = unit;
    CHECK(load_error(bad).message.rfind("time_unit_s: must be positive", 0) == 0);
  }
  bad = good;
  bad.time_unit_s = std::nan("");
  CHECK(load_error(bad).message == "time_unit_s: \"nan\" is not a finite number");
  bad = good;
  bad.type_names.pop_back();
  CHECK(load_error(bad).message == "type_names: 2 names, the actor is compiled for 3 GPU types");
}

TEST_CASE("what does not fit the sizes is not written", "[deploy]") {
  const deploy::ActorFile good = good_file();
  const TemporaryPath path("mara_actor_sizes");
  const auto error = [&path](const deploy::ActorFile& file) {
    const Status written = deploy::write_actor_file(file, path.path);
    CHECK_FALSE(std::filesystem::exists(path.path));
    return written ? std::string() : written.error().message;
  };
  deploy::ActorFile bad = good;
  bad.parameters.pop_back();
  CHECK(error(bad).rfind(path.path + ": parameters: " + std::to_string(bad.parameters.size()) +
                             " numbers do not fit sizes = ",
                         0) == 0);
  bad = good;
  bad.parameters.push_back(0.0f);
  CHECK_FALSE(error(bad).empty());
  bad = good;
  bad.sizes[1] = std::uint64_t{1} << 60;
  CHECK_FALSE(error(bad).empty());
  bad = good;
  bad.sizes.clear();
  CHECK_FALSE(error(bad).empty());
  bad = good;
  bad.type_names[1] = "\xff";
  CHECK(error(bad) == path.path + ": metadata \"type_name_1\": is not UTF-8");
}

TEST_CASE("tensors that are no actor are refused by name", "[deploy]") {
  using Tensors = std::vector<std::pair<std::string, std::vector<std::uint64_t>>>;
  const TemporaryPath path("mara_actor_tensors");
  const auto error = [&path](const Tensors& tensors, const char* kind = "mara actor",
                             const char* version = "1") {
    SafetensorsWriter out;
    out.metadata("kind", kind);
    out.metadata("format_version", version);
    out.metadata("types", "3");
    out.metadata("hidden_activation", "relu");
    out.metadata("time_unit_s", "300");
    for (const auto& [name, shape] : tensors) {
      std::uint64_t count = 1;
      for (const std::uint64_t extent : shape) count *= extent;
      const std::vector<double> numbers(count, 0.5);
      out.tensor<double>(name, shape, numbers);
    }
    out.write(path.path).value();
    const auto read = deploy::read_actor_file(path.path);
    return read ? "read: " + deploy::shape_text(read->sizes)
                : read.error().message.substr(path.path.size() + 2);
  };
  const std::pair<std::string, std::vector<std::uint64_t>> r{"reference_numbers", {2}};
  CHECK(error({{"0.weight", {3, 2}}, {"0.bias", {2}}, {"1.weight", {2, 5}}, {"1.bias", {1, 5}}, r}) ==
        "read: 3-2-5");
  CHECK(error({r}) == "tensor \"0.weight\": is missing");
  CHECK(error({{"0.weight", {3, 2}}, r}) == "tensor \"0.bias\": is missing");
  CHECK(error({{"0.weight", {3, 2}}, {"0.bias", {2}}}) == "tensor \"reference_numbers\": is missing");
  CHECK(error({{"0.weight", {6}}, {"0.bias", {2}}, r}) ==
        "tensor \"0.weight\": shape [6], expected [inputs, width]");
  CHECK(error({{"0.weight", {3, 2}}, {"0.bias", {2, 1}}, r}) ==
        "tensor \"0.bias\": shape [2, 1], expected [1, 2]");
  CHECK(error({{"0.weight", {3, 2}}, {"0.bias", {2}}, {"1.weight", {5, 2}}, {"1.bias", {2}}, r}) ==
        "tensor \"1.weight\": shape [5, 2], expected [2, width]");
  CHECK(error({{"0.weight", {3, 2}}, {"0.bias", {2}}, {"2.weight", {2, 5}}, {"2.bias", {5}}, r}) ==
        "has 5 tensors, an actor of sizes = 3-2 has 3");
  CHECK(error({r}, "mara critic") == "kind = \"mara critic\", expected \"mara actor\"");
  CHECK(error({r}, "mara actor", "2") == "format_version = \"2\", expected \"1\"");
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
  CHECK(load_error(bad).message == "tensor \"reference_numbers\": number [3] must be finite, is nan");
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
  const deploy::ActorFile whole = good_file();
  int harmless = 0;
  for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 97) {  // one byte wrong
    Bytes bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write(path.path, bad);
    INFO("byte " << at);
    const auto damaged = deploy::read_actor_file(path.path);
    if (!damaged) continue;
    ++harmless;  // the key of the checksum was hit
    CHECK(damaged->parameters == whole.parameters);
    CHECK(damaged->reference_numbers == whole.reference_numbers);
    CHECK(damaged->time_unit_s == whole.time_unit_s);
    CHECK(damaged->type_names == whole.type_names);
  }
  CHECK(harmless <= 1);
  for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 53) {  // cut off
    write(path.path, Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)));
    CHECK_FALSE(SmallActor::load(path.path, 8));
  }
  ArchiveWriter other("mappo");
  other.put_value("env_steps", std::int64_t{3});
  other.write(path.path).value();
  const auto loaded = SmallActor::load(path.path, 8);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message.rfind(path.path + ": is no safetensors file: header of ", 0) == 0);
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
