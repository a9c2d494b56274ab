// Case A7 (masked categorical) and the stability of softmax.
#include "mara/math/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "mara/core/random.hpp"

TEMPLATE_TEST_CASE("masked categorical: known values", "[math][softmax]", float, double) {
  using S = TestType;
  const double tolerance = sizeof(S) == 4 ? 1e-6 : 1e-9;
  const S logits[4] = {S(1), S(2), S(3), S(4)};
  S log_p[4], p[4];
  mara::math::masked_log_softmax_row(logits, 4, 0b0101u, log_p, p);
  CHECK(p[0] == Approx(0.1192029220).margin(tolerance));
  CHECK(p[1] == S(0));
  CHECK(p[2] == Approx(0.8807970780).margin(tolerance));
  CHECK(p[3] == S(0));
  CHECK(log_p[2] == Approx(-0.1269280110).margin(tolerance));
  CHECK(log_p[1] == S(0));
  CHECK(log_p[3] == S(0));
  double entropy = 0.0;
  for (int i = 0; i < 4; ++i) entropy -= static_cast<double>(p[i]) * static_cast<double>(log_p[i]);
  CHECK(entropy == Approx(0.3653338851).margin(tolerance));
  S only[4];
  mara::math::masked_softmax_row(logits, 4, 0b0101u, only);
  for (int i = 0; i < 4; ++i) CHECK(only[i] == p[i]);
}

TEMPLATE_TEST_CASE("softmax: shifts, overflow, no legal option, NaN", "[math][softmax]", float, double) {
  using S = TestType;
  S log_p[3], p[3];
  const S large[2] = {S(1000), S(0)};
  mara::math::log_softmax_row(large, 2, log_p, p);
  CHECK(log_p[0] == S(0));
  CHECK(log_p[1] == S(-1000));
  CHECK(p[0] == S(1));

  const S x[3] = {S(0.2), S(-0.5), S(1)};
  mara::math::softmax_row(x, 3, p);
  CHECK(p[0] == Approx(0.26866364).margin(1e-7));
  CHECK(p[1] == Approx(0.13341442).margin(1e-7));
  CHECK(p[2] == Approx(0.59792194).margin(1e-7));

  mara::math::masked_log_softmax_row(x, 3, 0u, log_p, p);
  for (int i = 0; i < 3; ++i) {
    CHECK(log_p[i] == S(0));
    CHECK(p[i] == S(0));
  }
  mara::math::masked_log_softmax_row(x, 3, 0b010u, log_p, p);
  CHECK(p[1] == S(1));
  CHECK(log_p[1] == S(0));

  const S nan[3] = {S(0), std::numeric_limits<S>::quiet_NaN(), S(1)};
  mara::math::log_softmax_row(nan, 3, log_p, p);
  for (int i = 0; i < 3; ++i) CHECK(std::isnan(log_p[i]));
  // An illegal option may hold anything.
  mara::math::masked_log_softmax_row(nan, 3, 0b101u, log_p, p);
  CHECK(p[0] + p[2] == Approx(1.0));
  CHECK(p[1] == S(0));
  CHECK(log_p[1] == S(0));
}

