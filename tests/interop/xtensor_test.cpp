// Views of parameters as xtensor expressions: the same numbers, in place.
#include "mara/interop/xtensor.hpp"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>
#include <xtensor/xmath.hpp>

#include "catch.hpp"
#include "mara/nn/mlp_inference.hpp"

using namespace mara;

namespace {

/// Layers of 1, 2 and 3 panels, full and with padding; one row, too.
using Network = MlpInference<float, 1, 64, 70, 128, 150, 5>;

Network counting_network() {
  Network network;
  std::vector<float> numbers(Network::kParameters);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  network.set_parameters(numbers).value();
  return network;
}

}  // namespace

TEST_CASE("xtensor panels show every number of every parameter once", "[xtensor]") {
  const Network network = counting_network();
  network.visit_parameters([](const std::string& name, auto view) {
    INFO(name);
    std::size_t column = 0;
    for (const auto& panel : xtensor_panels(view)) {
      static_assert(std::is_same_v<decltype(panel.matrix(0, 0)), const float&>);
      REQUIRE(panel.first_column == column);
      REQUIRE(panel.matrix.shape(0) == view.rows);
      for (std::size_t r = 0; r < view.rows; ++r)
        for (std::size_t c = 0; c < panel.matrix.shape(1); ++c)
          if (&panel.matrix(r, c) != &view.at(r, column + c)) FAIL("row " << r << ", column " << c);
      column += panel.matrix.shape(1);
    }
    CHECK(column == view.cols);
  });
}

TEST_CASE("what is written through an xtensor view is in the network", "[xtensor]") {
  Network network = counting_network();
  const Network before = network;
  network.visit_parameters([](const std::string& name, auto view) {
    if (name != "3.weight") return;
    for (auto& panel : xtensor_panels(view)) panel.matrix *= -2.0f;
  });
  const auto storage = network.parameters(), old = before.parameters();
  constexpr std::size_t kBegin = Network::Shape::offset(3), kEnd = Network::Shape::bias_offset(3);
  for (std::size_t i = 0; i < storage.size(); ++i)
    REQUIRE(storage[i] == (i >= kBegin && i < kEnd ? -2.0f : 1.0f) * old[i]);
}

TEST_CASE("blocks of 64 columns as one tensor", "[xtensor]") {
  Network network = counting_network();
  network.visit_parameters([](const std::string& name, auto view) {
    INFO(name);
    auto blocks = xtensor_blocks(view);
    REQUIRE(blocks.has_value() == (view.cols % 64 == 0));
    if (!blocks) {
      if (name == "3.weight") CHECK(blocks.error().message == "parameter of 150 columns: no multiple of 64");
      return;
    }
    REQUIRE(blocks->shape(0) * 64 == view.cols);
    REQUIRE(blocks->shape(1) == view.rows);
    double sum = 0.0, expected = 0.0;
    for (std::size_t r = 0; r < view.rows; ++r)
      for (std::size_t c = 0; c < view.cols; ++c) {
        if (&(*blocks)(c / 64, r, c % 64) != &view.at(r, c)) FAIL("row " << r << ", column " << c);
        expected += static_cast<double>(view.at(r, c));
      }
    for (const float x : *blocks) sum += static_cast<double>(x);
    CHECK(sum == expected);
    if (name == "2.weight") blocks->fill(7.0f);
  });
  const auto exact = network.exact_parameters();
  const std::size_t begin = (1 + 1) * 64 + (64 + 1) * 70;
  CHECK(exact[begin - 1] == static_cast<float>(begin - 1));
  for (std::size_t i = 0; i < 70 * 128; ++i) REQUIRE(exact[begin + i] == 7.0f);
  CHECK(exact[begin + 70 * 128] == static_cast<float>(begin + 70 * 128));
}

TEST_CASE("an xtensor view of several panels is an error, of one or of rows it is whole", "[xtensor]") {
  Network network = counting_network();
  network.visit_parameters([](const std::string& name, auto view) {
    auto whole = xtensor_view(view);
    INFO(name);
    REQUIRE(whole.has_value() == (view.storage == Storage::kRowMajor || view.cols <= 64));
    if (!whole) {
      if (name == "1.weight")
        CHECK(whole.error().message == "parameter of 70 columns lies in 2 panels: use xtensor_panels()");
      return;
    }
    CHECK(&(*whole)(view.rows - 1, view.cols - 1) == &view.at(view.rows - 1, view.cols - 1));
    if (name == "4.weight") *whole += 1000.0f;
    if (name == "0.weight") CHECK(xt::sum(*whole)() == 63.0f * 64.0f / 2.0f);
  });
  const auto exact = network.exact_parameters();
  CHECK(exact[exact.size() - 5 - 1] == static_cast<float>(exact.size() - 5 - 1 + 1000));
  CHECK(exact.back() == static_cast<float>(exact.size() - 1));
}
