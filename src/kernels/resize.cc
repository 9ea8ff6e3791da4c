// SPDX-License-Identifier: Apache-2.0
//
// Resizing of images, and ScaleAndTranslate.
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/resample.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using ImageTypes =
    TypeList<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>;

// [height, width] that images are resized to.
StatusOr<IntVec> ReadSize(const Tensor& size) {
  ASSIGN_OR_RETURN(IntVec sizes, ReadIntVector(size, "size"));
  if (sizes.size() != 2) {
    return InvalidArgumentError(StrCat("shape_t must have two elements ", size.shape().ToString()));
  }
  if (sizes[0] > 0 && sizes[1] > 0) return sizes;
  return InvalidArgumentError(
      StrCat("output dimensions must be positive, but are ", sizes[0], " and ", sizes[1]));
}

StatusOr<Shape> ResizedShape(const Tensor& images, const IntVec& size) {
  if (images.rank() != 4) {
    return InvalidArgumentError(StrCat("input must be 4-dimensional", images.shape().ToString()));
  }
  if (images.dim(1) <= 0 || images.dim(2) <= 0) {
    return InvalidArgumentError(
        StrCat("input image must be of non-zero size, but has shape ", images.shape().ToString()));
  }
  if (images.dim(3) <= 0) {
    return InvalidArgumentError(
        StrCat("image must have at least one channel, but has shape ", images.shape().ToString()));
  }
  const int64_t dims[] = {images.dim(0), size[0], size[1], images.dim(3)};
  return Shape::FromDims(dims);
}

// The output of an op with images and a size.
StatusOr<Tensor*> AllocateResized(KernelContext& ctx) {
  ASSIGN_OR_RETURN(const IntVec size, ReadSize(ctx.input(1)));
  ASSIGN_OR_RETURN(const Shape shape, ResizedShape(ctx.input(0), size));
  return ctx.AllocateOutput(0, shape);
}

enum class Method : uint8_t { kBilinear, kBicubic, kArea };

struct ResizeSpec {
  Method method = Method::kBilinear;
  bool align_corners = false, half_pixel = false;

  TapTable Taps(int64_t input, int64_t output) const {
    const ResizeScale scale = MakeResizeScale(input, output, align_corners, half_pixel);
    switch (method) {
      case Method::kBilinear:
        return BilinearTaps(input, output, scale);
      case Method::kBicubic:
        return BicubicTaps(input, output, scale);
      case Method::kArea:
        return AreaTaps(input, output, scale.scale);
    }
    return {};
  }
};

StatusOr<ResizeSpec> ReadSpec(const ir::Node& node) {
  ResizeSpec spec;
  if (node.op() == "ResizeBicubic") spec.method = Method::kBicubic;
  if (node.op() == "ResizeArea") spec.method = Method::kArea;
  spec.align_corners = BoolAttr(node, "align_corners");
  spec.half_pixel = BoolAttr(node, "half_pixel_centers");
  if (spec.align_corners && spec.half_pixel) {
    return InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.");
  }
  return spec;
}

StatusOr<KernelFn> BindResize(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ResizeSpec spec, ReadSpec(*bind.node));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    const Tensor& images = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, AllocateResized(ctx));
    if (out->num_elements() == 0) return OkStatus();
    return Resample(ctx, images, spec.Taps(images.dim(1), out->dim(1)),
                    spec.Taps(images.dim(2), out->dim(2)), out);
  });
}

void ResizeNearest(ThreadPool& pool, const ResizeSpec& spec, const Tensor& images, Tensor* out) {
  const int64_t height = out->dim(1), width = out->dim(2);
  const auto rows = NearestPlaces(images.dim(1), height, spec.align_corners, spec.half_pixel);
  const auto columns = NearestPlaces(images.dim(2), width, spec.align_corners, spec.half_pixel);
  const auto pixel = static_cast<size_t>(images.dim(3)) * DTypeSize(images.dtype());
  const size_t line = static_cast<size_t>(images.dim(2)) * pixel;
  const int64_t grain = std::max<int64_t>(1, 4096 / width);
  pool.ParallelFor(out->dim(0) * height, grain, [&](int64_t begin, int64_t end) {
    auto* to = static_cast<char*>(out->raw_data()) + static_cast<size_t>(begin * width) * pixel;
    for (int64_t r = begin; r < end; ++r) {
      const int64_t row = r / height * images.dim(1) + rows[static_cast<size_t>(r % height)];
      const char* from =
          static_cast<const char*>(images.raw_data()) + static_cast<size_t>(row) * line;
      for (int64_t place : columns) {
        std::memcpy(to, from + static_cast<size_t>(place) * pixel, pixel);
        to += pixel;
      }
    }
  });
}

StatusOr<KernelFn> BindResizeNearest(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ResizeSpec spec, ReadSpec(*bind.node));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Tensor * out, AllocateResized(ctx));
    if (out->num_elements() > 0) ResizeNearest(ctx.intra_op(), spec, ctx.input(0), out);
    return OkStatus();
  });
}

// A sampling kernel of ScaleAndTranslate: radius, and weight at a distance.
struct SampleKernel {
  float radius;
  float (*weight)(float x, float radius);
};

