#include "mara/interop/reflect.hpp"

#include <boost/hana/define_struct.hpp>

#include "catch.hpp"
#include "reflect_fixture.hpp"

using reflect_fixture::Colour;
using reflect_fixture::Inner;
using reflect_fixture::Outer;

namespace {
struct Plain {
  int x = 0;
};
struct Defined {
  BOOST_HANA_DEFINE_STRUCT(Defined, (int, width), (double, height));
};
}  // namespace

TEST_CASE("reflect: concept, count and names follow the declaration", "[interop][reflect]") {
  STATIC_REQUIRE(mara::Reflected<Inner>);
  STATIC_REQUIRE(mara::Reflected<Defined>);
  STATIC_REQUIRE_FALSE(mara::Reflected<Plain>);
  STATIC_REQUIRE_FALSE(mara::Reflected<int>);
  STATIC_REQUIRE(mara::kMemberCount<Outer> == 13);
  STATIC_REQUIRE(mara::member_names<Inner>()[0] == "learning_rate");
  STATIC_REQUIRE(mara::member_names<Inner>()[2] == "epochs");
  STATIC_REQUIRE(mara::member_names<Defined>()[1] == "height");
}

TEST_CASE("reflect: members are visited in order, by reference", "[interop][reflect]") {
  Inner inner;
  std::string order;
  mara::for_each_member(inner, [&](std::string_view name, auto& member) {
    order += std::string(name) + ";";
    member = 7;
  });
  REQUIRE(order == "learning_rate;clip;epochs;");
  REQUIRE(inner.learning_rate == 7.0);
  REQUIRE(inner.clip == 7.0f);
  REQUIRE(inner.epochs == 7);
  const Inner constant;
  mara::for_each_member(constant, [](std::string_view, auto& member) {
    STATIC_REQUIRE(std::is_const_v<std::remove_reference_t<decltype(member)>>);
  });
}

TEST_CASE("reflect: names of enumerators and help texts", "[interop][reflect]") {
  STATIC_REQUIRE(mara::enum_name(Colour::kRed) == "red");
  STATIC_REQUIRE(mara::enum_name(static_cast<Colour>(9)).empty());
  STATIC_REQUIRE(mara::enum_value<Colour>("blue") == Colour::kBlue);
  STATIC_REQUIRE_FALSE(mara::enum_value<Colour>("Blue").has_value());
  REQUIRE(mara::enum_choices<Colour>() == "red|blue");
  STATIC_REQUIRE(mara::describe<Outer>("steps") == "environment steps to train for");
  STATIC_REQUIRE(mara::describe<Outer>("seed").empty());
  STATIC_REQUIRE(mara::describe<Inner>("clip").empty());
}

TEST_CASE("reflect: which types a member may have", "[interop][reflect]") {
  STATIC_REQUIRE(mara::ReflectedMember<std::vector<std::string>>);
  STATIC_REQUIRE(mara::ReflectedMember<std::optional<double>>);
  STATIC_REQUIRE(mara::ReflectedMember<Inner>);
  STATIC_REQUIRE(mara::ReflectedMember<Colour>);
  STATIC_REQUIRE_FALSE(mara::ReflectedMember<char>);
  STATIC_REQUIRE_FALSE(mara::ReflectedMember<int*>);
  STATIC_REQUIRE_FALSE(mara::ReflectedMember<std::vector<Inner>>);
  STATIC_REQUIRE_FALSE(mara::ReflectedMember<Plain>);
}
