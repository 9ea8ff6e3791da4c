// SPDX-License-Identifier: Apache-2.0
//
// Colours of images: contrast, hue, saturation, RGB and HSV; and boxes drawn on them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename A>
struct Colour {
  A x, y, z;  // red, green, blue; or hue, saturation, value
};

// Hue in sixths of the circle, [0, 6), from the colour with its largest and smallest part.
template <typename A>
A HueOf(const Colour<A>& c, A most, A least) {
  const A range = most - least;
  if (!(range > 0)) return 0;
  A hue = c.x == most ? (c.y - c.z) / range
                      : (c.y == most ? (c.z - c.x) / range + 2 : (c.x - c.y) / range + 4);
  return hue < 0 ? hue + 6 : hue;
}

template <typename A>
Colour<A> ToHsv(const Colour<A>& c) {
  const A most = std::max({c.x, c.y, c.z}), least = std::min({c.x, c.y, c.z});
  return {HueOf(c, most, least) / 6, most > 0 ? (most - least) / most : A{0}, most};
}

template <typename A>
Colour<A> ToRgb(const Colour<A>& c) {
  const A hue = c.x * 6;
  const auto part = [&](A p) { return ((1 - c.y) + c.y * std::clamp<A>(p, 0, 1)) * c.z; };
  return {part(std::abs(hue - 3) - 1), part(2 - std::abs(hue - 2)), part(2 - std::abs(hue - 4))};
}

// `delta` in turns of the circle; the largest and smallest part stay.
Colour<float> TurnHue(const Colour<float>& c, float delta) {
  const float most = std::max({c.x, c.y, c.z}), least = std::min({c.x, c.y, c.z});
  float hue = std::fmod(HueOf(c, most, least) + delta * 6, 6.0f);
  if (hue < 0) hue += 6;
  const int sixth = std::clamp(static_cast<int>(hue), 0, 5);
  const float part = hue - static_cast<float>(sixth);
  const float between = least + (sixth % 2 == 1 ? 1 - part : part) * (most - least);
  switch (sixth) {
    case 0:
      return {most, between, least};
    case 1:
      return {between, most, least};
    case 2:
      return {least, most, between};
    case 3:
      return {least, between, most};
    case 4:
      return {between, least, most};
    default:
      return {most, least, between};
  }
}

Colour<float> ScaleSaturation(const Colour<float>& c, float scale) {
  Colour<float> hsv = ToHsv(c);
  hsv.y = std::clamp(hsv.y * scale, 0.0f, 1.0f);
  return ToRgb(hsv);
}

template <typename T, typename Fn>
void ForColours(ThreadPool& pool, const Tensor& in, Tensor* out, Fn&& fn) {
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const T* x = in.flat<T>().data();
  T* y = out->flat<T>().data();
  pool.ParallelFor(in.num_elements() / 3, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      const Colour<A> c =
          fn(Colour<A>{static_cast<A>(x[i]), static_cast<A>(x[i + 1]), static_cast<A>(x[i + 2])});
      y[i] = T(c.x);
      y[i + 1] = T(c.y);
      y[i + 2] = T(c.z);
    }
  });
}

template <bool kToHsv>
StatusOr<KernelFn> BindConvert(const BindContext&) {
  return KernelFn([](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    if (x.rank() < 1) {
      return InvalidArgumentError(StrCat("input must be at least 1D", x.shape().ToString()));
    }
    if (x.dim(x.rank() - 1) != 3) {
      return FailedPreconditionError(StrCat("input must have 3 channels but input only has ",
                                            x.dim(x.rank() - 1), " channels."));
    }
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    SwitchType<int>(Floats{}, x.dtype(), [&]<typename T>() {
      ForColours<T>(ctx.intra_op(), x, y,
                    [](const auto& c) { return kToHsv ? ToHsv(c) : ToRgb(c); });
      return 0;
    });
    return OkStatus();
  });
}

