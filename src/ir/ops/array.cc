// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Const", "", "output: dtype", "value: tensor, dtype: type", kPure, nullptr},
    {"Placeholder", "", "output: dtype", "dtype: type, shape: shape = unknown", kPure, nullptr},
    {"PlaceholderWithDefault", "input: dtype", "output: dtype",
     "dtype: type, shape: shape", kPure, nullptr},
    {"Identity", "input: T", "output: T", "T: type", kPure, UnchangedShape},
    {"StopGradient", "input: T", "output: T", "T: type", kPure, UnchangedShape},
    {"PreventGradient", "input: T", "output: T",
     "T: type, message: string = ''", kPure, UnchangedShape},
    {"CheckNumerics", "tensor: T", "output: T",
     "T: floating, message: string", kPure, UnchangedShape},
    {"ZerosLike", "x: T", "y: T", "T: type", kPure, UnchangedShape},
    {"OnesLike", "x: T", "y: T",
     "T: {bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " int8, uint16, uint32, uint64, uint8}", kPure, UnchangedShape},
    {"Snapshot", "input: T", "output: T", "T: type", kPure, UnchangedShape},
    {"IdentityN", "input: T", "output: T", "T: list(type) >= 1", kPure, nullptr},
    {"EnsureShape", "input: T", "output: T", "shape: shape, T: type", kPure, nullptr},
    {"Shape", "input: T", "output: out_type", "T: type, out_type: index = int32", kPure, nullptr},
    {"ShapeN", "input: N * T", "output: N * out_type",
     "N: int >= 1, T: type, out_type: index = int32", kPure, nullptr},
    {"Size", "input: T", "output: out_type",
     "T: type, out_type: index = int32", kPure, ScalarShape},
    {"Rank", "input: T", "output: int32", "T: type", kPure, ScalarShape},
    {"Reshape", "tensor: T, shape: Tshape", "output: T",
     "T: type, Tshape: index = int32", kPure, nullptr},
    {"ExpandDims", "input: T, dim: Tdim", "output: T",
     "T: type, Tdim: index = int32", kPure, nullptr},
    {"Squeeze", "input: T", "output: T",
     "T: type, squeeze_dims: list(int) >= 0 = []", kPure, nullptr},
    {"Transpose", "x: T, perm: Tperm", "y: T", "T: type, Tperm: index = int32", kPure, nullptr},
    {"InvertPermutation", "x: T", "y: T", "T: index = int32", kPure, nullptr},
    {"Bitcast", "input: T", "output: type", "T: numeric, type: numeric", kPure, nullptr},
    {"Fill", "dims: index_type, value: T", "output: T",
     "T: type, index_type: index = int32", kPure, nullptr},
    {"Range", "start: Tidx, limit: Tidx, delta: Tidx", "output: Tidx",
     "Tidx: {bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16, uint32,"
     " uint64} = int32", kPure, nullptr},
    {"LinSpace", "start: T, stop: T, num: Tidx", "output: T",
     "T: floating, Tidx: index = int32", kPure, nullptr},
    {"OneHot", "indices: TI, depth: int32, on_value: T, off_value: T", "output: T",
     "axis: int = -1, T: type, TI: {int32, int64, int8, uint8} = int64", kPure, nullptr},
    {"BroadcastTo", "input: T, shape: Tidx", "output: T",
     "T: type, Tidx: index = int32", kPure, nullptr},
    {"BroadcastArgs", "s0: T, s1: T", "r0: T", "T: index = int32", kPure, nullptr},
    {"BroadcastGradientArgs", "s0: T, s1: T", "r0: T, r1: T", "T: index = int32", kPure, nullptr},
    {"Where", "input: T", "index: int64",
     "T: {bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " int8, qint16, qint32, qint8, quint16, quint8, uint16, uint32, uint64, uint8} = bool",
     kPure, nullptr},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ArrayOps() { return kOps; }

}  // namespace slipway::ir
