// SPDX-License-Identifier: Apache-2.0
//
// Images as tensors: resizing, cropping, colours, boxes.
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// [height, width] of input `i`, unknown where it is not constant.
StatusOr<Dims> SizeInput(const ShapeContext& c, int i) {
  const auto values = ConstIntegers(c, i);
  if (!values.has_value()) return Dims{-1, -1};
  if (values->size() != 2) return c.Error("the size must have two elements");
  for (int64_t size : *values) {
    if (size < 0) return c.Error(StrCat("the size must not be negative, but is ", size));
  }
  return *values;
}

template <int kSize>
Status ResizedShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape images, c.InputOfRank(0, 4));
  ASSIGN_OR_RETURN(const Dims size, SizeInput(c, kSize));
  if (!images.has_rank()) images = PartialShape::UnknownOfRank(4);
  c.set_output(0, {images.dim(0), size[0], size[1], images.dim(3)});
  return OkStatus();
}

// The gradients lead back to images of the second input's shape.
Status ResizeGradShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape images, c.InputOfRank(1, 4));
  c.set_output(0, std::move(images));
  return OkStatus();
}

Status CropShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape images, c.InputOfRank(0, 4));
  ASSIGN_OR_RETURN(PartialShape boxes, c.InputOfRank(1, 2));
  ASSIGN_OR_RETURN(PartialShape index, c.InputOfRank(2, 1));
  ASSIGN_OR_RETURN(const Dims size, SizeInput(c, 3));
  int64_t count = boxes.has_rank() ? boxes.dim(0) : -1;
  if (index.has_rank()) {
    ASSIGN_OR_RETURN(count, MergeDims(c, count, index.dim(0)));
  }
  c.set_output(0, {count, size[0], size[1], images.has_rank() ? images.dim(3) : -1});
  return OkStatus();
}

Status AtLeast3Shape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 3));
  return UnchangedShape(c);
}

Status ColourShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  PartialShape shape = c.input(0);
  if (shape.has_rank()) {
    ASSIGN_OR_RETURN(const int64_t last, MergeDims(c, shape.dim(shape.rank() - 1), 3));
    shape.set_dim(shape.rank() - 1, last);
  }
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// The first output has a length that depends on values, unless it is padded.
Status NmsShape(ShapeContext& c) {
  int64_t length = -1;
  const auto* pads = c.node().FindAttr("pad_to_max_output_size");
  if (pads != nullptr && AttrOf<bool>(c, "pad_to_max_output_size")) {
    if (const auto limit = ConstInteger(c, 2)) {
      if (*limit < 0) return c.Error(StrCat("max_output_size must be >= 0, but is ", *limit));
      length = *limit;
    }
  }
  c.set_output(0, {length});
  if (c.node().op() == "NonMaxSuppressionV4") c.set_output(1, PartialShape(Shape()));
  if (c.node().op() == "NonMaxSuppressionV5") {
    c.set_output(1, {length});
    c.set_output(2, PartialShape(Shape()));
  }
  return OkStatus();
}

Status CombinedNmsShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape boxes, c.InputOfRank(0, 4));
  ASSIGN_OR_RETURN(PartialShape scores, c.InputOfRank(1, 3));
  const int64_t batch = boxes.has_rank() ? boxes.dim(0) : -1;
  const auto per_class = ConstInteger(c, 2), total = ConstInteger(c, 3);
  int64_t size = total.value_or(-1);
  if (AttrOf<bool>(c, "pad_per_class")) {
    const int64_t classes = scores.has_rank() ? scores.dim(2) : -1;
    const bool known = size >= 0 && per_class.value_or(-1) >= 0 && classes >= 0;
    size = known ? std::min(size, DimMul(*per_class, classes)) : -1;
  }
  if (size < 0) size = -1;
  c.set_output(0, {batch, size, 4});
  c.set_output(1, {batch, size});
  c.set_output(2, {batch, size});
  c.set_output(3, {batch});
  return OkStatus();
}

Status CropGradBoxesShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape boxes, c.InputOfRank(2, 2));
  c.set_output(0, boxes.has_rank() ? boxes : PartialShape({-1, 4}));
  return OkStatus();
}