Status CheckImages(const Tensor& images, const Tensor& factor, std::string_view what) {
  if (images.rank() < 3) {
    return InvalidArgumentError(
        StrCat("input must be at least 3-D, got shape", images.shape().ToString()));
  }
  if (factor.rank() == 0) return OkStatus();
  return InvalidArgumentError(StrCat(what, " must be scalar: ", factor.shape().ToString()));
}

template <bool kHue>
StatusOr<KernelFn> BindAdjust(const BindContext&) {
  return KernelFn([](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    RETURN_IF_ERROR(CheckImages(x, ctx.input(1), kHue ? "delta" : "scale"));
    const int64_t channels = x.dim(x.rank() - 1);
    if (channels != 3) {
      return InvalidArgumentError(
          StrCat("input must have 3 channels but instead has ", channels, " channels."));
    }
    const float by = ctx.input(1).scalar<float>();
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    SwitchType<int>(TypeList<float, Half>{}, x.dtype(), [&]<typename T>() {
      ForColours<T>(ctx.intra_op(), x, y, [by](const Colour<float>& c) {
        return kHue ? TurnHue(c, by) : ScaleSaturation(c, by);
      });
      return 0;
    });
    return OkStatus();
  });
}

// One image: each channel away from its mean, or towards it.
template <typename T>
void AdjustContrast(const T* x, int64_t pixels, int64_t channels, float factor, T* y) {
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (int64_t i = c; i < pixels * channels; i += channels) {
      sum += static_cast<double>(static_cast<float>(x[i]));
    }
    const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
    for (int64_t i = c; i < pixels * channels; i += channels) {
      y[i] = T((static_cast<float>(x[i]) - mean) * factor + mean);
    }
  }
}

StatusOr<KernelFn> BindAdjustContrast(const BindContext&) {
  return KernelFn([](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    RETURN_IF_ERROR(CheckImages(x, ctx.input(1), "contrast_factor"));
    const float factor = ctx.input(1).scalar<float>();
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    if (x.num_elements() == 0) return OkStatus();
    const int64_t channels = x.dim(x.rank() - 1);
    const int64_t pixels = x.dim(x.rank() - 3) * x.dim(x.rank() - 2), size = pixels * channels;
    SwitchType<int>(TypeList<float, Half>{}, x.dtype(), [&]<typename T>() {
      ctx.intra_op().ParallelFor(x.num_elements() / size, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          AdjustContrast(x.flat<T>().data() + i * size, pixels, channels, factor,
                         y->flat<T>().data() + i * size);
        }
      });
      return 0;
    });
    return OkStatus();
  });
}

using Rgba = std::array<float, 4>;