TEMPLATE_TEST_CASE("softmax against double, every length", "[math][softmax]", float, double) {
  using S = TestType;
  const double tolerance = sizeof(S) == 4 ? 3e-7 : 1e-13;
  mara::Random random(8);
  for (const double spread : {0.1, 1.0, 30.0})
    for (std::size_t count = 1; count <= 1000; count = count < 70 ? count + 1 : count * 2 - 3) {
      // Exactly `count` numbers: the sanitizer sees any access beyond them.
      std::vector<S> x(count), log_p(count), p(count), only(count);
      for (S& v : x) v = static_cast<S>(spread * random.normal() + 5.0);
      double top = x[0], total = 0.0;
      for (const S v : x) top = std::max(top, static_cast<double>(v));
      for (const S v : x) total += std::exp(static_cast<double>(v) - top);
      mara::math::log_softmax_row(x.data(), count, log_p.data(), p.data());
      mara::math::softmax_row(x.data(), count, only.data());
      CHECK(only == p);
      const S whole = mara::math::log_sum_exp_row(x.data(), count, only.data());
      CHECK(std::fabs(static_cast<double>(whole) - (top + std::log(total))) <
            tolerance * (1.0 + std::fabs(top + std::log(total))));
      CHECK(only == p);
      double worst = 0.0, worst_log = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        const double exact = static_cast<double>(x[i]) - top - std::log(total);
        worst = std::max(worst, std::fabs(static_cast<double>(p[i]) - std::exp(exact)));
        worst_log =
            std::max(worst_log, std::fabs(static_cast<double>(log_p[i]) - exact) / (1.0 + std::fabs(exact)));
      }
      CAPTURE(spread, count);
      CHECK(worst < tolerance);
      CHECK(worst_log < tolerance);
      // In place.
      std::vector<S> same = x;
      mara::math::softmax_row(same.data(), count, same.data());
      CHECK(same == p);
      same = x;
      mara::math::log_softmax_row(same.data(), count, same.data(), only.data());
      CHECK(same == log_p);
    }
}

TEMPLATE_TEST_CASE("a mask is as if the other columns were not there", "[math][softmax]", float, double) {
  using S = TestType;
  mara::Random random(9);
  for (std::size_t count = 1; count <= 32; ++count)
    for (int round = 0; round < 20; ++round) {
      std::vector<S> x(count), log_p(count), p(count), legal, legal_log, legal_p;
      const std::uint32_t mask = static_cast<std::uint32_t>(random.uniform(0.0, 4294967296.0));
      for (std::size_t i = 0; i < count; ++i) {
        x[i] = static_cast<S>(random.normal());
        if ((mask >> i) & 1u) {
          legal.push_back(x[i]);
        } else if (round % 2 == 0) {
          x[i] = std::numeric_limits<S>::infinity();
        }
      }
      legal_log.resize(legal.size());
      legal_p.resize(legal.size());
      // Bits beyond the columns mean nothing.
      mara::math::masked_log_softmax_row(x.data(), count, mask, log_p.data(), p.data());
      mara::math::log_softmax_row(legal.data(), legal.size(), legal_log.data(), legal_p.data());
      std::size_t k = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if ((mask >> i) & 1u) {
          CHECK(p[i] == Approx(legal_p[k]).epsilon(1e-6));
          CHECK(log_p[i] == Approx(legal_log[k]).epsilon(1e-6).margin(1e-6));
          ++k;
        } else {
          CHECK(p[i] == S(0));
          CHECK(log_p[i] == S(0));
        }
      }
    }
}

TEMPLATE_TEST_CASE("softmax of rows with infinities", "[math][softmax]", float, double) {
  using S = TestType;
  constexpr S kInf = std::numeric_limits<S>::infinity();
  for (const std::size_t count : {std::size_t{3}, std::size_t{40}}) {
    std::vector<S> x(count, -kInf), log_p(count), p(count);
    mara::math::log_softmax_row(x.data(), count, log_p.data(), p.data());
    for (std::size_t i = 0; i < count; ++i) CHECK((std::isnan(p[i]) && std::isnan(log_p[i])));
    x[1] = S(2);  // one finite number takes all
    mara::math::log_softmax_row(x.data(), count, log_p.data(), p.data());
    CHECK(p[1] == S(1));
    CHECK(log_p[1] == S(0));
    CHECK(p[0] == S(0));
    CHECK(log_p[0] == -kInf);
    CHECK(mara::math::log_sum_exp_row(x.data(), count, p.data()) == S(2));
    x[2] = kInf;
    mara::math::log_softmax_row(x.data(), count, log_p.data(), p.data());
    for (std::size_t i = 0; i < count; ++i) CHECK(std::isnan(p[i]));
  }
  CHECK(mara::math::log_sum_exp_row(static_cast<const S*>(nullptr), 0, static_cast<S*>(nullptr)) == -kInf);
}
