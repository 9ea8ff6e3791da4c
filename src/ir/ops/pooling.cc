// SPDX-License-Identifier: Apache-2.0
//
// Pooling and its gradients.
#include <cmath>

#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"
#include "ir/window.h"

namespace slipway::ir {
namespace {

using enum Effect;

StatusOr<PartialShape> Pooled(const ShapeContext& c, const WindowSpec& spec) {
  ASSIGN_OR_RETURN(PartialShape shape, c.InputOfRank(0, spec.rank()));
  if (!shape.has_rank()) return PartialShape::UnknownOfRank(spec.rank());
  for (int i = 3 - spec.spatial; i < 3; ++i) {
    WindowDim dim = spec.dims[static_cast<size_t>(i)];
    dim.input = shape.dim(spec.axis(i));
    if (dim.input < 0) continue;
    const Status status = ComputeWindow(spec.padding, &dim);
    if (!status.ok()) return c.Error(status.message());
    shape.set_dim(spec.axis(i), dim.output);
  }
  const int channels = spec.channel_axis();
  if (spec.channel_window > 1 && shape.dim(channels) >= 0) {
    shape.set_dim(channels, shape.dim(channels) / spec.channel_window);
  }
  return shape;
}

Status PoolShape(ShapeContext& c) {
  auto spec = ReadWindowSpec(c.node(), {.window = "ksize"});
  if (!spec.ok()) return c.Error(spec.status().message());
  ASSIGN_OR_RETURN(PartialShape shape, Pooled(c, *spec));
  if (c.node().op() == "MaxPoolWithArgmax") c.set_output(1, shape);
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status PoolV2Shape(ShapeContext& c) {
  auto spec = ReadWindowSpec(c.node(), {});
  if (!spec.ok()) return c.Error(spec.status().message());
  const auto ksize = ConstIntegers(c, 1), strides = ConstIntegers(c, 2);
  if (!ksize.has_value() || !strides.has_value()) {
    c.set_output(0, PartialShape::UnknownOfRank(4));
    return OkStatus();
  }
  Status status = SetWindow(*ksize, &*spec);
  if (status.ok()) status = SetStrides(*strides, &*spec);
  if (!status.ok()) return c.Error(status.message());
  ASSIGN_OR_RETURN(PartialShape shape, Pooled(c, *spec));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

template <int kRank>
Status OriginalShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, 0));
  c.set_output(0, shape.rank() == kRank ? shape : PartialShape::UnknownOfRank(kRank));
  return OkStatus();
}

Status FractionalShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, c.InputOfRank(0, 4));
  const auto& ratios = AttrOf<std::vector<float>>(c, "pooling_ratio");
  if (ratios.size() != 4) return c.Error("pooling_ratio field must specify 4 dimensions");
  if (!shape.has_rank()) shape = PartialShape::UnknownOfRank(4);
  for (int i = 0; i < 4; ++i) {
    const float ratio = ratios[static_cast<size_t>(i)];
    if (!(ratio >= 1)) return c.Error(StrCat("pooling_ratio cannot be smaller than 1, got: ", ratio));
    if (shape.dim(i) < 0) continue;
    shape.set_dim(i, static_cast<int64_t>(std::floor(static_cast<float>(shape.dim(i)) / ratio)));
  }
  c.set_output(1, {shape.dim(1) < 0 ? -1 : shape.dim(1) + 1});
  c.set_output(2, {shape.dim(2) < 0 ? -1 : shape.dim(2) + 1});
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"AvgPool", "value: T", "output: T",
     "ksize: list(int) >= 4, strides: list(int) >= 4, padding: {'SAME', 'VALID'}, data_format:"
     " {'NCHW', 'NHWC'} = 'NHWC', T: floating", kPure, PoolShape},
    {"AvgPool3D", "input: T", "output: T",
     "ksize: list(int) >= 5, strides: list(int) >= 5, padding: {'SAME', 'VALID'}, data_format:"
     " {'NCDHW', 'NDHWC'} = 'NDHWC', T: floating", kPure, PoolShape},
    {"AvgPool3DGrad", "orig_input_shape: int32, grad: T", "output: T",
     "ksize: list(int) >= 5, strides: list(int) >= 5, padding: {'SAME', 'VALID'}, data_format:"
     " {'NCDHW', 'NDHWC'} = 'NDHWC', T: floating", kPure, OriginalShape<5>},
    {"AvgPoolGrad", "orig_input_shape: int32, grad: T", "output: T",
     "ksize: list(int) >= 4, strides: list(int) >= 4, padding: {'SAME', 'VALID'}, data_format:"
     " {'NCHW', 'NHWC'} = 'NHWC', T: floating", kPure, OriginalShape<4>},
    {"FractionalAvgPool",
     "value: T",
     "output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",
     "pooling_ratio: list(float) >= 4, pseudo_random: bool = false, overlapping: bool = false,"
     " deterministic: bool = false, seed: int = 0, seed2: int = 0, T: {float32, float64, int32,"
     " int64}", kRandom, FractionalShape},
    {"FractionalMaxPool",
     "value: T",
     "output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",
     "pooling_ratio: list(float) >= 4, pseudo_random: bool = false, overlapping: bool = false,"
     " deterministic: bool = false, seed: int = 0, seed2: int = 0, T: {float32, float64, int32,"
     " int64}", kRandom, FractionalShape},
    {"MaxPool", "input: T", "output: T",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8, qint8, uint16, uint8}"
     " = float32, ksize: list(int) >= 4, strides: list(int) >= 4, padding: {'EXPLICIT', 'SAME',"
     " 'VALID'}, explicit_paddings: list(int) = [], data_format: {'NCHW', 'NCHW_VECT_C', 'NHWC'}"
     " = 'NHWC'", kPure, PoolShape},
    {"MaxPool3D", "input: T", "output: T",
     "ksize: list(int) >= 5, strides: list(int) >= 5, padding: {'SAME', 'VALID'}, data_format:"
     " {'NCDHW', 'NDHWC'} = 'NDHWC', T: {bfloat16, float16, float32}", kPure, PoolShape},
    {"MaxPool3DGrad", "orig_input: TInput, orig_output: TInput, grad: T", "output: T",
     "ksize: list(int) >= 5, strides: list(int) >= 5, padding: {'SAME', 'VALID'}, data_format:"
     " {'NCDHW', 'NDHWC'} = 'NDHWC', T: {bfloat16, float16, float32} = float32, TInput:"
     " {bfloat16, float16, float32} = float32", kPure, UnchangedShape},
    {"MaxPoolGrad", "orig_input: T, orig_output: T, grad: T", "output: T",
     "ksize: list(int) >= 4, strides: list(int) >= 4, padding: {'EXPLICIT', 'SAME', 'VALID'},"
     " explicit_paddings: list(int) = [], data_format: {'NCHW', 'NHWC'} = 'NHWC', T: realnumeric"
     " = float32", kPure, UnchangedShape},
    {"MaxPoolGradV2",
     "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32",
     "output: T",
     "padding: {'SAME', 'VALID'}, data_format: {'NCHW', 'NHWC'} = 'NHWC', T: realnumeric ="
     " float32", kPure, UnchangedShape},
    {"MaxPoolV2", "input: T, ksize: int32, strides: int32", "output: T",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8, qint8, uint16, uint8}"
     " = float32, padding: {'SAME', 'VALID'}, data_format: {'NCHW', 'NCHW_VECT_C', 'NHWC'} ="
     " 'NHWC'", kPure, PoolV2Shape},
    {"MaxPoolWithArgmax", "input: T", "output: T, argmax: Targmax",
     "ksize: list(int) >= 4, strides: list(int) >= 4, Targmax: index = int64, padding: {'SAME',"
     " 'VALID'}, include_batch_in_index: bool = false, T: realnumeric", kPure, PoolShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> PoolingOps() { return kOps; }

}  // namespace slipway::ir
