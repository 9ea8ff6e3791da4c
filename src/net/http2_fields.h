// SPDX-License-Identifier: Apache-2.0
//
// Header fields as nghttp2 takes and gives them. Internal to net.
#pragma once

#include <nghttp2/nghttp2.h>

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

// Both texts must live until nghttp2 has sent them.
inline nghttp2_nv Literal(std::string_view name, std::string_view value) {
  return {Octets(name), Octets(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

inline nghttp2_nv Copied(std::string_view name, std::string_view value) {
  return {Octets(name), Octets(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace slipway::net
