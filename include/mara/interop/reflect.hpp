#pragma once
// Reflection of configuration structs with Boost.Hana: the members of a plain aggregate, by name, in order.
// JSON and command-line options are built on it (reflect_json.hpp, reflect_options.hpp).
//
// A struct joins with one macro, in the global namespace, after its definition:
//   BOOST_HANA_ADAPT_STRUCT(mara::PpoConfig, learning_rate, clip, epochs);
// Help texts (MemberHelp) and names of enumerators (EnumNames) are optional specialisations.

#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mara {

/// A struct whose members Boost.Hana knows: adapted by BOOST_HANA_ADAPT_STRUCT or defined by
/// BOOST_HANA_DEFINE_STRUCT.
template <class T>
concept Reflected = std::is_class_v<T> && boost::hana::Struct<T>::value;

/// Calls f(name, member) for each member of `value` in order of declaration; `name` is a std::string_view
/// with static lifetime, `member` a reference (const when `value` is).
template <class T, class F>
requires Reflected<std::remove_const_t<T>>
constexpr void for_each_member(T& value, F&& f) {
  boost::hana::for_each(boost::hana::accessors<std::remove_const_t<T>>(), [&](auto accessor) {
    constexpr const char* name = boost::hana::to<const char*>(boost::hana::first(accessor));
    f(std::string_view(name), boost::hana::second(accessor)(value));
  });
}

/// Number of members of T.
template <Reflected T>
inline constexpr std::size_t kMemberCount = decltype(boost::hana::length(boost::hana::accessors<T>()))::value;

/// Names of the members of T, in order.
template <Reflected T>
constexpr std::array<std::string_view, kMemberCount<T>> member_names() {
  std::array<std::string_view, kMemberCount<T>> names{};
  std::size_t next = 0;
  boost::hana::for_each(boost::hana::accessors<T>(), [&](auto accessor) {
    constexpr const char* name = boost::hana::to<const char*>(boost::hana::first(accessor));
    names[next++] = std::string_view(name);
  });
  return names;
}

/// One enumerator and how it is written in files and on the command line.
template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

/// Specialise to give an enum its names:
///   template <> struct mara::EnumNames<Format> {
///     static constexpr auto kNames = std::to_array<mara::EnumName<Format>>({{Format::kMuri, "muri"}, ...});
///   };
template <class E>
struct EnumNames;

/// An enum that EnumNames knows.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires {
  EnumNames<E>::kNames.size();
};

/// The name of an enumerator; empty for a value without a name.
template <NamedEnum E>
constexpr std::string_view enum_name(E value) noexcept {
  for (const auto& entry : EnumNames<E>::kNames)
    if (entry.value == value) return entry.name;
  return {};
}

/// The enumerator called `name`, or nothing.
template <NamedEnum E>
constexpr std::optional<E> enum_value(std::string_view name) noexcept {
  for (const auto& entry : EnumNames<E>::kNames)
    if (entry.name == name) return entry.value;
  return std::nullopt;
}

/// All names of an enum, joined: "muri|openb".
template <NamedEnum E>
std::string enum_choices() {
  std::string text;
  for (const auto& entry : EnumNames<E>::kNames) text.append(text.empty() ? "" : "|").append(entry.name);
  return text;
}

/// One member and the sentence that explains it; `type` names what its value is in a help ("FILE"), empty:
/// the name of its C++ type's kind.
struct MemberHelp {
  std::string_view member;
  std::string_view text;
  std::string_view type = {};
};

/// Specialise to explain members (each name must be a member; members may be left out):
///   template <> struct mara::Descriptions<PpoConfig> {
///     static constexpr auto kHelp = std::to_array<mara::MemberHelp>({{"clip", "clipping range of the
///     ratio"}});
///   };
template <class T>
struct Descriptions;

/// The help of a member of T; empty texts when there is none.
template <Reflected T>
constexpr MemberHelp member_help(std::string_view member) noexcept {
  if constexpr (requires { Descriptions<T>::kHelp.size(); }) {
    constexpr bool all_known = [] {
      for (const MemberHelp& help : Descriptions<T>::kHelp) {
        bool known = false;
        for (std::string_view name : member_names<T>()) known = known || name == help.member;
        if (!known) return false;
      }
      return true;
    }();
    static_assert(all_known,
                  "mara::Descriptions<T>::kHelp explains a name that is not a reflected member of T");
    for (const MemberHelp& help : Descriptions<T>::kHelp)
      if (help.member == member) return help;
  }
  return {member, {}};
}

/// The help text of a member of T; empty when there is none.
template <Reflected T>
constexpr std::string_view describe(std::string_view member) noexcept {
  return member_help<T>(member).text;
}

/// Integers that stand for numbers (bool and characters do not).
template <class T>
concept ReflectedInteger =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// What one word of text can hold: bool, integers, float, double, std::string, named enums.
template <class T>
concept ReflectedScalar = std::same_as<T, bool> || ReflectedInteger<T> || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, std::string> || NamedEnum<T>;

namespace detail {
template <class T>
inline constexpr bool kIsVectorOfScalar = false;
template <class T, class A>
inline constexpr bool kIsVectorOfScalar<std::vector<T, A>> = ReflectedScalar<T>;
template <class T>
inline constexpr bool kIsOptionalScalar = false;
template <class T>
inline constexpr bool kIsOptionalScalar<std::optional<T>> = ReflectedScalar<T>;
}  // namespace detail

/// std::vector of a scalar.
template <class T>
concept ReflectedVector = detail::kIsVectorOfScalar<T>;
/// std::optional of a scalar.
template <class T>
concept ReflectedOptional = detail::kIsOptionalScalar<T>;
/// Every type a member of a reflected struct may have.
template <class T>
concept ReflectedMember = ReflectedScalar<T> || ReflectedVector<T> || ReflectedOptional<T> || Reflected<T>;

}  // namespace mara
