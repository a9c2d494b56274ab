#include "mara/interop/reflect_options.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "reflect_fixture.hpp"

using reflect_fixture::Colour;
using reflect_fixture::Outer;

namespace {
/// Parses `arguments` into `outer`; the message of the error, "" when there is none.
std::string parse(Outer& outer, std::vector<std::string> arguments, std::string_view prefix = {}) {
  CLI::App app;
  const auto added = mara::add_options(app, outer, prefix);
  REQUIRE(added);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return {};
}
}  // namespace

TEST_CASE("reflect_options: members become kebab-case options", "[interop][options]") {
  Outer outer;
  REQUIRE(parse(outer,
                {"--verbose", "--no-shuffle", "--tiny",   "-7",       "--steps",       "12",
                 "--out-dir", "x y",          "--hidden", "32,16,8",  "--weights=0.5", "--names",
                 "p,,q",      "--load",       "0.65",     "--colour", "red",           "--ppo-learning-rate",
                 "1e-4",      "--ppo-clip",   "0.1"}) == "");
  REQUIRE(outer.verbose);
  REQUIRE_FALSE(outer.shuffle);
  REQUIRE(outer.tiny == -7);
  REQUIRE(outer.steps == 12);
  REQUIRE(outer.out_dir == "x y");
  REQUIRE(outer.hidden == std::vector<int>{32, 16, 8});
  REQUIRE(outer.weights == std::vector<double>{0.5});
  REQUIRE(outer.names == std::vector<std::string>{"p", "", "q"});
  REQUIRE(outer.load == 0.65);
  REQUIRE(outer.colour == Colour::kRed);
  REQUIRE(outer.ppo.learning_rate == 1e-4);
  REQUIRE(outer.ppo.clip == 0.1f);
  REQUIRE(outer.seed == 1);
}

TEST_CASE("reflect_options: what is not given keeps its value", "[interop][options]") {
  Outer outer;
  outer.steps = 5;
  REQUIRE(parse(outer, {}) == "");
  REQUIRE(outer.steps == 5);
  REQUIRE_FALSE(outer.load.has_value());
  REQUIRE(outer.shuffle);
}

TEST_CASE("reflect_options: prefix and duplicate names", "[interop][options]") {
  Outer outer;
  REQUIRE(parse(outer, {"--train-steps", "9"}, "train-") == "");
  REQUIRE(outer.steps == 9);
  CLI::App app;
  REQUIRE(mara::add_options(app, outer));
  const auto twice = mara::add_options(app, outer);
  REQUIRE_FALSE(twice);
  REQUIRE(twice.error().message.find("verbose") != std::string::npos);
}

TEST_CASE("reflect_options: a bad value names the option and the value, and changes nothing",
          "[interop][options]") {
  const auto error = [](const std::string& option, const std::string& value) {
    Outer outer;
    return parse(outer, {option, value});
  };
  REQUIRE(error("--steps", "abc") == "--steps: expected a whole number, got 'abc'");
  REQUIRE(error("--steps", "1.5") == "--steps: expected a whole number, got '1.5'");
  REQUIRE(error("--steps", "12x") == "--steps: expected a whole number, got '12x'");
  REQUIRE(error("--tiny", "300") == "--tiny: expected a whole number from -128 to 127, got '300'");
  REQUIRE(error("--ratio", "nan") == "--ratio: expected a finite number, got 'nan'");
  REQUIRE(error("--ratio", "inf") == "--ratio: expected a finite number, got 'inf'");
  REQUIRE(error("--ratio", "") != "");
  REQUIRE(error("--ratio", "1e999") == "--ratio: expected a number, got '1e999'");
  REQUIRE(error("--colour", "green") == "--colour: expected one of red|blue, got 'green'");
  REQUIRE(error("--hidden", "3,") == "--hidden: expected a whole number, got ''");
  REQUIRE(error("--load", "x") == "--load: expected a number, got 'x'");
  REQUIRE(error("--nonsense", "1").find("--nonsense") != std::string::npos);
  Outer outer;
  const std::string text = "nan";
  REQUIRE_FALSE(mara::parse_text(text, outer.ratio));
  REQUIRE(outer.ratio == 0.5);
  REQUIRE_FALSE(mara::parse_text("1,x", outer.hidden));
  REQUIRE(outer.hidden == std::vector<int>{64, 64});
}

TEST_CASE("reflect_options: help shows text, type and default", "[interop][options]") {
  CLI::App app;
  Outer outer;
  REQUIRE(mara::add_options(app, outer));
  const std::string help = app.help();
  REQUIRE(help.find("--steps INT=150000") != std::string::npos);
  REQUIRE(help.find("environment steps to train for") != std::string::npos);
  REQUIRE(help.find("--colour red|blue=blue") != std::string::npos);
  REQUIRE(help.find("--hidden INT,...=64,64") != std::string::npos);
  REQUIRE(help.find("shuffle the minibatches (default: on)") != std::string::npos);
  REQUIRE(help.find("--out-dir FOLDER=report") != std::string::npos);
  REQUIRE(help.find("--ppo-epochs INT=3") != std::string::npos);
}

TEST_CASE("reflect_options: text of a value reads back", "[interop][options]") {
  double number = 0.0;
  REQUIRE(mara::parse_text(mara::to_text(0.1 + 0.2), number));
  REQUIRE(number == 0.1 + 0.2);
  std::vector<std::string> names;
  REQUIRE(mara::parse_text(mara::to_text(std::vector<std::string>{"", "b"}), names));
  REQUIRE(names == std::vector<std::string>{"", "b"});
  bool flag = false;
  REQUIRE(mara::parse_text("true", flag));
  REQUIRE(flag);
  REQUIRE_FALSE(mara::parse_text("yes", flag));
}
