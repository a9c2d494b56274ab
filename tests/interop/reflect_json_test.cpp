#include "mara/interop/reflect_json.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "reflect_fixture.hpp"

using reflect_fixture::Colour;
using reflect_fixture::Outer;

namespace {
/// The error that reading `text` into a default Outer gives; "" when it succeeds.
std::string error_of(const std::string& text) {
  Outer outer;
  const auto status = mara::from_json_text(text, outer);
  return status ? std::string() : status.error().message;
}
}  // namespace

TEST_CASE("reflect_json: a struct becomes an object with its members by name", "[interop][json]") {
  const nlohmann::json json = mara::to_json(Outer{});
  REQUIRE(
      json.dump() ==
      R"({"colour":"blue","hidden":[64,64],"load":null,"names":["a"],"out_dir":"report",)"
      R"("ppo":{"clip":0.2,"epochs":3,"learning_rate":0.001},"ratio":0.5,"seed":1,"shuffle":true,"steps":150000,)"
      R"("tiny":-5,"verbose":false,"weights":[]})");
}

TEST_CASE("reflect_json: round trip keeps every value exactly", "[interop][json]") {
  Outer outer;
  outer.verbose = true;
  outer.shuffle = false;
  outer.tiny = 127;
  outer.steps = std::numeric_limits<std::int64_t>::min();
  outer.seed = std::numeric_limits<std::uint64_t>::max();
  outer.ratio = 0.1 + 0.2;
  outer.out_dir = "a \"b\"\n\xc3\xa9";
  outer.hidden = {};
  outer.weights = {1e-300, -0.0, 1.0 / 3.0};
  outer.names = {"x", ""};
  outer.load = 0.65;
  outer.colour = Colour::kRed;
  outer.ppo.clip = 0.30000001f;
  Outer back;
  back.load = 3.0;
  REQUIRE(mara::from_json_text(mara::to_json(outer).dump(), back));
  REQUIRE(mara::to_json(back) == mara::to_json(outer));
  REQUIRE(back.ratio == outer.ratio);
  REQUIRE(back.seed == outer.seed);
  REQUIRE(back.steps == outer.steps);
  REQUIRE(std::signbit(back.weights[1]));
  REQUIRE(back.ppo.clip == outer.ppo.clip);
  REQUIRE(back.out_dir == outer.out_dir);
  REQUIRE(back.hidden.empty());
  outer.load.reset();
  REQUIRE(mara::from_json(mara::to_json(outer), back));
  REQUIRE_FALSE(back.load.has_value());
}

TEST_CASE("reflect_json: every float survives", "[interop][json]") {
  std::uint32_t bits = 1;
  for (int i = 0; i < 20000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    float value;
    static_assert(sizeof(value) == sizeof(bits));
    __builtin_memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    REQUIRE(static_cast<float>(mara::detail::json_float(value)) == value);
  }
}

TEST_CASE("reflect_json: missing keys keep what was there; whole numbers are numbers", "[interop][json]") {
  Outer outer;
  outer.steps = 42;
  REQUIRE(mara::from_json_text(R"({"ratio": 2, "ppo": {"epochs": 9}})", outer));
  REQUIRE(outer.steps == 42);
  REQUIRE(outer.ratio == 2.0);
  REQUIRE(outer.ppo.epochs == 9);
  REQUIRE(outer.ppo.clip == 0.2f);
}

TEST_CASE("reflect_json: errors name the field and the value", "[interop][json]") {
  REQUIRE(error_of(R"({"stepz": 5})").find("stepz: unknown key (value 5); known here: verbose, shuffle") ==
          0);
  REQUIRE(error_of(R"({"ppo": {"klip": 0.1}})") ==
          "ppo.klip: unknown key (value 0.1); known here: learning_rate, clip, epochs");
  REQUIRE(error_of(R"({"steps": 1.5})") == "steps: expected a whole number, got 1.5");
  REQUIRE(error_of(R"({"steps": "1"})") == "steps: expected a whole number, got \"1\"");
  REQUIRE(error_of(R"({"tiny": 128})") == "tiny: expected a whole number from -128 to 127, got 128");
  REQUIRE(error_of(R"({"seed": -1})").find("seed: expected a whole number from 0 to") == 0);
  REQUIRE(error_of(R"({"ratio": "x"})") == "ratio: expected a number, got \"x\"");
  REQUIRE(error_of(R"({"ratio": null})") == "ratio: expected a number, got null");
  REQUIRE(error_of(R"({"ratio": true})") == "ratio: expected a number, got true");
  REQUIRE(error_of(R"({"verbose": 1})") == "verbose: expected true or false, got 1");
  REQUIRE(error_of(R"({"out_dir": 1})") == "out_dir: expected a string, got 1");
  REQUIRE(error_of(R"({"hidden": 64})") == "hidden: expected an array, got 64");
  REQUIRE(error_of(R"({"hidden": [64, "a"]})") == "hidden[1]: expected a whole number, got \"a\"");
  REQUIRE(error_of(R"({"colour": "green"})") == "colour: expected one of red|blue, got \"green\"");
  REQUIRE(error_of(R"({"ppo": 3})") == "ppo: expected an object, got 3");
  REQUIRE(error_of(R"([1])") == "(whole document): expected an object, got [1]");
  REQUIRE(error_of(R"({"ppo": {"clip": 1e200}})") == "ppo.clip: expected a finite number, got 1e+200");
  REQUIRE(error_of(R"({"steps": )").find("JSON: parse error at line 1") == 0);
  REQUIRE(error_of(R"({"ratio": 1e999})").find("JSON: number overflow") == 0);
  REQUIRE(error_of("").find("JSON: ") == 0);
}

TEST_CASE("reflect_json: NaN and infinity are refused", "[interop][json]") {
  Outer outer;
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const auto status = mara::from_json(nlohmann::json{{"ratio", bad}}, outer);
    REQUIRE_FALSE(status);
    REQUIRE(status.error().code == mara::ErrorCode::kNumerical);
    REQUIRE(status.error().message.find("ratio: expected a finite number, got ") == 0);
    REQUIRE_FALSE(mara::from_json(nlohmann::json{{"weights", {1.0, bad}}}, outer));
  }
  REQUIRE(mara::from_json(nlohmann::json{{"ratio", std::nan("")}}, outer).error().message ==
          "ratio: expected a finite number, got NaN");
}

TEST_CASE("reflect_json: a failed read changes nothing", "[interop][json]") {
  Outer outer;
  const auto before = mara::to_json(outer);
  REQUIRE_FALSE(
      mara::from_json_text(R"({"verbose": true, "hidden": [1], "ppo": {"epochs": 1, "clip": "x"}})", outer));
  REQUIRE(mara::to_json(outer) == before);
}
