// SPDX-License-Identifier: Apache-2.0
//
// The entries of a bundle's index in their wire form (tensor_bundle.proto, tensor_slice.proto), and
// the keys of the pieces of partitioned tensors. Shared by reader and writer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "checkpoint/bundle.h"

namespace slipway {

inline constexpr int64_t kBundleVersion = 1;

struct BundleHeader {
  int32_t num_shards = 0;
  bool big_endian = false;
  int64_t min_consumer = 0;  // oldest format version that may read this
};

// INVALID_ARGUMENT if malformed.
StatusOr<BundleHeader> DecodeBundleHeader(std::string_view bytes);
std::string EncodeBundleHeader(int32_t num_shards);

// INVALID_ARGUMENT if malformed or with a size that no file can have. An unknown dtype is left
// kInvalid: only who reads that tensor is concerned.
StatusOr<BundleEntry> DecodeBundleEntry(std::string_view bytes);
std::string EncodeBundleEntry(const BundleEntry& entry);

// Key of one piece of a partitioned tensor: an order-preserving encoding of 0, name, slice.
std::string PieceKey(std::string_view name, const TensorSlice& slice);
inline bool IsPieceKey(std::string_view key) { return !key.empty() && key.front() == '\0'; }

// The checksum that a bundle keeps of a list of strings starts with their lengths, each as a
// little-endian integer of 32 bits, or of 64 if it needs them.
uint32_t ExtendCrcByLength(uint32_t crc, uint64_t length);

}  // namespace slipway
