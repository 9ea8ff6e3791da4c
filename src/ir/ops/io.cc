// SPDX-License-Identifier: Apache-2.0
#include "ir/op_schema.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"RestoreV2",
     "prefix: string, tensor_names: string, shape_and_slices: string",
     "tensors: dtypes",
     "dtypes: list(type) >= 1", kStateful, nullptr},
    {"SaveV2",
     "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes",
     "",
     "dtypes: list(type) >= 1", kStateful, NoOutputs},
    {"MergeV2Checkpoints", "checkpoint_prefixes: string, destination_prefix: string", "",
     "delete_old_dirs: bool = true, allow_missing_files: bool = false", kStateful, NoOutputs},
    {"ShardedFilename", "basename: string, shard: int32, num_shards: int32", "filename: string",
     "", kPure, ScalarShape},
    {"ReadFile", "filename: string", "contents: string", "", kStateful, ScalarShape},
    {"WriteFile", "filename: string, contents: string", "", "", kStateful, NoOutputs},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> IoOps() { return kOps; }

}  // namespace slipway::ir
