// SPDX-License-Identifier: Apache-2.0
//
// The hash functions of TensorFlow's string ops; the same values on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace slipway::kernels {

// FarmHash's fingerprint.
uint64_t Fingerprint64(std::string_view bytes);
// One fingerprint of two, in their order.
uint64_t FingerprintCat64(uint64_t a, uint64_t b);

using SipKey = std::array<uint64_t, 2>;
// SipHash-2-4.
uint64_t SipHash(const SipKey& key, std::string_view bytes);

}  // namespace slipway::kernels
