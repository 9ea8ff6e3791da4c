// SPDX-License-Identifier: Apache-2.0
//
// Quantised values: real ones rounded as if they were, conversions, and arithmetic on them. A
// range is two scalars, or two vectors where each slice along an axis has its own.
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// The last two outputs are a range of scalars.
void SetScalarRange(ShapeContext& c) {
  const int n = c.node().num_outputs();
  c.set_output(n - 2, PartialShape(Dims{}));
  c.set_output(n - 1, PartialShape(Dims{}));
}

Status RangedShape(ShapeContext& c) {
  c.set_output(0, c.input(0));
  SetScalarRange(c);
  return OkStatus();
}

Status RangedBroadcastShape(ShapeContext& c) {
  RETURN_IF_ERROR(BroadcastBinaryShape(c));
  SetScalarRange(c);
  return OkStatus();
}

// QuantizeV2: the range given back is as large as the one given in.
Status QuantizeShape(ShapeContext& c) {
  c.set_output(0, c.input(0));
  if (AttrOf<int64_t>(c, "axis") == -1) {
    SetScalarRange(c);
  } else {
    c.set_output(1, PartialShape({-1}));
    c.set_output(2, PartialShape({-1}));
  }
  return OkStatus();
}

Status GradientShape(ShapeContext& c) {
  c.set_output(0, c.input(1));
  for (int i = 1; i < c.node().num_outputs(); ++i) c.set_output(i, c.input(i + 1));
  return OkStatus();
}

Status RangesShape(ShapeContext& c) {
  SetScalarRange(c);
  return OkStatus();
}

Status QuantizedMatMulShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape a, c.InputOfRank(0, 2));
  ASSIGN_OR_RETURN(const PartialShape b, c.InputOfRank(1, 2));
  const bool transpose_a = AttrOf<bool>(c, "transpose_a"),
             transpose_b = AttrOf<bool>(c, "transpose_b");
  SetScalarRange(c);
  if (!a.has_rank() || !b.has_rank()) {
    c.set_output(0, PartialShape({-1, -1}));
    return OkStatus();
  }
  RETURN_IF_ERROR(MergeDims(c, a.dim(transpose_a ? 0 : 1), b.dim(transpose_b ? 1 : 0)).status());
  c.set_output(0, PartialShape({a.dim(transpose_a ? 1 : 0), b.dim(transpose_b ? 0 : 1)}));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Dequantize", "input: T, min_range: float32, max_range: float32", "output: dtype",
     "T: {qint16, qint32, qint8, quint16, quint8}, mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'}"
     " = 'MIN_COMBINED', narrow_range: bool = false, axis: int = -1, dtype: {bfloat16, float32}"
     " = float32", kPure, UnchangedShape},
    {"FakeQuantWithMinMaxArgs", "inputs: float32", "outputs: float32",
     "min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = false",
     kPure, UnchangedShape},
    {"FakeQuantWithMinMaxArgsGradient", "gradients: float32, inputs: float32", "backprops: float32",
     "min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = false",
     kPure, UnchangedShape},
    {"FakeQuantWithMinMaxVars", "inputs: float32, min: float32, max: float32", "outputs: float32",
     "num_bits: int = 8, narrow_range: bool = false", kPure, UnchangedShape},
    {"FakeQuantWithMinMaxVarsGradient",
     "gradients: float32, inputs: float32, min: float32, max: float32",
     "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
     "num_bits: int = 8, narrow_range: bool = false", kPure, GradientShape},
    {"FakeQuantWithMinMaxVarsPerChannel",
     "inputs: float32, min: float32, max: float32",
     "outputs: float32",
     "num_bits: int = 8, narrow_range: bool = false", kPure, UnchangedShape},
    {"FakeQuantWithMinMaxVarsPerChannelGradient",
     "gradients: float32, inputs: float32, min: float32, max: float32",
     "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
     "num_bits: int = 8, narrow_range: bool = false", kPure, GradientShape},
    {"QuantizeAndDequantizeV2", "input: T, input_min: T, input_max: T", "output: T",
     "signed_input: bool = true, num_bits: int = 8, range_given: bool = false, T: floating,"
     " round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN', narrow_range: bool = false,"
     " axis: int = -1", kPure, UnchangedShape},
    {"QuantizeAndDequantizeV3",
     "input: T, input_min: T, input_max: T, num_bits: int32",
     "output: T",
     "signed_input: bool = true, range_given: bool = true, T: floating, narrow_range: bool ="
     " false, axis: int = -1", kPure, UnchangedShape},
    {"QuantizeAndDequantizeV4", "input: T, input_min: T, input_max: T", "output: T",
     "signed_input: bool = true, num_bits: int = 8, range_given: bool = false, T: floating,"
     " round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN', narrow_range: bool = false,"
     " axis: int = -1", kPure, UnchangedShape},
    {"QuantizeAndDequantizeV4Grad",
     "gradients: T, input: T, input_min: T, input_max: T",
     "input_backprop: T, input_min_backprop: T, input_max_backprop: T",
     "T: floating, axis: int = -1", kPure, GradientShape},
    {"QuantizeV2",
     "input: float32, min_range: float32, max_range: float32",
     "output: T, output_min: float32, output_max: float32",
     "T: {qint16, qint32, qint8, quint16, quint8}, mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'}"
     " = 'MIN_COMBINED', round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} ="
     " 'HALF_AWAY_FROM_ZERO', narrow_range: bool = false, axis: int = -1, ensure_minimum_range:"
     " float = 0.01", kPure, QuantizeShape},
    {"QuantizedMatMul",
     "a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, max_b: float32",
     "out: Toutput, min_out: float32, max_out: float32",
     "T1: {qint16, qint32, qint8, quint16, quint8}, T2: {qint16, qint32, qint8, quint16,"
     " quint8}, Toutput: {qint16, qint32, qint8, quint16, quint8} = qint32, transpose_a: bool ="
     " false, transpose_b: bool = false, Tactivation: {qint16, qint32, qint8, quint16, quint8} ="
     " quint8", kPure, QuantizedMatMulShape},
    {"QuantizedMul",
     "x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32",
     "z: Toutput, min_z: float32, max_z: float32",
     "T1: {qint16, qint32, qint8, quint16, quint8}, T2: {qint16, qint32, qint8, quint16,"
     " quint8}, Toutput: {qint16, qint32, qint8, quint16, quint8} = qint32", kPure,
     RangedBroadcastShape},
    {"QuantizedRelu",
     "features: Tinput, min_features: float32, max_features: float32",
     "activations: out_type, min_activations: float32, max_activations: float32",
     "Tinput: {qint16, qint32, qint8, quint16, quint8}, out_type: {qint16, qint32, qint8,"
     " quint16, quint8} = quint8", kPure, RangedShape},
    {"QuantizedRelu6",
     "features: Tinput, min_features: float32, max_features: float32",
     "activations: out_type, min_activations: float32, max_activations: float32",
     "Tinput: {qint16, qint32, qint8, quint16, quint8}, out_type: {qint16, qint32, qint8,"
     " quint16, quint8} = quint8", kPure, RangedShape},
    {"RequantizationRange",
     "input: Tinput, input_min: float32, input_max: float32",
     "output_min: float32, output_max: float32",
     "Tinput: {qint16, qint32, qint8, quint16, quint8}", kPure, RangesShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> QuantizeOps() { return kOps; }

}  // namespace slipway::ir
