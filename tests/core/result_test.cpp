#include "mara/core/result.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <type_traits>

#include "catch.hpp"

using mara::Error;
using mara::ErrorCode;
using mara::Result;
using mara::Status;

namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::kInvalidArgument, "n: must be even, is " + std::to_string(n)};
  return n / 2;
}

/// True when `action` ends its process by abort().
template <class Action>
bool aborts(Action action) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
    action();
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
         WTERMSIG(status) == SIGABRT;
}

}  // namespace

TEST_CASE("a Result holds a value or an error", "[result]") {
  const Result<int> good = half(6);
  REQUIRE(good.has_value());
  CHECK(static_cast<bool>(good));
  CHECK(good.value() == 3);
  CHECK(*good == 3);

  const Result<int> bad = half(7);
  REQUIRE_FALSE(bad.has_value());
  CHECK_FALSE(static_cast<bool>(bad));
  CHECK(bad.error().code == ErrorCode::kInvalidArgument);
  CHECK(bad.error().message == "n: must be even, is 7");
}

TEST_CASE("a Result gives access to and moves out its value", "[result]") {
  Result<std::string> text = std::string("abc");
  text->push_back('d');
  *text += "e";
  CHECK(text->size() == 5);
  CHECK(std::move(text).value() == "abcde");

  Result<std::unique_ptr<int>> pointer = std::make_unique<int>(5);
  const std::unique_ptr<int> moved = std::move(pointer).value();
  CHECK(*moved == 5);
}

TEST_CASE("an Error may itself be the kind of value that converts", "[result]") {
  const Result<std::string> failed = Error{ErrorCode::kIo, "x"};
  CHECK_FALSE(failed.has_value());
  CHECK(failed.error().code == ErrorCode::kIo);
}

TEST_CASE("a Status is success by default", "[result]") {
  const Status good;
  CHECK(good.has_value());
  good.value();
  const Status bad = Error{ErrorCode::kParse, "line 3"};
  CHECK_FALSE(static_cast<bool>(bad));
  CHECK(bad.error().code == ErrorCode::kParse);
  CHECK(bad.error().message == "line 3");
  static_assert(std::is_same_v<Status, Result<void>>);
}

TEST_CASE("reading the absent side aborts", "[result]") {
  CHECK_FALSE(aborts([] { (void)half(2).value(); }));
  CHECK(aborts([] { (void)half(1).value(); }));
  CHECK(aborts([] { (void)half(2).error(); }));
  CHECK(aborts([] { Status(Error{ErrorCode::kIo, "x"}).value(); }));
  CHECK(aborts([] { (void)Status().error(); }));
}
