// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npz files: a ZIP archive of .npy files, stored or deflated, as numpy.savez and
// numpy.savez_compressed write them. Encrypted, split and ZIP64 archives beyond 4 GiB are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

struct NpzOptions {
  uint64_t max_bytes = uint64_t{4} << 30;         // of the file
  uint64_t max_member_bytes = uint64_t{4} << 30;  // of one array once inflated
  uint64_t max_members = 100'000;
};

// The names of the arrays, in the order of the archive, without ".npy".
// INVALID_ARGUMENT: not a ZIP archive, or damaged.
StatusOr<std::vector<std::string>> ListNpz(std::string_view bytes, const NpzOptions& options = {});

// One array. `name` empty: the only one. NOT_FOUND lists those there are; INVALID_ARGUMENT for
// damage (the checksum is compared) and for several arrays and no name.
StatusOr<Tensor> DecodeNpz(std::string_view bytes, std::string_view name,
                           const NpzOptions& options = {});
StatusOr<Tensor> ReadNpz(Env* env, const std::string& path, std::string_view name,
                         const NpzOptions& options = {});

}  // namespace slipway
