// From the field's endpoint to a distribution over options, and from demonstrations to a field.
#include "mara/guidance/allocation_flow.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mara/guidance/train_flow.hpp"

using namespace mara;

namespace {

using Flow = AllocationFlow<3, 2, 32, 32>;

/// The expert takes option 2 where the first observation is positive and option 2 is left; else 1 if it is
/// left; else 0.
Demonstrations demonstrations(std::uint64_t seed, std::size_t rows) {
  Random random(seed);
  Demonstrations data;
  for (std::size_t r = 0; r < rows; ++r) {
    const double x = random.uniform(-1.0, 1.0);
    data.observations.push_back(static_cast<float>(x));
    data.observations.push_back(static_cast<float>(random.normal()));
    const OptionMask mask = 1u | random.below(4) << 1;
    data.masks.push_back(mask);
    data.possible.push_back(0b111);
    data.current.push_back(static_cast<std::uint8_t>(random.below(3)));
    data.target.push_back(x > 0.0 && (mask & 4u) != 0 ? 2 : (mask & 2u) != 0 ? 1 : 0);
  }
  return data;
}

bool mentions(const Error& error, const char* text) {
  return error.message.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("the guided distribution is exp(-distance^2 / temperature) over the legal options", "[flow]") {
  Flow flow;
  flow.temperature = 0.2f;
  const float endpoint[] = {0.1f, 0.6f, 0.4f};
  for (const OptionMask mask : {0b111u, 0b011u, 0b101u, 0b100u}) {
    double expected[3] = {}, sum = 0.0;
    for (int a = 0; a < 3; ++a) {
      if (((mask >> a) & 1u) == 0) continue;
      double distance = 0.0;
      for (int b = 0; b < 3; ++b) {
        const double difference = (a == b) - static_cast<double>(endpoint[b]);
        distance += difference * difference;
      }
      sum += expected[a] = std::exp(-distance / 0.2);
    }
    float q[3];
    flow.guided_distribution(endpoint, mask, q);
    for (int a = 0; a < 3; ++a) CHECK(q[a] == Approx(expected[a] / sum).margin(1e-6));
  }
}

TEST_CASE("no legal option, or an endpoint that is no number: no guidance", "[flow]") {
  const Flow flow;
  float q[3];
  const auto all_zero = [&] { return std::all_of(q, q + 3, [](float x) { return x == 0.0f; }); };
  const float endpoint[] = {0.1f, 0.6f, 0.4f};
  flow.guided_distribution(endpoint, 0, q);
  CHECK(all_zero());
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38f}) {
    const float broken[] = {0.1f, bad, 0.4f};
    flow.guided_distribution(broken, 0b111, q);
    CHECK(all_zero());
    flow.guided_distribution(broken, 0b101, q);  // the broken number belongs to an illegal option
    CHECK(q[0] + q[2] == Approx(1.0));
  }
}

TEST_CASE("the endpoint is one Euler step from the held option, under observation and mask", "[flow]") {
  Random random(1);
  Flow flow;
  flow.field = Flow::Field(random);
  const std::vector<float> observations{0.5f, -1.0f, 2.0f, 0.25f};
  const int current[] = {2, 0};
  const OptionMask masks[] = {0b101, 0b010};
  std::vector<float> endpoint(6);
  Flow::Workspace work;
  flow.endpoint(observations.data(), current, masks, 2, endpoint.data(), work);
  Flow::Field::Workspace field_work;
  for (std::size_t r = 0; r < 2; ++r) {
    float x[3] = {0, 0, 0}, v[3];
    x[current[r]] = 1.0f;
    const float condition[] = {observations[2 * r], observations[2 * r + 1],
                               static_cast<float>(masks[r] & 1u), static_cast<float>((masks[r] >> 1) & 1u),
                               static_cast<float>((masks[r] >> 2) & 1u)};
    flow.field.velocity(x, 0.0f, condition, 1, v, field_work);
    for (std::size_t a = 0; a < 3; ++a) CHECK(endpoint[3 * r + a] == Approx(x[a] + v[a]).margin(1e-6));
  }
}

