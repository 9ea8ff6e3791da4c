// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Gather", "params: Tparams, indices: Tindices", "output: Tparams",
     "validate_indices: bool = true, Tparams: type, Tindices: index", kPure, nullptr},
    {"GatherV2", "params: Tparams, indices: Tindices, axis: Taxis", "output: Tparams",
     "batch_dims: int = 0, Tparams: type, Tindices: {int16, int32, int64}, Taxis: index",
     kPure, nullptr},
    {"GatherNd", "params: Tparams, indices: Tindices", "output: Tparams",
     "Tparams: type, Tindices: {int16, int32, int64}, bad_indices_policy: string = ''",
     kPure, nullptr},
    {"ScatterNd", "indices: Tindices, updates: T, shape: Tindices", "output: T",
     "T: type, Tindices: {int16, int32, int64}, bad_indices_policy: string = ''", kPure, nullptr},
    {"TensorScatterUpdate", "tensor: T, indices: Tindices, updates: T", "output: T",
     "T: type, Tindices: {int16, int32, int64, uint16}, bad_indices_policy: string = ''",
     kPure, UnchangedShape},
    {"TensorScatterAdd", "tensor: T, indices: Tindices, updates: T", "output: T",
     "T: type, Tindices: index, bad_indices_policy: string = ''", kPure, UnchangedShape},
    {"UnsortedSegmentSum",
     "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: T",
     "T: numeric, Tindices: {int16, int32, int64}, Tnumsegments: index = int32", kPure, nullptr},
    {"UnsortedSegmentMax",
     "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: T",
     "T: realnumeric, Tindices: index, Tnumsegments: index = int32", kPure, nullptr},
    {"UnsortedSegmentMin",
     "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: T",
     "T: realnumeric, Tindices: index, Tnumsegments: index = int32", kPure, nullptr},
    {"UnsortedSegmentProd",
     "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: T",
     "T: numeric, Tindices: index, Tnumsegments: index = int32", kPure, nullptr},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> GatherOps() { return kOps; }

}  // namespace slipway::ir
