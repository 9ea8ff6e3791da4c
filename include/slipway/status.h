// SPDX-License-Identifier: Apache-2.0
//
// Errors as values. A function that can fail returns Status, or StatusOr<T> when it also has
// a result. The codes and their meaning are the canonical ones of gRPC and TensorFlow; they are
// mapped once to HTTP (serve), to gRPC (net) and to exit codes (cli).
//
// A message names the thing, the value seen, the value wanted and the next step.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace slipway {

enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT" and so on, as gRPC spells them.
std::string_view CodeName(Code code);

// Success, or a code with a message. Success costs one null pointer.
// Thread safety: as a value type (const access from several threads is safe).
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(const Status& other) : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}
  Status(Status&&) noexcept = default;
  Status& operator=(const Status& other) {
    if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
    return *this;
  }
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  std::string_view message() const { return rep_ ? std::string_view(rep_->message) : ""; }
  // "INVALID_ARGUMENT: message", or "OK".
  std::string ToString() const;

  // The same code with "context: " in front of the message; OK stays OK.
  Status WithContext(std::string_view context) const;

  // Says that dropping the error is meant, and why is said beside the call.
  void IgnoreError() const {}

  friend bool operator==(const Status& a, const Status& b) {
    return a.code() == b.code() && a.message() == b.message();
  }

 private:
  struct Rep {
    Code code;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;
};

inline Status OkStatus() { return Status(); }

Status CancelledError(std::string message);
Status UnknownError(std::string message);
Status InvalidArgumentError(std::string message);
Status DeadlineExceededError(std::string message);
Status NotFoundError(std::string message);
Status AlreadyExistsError(std::string message);
Status PermissionDeniedError(std::string message);
Status ResourceExhaustedError(std::string message);
Status FailedPreconditionError(std::string message);
Status AbortedError(std::string message);
Status OutOfRangeError(std::string message);
Status UnimplementedError(std::string message);
Status InternalError(std::string message);
Status UnavailableError(std::string message);
Status DataLossError(std::string message);

// A T, or why there is none. Reading the value of an error aborts the program: check ok() first.
template <typename T>
class [[nodiscard]] StatusOr {
 public:
  using value_type = T;

  StatusOr(Status status) : status_(std::move(status)) {
    if (status_.ok()) std::abort();
  }
  template <typename U = T>
    requires(std::is_constructible_v<T, U &&> &&
             !std::is_same_v<std::remove_cvref_t<U>, StatusOr<T>> &&
             !std::is_same_v<std::remove_cvref_t<U>, Status>)
  StatusOr(U&& value) : value_(std::forward<U>(value)) {}

  bool ok() const { return status_.ok(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<StatusOr*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &value(); }

 private:
  T& Checked() {
    if (!value_) std::abort();
    return *value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace slipway

#define SLIPWAY_CONCAT_INNER(a, b) a##b
#define SLIPWAY_CONCAT(a, b) SLIPWAY_CONCAT_INNER(a, b)

// RETURN_IF_ERROR(expression): returns from the function with the error, if it is one.
#define RETURN_IF_ERROR(expr)                                        \
  do {                                                               \
    if (auto slipway_status_ = (expr); !slipway_status_.ok()) {      \
      return slipway_status_;                                        \
    }                                                                \
  } while (false)

// ASSIGN_OR_RETURN(auto value, expression): unpacks a StatusOr, or returns its error.
#define ASSIGN_OR_RETURN(lhs, expr) \
  SLIPWAY_ASSIGN_OR_RETURN_INNER(SLIPWAY_CONCAT(slipway_or_, __LINE__), lhs, expr)
#define SLIPWAY_ASSIGN_OR_RETURN_INNER(tmp, lhs, expr) \
  auto tmp = (expr);                                   \
  if (!tmp.ok()) return std::move(tmp).status();       \
  lhs = *std::move(tmp)
