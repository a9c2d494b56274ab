// Views of parameters as Eigen matrices: the same numbers, in place.
#include "mara/interop/eigen.hpp"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "mara/nn/mlp_inference.hpp"

using namespace mara;

namespace {

/// Layers of 1, 2 and 3 panels, full and with padding.
using Network = MlpInference<float, 3, 64, 70, 128, 150, 5>;

Network counting_network() {
  Network network;
  std::vector<float> numbers(Network::kParameters);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  network.set_parameters(numbers).value();
  return network;
}

}  // namespace

TEST_CASE("eigen panels show every number of every parameter once", "[eigen]") {
  const Network network = counting_network();
  network.visit_parameters([](const std::string& name, auto view) {
    INFO(name);
    static_assert(std::is_const_v<std::remove_pointer_t<decltype(view.data)>>);
    std::size_t column = 0;
    for (const auto& panel : eigen_panels(view)) {
      REQUIRE(panel.first_column == column);
      REQUIRE(panel.matrix.rows() == static_cast<Eigen::Index>(view.rows));
      for (Eigen::Index r = 0; r < panel.matrix.rows(); ++r)
        for (Eigen::Index c = 0; c < panel.matrix.cols(); ++c)
          if (&panel.matrix.coeffRef(r, c) !=
              &view.at(static_cast<std::size_t>(r), column + static_cast<std::size_t>(c)))
            FAIL("row " << r << ", column " << c);
      column += static_cast<std::size_t>(panel.matrix.cols());
    }
    CHECK(column == view.cols);
  });
}

TEST_CASE("what is written through an eigen view is in the network", "[eigen]") {
  Network network = counting_network();
  const Network before = network;
  network.visit_parameters([](const std::string& name, auto view) {
    for (auto& panel : eigen_panels(view)) panel.matrix *= name == "2.weight" ? -2.0f : 1.0f;
  });
  const auto storage = network.parameters(), old = before.parameters();
  constexpr std::size_t kBegin = Network::Shape::offset(2), kEnd = Network::Shape::bias_offset(2);
  for (std::size_t i = 0; i < storage.size(); ++i)
    REQUIRE(storage[i] == (i >= kBegin && i < kEnd ? -2.0f : 1.0f) * old[i]);
}

TEST_CASE("eigen computes a layer of the network from the views", "[eigen]") {
  Network network = counting_network();
  const std::vector<float> in{0.5f, -1.0f, 0.25f};
  network.visit_parameters([&](const std::string& name, auto view) {
    if (name != "0.weight") return;
    auto weights = eigen_view(view);
    REQUIRE(weights);
    const Eigen::RowVectorXf out = Eigen::Map<const Eigen::RowVectorXf>(in.data(), 3) * *weights;
    REQUIRE(out.size() == 64);
    for (Eigen::Index c = 0; c < 64; ++c) {
      const auto column = static_cast<float>(c);
      CHECK(out[c] == 0.5f * column - (64.0f + column) + 0.25f * (128.0f + column));
    }
    weights->setZero();
  });
  CHECK(network.exact_parameters()[2 * 64 + 63] == 0.0f);
  CHECK(network.exact_parameters()[3 * 64] == 192.0f);
}

TEST_CASE("an eigen view of several panels is an error, of one or of rows it is whole", "[eigen]") {
  Network network = counting_network();
  network.visit_parameters([](const std::string& name, auto view) {
    const auto whole = eigen_view(view);
    INFO(name);
    CHECK(whole.has_value() == (view.storage == Storage::kRowMajor || view.cols <= 64));
    if (name == "3.weight")
      CHECK(whole.error().message == "parameter of 150 columns lies in 3 panels: use eigen_panels()");
    if (name == "3.bias") CHECK(whole->cols() == 150);
  });
}

TEST_CASE("eigen views of row-major matrices of any size", "[eigen]") {
  std::vector<double> numbers(3 * 100);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  const auto view = eigen_view(ParameterView<double>{numbers.data(), 3, 100, Storage::kRowMajor});
  REQUIRE(view);
  CHECK((*view)(2, 99) == 299.0);
  CHECK(eigen_panels(ParameterView<double>{numbers.data(), 3, 100, Storage::kRowMajor}).size() == 1);
}