Status CropGradImageShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape shape, ShapeFromInput(c, 3));
  c.set_output(0, shape.rank() == 4 ? shape : PartialShape::UnknownOfRank(4));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"ResizeArea", "images: T, size: int32", "resized_images: float32",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16, uint8},"
     " align_corners: bool = false", kPure, ResizedShape<1>},
    {"ResizeBicubic", "images: T, size: int32", "resized_images: float32",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16, uint8},"
     " align_corners: bool = false, half_pixel_centers: bool = false", kPure, ResizedShape<1>},
    {"ResizeBilinear", "images: T, size: int32", "resized_images: float32",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16,"
     " uint8}, align_corners: bool = false, half_pixel_centers: bool = false", kPure, ResizedShape<1>},
    {"ResizeNearestNeighbor", "images: T, size: int32", "resized_images: T",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16, uint8},"
     " align_corners: bool = false, half_pixel_centers: bool = false", kPure, ResizedShape<1>},
    {"ResizeBilinearGrad", "grads: float32, original_image: T", "output: T",
     "T: floating, align_corners: bool = false, half_pixel_centers: bool = false", kPure,
     ResizeGradShape},
    {"ResizeBicubicGrad", "grads: float32, original_image: T", "output: T",
     "T: {float32, float64}, align_corners: bool = false, half_pixel_centers: bool = false", kPure,
     ResizeGradShape},
    {"ResizeNearestNeighborGrad", "grads: T, size: int32", "output: T",
     "T: {bfloat16, float16, float32, float64, int32, int8, uint8}, align_corners: bool = false,"
     " half_pixel_centers: bool = false", kPure, ResizedShape<1>},
    {"ScaleAndTranslate",
     "images: T, size: int32, scale: float32, translation: float32",
     "resized_images: float32",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16, uint8},"
     " kernel_type: string = 'lanczos3', antialias: bool = true", kPure, ResizedShape<1>},
    {"ImageProjectiveTransformV2",
     "images: dtype, transforms: float32, output_shape: int32",
     "transformed_images: dtype",
     "dtype: {bfloat16, float16, float32, float64, int32, int64, uint8}, interpolation: string,"
     " fill_mode: string = 'CONSTANT'", kPure, ResizedShape<2>},
    {"ImageProjectiveTransformV3",
     "images: dtype, transforms: float32, output_shape: int32, fill_value: float32",
     "transformed_images: dtype",
     "dtype: {bfloat16, float16, float32, float64, int32, int64, uint8}, interpolation: string,"
     " fill_mode: string = 'CONSTANT'", kPure, ResizedShape<2>},
    {"CropAndResize",
     "image: T, boxes: float32, box_ind: int32, crop_size: int32",
     "crops: float32",
     "T: {float16, float32, float64, int16, int32, int64, int8, uint16, uint8}, method:"
     " {'bilinear', 'nearest'} = 'bilinear', extrapolation_value: float = 0", kPure, CropShape},
    {"CropAndResizeGradBoxes", "grads: float32, image: T, boxes: float32, box_ind: int32",
     "output: float32",
     "T: {float16, float32, float64, int16, int32, int64, int8, uint16, uint8}, method:"
     " {'bilinear'} = 'bilinear'", kPure, CropGradBoxesShape},
    {"CropAndResizeGradImage", "grads: float32, boxes: float32, box_ind: int32, image_size: int32",
     "output: T",
     "T: {float16, float32, float64}, method: {'bilinear', 'nearest'} = 'bilinear'", kPure,
     CropGradImageShape},
    {"AdjustContrastv2", "images: T, contrast_factor: float32", "output: T",
     "T: {float16, float32} = float32", kPure, AtLeast3Shape},
    {"AdjustHue", "images: T, delta: float32", "output: T",
     "T: {float16, float32} = float32", kPure, AtLeast3Shape},
    {"AdjustSaturation", "images: T, scale: float32", "output: T",
     "T: {float16, float32} = float32", kPure, AtLeast3Shape},
    {"DrawBoundingBoxes", "images: T, boxes: float32", "output: T",
     "T: {float16, float32} = float32", kPure, AtLeast3Shape},
    {"DrawBoundingBoxesV2", "images: T, boxes: float32, colors: float32", "output: T",
     "T: {float16, float32} = float32", kPure, AtLeast3Shape},
    {"RGBToHSV", "images: T", "output: T", "T: floating = float32", kPure, ColourShape},
    {"HSVToRGB", "images: T", "output: T", "T: floating = float32", kPure, ColourShape},
    {"NonMaxSuppression",
     "boxes: float32, scores: float32, max_output_size: int32",
     "selected_indices: int32",
     "iou_threshold: float = 0.5", kPure, NmsShape},
    {"NonMaxSuppressionV2",
     "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold",
     "selected_indices: int32",
     "T: {float16, float32} = float32, T_threshold: {float16, float32} = float32", kPure, NmsShape},
    {"NonMaxSuppressionV3",
     "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold:"
     " T_threshold",
     "selected_indices: int32",
     "T: {float16, float32} = float32, T_threshold: {float16, float32} = float32", kPure, NmsShape},
    {"NonMaxSuppressionV4",
     "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold:"
     " T_threshold",
     "selected_indices: int32, valid_outputs: int32",
     "T: {float16, float32} = float32, T_threshold: {float16, float32} = float32,"
     " pad_to_max_output_size: bool = false", kPure, NmsShape},
    {"NonMaxSuppressionV5",
     "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T,"
     " soft_nms_sigma: T",
     "selected_indices: int32, selected_scores: T, valid_outputs: int32",
     "T: {float16, float32} = float32, pad_to_max_output_size: bool = false", kPure, NmsShape},
    {"NonMaxSuppressionWithOverlaps",
     "overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32,"
     " score_threshold: float32",
     "selected_indices: int32",
     "", kPure, NmsShape},
    {"CombinedNonMaxSuppression",
     "boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32,"
     " iou_threshold: float32, score_threshold: float32",
     "nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32",
     "pad_per_class: bool = false, clip_boxes: bool = true", kPure, CombinedNmsShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ImageOps() { return kOps; }

}  // namespace slipway::ir
