// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Pack", "values: N * T", "output: T", "N: int >= 1, T: type, axis: int = 0", kPure, nullptr},
    {"Unpack", "value: T", "output: num * T",
     "num: int >= 0, T: type, axis: int = 0", kPure, nullptr},
    {"ConcatV2", "values: N * T, axis: Tidx", "output: T",
     "N: int >= 2, T: type, Tidx: index = int32", kPure, nullptr},
    {"ConcatOffset", "concat_dim: int32, shape: N * shape_type", "offset: N * shape_type",
     "N: int >= 2, shape_type: index = int32", kPure, nullptr},
    {"Split", "split_dim: int32, value: T", "output: num_split * T",
     "num_split: int >= 1, T: type", kPure, nullptr},
    {"SplitV", "value: T, size_splits: Tlen, split_dim: int32", "output: num_split * T",
     "num_split: int >= 1, T: type, Tlen: {int32, int64, int8} = int64", kPure, nullptr},
    {"Slice", "input: T, begin: Index, size: Index", "output: T",
     "T: type, Index: index", kPure, nullptr},
    {"StridedSlice", "input: T, begin: Index, end: Index, strides: Index", "output: T",
     "T: type, Index: {int16, int32, int64}, begin_mask: int = 0, end_mask: int = 0,"
     " ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0", kPure, nullptr},
    {"StridedSliceGrad",
     "shape: Index, begin: Index, end: Index, strides: Index, dy: T",
     "output: T",
     "T: type, Index: index, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,"
     " new_axis_mask: int = 0, shrink_axis_mask: int = 0", kPure, nullptr},
    {"Tile", "input: T, multiples: Tmultiples", "output: T",
     "T: type, Tmultiples: index = int32", kPure, nullptr},
    {"Pad", "input: T, paddings: Tpaddings", "output: T",
     "T: type, Tpaddings: index = int32", kPure, nullptr},
    {"PadV2", "input: T, paddings: Tpaddings, constant_values: T", "output: T",
     "T: type, Tpaddings: index = int32", kPure, nullptr},
    {"MirrorPad", "input: T, paddings: Tpaddings", "output: T",
     "T: type, Tpaddings: index = int32, mode: {'REFLECT', 'SYMMETRIC'}", kPure, nullptr},
    {"ReverseV2", "tensor: T, axis: Tidx", "output: T",
     "Tidx: index = int32, T: {bfloat16, bool, complex128, complex64, float16, float32, float64,"
     " int16, int32, int64, int8, string, uint16, uint32, uint64, uint8}", kPure, nullptr},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> SlicingOps() { return kOps; }

}  // namespace slipway::ir
