// SPDX-License-Identifier: Apache-2.0
//
// The gradients of CropAndResize: by the image, and by the boxes.
#include <algorithm>
#include <cmath>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/crop_axis.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

struct Pixels {
  int64_t height, width, channels;
  // The first channel of a pixel.
  int64_t At(float row, float column) const {
    return (static_cast<int64_t>(row) * width + static_cast<int64_t>(column)) * channels;
  }
};

Status CheckBoxes(const Tensor& grads, const Tensor& boxes, const Tensor& index, int64_t batch) {
  RETURN_IF_ERROR(CheckRank(grads, 4, "grads"));
  RETURN_IF_ERROR(CheckRank(boxes, 2, "boxes"));
  RETURN_IF_ERROR(CheckRank(index, 1, "box_ind"));
  if (boxes.dim(1) != 4 || boxes.dim(0) != grads.dim(0) || index.dim(0) != grads.dim(0)) {
    return InvalidArgumentError(StrCat("boxes ", boxes.shape().ToString(), " and box_ind ",
                                       index.shape().ToString(), " do not fit grads ",
                                       grads.shape().ToString()));
  }
  if (grads.dim(1) <= 0 || grads.dim(2) <= 0) {
    return InvalidArgumentError("grads dimensions must be positive");
  }
  for (const int32_t i : index.flat<int32_t>()) {
    if (i >= 0 && i < batch) continue;
    return OutOfRangeError(
        StrCat("box_ind has values outside [0, batch_size): ", i, " of ", batch));
  }
  return OkStatus();
}

// fn(y, x, i, j, grad) for every pixel of a crop that lies in the image.
template <typename Fn>
void ForCrop(const Tensor& grads, const Tensor& boxes, int64_t b, const Pixels& image,
             const Fn& fn) {
  const float* box = boxes.flat<float>().data() + 4 * b;
  const int64_t rows = grads.dim(1), columns = grads.dim(2);
  const CropAxis vertical(box[0], box[2], image.height, rows);
  const CropAxis horizontal(box[1], box[3], image.width, columns);
  const float* grad = grads.flat<float>().data() + b * rows * columns * image.channels;
  for (int64_t i = 0; i < rows; ++i) {
    const float y = vertical.At(i);
    for (int64_t j = 0; j < columns; ++j, grad += image.channels) {
      const float x = horizontal.At(j);
      if (InImage(y, image.height) && InImage(x, image.width)) fn(y, x, i, j, grad);
    }
  }
}

template <typename T>
void AddScaled(const float* grad, float scale, int64_t n, T* to) {
  for (int64_t c = 0; c < n; ++c) {
    to[c] = T(static_cast<WideOf<T>>(Widen(to[c]) + static_cast<WideOf<T>>(scale * grad[c])));
  }
}

template <typename T>
void Spread(const Pixels& image, float y, float x, const float* grad, bool bilinear, T* to) {
  const int64_t n = image.channels;
  if (!bilinear) return AddScaled(grad, 1, n, to + image.At(std::round(y), std::round(x)));
  const float top = std::floor(y), left = std::floor(x), bottom = std::ceil(y),
              right = std::ceil(x);
  const float dy = y - top, dx = x - left;
  AddScaled(grad, (1 - dy) * (1 - dx), n, to + image.At(top, left));
  AddScaled(grad, (1 - dy) * dx, n, to + image.At(top, right));
  AddScaled(grad, dy * (1 - dx), n, to + image.At(bottom, left));
  AddScaled(grad, dy * dx, n, to + image.At(bottom, right));
}

