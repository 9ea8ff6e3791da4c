// SPDX-License-Identifier: Apache-2.0
//
// Pixels read at places that a box or a projection gives: CropAndResize, projective transforms.
#include <cmath>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/crop_axis.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using CropTypes =
    TypeList<float, double, Half, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>;
using TransformTypes = TypeList<float, double, Half, BFloat16, int32_t, int64_t, uint8_t>;

template <typename T>
float AsFloat(T value) {
  return static_cast<float>(value);
}

struct CropSpec {
  bool bilinear = true;
  float extrapolation = 0;
};

template <typename T>
struct Cropper {
  const CropSpec& spec;
  const T* image;
  int64_t height, width, channels;

  void Pixel(float y, float x, float* to) const {
    const auto at = [&](float row, float column) {
      return image + (static_cast<int64_t>(row) * width + static_cast<int64_t>(column)) * channels;
    };
    if (!spec.bilinear) {
      const T* from = at(std::round(y), std::round(x));
      for (int64_t c = 0; c < channels; ++c) to[c] = AsFloat(from[c]);
      return;
    }
    const float top = std::floor(y), left = std::floor(x), dy = y - top, dx = x - left;
    const T *tl = at(top, left), *tr = at(top, std::ceil(x));
    const T *bl = at(std::ceil(y), left), *br = at(std::ceil(y), std::ceil(x));
    for (int64_t c = 0; c < channels; ++c) {
      const float above = AsFloat(tl[c]) + (AsFloat(tr[c]) - AsFloat(tl[c])) * dx;
      const float below = AsFloat(bl[c]) + (AsFloat(br[c]) - AsFloat(bl[c])) * dx;
      to[c] = above + (below - above) * dy;
    }
  }

  void Crop(const float* box, int64_t rows, int64_t columns, float* to) const {
    const CropAxis vertical(box[0], box[2], height, rows);
    const CropAxis horizontal(box[1], box[3], width, columns);
    for (int64_t i = 0; i < rows; ++i) {
      const float y = vertical.At(i);
      for (int64_t j = 0; j < columns; ++j, to += channels) {
        const float x = horizontal.At(j);
        if (InImage(y, height) && InImage(x, width)) {
          Pixel(y, x, to);
        } else {
          std::fill_n(to, channels, spec.extrapolation);
        }
      }
    }
  }
};

Status CheckCrop(const KernelContext& ctx) {
  const Tensor &image = ctx.input(0), &boxes = ctx.input(1), &index = ctx.input(2);
  RETURN_IF_ERROR(CheckRank(image, 4, "input image"));
  if (image.dim(1) <= 0 || image.dim(2) <= 0) {
    return InvalidArgumentError(StrCat("image dimensions must be positive, but image has shape ",
                                       image.shape().ToString()));
  }
  if (boxes.rank() != 2 || boxes.dim(1) != 4) {
    return InvalidArgumentError(
        StrCat("boxes must be 2-D with 4 columns, but has shape ", boxes.shape().ToString()));
  }
  for (float side : boxes.flat<float>()) {
    if (!std::isfinite(side)) {
      return InvalidArgumentError(
          StrCat("Boxes contains at least one element that is not finite: ", side));
    }
  }
  if (index.rank() != 1 || index.dim(0) != boxes.dim(0)) {
    return InvalidArgumentError(StrCat("box_index has incompatible shape ",
                                       index.shape().ToString(), " with ", boxes.dim(0), " boxes"));
  }
  for (int32_t i : index.flat<int32_t>()) {
    if (i >= 0 && i < image.dim(0)) continue;
    return OutOfRangeError(
        StrCat("box_index has values outside [0, batch_size): ", i, " of ", image.dim(0)));
  }
  return OkStatus();
}

