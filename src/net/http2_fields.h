// SPDX-License-Identifier: Apache-2.0
//
// Header fields of HTTP/2 and gRPC as texts. Internal to net.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace slipway::net {

// Values of grpc-status.
inline constexpr std::array<std::string_view, 17> kCodeTexts = {
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};

inline uint8_t* Octets(std::string_view text) {
  return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
}

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// By its content-type.
inline bool IsGrpc(std::string_view content_type) {
  constexpr std::string_view kType = "application/grpc";
  if (!content_type.starts_with(kType)) return false;
  content_type.remove_prefix(kType.size());
  return content_type.empty() || content_type.front() == '+' || content_type.front() == ';';
}

}  // namespace slipway::net
