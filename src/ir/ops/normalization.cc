// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation and local response normalisation.
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// The input with its rank, and the axis of its channels.
struct Image {
  PartialShape shape;
  int channel = 0;
};
StatusOr<Image> ImageOf(const ShapeContext& c, int input) {
  const std::string& format = AttrOf<std::string>(c, "data_format");
  const auto rank = static_cast<int>(format.size());
  ASSIGN_OR_RETURN(PartialShape shape, c.InputOfRank(input, rank));
  if (!shape.has_rank()) shape = PartialShape::UnknownOfRank(rank);
  return Image{std::move(shape), format.starts_with("NC") ? 1 : rank - 1};
}

Status BatchNormShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(Image x, ImageOf(c, 0));
  int64_t channels = x.shape.dim(x.channel);
  const bool training = AttrOf<bool>(c, "is_training");
  for (int i = 1; i < (training ? 3 : 5); ++i) {
    ASSIGN_OR_RETURN(const PartialShape vector, c.InputOfRank(i, 1));
    if (!vector.has_rank()) continue;
    ASSIGN_OR_RETURN(channels, MergeDims(c, channels, vector.dim(0)));
  }
  x.shape.set_dim(x.channel, channels);
  c.set_output(0, x.shape);
  for (int i = 1; i < 5; ++i) c.set_output(i, {channels});
  return OkStatus();
}

Status BatchNormGradShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(Image dy, ImageOf(c, 0));
  ASSIGN_OR_RETURN(Image x, ImageOf(c, 1));
  ASSIGN_OR_RETURN(PartialShape shape, MergeShapes(c, dy.shape, x.shape));
  const int64_t channels = shape.dim(x.channel);
  c.set_output(0, std::move(shape));
  c.set_output(1, {channels});
  c.set_output(2, {channels});
  c.set_output(3, {0});
  c.set_output(4, {0});
  return OkStatus();
}

Status LrnShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, c.InputOfRank(0, 4));
  c.set_output(0, shape.has_rank() ? shape : PartialShape::UnknownOfRank(4));
  return OkStatus();
}

Status LrnGradShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, MergeShapes(c, c.input(0), c.input(1)));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"FusedBatchNorm",
     "x: T, scale: T, offset: T, mean: T, variance: T",
     "y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
     "T: {float32}, epsilon: float = 0.0001, exponential_avg_factor: float = 1, data_format:"
     " {'NCHW', 'NHWC'} = 'NHWC', is_training: bool = true", kPure, BatchNormShape},
    {"FusedBatchNormV2",
     "x: T, scale: U, offset: U, mean: U, variance: U",
     "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
     "T: {bfloat16, float16, float32}, U: {float32}, epsilon: float = 0.0001,"
     " exponential_avg_factor: float = 1, data_format: {'NCHW', 'NHWC'} = 'NHWC', is_training:"
     " bool = true", kPure, BatchNormShape},
    {"FusedBatchNormV3",
     "x: T, scale: U, offset: U, mean: U, variance: U",
     "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U,"
     " reserve_space_3: U",
     "T: {bfloat16, float16, float32}, U: {bfloat16, float32}, epsilon: float = 0.0001,"
     " exponential_avg_factor: float = 1, data_format: {'NCDHW', 'NCHW', 'NDHWC', 'NHWC'} ="
     " 'NHWC', is_training: bool = true", kPure, BatchNormShape},
    {"FusedBatchNormGrad",
     "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T",
     "x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T",
     "T: {float32}, epsilon: float = 0.0001, data_format: {'NCHW', 'NHWC'} = 'NHWC',"
     " is_training: bool = true", kPure, BatchNormGradShape},
    {"FusedBatchNormGradV2",
     "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U",
     "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U",
     "T: {bfloat16, float16, float32}, U: {float32}, epsilon: float = 0.0001, data_format:"
     " {'NCHW', 'NHWC'} = 'NHWC', is_training: bool = true", kPure, BatchNormGradShape},
    {"FusedBatchNormGradV3",
     "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U,"
     " reserve_space_3: U",
     "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
     "T: {bfloat16, float16, float32}, U: {float32}, epsilon: float = 0.0001, data_format:"
     " {'NCDHW', 'NCHW', 'NDHWC', 'NHWC'} = 'NHWC', is_training: bool = true", kPure, BatchNormGradShape},
    {"LRN", "input: T", "output: T",
     "depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5, T: {bfloat16,"
     " float16, float32} = float32", kPure, LrnShape},
    {"LRNGrad", "input_grads: T, input_image: T, output_image: T", "output: T",
     "depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5, T: {bfloat16,"
     " float16, float32} = float32", kPure, LrnGradShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> NormalizationOps() { return kOps; }

}  // namespace slipway::ir
