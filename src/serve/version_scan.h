// SPDX-License-Identifier: Apache-2.0
//
// Which versions a model's base path holds, and whether one of them is whole. A child directory
// whose name is a decimal int64 is a version ("1", "00042", "20260131"); everything else (also
// negative numbers, "1.tmp", files) is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/env.h"
#include "slipway/status.h"

namespace slipway::serve {

struct VersionDirectory {
  int64_t version = 0;
  std::string path;
};

// Ascending. Of names that mean the same number ("1", "001") the first in the order of the listing
// counts. NOT_FOUND if the base path does not exist; errors of the Env.
StatusOr<std::vector<VersionDirectory>> ScanVersions(Env* env, const std::string& base_path);

// Changes whenever a file that loading reads (saved_model.pb, variables/, assets/) comes, goes,
// grows or is written again. Reads no file. Never fails: what cannot be seen counts as absent.
std::string VersionFingerprint(Env* env, const std::string& version_path);

// Whether the version can be loaded or is perhaps still being copied: saved_model.pb is there and
// its outermost fields end where the file ends, and if there is a variables directory, its index
// parses, every shard is as long as the index says and all checksums agree (so all of it is read).
// OK, NOT_FOUND (names what is missing) or DATA_LOSS (names the file).
Status CheckVersionComplete(Env* env, const std::string& version_path);

}  // namespace slipway::serve
