// SPDX-License-Identifier: Apache-2.0
//
// What a SavedModel holds, as text for people (the text of `saved_model_cli show`) and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/saved_model_reader.h"
#include "slipway/status.h"

namespace slipway::model {

struct DescribeOptions {
  bool all = false;               // every MetaGraph and signature; the rest is ignored then
  std::vector<std::string> tags;  // empty: list the tag sets
  std::string signature;          // empty: list the signatures of `tags`
  bool list_ops = false;          // the ops of `tags`, before that
};

// NOT_FOUND if there is no such MetaGraph; INVALID_ARGUMENT if it has no such signature.
StatusOr<std::string> DescribeText(const formats::SavedModelFile& file,
                                   const DescribeOptions& options);
// {"meta_graphs": [{"tags", "signatures": {name: {"method_name", "inputs": {…}, "outputs": {…}}},
// "variables": […], "assets": […], "functions": {name: [{"args": […], "keywords": […]}]}, "ops":
// […]}]}, restricted by `options` in the same way; "ops" are there with all or list_ops.
StatusOr<std::string> DescribeJson(const formats::SavedModelFile& file,
                                   const DescribeOptions& options);

}  // namespace slipway::model
