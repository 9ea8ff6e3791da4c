// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"MatMul", "a: T, b: T", "product: T",
     "transpose_a: bool = false, transpose_b: bool = false, T: {bfloat16, complex128, complex64,"
     " float16, float32, float64, int32, int64, uint16, uint32, uint64, uint8}, grad_a: bool ="
     " false, grad_b: bool = false", kPure, nullptr},
    {"_FusedMatMul", "a: T, b: T, args: num_args * T", "product: T",
     "transpose_a: bool = false, transpose_b: bool = false, T: {bfloat16, float16, float32},"
     " num_args: int >= 0, fused_ops: list(string) = [], epsilon: float = 0.0001,"
     " leakyrelu_alpha: float = 0.2", kPure, nullptr},
    {"BatchMatMul", "x: T, y: T", "output: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int32, int64}, adj_x: bool"
     " = false, adj_y: bool = false, grad_x: bool = false, grad_y: bool = false", kPure, nullptr},
    {"BatchMatMulV2", "x: T, y: T", "output: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " uint16, uint32, uint64, uint8}, adj_x: bool = false, adj_y: bool = false, grad_x: bool ="
     " false, grad_y: bool = false", kPure, nullptr},
    {"BiasAdd", "value: T, bias: T", "output: T",
     "T: numeric, data_format: {'NCHW', 'NHWC'} = 'NHWC'", kPure, nullptr},
    {"BiasAddV1", "value: T, bias: T", "output: T", "T: numeric", kPure, nullptr},
    {"BiasAddGrad", "out_backprop: T", "output: T",
     "T: numeric, data_format: {'NCHW', 'NHWC'} = 'NHWC'", kPure, nullptr},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> MatMulOps() { return kOps; }

}  // namespace slipway::ir
