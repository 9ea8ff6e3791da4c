// SPDX-License-Identifier: Apache-2.0
#include "net/grpc.h"

#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "net/http.h"

namespace slipway::net {
namespace {

constexpr struct {
  char unit;
  int64_t nanos;
} kUnits[] = {{'n', 1},
              {'u', 1'000},
              {'m', 1'000'000},
              {'S', 1'000'000'000},
              {'M', 60'000'000'000},
              {'H', 3'600'000'000'000}};
constexpr int64_t kMaxTimeoutValue = 99'999'999;

void Deliver(AnswerRoute route, Status status, std::string response) {
  if (route.loop->InLoop()) {
    if (auto sink = route.sink.lock())
      sink->AnswerGrpc(route.id, std::move(status), std::move(response));
    return;
  }
  EventLoop* loop = route.loop.get();
  loop->Post([route = std::move(route), status = std::move(status),
              response = std::move(response)]() mutable {
    if (auto sink = route.sink.lock())
      sink->AnswerGrpc(route.id, std::move(status), std::move(response));
  });
}

}  // namespace

void GrpcCall::Finish(Status status, std::string response) {
  if (route_.loop == nullptr) return;
  Deliver(std::move(route_), std::move(status), std::move(response));
}

GrpcCall::~GrpcCall() {
  if (route_.loop == nullptr) return;
  Finish(InternalError(StrCat("the call of ", method_, " was dropped by its handler")));
}

std::optional<int64_t> ParseGrpcTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  const std::string_view digits = text.substr(0, text.size() - 1);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  const std::optional<int64_t> value = ParseInt64(digits);
  if (!value) return std::nullopt;
  for (const auto& unit : kUnits) {
    if (unit.unit != text.back()) continue;
    if (*value > std::numeric_limits<int64_t>::max() / unit.nanos)
      return std::numeric_limits<int64_t>::max();
    return *value * unit.nanos;
  }
  return std::nullopt;
}

std::string FormatGrpcTimeout(int64_t nanos) {
  nanos = std::max<int64_t>(nanos, 1);
  for (const auto& unit : kUnits) {
    // Rounded up: a client must not see the server give up before its own deadline.
    const int64_t value = nanos / unit.nanos + (nanos % unit.nanos != 0 ? 1 : 0);
    if (value <= kMaxTimeoutValue) return StrCat(value, unit.unit);
  }
  return StrCat(kMaxTimeoutValue, 'H');
}

std::string EncodeGrpcMessage(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7e && c != '%') {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

std::string DecodeGrpcMessage(std::string_view text) { return PercentDecode(text); }

void PutGrpcPrefix(uint32_t size, char out[5]) {
  out[0] = 0;
  for (int i = 0; i < 4; ++i) out[1 + i] = static_cast<char>(size >> (24 - 8 * i));
}

Status GrpcMessageReader::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (prefix_size_ < 5) {
      const size_t n = std::min(bytes.size(), 5 - prefix_size_);
      std::memcpy(prefix_ + prefix_size_, bytes.data(), n);
      bytes.remove_prefix(n);
      if ((prefix_size_ += n) < 5) return OkStatus();
      if (prefix_[0] != 0)
        return UnimplementedError(
            "the message is compressed (flag 1); this server takes grpc-encoding identity only");
      for (int i = 1; i < 5; ++i) wanted_ = (wanted_ << 8) | static_cast<unsigned char>(prefix_[i]);
      if (wanted_ > limit_)
        return ResourceExhaustedError(
            StrCat("the message has ", wanted_, " bytes, and at most ", limit_, " are accepted"));
      // Not all of it at once: a client may announce much and send little.
      message_.Prepare(std::min(wanted_, size_t{64} * 1024));
      continue;
    }
    const size_t n = std::min(bytes.size(), wanted_ - message_.size());
    if (n == 0) return UnimplementedError("more than one message was sent to a unary method");
    message_.Append(bytes.substr(0, n));
    bytes.remove_prefix(n);
  }
  return OkStatus();
}

StatusOr<Bytes> GrpcMessageReader::Take() {
  if (prefix_size_ == 0) return InternalError("no message was sent; a unary method wants one");
  if (prefix_size_ < 5 || message_.size() < wanted_)
    return InternalError(
        StrCat("the message ends after ", message_.size(), " of ", wanted_, " bytes"));
  return std::move(message_);
}

}  // namespace slipway::net