float Lanczos(float x, float radius) {
  constexpr float kPi = std::numbers::pi_v<float>;
  x = std::abs(x);
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}
float Gaussian(float x, float radius) {
  x = std::abs(x);
  const float sigma = radius / 3;
  return x >= radius ? 0 : std::exp(-x * x / (2 * sigma * sigma));
}
float Box(float x, float) {
  x = std::abs(x);
  return x < 0.5f ? 1 : x == 0.5f ? 0.5f : 0;
}
float Triangle(float x, float) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}
float KeysCubic(float x, float) {
  x = std::abs(x);
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
}
float MitchellCubic(float x, float) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.0f / 18) * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  return ((7.0f / 6) * x - 2) * x * x + 8.0f / 9;
}

StatusOr<SampleKernel> KernelNamed(const std::string& name) {
  static constexpr std::pair<std::string_view, SampleKernel> kKernels[] = {
      {"lanczos1", {1, Lanczos}},
      {"lanczos3", {3, Lanczos}},
      {"lanczos5", {5, Lanczos}},
      {"gaussian", {1.5f, Gaussian}},
      {"box", {1, Box}},
      {"triangle", {1, Triangle}},
      {"keyscubic", {2, KeysCubic}},
      {"mitchellcubic", {2, MitchellCubic}},
  };
  for (const auto& [known, kernel] : kKernels) {
    if (known == name) return kernel;
  }
  return InvalidArgumentError(StrCat("Unrecognized kernel type: ", name));
}

TapTable SampleTaps(const SampleKernel& kernel, int64_t input, int64_t output, float scale,
                    float translate, bool antialias) {
  const float inverse = 1 / scale, shift = -inverse * translate;
  const float wide = antialias ? std::max(inverse, 1.0f) : 1.0f;
  const auto limit = static_cast<float>(input);
  TapTable table;
  for (int64_t o = 0; o < output; ++o) {
    const float at = (static_cast<float>(o) + 0.5f) * inverse + shift;
    if (at >= 0 && at <= limit) {  // else nothing is sampled
      const float reach = std::min(kernel.radius * wide, 2 * limit);
      const auto place = [&](float x) {
        return std::clamp<int64_t>(static_cast<int64_t>(x), 0, input - 1);
      };
      const int64_t begin = place(std::ceil(at - reach - 0.5f));
      const int64_t end = place(std::floor(at + reach - 0.5f)) + 1;
      float sum = 0;
      const size_t first = table.taps.size();
      for (int64_t i = begin; i < end; ++i) {
        const float weight =
            kernel.weight((static_cast<float>(i) + 0.5f - at) / wide, kernel.radius);
        table.Add(i, weight);
        sum += weight;
      }
      const bool normal = std::abs(sum) >= 1000 * std::numeric_limits<float>::min();
      for (size_t t = first; t < table.taps.size() && normal; ++t) table.taps[t].weight /= sum;
    }
    table.EndOutput();
  }
  return table;
}

StatusOr<KernelFn> BindScaleAndTranslate(const BindContext& bind) {
  ASSIGN_OR_RETURN(const SampleKernel kernel,
                   KernelNamed(AttrOr<std::string>(*bind.node, "kernel_type", "lanczos3")));
  const bool antialias = BoolAttr(*bind.node, "antialias", true);
  return KernelFn([=](KernelContext& ctx) -> Status {
    const Tensor& images = ctx.input(0);
    ASSIGN_OR_RETURN(const IntVec size, ReadSize(ctx.input(1)));
    ASSIGN_OR_RETURN(const Shape shape, ResizedShape(images, size));
    for (int i = 2; i <= 3; ++i) {
      if (ctx.input(i).shape() == Shape({2})) continue;
      return InvalidArgumentError(StrCat(i == 2 ? "scale" : "translation",
                                         " must have two elements, but has shape ",
                                         ctx.input(i).shape().ToString()));
    }
    const float* scale = ctx.input(2).flat<float>().data();
    const float* translation = ctx.input(3).flat<float>().data();
    if (!(scale[0] > 0) || !(scale[1] > 0)) {
      return InvalidArgumentError(
          StrCat("scale must be greater than zero, but is ", scale[0], " and ", scale[1]));
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    const auto taps = [&](int i) {
      return SampleTaps(kernel, images.dim(i + 1), size[static_cast<size_t>(i)], scale[i],
                        translation[i], antialias);
    };
    return Resample(ctx, images, taps(0), taps(1), out);
  });
}

}  // namespace

std::span<const KernelDef> ResizeKernels() {
  const std::vector<DType> types = ImageTypes::DTypes();
  static const std::vector<KernelDef> table = MakeKernels({
      {"ResizeArea", BindResize, types, "T", {}, {}, true},
      {"ResizeBicubic", BindResize, types, "T", {}, {}, true},
      {"ResizeBilinear", BindResize, types, "T", {}, {}, true},
      {"ResizeNearestNeighbor", BindResizeNearest, types, "T", {}, {}, true},
      {"ScaleAndTranslate", BindScaleAndTranslate, types, "T", {}, {}, true},
  });
  return table;
}

}  // namespace slipway::kernels
