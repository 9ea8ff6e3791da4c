// SPDX-License-Identifier: Apache-2.0
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status EqualityShape(ShapeContext& c) {
  StatusOr<PartialShape> shape = BroadcastShapes(c.input(0), c.input(1));
  if (!shape.ok() && AttrOf<bool>(c, "incompatible_shape_error")) return shape.status();
  if (!shape.ok()) return ScalarShape(c);  // one answer for all: they differ
  c.set_output(0, *std::move(shape));
  return OkStatus();
}

Status MergeAllShape(ShapeContext& c) {
  PartialShape all;
  for (int i = 0; i < c.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(all, MergeShapes(c, all, c.input(i)));
  }
  c.set_output(0, std::move(all));
  return OkStatus();
}

Status SelectShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape data, MergeShapes(c, c.input(1), c.input(2)));
  const PartialShape& condition = c.input(0);
  if (condition.rank() == 1 && data.has_rank()) {
    if (data.rank() == 0) return c.Error("a vector of conditions, but scalars to select from");
    ASSIGN_OR_RETURN(const int64_t rows, MergeDims(c, condition.dim(0), data.dim(0)));
    data.set_dim(0, rows);
  } else if (condition.rank() > 1) {
    ASSIGN_OR_RETURN(data, MergeShapes(c, condition, data));
  }
  c.set_output(0, std::move(data));
  return OkStatus();
}

