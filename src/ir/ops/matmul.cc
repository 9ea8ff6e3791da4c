// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status MatMulShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape a, c.InputOfRank(0, 2));
  ASSIGN_OR_RETURN(const PartialShape b, c.InputOfRank(1, 2));
  const int ta = AttrOf<bool>(c, "transpose_a"), tb = AttrOf<bool>(c, "transpose_b");
  const int64_t inner_a = a.dim(1 - ta), inner_b = b.dim(tb);
  if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b) {
    return c.Error(StrCat("Matrix size-incompatible: Dimensions must be equal, but are ", inner_a,
                          " and ", inner_b));
  }
  c.set_output(0, {a.dim(ta), b.dim(1 - tb)});
  return OkStatus();
}

// The first fused op may be BiasAdd, whose bias is the first of args.
Status FusedMatMulShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatMulShape(c));
  const auto& fused = AttrOf<std::vector<std::string>>(c, "fused_ops");
  if (fused.empty() || fused[0] != "BiasAdd") return OkStatus();
  if (c.num_inputs() < 3) return c.Error("fused_ops begins with BiasAdd, but args has no bias");
  ASSIGN_OR_RETURN(const PartialShape bias, c.InputOfRank(2, 1));
  const int tb = AttrOf<bool>(c, "transpose_b");
  if (!c.input(1).has_rank()) return OkStatus();
  return MergeDims(c, c.input(1).dim(1 - tb), bias.dim(0)).status();
}

Status BatchMatMulShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 2));
  RETURN_IF_ERROR(CheckMinRank(c, 1, 2));
  const PartialShape &x = c.input(0), &y = c.input(1);
  if (!x.has_rank() || !y.has_rank()) return OkStatus();
  const int ax = AttrOf<bool>(c, "adj_x"), ay = AttrOf<bool>(c, "adj_y");
  const int rx = x.rank(), ry = y.rank();
  RETURN_IF_ERROR(MergeDims(c, x.dim(rx - 1 - ax), y.dim(ry - 2 + ay)).status());
  const PartialShape batch_x(SubDims(x, 0, rx - 2)), batch_y(SubDims(y, 0, ry - 2));
  ASSIGN_OR_RETURN(const PartialShape batch, c.node().op() == "BatchMatMul"
                                                 ? MergeShapes(c, batch_x, batch_y)
                                                 : BroadcastShapes(batch_x, batch_y));
  Dims dims = batch.dims();
  dims.push_back(x.dim(rx - 2 + ax));
  dims.push_back(y.dim(ry - 1 - ay));
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

// Where the channels are; BiasAddV1 has them last.
int ChannelAxis(const ShapeContext& c, int rank) {
  const AttrValue* format = c.node().FindAttr("data_format");
  return format != nullptr && *format->As<std::string>() == "NCHW" ? 1 : rank - 1;
}

Status BiasAddShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 2));
  ASSIGN_OR_RETURN(const PartialShape bias, c.InputOfRank(1, 1));
  PartialShape out = c.input(0);
  if (out.has_rank()) {
    const int axis = ChannelAxis(c, out.rank());
    ASSIGN_OR_RETURN(const int64_t channels, MergeDims(c, out.dim(axis), bias.dim(0)));
    out.set_dim(axis, channels);
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status BiasAddGradShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 2));
  const PartialShape& in = c.input(0);
  c.set_output(0, {in.has_rank() ? in.dim(ChannelAxis(c, in.rank())) : -1});
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"MatMul", "a: T, b: T", "product: T",
     "transpose_a: bool = false, transpose_b: bool = false, T: {bfloat16, complex128, complex64,"
     " float16, float32, float64, int32, int64, uint16, uint32, uint64, uint8}, grad_a: bool ="
     " false, grad_b: bool = false", kPure, MatMulShape},
    {"_FusedMatMul", "a: T, b: T, args: num_args * T", "product: T",
     "transpose_a: bool = false, transpose_b: bool = false, T: {bfloat16, float16, float32},"
     " num_args: int >= 0, fused_ops: list(string) = [], epsilon: float = 0.0001,"
     " leakyrelu_alpha: float = 0.2", kPure, FusedMatMulShape},
    {"BatchMatMul", "x: T, y: T", "output: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int32, int64}, adj_x: bool"
     " = false, adj_y: bool = false, grad_x: bool = false, grad_y: bool = false",
     kPure, BatchMatMulShape},
    {"BatchMatMulV2", "x: T, y: T", "output: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " uint16, uint32, uint64, uint8}, adj_x: bool = false, adj_y: bool = false, grad_x: bool ="
     " false, grad_y: bool = false", kPure, BatchMatMulShape},
    {"BatchMatMulV3", "x: Ta, y: Tb", "output: Tout",
     "Ta: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " int8, uint8}, Tb: {bfloat16, complex128, complex64, float16, float32, float64, int16,"
     " int32, int64, int8, uint8}, Tout: {bfloat16, complex128, complex64, float16, float32,"
     " float64, int16, int32, int64}, adj_x: bool = false, adj_y: bool = false, grad_x: bool ="
     " false, grad_y: bool = false", kPure, BatchMatMulShape},
    {"BiasAdd", "value: T, bias: T", "output: T",
     "T: numeric, data_format: {'NCHW', 'NHWC'} = 'NHWC'", kPure, BiasAddShape},
    {"BiasAddV1", "value: T, bias: T", "output: T", "T: numeric", kPure, BiasAddShape},
    {"BiasAddGrad", "out_backprop: T", "output: T",
     "T: numeric, data_format: {'NCHW', 'NHWC'} = 'NHWC'", kPure, BiasAddGradShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> MatMulOps() { return kOps; }

}  // namespace slipway::ir