Status RunCrop(KernelContext& ctx, const CropSpec& spec) {
  RETURN_IF_ERROR(CheckCrop(ctx));
  const Tensor& image = ctx.input(0);
  const Tensor& boxes = ctx.input(1);
  ASSIGN_OR_RETURN(const IntVec size, ReadIntVector(ctx.input(3), "crop_size"));
  if (size.size() != 2) return InvalidArgumentError("crop_size must have two elements");
  if (size[0] <= 0 || size[1] <= 0) {
    return InvalidArgumentError(
        StrCat("crop dimensions must be positive, but are ", size[0], " and ", size[1]));
  }
  const int64_t dims[] = {boxes.dim(0), size[0], size[1], image.dim(3)};
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  SwitchType<int>(CropTypes{}, image.dtype(), [&]<typename T>() {
    ctx.intra_op().ParallelFor(boxes.dim(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t n = ctx.input(2).flat<int32_t>()[static_cast<size_t>(b)];
        const int64_t pixels = image.dim(1) * image.dim(2) * image.dim(3);
        const Cropper<T> cropper = {spec, image.flat<T>().data() + n * pixels, image.dim(1),
                                    image.dim(2), image.dim(3)};
        cropper.Crop(boxes.flat<float>().data() + 4 * b, size[0], size[1],
                     out->flat<float>().data() + b * size[0] * size[1] * image.dim(3));
      }
    });
    return 0;
  });
  return OkStatus();
}

StatusOr<KernelFn> BindCropAndResize(const BindContext& bind) {
  const CropSpec spec = {AttrOr<std::string>(*bind.node, "method", "bilinear") == "bilinear",
                         AttrOr<float>(*bind.node, "extrapolation_value", 0)};
  return KernelFn([spec](KernelContext& ctx) { return RunCrop(ctx, spec); });
}

enum class FillMode : uint8_t { kConstant, kReflect, kWrap, kNearest };

// A coordinate outside [0, size) brought inside, as far as the mode does that.
float MapCoordinate(FillMode mode, float at, int64_t size) {
  const auto n = static_cast<float>(size), last = n - 1;
  if (mode == FillMode::kConstant || (at >= 0 && at <= last)) return at;
  if (mode == FillMode::kNearest || size <= 1) return std::clamp(at, 0.0f, last);
  const auto whole = [](float x) { return static_cast<float>(static_cast<int64_t>(x)); };
  if (mode == FillMode::kReflect) {
    if (at < 0) {
      if (at < 2 * n) at = 2 * n * whole(-at / (2 * n)) + at;
      at = at < -n ? at + 2 * n : -at - 1;
    } else {
      at -= 2 * n * whole(at / (2 * n));
      if (at >= n) at = 2 * n - at - 1;
    }
  } else if (at < 0) {
    at += n * (whole(-at / last) + 1);
  } else {
    at -= n * whole(at / last);
  }
  return std::clamp(at, 0.0f, last);
}

struct TransformSpec {
  bool bilinear = false;
  FillMode fill = FillMode::kConstant;
};

template <typename T>
struct Transformer {
  const TransformSpec& spec;
  const T* image;
  int64_t height, width, channels;
  float fill;

  float Read(float y, float x, int64_t c) const {
    if (!(y >= 0 && x >= 0 && y < static_cast<float>(height) && x < static_cast<float>(width))) {
      return fill;
    }
    return AsFloat(
        image[(static_cast<int64_t>(y) * width + static_cast<int64_t>(x)) * channels + c]);
  }

  float Sample(float y, float x, int64_t c) const {
    if (!spec.bilinear) return Read(std::round(y), std::round(x), c);
    const float top = std::floor(y), left = std::floor(x), bottom = top + 1, right = left + 1;
    const float above = (right - x) * Read(top, left, c) + (x - left) * Read(top, right, c);
    const float below = (right - x) * Read(bottom, left, c) + (x - left) * Read(bottom, right, c);
    return (bottom - y) * above + (y - top) * below;
  }

  void Pixel(const float* t, int64_t row, int64_t column, T* to) const {
    const auto x = static_cast<float>(column), y = static_cast<float>(row);
    const float by = t[6] * x + t[7] * y + 1;
    const float in_x = (t[0] * x + t[1] * y + t[2]) / by, in_y = (t[3] * x + t[4] * y + t[5]) / by;
    constexpr float kFar = 1e9f;  // beyond any image, and NaN: nothing to read
    const bool known = by != 0 && std::abs(in_x) < kFar && std::abs(in_y) < kFar;
    const float from_x = known ? MapCoordinate(spec.fill, in_x, width) : 0;
    const float from_y = known ? MapCoordinate(spec.fill, in_y, height) : 0;
    for (int64_t c = 0; c < channels; ++c) to[c] = T(known ? Sample(from_y, from_x, c) : fill);
  }
};

