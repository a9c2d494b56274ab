// Weights files of networks: saved, read back, and refused without a trace when something is wrong.
#include "mara/nn/weights_file.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"
#include "mara/nn/mlp_inference.hpp"

using namespace mara;

namespace {

struct TemporaryPath {
  std::string path;
  explicit TemporaryPath(const char* name) : path((std::filesystem::temp_directory_path() / name).string()) {
    std::filesystem::remove(path);
  }
  ~TemporaryPath() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

/// 70 columns: two panels, the second with padding.
template <class S>
using Network = MlpInference<S, 3, 70, 5>;

template <class S>
Network<S> random_network(std::uint64_t seed) {
  Random random(seed);
  std::vector<S> numbers(Network<S>::kParameters);
  for (S& x : numbers) x = static_cast<S>(random.normal());
  Network<S> network;
  network.set_parameters(numbers).value();
  return network;
}

/// Two networks as one, as trainers hold them.
struct Pair {
  Network<float> actor;
  Network<double> critic;
  template <class F>
  void visit_parameters(F&& f) {
    actor.visit_parameters([&f](const std::string& name, auto view) { f("actor." + name, view); });
    critic.visit_parameters([&f](const std::string& name, auto view) { f("critic." + name, view); });
  }
  template <class F>
  void visit_parameters(F&& f) const {
    actor.visit_parameters([&f](const std::string& name, auto view) { f("actor." + name, view); });
    critic.visit_parameters([&f](const std::string& name, auto view) { f("critic." + name, view); });
  }
};

/// One network visited twice under the same names.
struct Twice {
  Network<float> network = Network<float>();
  template <class F>
  void visit_parameters(F&& f) const {
    network.visit_parameters(f);
    network.visit_parameters(f);
  }
};

/// What load_weights() says of a file that this writer makes; the network must stay as it was.
std::string load_error(const SafetensorsWriter& out) {
  const TemporaryPath file("mara_weights_bad");
  out.write(file.path).value();
  Network<float> network = random_network<float>(1);
  const std::vector<float> before = network.exact_parameters();
  const Status loaded = load_weights(network, file.path);
  CHECK((loaded || network.exact_parameters() == before));
  if (loaded) return {};
  REQUIRE(loaded.error().message.rfind(file.path + ": ", 0) == 0);
  return loaded.error().message.substr(file.path.size() + 2);
}

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> shape;
};
/// A writer with all tensors of Network<float>, one of them replaced (or, with an empty name, left out).
SafetensorsWriter writer_with(std::size_t which, const Tensor& replacement) {
  std::vector<Tensor> tensors{
      {"0.weight", {3, 70}}, {"0.bias", {1, 70}}, {"1.weight", {70, 5}}, {"1.bias", {1, 5}}};
  if (which < tensors.size()) tensors[which] = replacement;
  if (which == tensors.size()) tensors.push_back(replacement);
  SafetensorsWriter out;
  for (const Tensor& tensor : tensors) {
    if (tensor.name.empty()) continue;
    std::uint64_t count = 1;
    for (const std::uint64_t extent : tensor.shape) count *= extent;
    const std::vector<float> numbers(count, 0.25f);
    out.tensor<float>(tensor.name, tensor.shape, numbers);
  }
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("a network reads back what it saved", "[weights]", float, double) {
  const TemporaryPath file("mara_weights_round_trip");
  const auto saved = random_network<TestType>(1);
  REQUIRE(save_weights(saved, file.path, {{"made by", "a test"}, {"epoch", "12"}}));
  auto loaded = random_network<TestType>(2);
  REQUIRE(load_weights(loaded, file.path));
  CHECK(loaded.exact_parameters() == saved.exact_parameters());
  // Padding stayed zero: the storage is the same too.
  const auto storage = saved.parameters(), after = loaded.parameters();
  CHECK(std::vector<TestType>(after.begin(), after.end()) ==
        std::vector<TestType>(storage.begin(), storage.end()));
  const auto read = SafetensorsFile::open(file.path).value();
  CHECK(*read.find_metadata("epoch") == "12");
  CHECK(read.find("0.weight")->shape == std::vector<std::uint64_t>{3, 70});
  CHECK(read.find("0.bias")->shape == std::vector<std::uint64_t>{1, 70});
  CHECK(read.find("1.weight")->dtype == (sizeof(TestType) == 4 ? "F32" : "F64"));
  CHECK(read.tensors().size() == 4);
}

TEST_CASE("weights cross from double to float and back", "[weights]") {
  const TemporaryPath file("mara_weights_cross");
  const auto saved = random_network<double>(3);
  REQUIRE(save_weights(saved, file.path));
  auto floats = random_network<float>(4);
  REQUIRE(load_weights(floats, file.path));
  const auto exact = saved.exact_parameters();
  for (std::size_t i = 0; i < exact.size(); ++i)
    CHECK(floats.exact_parameters()[i] == static_cast<float>(exact[i]));
  REQUIRE(save_weights(floats, file.path));
  auto doubles = random_network<double>(5);
  REQUIRE(load_weights(doubles, file.path));
  CHECK(doubles.exact_parameters()[7] == static_cast<double>(static_cast<float>(exact[7])));
}

TEST_CASE("networks of several parts, and of several types", "[weights]") {
  const TemporaryPath file("mara_weights_pair");
  const Pair saved{random_network<float>(1), random_network<double>(2)};
  REQUIRE(save_weights(saved, file.path));
  Pair loaded{random_network<float>(3), random_network<double>(4)};
  REQUIRE(load_weights(loaded, file.path));
  CHECK(loaded.actor.exact_parameters() == saved.actor.exact_parameters());
  CHECK(loaded.critic.exact_parameters() == saved.critic.exact_parameters());
  // One bad number in the last part: the first stays as it was.
  const SafetensorsFile good = SafetensorsFile::open(file.path).value();
  SafetensorsWriter out;
  for (const TensorInfo& tensor : good.tensors()) {
    std::vector<double> numbers(tensor.count);
    good.read(tensor, std::span(numbers)).value();
    if (tensor.name == "critic.1.bias") numbers[4] = std::numeric_limits<double>::infinity();
    out.tensor<double>(tensor.name, tensor.shape, numbers);
  }
  REQUIRE(out.write(file.path));
  Pair kept{random_network<float>(3), random_network<double>(4)};
  const Status status = load_weights(kept, file.path);
  REQUIRE_FALSE(status);
  CHECK(status.error().message ==
        file.path + ": tensor \"critic.1.bias\": number [0, 4] must be finite, is inf");
  CHECK(kept.actor.exact_parameters() == random_network<float>(3).exact_parameters());
  CHECK(kept.critic.exact_parameters() == random_network<double>(4).exact_parameters());
}

TEST_CASE("what is missing, of another shape or unknown is refused by name", "[weights]") {
  CHECK(load_error(writer_with(9, {})) == "");
  CHECK(load_error(writer_with(2, {"", {}})) == "tensor \"1.weight\": is missing");
  CHECK(load_error(writer_with(3, {"1.bias ", {1, 5}})) == "tensor \"1.bias\": is missing");
  CHECK(load_error(writer_with(0, {"0.weight", {70, 3}})) ==
        "tensor \"0.weight\": shape [70, 3], the network has [3, 70]");
  CHECK(load_error(writer_with(0, {"0.weight", {210}})) ==
        "tensor \"0.weight\": shape [210], the network has [3, 70]");
  CHECK(load_error(writer_with(0, {"0.weight", {1, 3, 70}})) ==
        "tensor \"0.weight\": shape [1, 3, 70], the network has [3, 70]");
  CHECK(load_error(writer_with(0, {"0.weight", {3, 80}})) ==
        "tensor \"0.weight\": shape [3, 80], the network has [3, 70]");  // its storage has 80 columns
  CHECK(load_error(writer_with(1, {"0.bias", {70}})) == "");
  CHECK(load_error(writer_with(1, {"0.bias", {70, 1}})) ==
        "tensor \"0.bias\": shape [70, 1], the network has [1, 70]");
  CHECK(load_error(writer_with(4, {"2.weight", {5, 5}})) == "tensor \"2.weight\": is not of this network");
}

TEST_CASE("weights that are not finite are neither saved nor loaded", "[weights]") {
  const TemporaryPath file("mara_weights_nan");
  auto network = random_network<float>(1);
  REQUIRE(save_weights(network, file.path));
  auto numbers = network.exact_parameters();
  numbers[3 * 70 + 70 + 5 * 69 + 2] = std::numeric_limits<float>::quiet_NaN();
  network.set_parameters(numbers).value();
  const Status saved = save_weights(network, file.path);
  REQUIRE_FALSE(saved);
  CHECK(saved.error().code == ErrorCode::kNumerical);
  CHECK(saved.error().message == file.path + ": tensor \"1.weight\": number [69, 2] must be finite, is nan");
  auto kept = random_network<float>(2);
  REQUIRE(load_weights(kept, file.path));  // the file of before is still there
  CHECK(kept.exact_parameters() == random_network<float>(1).exact_parameters());
}

TEST_CASE("names that occur twice cannot be saved", "[weights]") {
  const TemporaryPath file("mara_weights_twice");
  const Status saved = save_weights(Twice(), file.path);
  REQUIRE_FALSE(saved);
  CHECK(saved.error().message == file.path + ": tensor \"0.weight\": is no new name in UTF-8");
  Network<float> network;
  CHECK(load_weights(network, file.path).error().code == ErrorCode::kIo);
}