std::vector<Rgba> DefaultColours(int64_t channels) {
  std::vector<Rgba> colours = {
      {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
      {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};
  for (Rgba& c : colours) {
    if (channels == 1) c[0] = 1;
  }
  return colours;
}

StatusOr<std::vector<Rgba>> ReadColours(const Tensor& colours, int64_t channels) {
  if (colours.rank() != 2) {
    return InvalidArgumentError(StrCat("colors must be a 2-D matrix", colours.shape().ToString()));
  }
  if (colours.dim(0) == 0) return DefaultColours(channels);
  if (colours.dim(1) < channels) {
    return InvalidArgumentError(
        StrCat("colors must have equal or more channels than the image "
               "provided: ",
               colours.dim(1), " vs ", channels));
  }
  std::vector<Rgba> table(static_cast<size_t>(colours.dim(0)));
  const auto n = static_cast<size_t>(colours.dim(1));
  for (size_t i = 0; i < table.size(); ++i) {
    for (size_t k = 0; k < std::min<size_t>(4, n); ++k) {
      table[i][k] = colours.flat<float>()[i * n + k];
    }
  }
  return table;
}

template <typename T>
struct Canvas {
  T* image;
  int64_t height, width, channels;

  void Fill(int64_t top, int64_t bottom, int64_t left, int64_t right, const Rgba& colour) const {
    for (int64_t r = top; r <= bottom; ++r) {
      for (int64_t c = left; c <= right; ++c) {
        for (int64_t k = 0; k < channels; ++k) {
          image[(r * width + c) * channels + k] = T(colour[static_cast<size_t>(k)]);
        }
      }
    }
  }

  // [top, left, bottom, right] as parts of the image; lines outside are left out.
  void Draw(const float* box, const Rgba& colour) const {
    std::array<int64_t, 4> at{};
    for (size_t i = 0; i < 4; ++i) {
      const float place = box[i] * static_cast<float>((i % 2 == 0 ? height : width) - 1);
      if (!(std::abs(place) < 1e15f)) return;
      at[i] = static_cast<int64_t>(place);
    }
    const auto [top, left, bottom, right] = at;
    if (top > bottom || left > right || top >= height || bottom < 0 || left >= width || right < 0) {
      return;
    }
    const int64_t t = std::max<int64_t>(top, 0), b = std::min(bottom, height - 1);
    const int64_t l = std::max<int64_t>(left, 0), r = std::min(right, width - 1);
    if (top >= 0) Fill(top, top, l, r, colour);
    if (bottom < height) Fill(bottom, bottom, l, r, colour);
    if (left >= 0) Fill(t, b, left, left, colour);
    if (right < width) Fill(t, b, right, right, colour);
  }
};

Status CheckBoxes(const Tensor& x, const Tensor& boxes) {
  if (x.rank() != 4) {
    return InvalidArgumentError("The rank of the images should be 4");
  }
  if (x.dim(3) != 1 && x.dim(3) != 3 && x.dim(3) != 4) {
    return InvalidArgumentError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  }
  if (boxes.rank() == 3 && boxes.dim(0) == x.dim(0) && boxes.dim(2) == 4) return OkStatus();
  return InvalidArgumentError(StrCat("The boxes tensor must have shape [batch, num_boxes, 4], not ",
                                     boxes.shape().ToString(), " for images ",
                                     x.shape().ToString()));
}

StatusOr<KernelFn> BindDrawBoxes(const BindContext&) {
  return KernelFn([](KernelContext& ctx) -> Status {
    const Tensor &x = ctx.input(0), &boxes = ctx.input(1);
    RETURN_IF_ERROR(CheckBoxes(x, boxes));
    std::vector<Rgba> colours = DefaultColours(x.dim(3));
    if (ctx.num_inputs() > 2) {
      ASSIGN_OR_RETURN(colours, ReadColours(ctx.input(2), x.dim(3)));
    }
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    if (x.num_elements() == 0) return OkStatus();
    std::memcpy(y->raw_data(), x.raw_data(), x.byte_size());
    SwitchType<int>(TypeList<float, Half>{}, x.dtype(), [&]<typename T>() {
      const float* box = boxes.flat<float>().data();
      for (int64_t n = 0; n < x.dim(0); ++n) {
        const int64_t size = x.dim(1) * x.dim(2) * x.dim(3);
        const Canvas<T> canvas = {y->flat<T>().data() + n * size, x.dim(1), x.dim(2), x.dim(3)};
        for (int64_t i = 0; i < boxes.dim(1); ++i, box += 4) {
          canvas.Draw(box, colours[static_cast<size_t>(i) % colours.size()]);
        }
      }
      return 0;
    });
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> ColourKernels() {
  const std::vector<DType> types = {DType::kFloat, DType::kHalf};
  static const std::vector<KernelDef> table = MakeKernels({
      {"AdjustContrastv2", BindAdjustContrast, types},
      {"AdjustHue", BindAdjust<true>, types},
      {"AdjustSaturation", BindAdjust<false>, types},
      {"DrawBoundingBoxes", BindDrawBoxes, types},
      {"DrawBoundingBoxesV2", BindDrawBoxes, types},
      {"HSVToRGB", BindConvert<false>, FloatTypes()},
      {"RGBToHSV", BindConvert<true>, FloatTypes()},
  });
  return table;
}

}  // namespace slipway::kernels