template <typename T>
void Transform(ThreadPool& pool, const TransformSpec& spec, const Tensor& images,
               const Tensor& transforms, float fill, Tensor* out) {
  const int64_t rows = out->dim(1), columns = out->dim(2), channels = out->dim(3);
  pool.ParallelFor(
      out->dim(0) * rows, std::max<int64_t>(1, 2048 / columns), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const int64_t n = r / rows;
          const Transformer<T> t = {
              spec,          images.flat<T>().data() + n * images.dim(1) * images.dim(2) * channels,
              images.dim(1), images.dim(2),
              channels,      fill};
          const float* matrix =
              transforms.flat<float>().data() + (transforms.dim(0) == 1 ? 0 : 8 * n);
          T* to = out->flat<T>().data() + r * columns * channels;
          for (int64_t x = 0; x < columns; ++x) {
            t.Pixel(matrix, r % rows, x, to + x * channels);
          }
        }
      });
}

Status RunTransform(KernelContext& ctx, const TransformSpec& spec) {
  const Tensor &images = ctx.input(0), &transforms = ctx.input(1);
  RETURN_IF_ERROR(CheckRank(images, 4, "input image"));
  if (transforms.rank() != 2 || transforms.dim(1) != 8 ||
      (transforms.dim(0) != 1 && transforms.dim(0) != images.dim(0))) {
    return InvalidArgumentError(StrCat("Input transform should be num_images x 8 or 1 x 8, not ",
                                       transforms.shape().ToString()));
  }
  ASSIGN_OR_RETURN(const IntVec size, ReadIntVector(ctx.input(2), "output shape"));
  if (size.size() != 2) {
    return InvalidArgumentError("output shape must be 1-dimensional with two elements");
  }
  if (size[0] <= 0 || size[1] <= 0) {
    return InvalidArgumentError(
        StrCat("output dimensions must be positive, but are ", size[0], " and ", size[1]));
  }
  float fill = 0;
  if (ctx.num_inputs() > 3) {
    RETURN_IF_ERROR(CheckScalar(ctx.input(3), "fill_value"));
    fill = ctx.input(3).scalar<float>();
  }
  const int64_t dims[] = {images.dim(0), size[0], size[1], images.dim(3)};
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  SwitchType<int>(TransformTypes{}, images.dtype(), [&]<typename T>() {
    Transform<T>(ctx.intra_op(), spec, images, transforms, fill, out);
    return 0;
  });
  return OkStatus();
}

StatusOr<KernelFn> BindTransform(const BindContext& bind) {
  const std::string interpolation = AttrOr<std::string>(*bind.node, "interpolation", "");
  const std::string mode = AttrOr<std::string>(*bind.node, "fill_mode", "CONSTANT");
  if (interpolation != "NEAREST" && interpolation != "BILINEAR") {
    return InvalidArgumentError(
        StrCat("Invalid interpolation ", interpolation, ". Supported types: NEAREST, BILINEAR"));
  }
  TransformSpec spec = {interpolation == "BILINEAR", FillMode::kConstant};
  if (mode == "REFLECT") {
    spec.fill = FillMode::kReflect;
  } else if (mode == "WRAP") {
    spec.fill = FillMode::kWrap;
  } else if (mode == "NEAREST") {
    spec.fill = FillMode::kNearest;
  } else if (mode != "CONSTANT") {
    return InvalidArgumentError(StrCat("Invalid mode ", mode,
                                       ". Supported types: REFLECT, WRAP, "
                                       "CONSTANT, NEAREST"));
  }
  return KernelFn([spec](KernelContext& ctx) { return RunTransform(ctx, spec); });
}

}  // namespace

std::span<const KernelDef> CropImageKernels() {
  const std::vector<DType> transforms = TransformTypes::DTypes();
  static const std::vector<KernelDef> table = MakeKernels({
      {"CropAndResize", BindCropAndResize, CropTypes::DTypes(), "T", {}, {}, true},
      {"ImageProjectiveTransformV2", BindTransform, transforms, "dtype", {}, {}, true},
      {"ImageProjectiveTransformV3", BindTransform, transforms, "dtype", {}, {}, true},
  });
  return table;
}

}  // namespace slipway::kernels
