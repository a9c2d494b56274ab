#pragma once
// Result<T>: a value or an Error. Every mara function that can fail returns one; none throws.

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace mara {

/// What kind of thing went wrong; the message says which field and which value.
enum class ErrorCode {
  kInvalidArgument,   ///< a value outside its documented domain
  kParse,             ///< text or binary data that does not follow its format
  kIo,                ///< a file that cannot be opened, read or written
  kShapeMismatch,     ///< array extents that do not agree
  kCapacityExceeded,  ///< a demand larger than the cluster could ever hold
  kNumerical,         ///< NaN or infinity where a finite number is required
  kState,             ///< an operation that the present state does not allow
};

/// An error: its code and one line that names the field and the value.
struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
};

namespace detail {
[[noreturn]] inline void die(const char* what, const std::string& message) {
  std::fprintf(stderr, "mara: %s: %s\n", what, message.c_str());
  std::abort();
}
}  // namespace detail

/// A value of type T or an Error. Reading the side that is absent is a programming error and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return *checked(); }
  const T& value() const& { return *const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(*checked()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return checked(); }
  const T* operator->() const { return const_cast<Result*>(this)->checked(); }

  const Error& error() const {
    if (has_value()) detail::die("error() of a Result that holds a value", "");
    return *std::get_if<1>(&state_);
  }

 private:
  T* checked() {
    if (!has_value()) detail::die("value() of a failed Result", std::get_if<1>(&state_)->message);
    return std::get_if<0>(&state_);
  }
  std::variant<T, Error> state_;
};

/// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  void value() const {
    if (error_) detail::die("value() of a failed Result", error_->message);
  }
  const Error& error() const {
    if (!error_) detail::die("error() of a Result that holds a value", "");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace mara
