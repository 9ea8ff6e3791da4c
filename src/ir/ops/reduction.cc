// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Sum", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: numeric, Tidx: index = int32", kPure, nullptr},
    {"Mean", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: numeric, Tidx: index = int32", kPure, nullptr},
    {"Max", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: {bfloat16, float16, float32, float64, int16, int32, int64,"
     " int8, qint16, qint32, qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tidx: index"
     " = int32", kPure, nullptr},
    {"Min", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: {bfloat16, float16, float32, float64, int16, int32, int64,"
     " int8, qint16, qint32, qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tidx: index"
     " = int32", kPure, nullptr},
    {"Prod", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: numeric, Tidx: index = int32", kPure, nullptr},
    {"All", "input: bool, reduction_indices: Tidx", "output: bool",
     "keep_dims: bool = false, Tidx: index = int32", kPure, nullptr},
    {"Any", "input: bool, reduction_indices: Tidx", "output: bool",
     "keep_dims: bool = false, Tidx: index = int32", kPure, nullptr},
    {"EuclideanNorm", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: numeric, Tidx: index = int32", kPure, nullptr},
    {"ArgMax", "input: T, dimension: Tidx", "output: output_type",
     "T: {bfloat16, bool, float16, float32, float64, int16, int32, int64, int8, qint16, qint32,"
     " qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tidx: {int16, int32, int64} ="
     " int32, output_type: {int16, int32, int64, uint16} = int64", kPure, nullptr},
    {"ArgMin", "input: T, dimension: Tidx", "output: output_type",
     "T: {bfloat16, bool, float16, float32, float64, int16, int32, int64, int8, qint16, qint32,"
     " qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tidx: index = int32, output_type:"
     " index = int64", kPure, nullptr},
    {"Cumsum", "x: T, axis: Tidx", "out: T",
     "exclusive: bool = false, reverse: bool = false, T: numeric, Tidx: index = int32",
     kPure, nullptr},
    {"Cumprod", "x: T, axis: Tidx", "out: T",
     "exclusive: bool = false, reverse: bool = false, T: numeric, Tidx: index = int32",
     kPure, nullptr},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ReductionOps() { return kOps; }

}  // namespace slipway::ir
