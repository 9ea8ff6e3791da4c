// SPDX-License-Identifier: Apache-2.0
//
// tensorflow.serving.ModelSpec: which model, version and signature a request is for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slipway/status.h"

namespace slipway {

// Views point into the bytes decoded, or into what the caller keeps alive.
struct ModelSpecView {
  std::string_view name;
  std::optional<int64_t> version;
  std::string_view version_label;  // empty: none
  std::string_view signature_name;
};

// INVALID_ARGUMENT: malformed, or a name that is not UTF-8.
Status DecodeModelSpec(std::string_view bytes, ModelSpecView* spec);
std::string EncodeModelSpec(const ModelSpecView& spec);

// INVALID_ARGUMENT "The WHAT NAME is not UTF-8".
Status CheckUtf8Name(std::string_view what, std::string_view name);

}  // namespace slipway
