// SPDX-License-Identifier: Apache-2.0
#include "slipway/status.h"

#include <array>

namespace slipway {

std::string_view CodeName(Code code) {
  static constexpr std::array<std::string_view, 17> kNames = {"OK",
                                                              "CANCELLED",
                                                              "UNKNOWN",
                                                              "INVALID_ARGUMENT",
                                                              "DEADLINE_EXCEEDED",
                                                              "NOT_FOUND",
                                                              "ALREADY_EXISTS",
                                                              "PERMISSION_DENIED",
                                                              "RESOURCE_EXHAUSTED",
                                                              "FAILED_PRECONDITION",
                                                              "ABORTED",
                                                              "OUT_OF_RANGE",
                                                              "UNIMPLEMENTED",
                                                              "INTERNAL",
                                                              "UNAVAILABLE",
                                                              "DATA_LOSS",
                                                              "UNAUTHENTICATED"};
  const auto index = static_cast<size_t>(code);
  return index < kNames.size() ? kNames[index] : "UNKNOWN";
}

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) rep_ = std::make_unique<Rep>(Rep{code, std::move(message)});
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  return std::string(CodeName(code())) + ": " + rep_->message;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return Status();
  return Status(code(), std::string(context) + ": " + rep_->message);
}

Status CancelledError(std::string message) { return Status(Code::kCancelled, std::move(message)); }
Status UnknownError(std::string message) { return Status(Code::kUnknown, std::move(message)); }
Status InvalidArgumentError(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}
Status DeadlineExceededError(std::string message) {
  return Status(Code::kDeadlineExceeded, std::move(message));
}
Status NotFoundError(std::string message) { return Status(Code::kNotFound, std::move(message)); }
Status AlreadyExistsError(std::string message) {
  return Status(Code::kAlreadyExists, std::move(message));
}
Status PermissionDeniedError(std::string message) {
  return Status(Code::kPermissionDenied, std::move(message));
}
Status ResourceExhaustedError(std::string message) {
  return Status(Code::kResourceExhausted, std::move(message));
}
Status FailedPreconditionError(std::string message) {
  return Status(Code::kFailedPrecondition, std::move(message));
}
Status AbortedError(std::string message) { return Status(Code::kAborted, std::move(message)); }
Status OutOfRangeError(std::string message) {
  return Status(Code::kOutOfRange, std::move(message));
}
Status UnimplementedError(std::string message) {
  return Status(Code::kUnimplemented, std::move(message));
}
Status InternalError(std::string message) { return Status(Code::kInternal, std::move(message)); }
Status UnavailableError(std::string message) {
  return Status(Code::kUnavailable, std::move(message));
}
Status DataLossError(std::string message) { return Status(Code::kDataLoss, std::move(message)); }

}  // namespace slipway
