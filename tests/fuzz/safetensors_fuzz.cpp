// Weights files from an enemy. Whatever the bytes are: a file that is accepted agrees with its header and
// holds finite numbers, and one that is refused changes nothing. The mutations know the format; with
// -DMARA_LIBFUZZER=ON the same check runs under libFuzzer.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mara/core/random.hpp"
#include "mara/core/safetensors.hpp"
#include "mara/deploy/actor_file.hpp"
#include "mara/nn/mlp_inference.hpp"
#include "mara/nn/weights_file.hpp"

namespace {

using Network = mara::MlpInference<float, 2, 17, 3>;

struct Counts {
  std::uint64_t inputs = 0, accepted = 0, loaded = 0, actors = 0;
} counts;

std::string_view current;  // the input that is being checked

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz: %s; the input of %zu bytes is in safetensors_fuzz_failure\n", what,
               current.size());
  if (std::FILE* file = std::fopen("safetensors_fuzz_failure", "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  std::abort();
}

/// The numbers in the bytes of an F32 or F64 tensor, read from the file itself.
double raw_number(std::string_view bytes, const mara::TensorInfo& tensor, std::size_t i) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const char* from = bytes.data() + 8 + length + tensor.begin;
  if (tensor.dtype == "F64") {
    double x;
    std::memcpy(&x, from + 8 * i, sizeof x);
    return x;
  }
  float x;
  std::memcpy(&x, from + 4 * i, sizeof x);
  return static_cast<double>(x);
}

void check_accepted(std::string_view bytes, const mara::SafetensorsFile& file) {
  std::uint64_t length = 0, end = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  for (const mara::TensorInfo& tensor : file.tensors()) {
    require(tensor.begin == end && tensor.end >= end, "tensors do not follow one another");
    end = tensor.end;
    std::uint64_t count = 1;
    for (const std::uint64_t extent : tensor.shape)
      require(!__builtin_mul_overflow(count, extent, &count), "a shape overflows");
    require(count == tensor.count, "a count is not the product of its shape");
    const std::uint64_t each = mara::dtype_bytes(tensor.dtype);
    require(each == 0 || tensor.end - tensor.begin == each * count,
            "a tensor has other bytes than its shape needs");
    require(mara::is_utf8(tensor.name), "a name is not UTF-8");
    require(file.find(tensor.name) == &tensor, "a name occurs twice");
  }
  require(8 + length + end == bytes.size(), "the tensors do not fill the file");
  for (const mara::TensorInfo& tensor : file.tensors()) {
    if (tensor.count > 10000) continue;
    std::vector<double> numbers(tensor.count, 7.0);
    if (!file.read(tensor, std::span(numbers))) {
      for (const double x : numbers) require(x == 7.0, "a refused tensor was written");
      continue;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      require(std::isfinite(numbers[i]), "a number that is not finite was read");
      if (tensor.dtype == "F32" || tensor.dtype == "F64")
        require(numbers[i] == raw_number(bytes, tensor, i), "a number differs from the file");
    }
  }
}

void check_network(std::string_view bytes, const mara::SafetensorsFile& file) {
  static Network network;
  static const std::vector<float> before(Network::kParameters, 0.125f);
  network.set_parameters(before).value();
  if (!mara::set_weights(network, file)) {
    require(network.exact_parameters() == before, "a refused file changed the network");
    return;
  }
  ++counts.loaded;
  network.visit_parameters([&](const std::string& name, auto view) {
    const mara::TensorInfo* tensor = file.find(name);
    require(tensor != nullptr && tensor->count == view.size(), "a parameter was loaded from nowhere");
    for (std::size_t i = 0; i < view.size(); ++i) {
      const float x = view.at(i / view.cols, i % view.cols);
      require(std::isfinite(x), "a weight that is not finite was loaded");
      if (tensor->dtype == "F32" || tensor->dtype == "F64")
        require(x == static_cast<float>(raw_number(bytes, *tensor, i)), "a weight differs from the file");
    }
  });
}

void check_actor(const mara::SafetensorsFile& file) {
  const auto actor = mara::deploy::actor_in(file);
  if (!actor) return;
  ++counts.actors;
  std::uint64_t expected = 0;
  for (std::size_t layer = 0; layer + 1 < actor->sizes.size(); ++layer)
    expected += (actor->sizes[layer] + 1) * actor->sizes[layer + 1];
  require(actor->parameters.size() == expected, "an actor has other parameters than its sizes need");
  for (const float x : actor->parameters) require(std::isfinite(x), "an actor's weight is not finite");
  for (const float x : actor->reference_numbers)
    require(std::isfinite(x), "a reference number is not finite");
  require(actor->time_unit_s > 0.0 && std::isfinite(actor->time_unit_s), "a time unit is not positive");
}