TEST_CASE("a field trained on demonstrations points to the expert's options", "[flow]") {
  FlowConfig config;
  config.matching.epochs = 15;
  config.matching.learning_rate = 4e-3;
  config.unaware_share = 0.0;
  MatchingReport report;
  int epochs = 0;
  const auto trained = train_flow<Flow>(demonstrations(1, 6000), config, &report,
                                        [&](int epoch, double) { CHECK(epoch == epochs++); });
  REQUIRE(trained);
  const Flow& flow = **trained;
  CHECK(epochs == 15);
  CHECK(report.epoch_loss.size() == 15);
  CHECK(report.epoch_loss.back() < 0.5 * report.epoch_loss.front());
  CHECK(flow.temperature == config.temperature);
  const Demonstrations test = demonstrations(2, 1000);
  Flow::Workspace work;
  int right = 0;
  for (std::size_t r = 0; r < test.rows(); ++r) {
    const int current = test.current[r];
    float endpoint[3], q[3];
    flow.endpoint(&test.observations[2 * r], &current, &test.masks[r], 1, endpoint, work);
    flow.guided_distribution(endpoint, test.masks[r], q);
    right += std::max_element(q, q + 3) - q == test.target[r];
  }
  CHECK(right > 950);
}

TEST_CASE("training goes on from given weights, and is the same for the same seed", "[flow]") {
  const Demonstrations data = demonstrations(1, 4000);
  FlowConfig config;
  config.matching.epochs = 2;
  const auto parameters = [](const Flow& flow) {
    return std::vector<float>(flow.field.network().parameters().begin(),
                              flow.field.network().parameters().end());
  };
  const auto one = train_flow<Flow>(data, config), two = train_flow<Flow>(data, config);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(parameters(**one) == parameters(**two));
  MatchingReport first, later;
  config.matching.epochs = 10;
  config.matching.learning_rate = 4e-3;
  const auto start = train_flow<Flow>(data, config, &first);
  config.matching.epochs = 1;
  const auto on = train_flow<Flow>(data, config, &later, {}, start->get());
  REQUIRE(on);
  CHECK(later.epoch_loss[0] < 0.7 * first.epoch_loss.front());
  CHECK(later.epoch_loss[0] < 1.2 * first.epoch_loss.back());
  CHECK(parameters(**on) != parameters(**start));
}

TEST_CASE("what train_flow refuses", "[flow]") {
  const Demonstrations data = demonstrations(1, 20);
  FlowConfig config;
  Demonstrations short_of_numbers = data;
  short_of_numbers.observations.pop_back();
  const auto shape = train_flow<Flow>(short_of_numbers, config);
  REQUIRE_FALSE(shape);
  CHECK(shape.error().code == ErrorCode::kShapeMismatch);
  CHECK(mentions(shape.error(), "39 observation numbers for 20 rows of 2"));
  Demonstrations short_of_masks = data;
  short_of_masks.masks.pop_back();
  CHECK_FALSE(train_flow<Flow>(short_of_masks, config));
  const auto none = train_flow<Flow>(Demonstrations{}, config);
  REQUIRE_FALSE(none);
  CHECK(mentions(none.error(), "no samples"));
  for (const float bad : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    FlowConfig cold = config;
    cold.temperature = bad;
    const auto refused = train_flow<Flow>(data, cold);
    REQUIRE_FALSE(refused);
    CHECK(mentions(refused.error(), "temperature"));
  }
  Demonstrations broken = data;
  broken.observations[3] = std::numeric_limits<float>::quiet_NaN();
  const auto numerical = train_flow<Flow>(broken, config);
  REQUIRE_FALSE(numerical);
  CHECK(numerical.error().code == ErrorCode::kNumerical);
}
