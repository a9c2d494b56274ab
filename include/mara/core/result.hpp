#pragma once
// Result<T>: a value or an Error. Every mara function that can fail returns one; none throws.

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

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

/// A value of type T or an Error. Reading the side that is absent is a programming error and aborts. Written
/// by hand: std::variant and std::optional would cost every program that includes mara compile time for each
/// T.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)), has_value_(true) {}
  Result(Error error) : error_(std::move(error)), has_value_(false) {}
  Result(const Result& other) requires std::is_copy_constructible_v<T> : error_(other.error_),
                                                                         has_value_(other.has_value_) {
    if (has_value_) ::new (static_cast<void*>(&value_)) T(other.value_);
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : error_(std::move(other.error_)), has_value_(other.has_value_) {
    if (has_value_) ::new (static_cast<void*>(&value_)) T(std::move(other.value_));
  }
  /// Copies or moves, whichever made `other`.
  Result& operator=(Result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (std::exchange(has_value_, false)) value_.~T();
    if (other.has_value_) ::new (static_cast<void*>(&value_)) T(std::move(other.value_));
    has_value_ = other.has_value_;
    error_ = std::move(other.error_);
    return *this;
  }
  ~Result() {
    if (has_value_) value_.~T();
  }

  bool has_value() const noexcept { return has_value_; }
  explicit operator bool() const noexcept { return has_value_; }

  T& value() & { return *checked(); }
  const T& value() const& { return *const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(*checked()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return checked(); }
  const T* operator->() const { return const_cast<Result*>(this)->checked(); }

  const Error& error() const {
    if (has_value_) detail::die("error() of a Result that holds a value", "");
    return error_;
  }

 private:
  T* checked() {
    if (!has_value_) detail::die("value() of a failed Result", error_.message);
    return &value_;
  }
  Error error_;
  union {
    T value_;
  };
  bool has_value_;
};

/// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), has_value_(false) {}

  bool has_value() const noexcept { return has_value_; }
  explicit operator bool() const noexcept { return has_value_; }
  void value() const {
    if (!has_value_) detail::die("value() of a failed Result", error_.message);
  }
  const Error& error() const {
    if (has_value_) detail::die("error() of a Result that holds a value", "");
    return error_;
  }

 private:
  Error error_;
  bool has_value_ = true;
};

using Status = Result<void>;

}  // namespace mara