Status SelectV2Shape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape data, BroadcastShapes(c.input(1), c.input(2)));
  ASSIGN_OR_RETURN(PartialShape all, BroadcastShapes(c.input(0), data));
  c.set_output(0, std::move(all));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Abs", "x: T", "y: T",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8}", kPure, UnchangedShape},
    {"Neg", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8}",
     kPure, UnchangedShape},
    {"Sign", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8}",
     kPure, UnchangedShape},
    {"Exp", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Expm1", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Log", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Log1p", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Sqrt", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Rsqrt", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Square", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}", kPure, UnchangedShape},
    {"Reciprocal", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8}",
     kPure, UnchangedShape},
    {"Inv", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8}",
     kPure, UnchangedShape},
    {"Sin", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Cos", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Tan", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Asin", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Acos", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Atan", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Sinh", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Cosh", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Tanh", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Asinh", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Acosh", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Atanh", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Erf", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Erfc", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Erfinv", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Ndtri", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Lgamma", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Digamma", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Floor", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Ceil", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Round", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8}",
     kPure, UnchangedShape},
    {"Rint", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Sigmoid", "x: T", "y: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"LogicalNot", "x: bool", "y: bool", "", kPure, UnchangedShape},
    {"IsNan", "x: T", "y: bool", "T: floating", kPure, UnchangedShape},
    {"IsInf", "x: T", "y: bool", "T: floating", kPure, UnchangedShape},
    {"IsFinite", "x: T", "y: bool", "T: floating", kPure, UnchangedShape},
    {"Invert", "x: T", "y: T",
     "T: {int16, int32, int64, int8, uint16, uint32, uint64, uint8}", kPure, UnchangedShape},
    {"Conj", "input: T", "output: T",
     "T: {complex128, complex64, variant} = complex64", kPure, UnchangedShape},
    {"Real", "input: T", "output: Tout",
     "T: {complex128, complex64} = complex64, Tout: {float32, float64} = float32",
     kPure, UnchangedShape},
    {"Imag", "input: T", "output: Tout",
     "T: {complex128, complex64} = complex64, Tout: {float32, float64} = float32",
     kPure, UnchangedShape},
    {"ComplexAbs", "x: T", "y: Tout",
     "T: {complex128, complex64} = complex64, Tout: {float32, float64} = float32",
     kPure, UnchangedShape},
    {"Angle", "input: T", "output: Tout",
     "T: {complex128, complex64} = complex64, Tout: {float32, float64} = float32",
     kPure, UnchangedShape},
    {"Cast", "x: SrcT", "y: DstT",
     "SrcT: type, DstT: type, Truncate: bool = false", kPure, UnchangedShape},
    {"SqrtGrad", "y: T, dy: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"RsqrtGrad", "y: T, dy: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"ReciprocalGrad", "y: T, dy: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"InvGrad", "y: T, dy: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"SigmoidGrad", "y: T, dy: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"TanhGrad", "y: T, dy: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}", kPure, UnchangedShape},
    {"Add", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " string, uint8}", kPure, BroadcastBinaryShape},
    {"AddV2", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"Sub", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"Mul", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"Div", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"RealDiv", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"FloorDiv", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"TruncateDiv", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"DivNoNan", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}",
     kPure, BroadcastBinaryShape},
    {"MulNoNan", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}",
     kPure, BroadcastBinaryShape},
    {"FloorMod", "x: T, y: T", "z: T", "T: realnumeric", kPure, BroadcastBinaryShape},
    {"Mod", "x: T, y: T", "z: T",
     "T: {bfloat16, float16, float16, float32, float64, int32, int64}",
     kPure, BroadcastBinaryShape},
    {"TruncateMod", "x: T, y: T", "z: T",
     "T: {bfloat16, float16, float32, float64, int32, int64}", kPure, BroadcastBinaryShape},
    {"Pow", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32, int64, int8}",
     kPure, BroadcastBinaryShape},
    {"Maximum", "x: T, y: T", "z: T", "T: realnumeric", kPure, BroadcastBinaryShape},
    {"Minimum", "x: T, y: T", "z: T", "T: realnumeric", kPure, BroadcastBinaryShape},
    {"SquaredDifference", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int32, int64}",
     kPure, BroadcastBinaryShape},
    {"Atan2", "y: T, x: T", "z: T", "T: floating", kPure, BroadcastBinaryShape},
    {"Xlogy", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}",
     kPure, BroadcastBinaryShape},
    {"Xlog1py", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}",
     kPure, BroadcastBinaryShape},
    {"Xdivy", "x: T, y: T", "z: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64}",
     kPure, BroadcastBinaryShape},
    {"Less", "x: T, y: T", "z: bool", "T: realnumeric", kPure, BroadcastBinaryShape},
    {"LessEqual", "x: T, y: T", "z: bool", "T: realnumeric", kPure, BroadcastBinaryShape},
    {"Greater", "x: T, y: T", "z: bool", "T: realnumeric", kPure, BroadcastBinaryShape},
    {"GreaterEqual", "x: T, y: T", "z: bool", "T: realnumeric", kPure, BroadcastBinaryShape},
    {"LogicalAnd", "x: bool, y: bool", "z: bool", "", kPure, BroadcastBinaryShape},
    {"LogicalOr", "x: bool, y: bool", "z: bool", "", kPure, BroadcastBinaryShape},
    {"BitwiseAnd", "x: T, y: T", "z: T",
     "T: {int16, int32, int64, int8, uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"BitwiseOr", "x: T, y: T", "z: T",
     "T: {int16, int32, int64, int8, uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"BitwiseXor", "x: T, y: T", "z: T",
     "T: {int16, int32, int64, int8, uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"LeftShift", "x: T, y: T", "z: T",
     "T: {int16, int32, int64, int8, uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"RightShift", "x: T, y: T", "z: T",
     "T: {int16, int32, int64, int8, uint16, uint32, uint64, uint8}", kPure, BroadcastBinaryShape},
    {"NextAfter", "x1: T, x2: T", "output: T",
     "T: {float32, float64} = float32", kPure, BroadcastBinaryShape},
    {"Complex", "real: T, imag: T", "out: Tout",
     "T: {float32, float64} = float32, Tout: {complex128, complex64} = complex64",
     kPure, BroadcastBinaryShape},
    {"Equal", "x: T, y: T", "z: bool",
     "T: type, incompatible_shape_error: bool = true", kPure, EqualityShape},
    {"NotEqual", "x: T, y: T", "z: bool",
     "T: type, incompatible_shape_error: bool = true", kPure, EqualityShape},
    {"AccumulateNV2", "inputs: N * T", "sum: T",
     "N: int >= 1, T: numeric, shape: shape", kPure, MergeAllShape},
    {"AddN", "inputs: N * T", "sum: T",
     "N: int >= 1, T: {bfloat16, complex128, complex64, float16, float32, float64, int16, int32,"
     " int64, int8, qint16, qint32, qint8, quint16, quint8, uint16, uint32, uint64, uint8,"
     " variant}", kPure, MergeAllShape},
    {"ApproximateEqual", "x: T, y: T", "z: bool",
     "T: numeric, tolerance: float = 1e-05", kPure, MergeAllShape},
    {"Select", "condition: bool, t: T, e: T", "output: T", "T: type", kPure, SelectShape},
    {"SelectV2", "condition: bool, t: T, e: T", "output: T", "T: type", kPure, SelectV2Shape},
    {"ClipByValue", "t: T, clip_value_min: T, clip_value_max: T", "output: T",
     "T: numeric", kPure, UnchangedShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ElementwiseOps() { return kOps; }

}  // namespace slipway::ir