void check(std::string_view bytes) {
  current = bytes;
  ++counts.inputs;
  try {
    const auto file = mara::SafetensorsFile::parse(bytes, "input");
    if (!file) {
      require(!file.error().message.empty(), "an error without a message");
      return;
    }
    ++counts.accepted;
    check_accepted(bytes, *file);
    check_network(bytes, *file);
    check_actor(*file);
  } catch (...) {
    require(false, "an exception");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef MARA_LIBFUZZER
namespace {

/// Where mutations aim: the JSON text and the bytes behind it.
struct Input {
  std::string json, buffer;
  std::string bytes() const {
    const std::uint64_t length = json.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + json + buffer;
  }
};

Input input_of(const mara::SafetensorsWriter& out, bool checksum) {
  std::string bytes;
  out.write(bytes).value();
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  Input input{bytes.substr(8, length), bytes.substr(8 + length)};
  // Without it mutations get past the first gate.
  const std::size_t at = input.json.find("\"fnv1a\":");
  if (!checksum) input.json.replace(at, 9 + 16 + 1, "\"x\":\"\"");
  return input;
}

std::vector<Input> seeds() {
  mara::Random random(7);
  std::vector<Input> all;
  for (const bool checksum : {false, true}) {
    mara::SafetensorsWriter network, actor, mixed;
    Network weights;
    std::vector<float> numbers(Network::kParameters);
    for (float& x : numbers) x = static_cast<float>(random.normal());
    weights.set_parameters(numbers).value();
    actor.metadata("kind", mara::deploy::kActorFileKind);
    actor.metadata("format_version", mara::deploy::kActorFileVersion);
    actor.metadata("types", "3");
    actor.metadata("hidden_activation", "tanh");
    actor.metadata("time_unit_s", "300");
    actor.metadata("type_name_0", "a\"\\\n\xC3\xA9");
    weights.visit_parameters([&](const std::string& name, auto view) {
      std::vector<float> values(view.size());
      view.copy_to(values.data());
      network.tensor<float>(name, {view.rows, view.cols}, values);
      actor.tensor<float>(name, {view.rows, view.cols}, values);
    });
    actor.tensor<float>("reference_numbers", {4}, std::span(numbers).first(4));
    const std::vector<double> doubles{1e300, -1.0, 0.0};
    mixed.tensor<double>("d", {3}, doubles);
    mixed.tensor<float>("empty", {0, 3}, {});
    mixed.tensor<float>("f", {2, 2}, std::span(numbers).first(4));
    mixed.tensor<float>("scalar", {}, std::span(numbers).first(1));
    for (const auto* out : {&network, &actor, &mixed}) all.push_back(input_of(*out, checksum));
  }
  all.push_back(
      {"{\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]},\"b\":{\"dtype\":\"BF16\",\"shape\":"
       "[1,1],\"data_offsets\":[6,8]}}",
       "\x00\x3c\x01\x80\xff\x7b\x80\x3f"});
  all.push_back({"{}", ""});
  return all;
}

/// A mutation engine; the same seed makes the same inputs.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed), seeds_(seeds()) {}

  std::string next() {
    Input input = seeds_[below(seeds_.size())];
    const std::uint32_t edits = random_.below(5);  // none at all: good files are inputs too
    for (std::uint32_t i = 0; i < edits; ++i) edit(input);
    std::string bytes = input.bytes();
    if (random_.below(8) == 0) damage(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t bound) {
    return bound == 0 ? 0 : random_.below(static_cast<std::uint32_t>(bound));
  }

  /// One edit that leaves the file's two parts in place.
  void edit(Input& input) {
    switch (random_.below(10)) {
      case 0:
        return flip(input.json);
      case 1:
        return flip(input.buffer);
      case 2:
      case 3:
        return number(input.json);
      case 4:
        return token(input.json);
      case 5:
        return special_value(input.buffer);
      case 6:
        return resize(input.buffer);
      case 7:
        return splice(input.json, seeds_[below(seeds_.size())].json);
      case 8:
        return move(input.json);
      default:
        return input.json.append(below(4), ' '), void();
    }
  }

  /// Damage that does not know the parts: the length of the header, cuts, anything.
  void damage(std::string& bytes) {
    switch (random_.below(4)) {
      case 0: {
        const std::array<std::uint64_t, 8> lies{0,           1,          7,    bytes.size() - 8, bytes.size(),
                                                100'000'000, 1ull << 63, ~0ull};
        const std::uint64_t lie = lies[below(lies.size())] + random_.below(3) - 1;
        std::memcpy(bytes.data(), &lie, sizeof lie);
        return;
      }
      case 1:
        bytes.resize(below(bytes.size() + 1));
        return;
      case 2:
        return flip(bytes);
      default:
        bytes.append(1 + below(16), static_cast<char>(random_.below(256)));
    }
  }

  void flip(std::string& bytes) {
    if (bytes.empty()) return;
    char& byte = bytes[below(bytes.size())];
    byte = random_.below(2) == 0 ? static_cast<char>(byte ^ (1 << random_.below(8)))
                                 : static_cast<char>(random_.below(256));
  }

  /// Another number in place of one of the JSON text.
  void number(std::string& json) {
    const std::size_t from = below(json.size());
    const std::size_t begin = json.find_first_of("0123456789", from);
    if (begin == std::string::npos) return;
    std::size_t end = json.find_first_not_of("0123456789", begin);
    if (end == std::string::npos) end = json.size();
    const std::uint64_t value = std::strtoull(json.substr(begin, end - begin).c_str(), nullptr, 10);
    const std::array<std::string, 14> others{"0",
                                             "1",
                                             "2",
                                             std::to_string(value + 1),
                                             std::to_string(value - 1),
                                             std::to_string(value + 4),
                                             std::to_string(2 * value),
                                             "4294967296",
                                             "9223372036854775808",
                                             "18446744073709551615",
                                             "18446744073709551616",
                                             "-1",
                                             "1.5",
                                             "1e3"};
    json.replace(begin, end - begin, others[below(others.size())]);
  }

  void token(std::string& json) {
    constexpr std::array<const char*, 24> kTokens{
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud800",
        "null",
        "\n",
        "F32",
        "F64",
        "BF16",
        "I64",
        "dtype",
        "\"shape\":",
        "\"data_offsets\":[0,0]",
        "\"__metadata__\":{}",
        "\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},",
        "\xC3\xA9",
        "\xED\xA0\x80"};
    const std::string text = kTokens[below(kTokens.size())];
    json.insert(random_.below(4) == 0 && !json.empty() ? 1 : below(json.size() + 1), text);
  }

  /// NaN, infinity and the like among the numbers.
  void special_value(std::string& buffer) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::array<float, 6> values{
        std::numeric_limits<float>::quiet_NaN(),  kInfinity, -kInfinity, std::numeric_limits<float>::max(),
        std::numeric_limits<float>::denorm_min(), -0.0f};
    if (buffer.size() < 4) return;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &values[below(values.size())], sizeof bits);
    if ((bits & 0x7fffff) != 0) bits ^= random_.below(0x400000);  // any payload
    std::memcpy(buffer.data() + below(buffer.size() / 4) * 4, &bits, sizeof bits);
  }

  void resize(std::string& buffer) {
    if (random_.below(2) == 0) return buffer.resize(below(buffer.size() + 1));
    buffer.append(1 + below(12), '\0');
  }

  void splice(std::string& json, const std::string& other) {
    const std::size_t at = below(json.size() + 1), from = below(other.size());
    json.replace(at, random_.below(2) == 0 ? below(json.size() - at + 1) : 0, other, from,
                 below(other.size() - from + 1));
  }

  /// Repeats, or drops, a part of the text.
  void move(std::string& json) {
    const std::size_t begin = below(json.size());
    const std::size_t count = 1 + below(json.size() - begin);
    if (random_.below(2) == 0) {
      json.erase(begin, count);
    } else {
      const std::string part = json.substr(begin, count);
      json.insert(below(json.size() + 1), part);
    }
  }

  mara::Random random_;
  std::vector<Input> seeds_;
};

/// The same outcome from a file as from memory.
void check_through_file(const std::string& bytes) {
  const std::string path = "safetensors_fuzz_input";
  mara::write_file(path, bytes).value();
  const auto from_file = mara::SafetensorsFile::open(path);
  const auto from_memory = mara::SafetensorsFile::parse(bytes, path);
  require(from_file.has_value() == from_memory.has_value(), "a file reads otherwise than its bytes");
  if (!from_file)
    require(from_file.error().message == from_memory.error().message,
            "a file fails otherwise than its bytes");
  std::remove(path.c_str());
}

double number_from(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atof(text) : otherwise;
}

}  // namespace

int main() {
  const double seconds = number_from("MARA_FUZZ_SECONDS", 2.0);
  const auto seed = static_cast<std::uint64_t>(number_from("MARA_FUZZ_SEED", 1.0));
  const auto begin = std::chrono::steady_clock::now();
  Mutator mutator(seed);
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
    for (int i = 0; i < 200; ++i) {
      const std::string input = mutator.next();
      check(input);
      if (i == 0) check_through_file(input);
    }
  }
  std::printf("fuzz: %llu inputs in %.0f s: %llu accepted, of these %llu loaded by a network, %llu actors\n",
              static_cast<unsigned long long>(counts.inputs), seconds,
              static_cast<unsigned long long>(counts.accepted),
              static_cast<unsigned long long>(counts.loaded), static_cast<unsigned long long>(counts.actors));
  // Otherwise the good path was not tested.
  require(counts.loaded > 0 && counts.actors > 0 && counts.accepted < counts.inputs,
          "the mutations are no test");
}
#endif