// Inputs grads, boxes, box_ind, image_size.
StatusOr<KernelFn> BindByImage(const BindContext& bind) {
  const bool bilinear = AttrOr<std::string>(*bind.node, "method", "bilinear") == "bilinear";
  return KernelFn([bilinear](KernelContext& c) -> Status {
    const Tensor &grads = c.input(0), &boxes = c.input(1), &index = c.input(2);
    ASSIGN_OR_RETURN(const Shape shape, ReadShape(c.input(3), "image_size"));
    if (shape.rank() != 4 || shape.dim(1) <= 0 || shape.dim(2) <= 0) {
      return InvalidArgumentError(StrCat(
          "image_size must be four sizes, height and width positive, not ", shape.ToString()));
    }
    RETURN_IF_ERROR(CheckBoxes(grads, boxes, index, shape.dim(0)));
    if (grads.dim(3) != shape.dim(3)) {
      return InvalidArgumentError(
          StrCat("image_size has ", shape.dim(3), " channels, grads has ", grads.dim(3)));
    }
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    const Pixels image = {shape.dim(1), shape.dim(2), shape.dim(3)};
    SwitchType<int>(TypeList<float, double, Half>{}, out->dtype(), [&]<typename T>() {
      T* to = out->flat<T>().data();
      std::fill_n(to, out->num_elements(), T(0));
      for (int64_t b = 0; b < grads.dim(0); ++b) {
        T* mine = to + index.flat<int32_t>()[static_cast<size_t>(b)] * image.height * image.width *
                           image.channels;
        ForCrop(grads, boxes, b, image, [&](float y, float x, int64_t, int64_t, const float* grad) {
          Spread(image, y, x, grad, bilinear, mine);
        });
      }
      return 0;
    });
    return OkStatus();
  });
}

// How the place of output i of `size` depends on the ends of the box.
struct Ends {
  float low, high;
  Ends(int64_t i, int64_t size, int64_t input) {
    const auto span = static_cast<float>(input - 1);
    high = size > 1 ? static_cast<float>(i) * span / static_cast<float>(size - 1) : 0.5f * span;
    low = size > 1 ? span - high : high;
  }
};

template <typename T>
void ByBox(const Pixels& image, const T* from, const Tensor& grads, const Tensor& boxes, int64_t b,
           float* to) {
  ForCrop(grads, boxes, b, image, [&](float y, float x, int64_t i, int64_t j, const float* grad) {
    const float top = std::floor(y), left = std::floor(x), bottom = std::ceil(y),
                right = std::ceil(x);
    const float dy = y - top, dx = x - left;
    const T *tl = from + image.At(top, left), *tr = from + image.At(top, right);
    const T *bl = from + image.At(bottom, left), *br = from + image.At(bottom, right);
    float by_y = 0, by_x = 0;
    for (int64_t c = 0; c < image.channels; ++c) {
      const auto v = [c](const T* at) { return static_cast<float>(at[c]); };
      by_y += grad[c] * ((1 - dx) * (v(bl) - v(tl)) + dx * (v(br) - v(tr)));
      by_x += grad[c] * ((1 - dy) * (v(tr) - v(tl)) + dy * (v(br) - v(bl)));
    }
    const Ends rows(i, grads.dim(1), image.height), columns(j, grads.dim(2), image.width);
    to[0] += by_y * rows.low;
    to[1] += by_x * columns.low;
    to[2] += by_y * rows.high;
    to[3] += by_x * columns.high;
  });
}

using ImageTypes =
    TypeList<float, double, Half, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>;

// Inputs grads, image, boxes, box_ind.
StatusOr<KernelFn> BindByBoxes(const BindContext&) {
  return KernelFn([](KernelContext& c) -> Status {
    const Tensor &grads = c.input(0), &image = c.input(1), &boxes = c.input(2), &index = c.input(3);
    RETURN_IF_ERROR(CheckRank(image, 4, "input image"));
    RETURN_IF_ERROR(CheckBoxes(grads, boxes, index, image.dim(0)));
    if (image.dim(1) <= 0 || image.dim(2) <= 0 || image.dim(3) != grads.dim(3)) {
      return InvalidArgumentError(StrCat("image ", image.shape().ToString(), " does not fit grads ",
                                         grads.shape().ToString()));
    }
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, boxes.shape()));
    float* to = out->flat<float>().data();
    std::fill_n(to, out->num_elements(), 0.0f);
    const Pixels pixels = {image.dim(1), image.dim(2), image.dim(3)};
    SwitchType<int>(ImageTypes{}, image.dtype(), [&]<typename T>() {
      for (int64_t b = 0; b < grads.dim(0); ++b) {
        const int64_t n = index.flat<int32_t>()[static_cast<size_t>(b)];
        ByBox(pixels, image.flat<T>().data() + n * pixels.height * pixels.width * pixels.channels,
              grads, boxes, b, to + 4 * b);
      }
      return 0;
    });
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> CropGradientKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"CropAndResizeGradBoxes", BindByBoxes, ImageTypes::DTypes()},
      {"CropAndResizeGradImage", BindByImage, {DType::kHalf, DType::kFloat, DType::kDouble}},
  });
  return table;
}

}  // namespace slipway::kernels
