// SPDX-License-Identifier: Apache-2.0
//
// Ops on image files. As in TensorFlow a decoder takes other formats than that of its name.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "wire/image/image.h"

namespace slipway::kernels {
namespace {

StatusOr<std::string_view> ReadContents(const KernelContext& ctx, std::string_view complaint) {
  const Tensor& contents = ctx.input(0);
  if (contents.rank() != 0) {
    return InvalidArgumentError(StrCat(complaint, contents.shape().ToString()));
  }
  return std::string_view(contents.scalar<std::string>());
}

struct DecodeSpec {
  std::string op;
  int channels = 0;
  DType dtype = DType::kUInt8;
  bool animations = true;
  JpegDecodeOptions jpeg;
};

StatusOr<DecodeSpec> ReadDecodeSpec(const ir::Node& node) {
  DecodeSpec spec;
  spec.op = node.op();
  const int64_t channels = IntAttr(node, "channels", 0);
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) {
    return InvalidArgumentError(StrCat("`channels` must be 0, 1, 3 or 4 but got ", channels));
  }
  spec.channels = static_cast<int>(channels);
  spec.dtype = AttrOr<DType>(node, "dtype", DType::kUInt8);
  spec.animations = BoolAttr(node, "expand_animations", true);
  const int64_t ratio = IntAttr(node, "ratio", 1);
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) {
    return InvalidArgumentError(StrCat("ratio must be 1, 2, 4, or 8, got ", ratio));
  }
  const std::string dct = AttrOr<std::string>(node, "dct_method", "");
  if (!dct.empty() && dct != "INTEGER_FAST" && dct != "INTEGER_ACCURATE") {
    return InvalidArgumentError(
        StrCat("dct_method must be one of {'', 'INTEGER_FAST', "
               "'INTEGER_ACCURATE'}, got '",
               dct, "'"));
  }
  spec.jpeg.channels = spec.channels;
  spec.jpeg.ratio = static_cast<int>(ratio);
  spec.jpeg.fancy_upscaling = BoolAttr(node, "fancy_upscaling", true);
  spec.jpeg.try_recover_truncated = BoolAttr(node, "try_recover_truncated");
  spec.jpeg.acceptable_fraction = AttrOr<float>(node, "acceptable_fraction", 1);
  spec.jpeg.fast_dct = dct != "INTEGER_ACCURATE";
  return spec;
}

Status CheckChannels(const DecodeSpec& spec, ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      if (spec.channels != 4) return OkStatus();
      return InvalidArgumentError("JPEG does not support 4 channels");
    case ImageFormat::kGif:
      if (spec.channels == 0 || spec.channels == 3) return OkStatus();
      return InvalidArgumentError(StrCat("channels must be 0 or 3 for GIF, got ", spec.channels));
    case ImageFormat::kBmp:
      if (spec.channels != 1) return OkStatus();
      return InvalidArgumentError("`channels` must be 0, 3 or 4 for BMP, but got 1");
    default:
      return OkStatus();
  }
}

// All decoders but that of BMP files take all formats but BMP.
Status CheckFormat(const DecodeSpec& spec, ImageFormat format) {
  if (format == ImageFormat::kUnknown) {
    return InvalidArgumentError("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
  }
  if (spec.op == "DecodeAndCropJpeg" && format != ImageFormat::kJpeg) {
    return InvalidArgumentError(
        StrCat("DecodeAndCropJpeg operation can run on JPEG only, but detected ",
               ImageFormatName(format), "."));
  }
  RETURN_IF_ERROR(CheckChannels(spec, format));
  const bool bmp = format == ImageFormat::kBmp, bmp_op = spec.op == "DecodeBmp";
  if (bmp == bmp_op || (bmp && spec.op == "DecodeImage")) return OkStatus();
  if (!bmp && !bmp_op) return OkStatus();
  if (bmp) {
    return InvalidArgumentError(
        StrCat("Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` "
               "instead. Op used: ",
               spec.op));
  }
  std::string name(ImageFormatName(format));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  return InvalidArgumentError(StrCat("Trying to decode ", ImageFormatName(format),
                                     " format using DecodeBmp op. Use `decode_", name,
                                     "` or `decode_image` instead."));
}

StatusOr<Tensor> DecodeFrames(const DecodeSpec& spec, std::string_view file) {
  if (spec.op == "DecodeGif") return DecodeGif(file, /*all_frames=*/true);
  if (spec.op == "DecodeImage") return DecodeGif(file, spec.animations);
  ASSIGN_OR_RETURN(Tensor frames, DecodeGif(file, /*all_frames=*/true));
  if (frames.dim(0) == 1) {
    return frames.Reshaped(Shape({frames.dim(1), frames.dim(2), frames.dim(3)}));
  }
  return InvalidArgumentError(StrCat("Got ", frames.dim(0),
                                     " frames, but animated gifs can only be decoded by "
                                     "tf.io.decode_gif or tf.io.decode_image"));
}

StatusOr<Tensor> DecodePixels(const DecodeSpec& spec, std::string_view file) {
  if (file.empty()) return InvalidArgumentError("Input is empty.");
  const ImageFormat format = DetectImageFormat(file);
  RETURN_IF_ERROR(CheckFormat(spec, format));
  // The result has room for three channels.
  const int channels = spec.op == "DecodeGif" ? 3 : spec.channels;
  switch (format) {
    case ImageFormat::kJpeg: {
      JpegDecodeOptions jpeg = spec.jpeg;
      jpeg.channels = channels;
      return DecodeJpeg(file, jpeg);
    }
    case ImageFormat::kPng:
      return DecodePng(file, channels,
                       spec.dtype == DType::kUInt8 ? DType::kUInt8 : DType::kUInt16);
    case ImageFormat::kGif:
      return DecodeFrames(spec, file);
    default:
      return DecodeBmp(file, channels);
  }
}

// Pixels of one type as another: bytes to the upper half of 16 bits, integers to [0, 1].
StatusOr<Tensor> ConvertPixels(Tensor pixels, DType dtype) {
  if (pixels.dtype() == dtype) return pixels;
  ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(dtype, pixels.shape()));
  for (size_t i = 0; i < static_cast<size_t>(out.num_elements()); ++i) {
    if (dtype == DType::kUInt16) {
      out.flat<uint16_t>()[i] = static_cast<uint16_t>(pixels.flat<uint8_t>()[i] << 8);
    } else if (pixels.dtype() == DType::kUInt16) {
      out.flat<float>()[i] = static_cast<float>(pixels.flat<uint16_t>()[i]) / 65535.0f;
    } else {
      out.flat<float>()[i] = static_cast<float>(pixels.flat<uint8_t>()[i]) / 255.0f;
    }
  }
  return out;
}

Status ReadWindow(const Tensor& tensor, JpegDecodeOptions* jpeg) {
  if (tensor.rank() != 1) {
    return InvalidArgumentError(
        StrCat("crop_window must be 1-D, got shape ", tensor.shape().ToString()));
  }
  ASSIGN_OR_RETURN(const IntVec window, ReadIntVector(tensor, "crop_window"));
  if (window.size() != 4) {
    return InvalidArgumentError(
        StrCat("crop_size must have four elements ", tensor.shape().ToString()));
  }
  jpeg->crop = true;
  jpeg->crop_y = window[0];
  jpeg->crop_x = window[1];
  jpeg->crop_height = window[2];
  jpeg->crop_width = window[3];
  return OkStatus();
}

StatusOr<KernelFn> BindDecode(const BindContext& bind) {
  ASSIGN_OR_RETURN(const DecodeSpec fixed, ReadDecodeSpec(*bind.node));
  return KernelFn([fixed](KernelContext& ctx) -> Status {
    DecodeSpec spec = fixed;
    ASSIGN_OR_RETURN(const std::string_view file,
                     ReadContents(ctx, "`contents` must be scalar but got shape"));
    if (spec.op == "DecodeAndCropJpeg") {
      RETURN_IF_ERROR(ReadWindow(ctx.input(1), &spec.jpeg));
    }
    ASSIGN_OR_RETURN(Tensor image, DecodePixels(spec, file));
    ASSIGN_OR_RETURN(image, ConvertPixels(std::move(image), spec.dtype));
    if (spec.op == "DecodeGif" && image.rank() == 3) {
      image = image.Reshaped(Shape({1, image.dim(0), image.dim(1), image.dim(2)}));
    }
    ctx.SetOutput(0, std::move(image));
    return OkStatus();
  });
}

StatusOr<KernelFn> BindJpegShape(const BindContext&) {
  return KernelFn([](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const std::string_view file,
                     ReadContents(ctx, "contents must be scalar, got shape "));
    ASSIGN_OR_RETURN(const JpegShape shape, ReadJpegShape(file));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({3})));
    const int sizes[] = {shape.height, shape.width, shape.channels};
    for (size_t i = 0; i < 3; ++i) {
      if (out->dtype() == DType::kInt32) {
        out->flat<int32_t>()[i] = sizes[i];
      } else {
        out->flat<int64_t>()[i] = sizes[i];
      }
    }
    return OkStatus();
  });
}

Status SetContents(KernelContext& ctx, const Shape& shape, std::vector<std::string> files) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  std::move(files.begin(), files.end(), out->flat<std::string>().begin());
  return OkStatus();
}

Status CheckJpegImage(const Tensor& image, const std::string& format) {
  if (image.rank() != 3) {
    return InvalidArgumentError(StrCat("image must be 3-dimensional", image.shape().ToString()));
  }
  const int64_t channels = image.dim(2);
  if (format.empty() && (channels == 1 || channels == 3)) return OkStatus();
  if (format.empty()) {
    return InvalidArgumentError(
        StrCat("image must have 1 or 3 channels, got ", image.shape().ToString()));
  }
  const int64_t wanted = format == "rgb" ? 3 : 1;
  if (channels == wanted) return OkStatus();
  return InvalidArgumentError(
      StrCat("format ", format, " expects ", wanted, " channels, got ", image.shape().ToString()));
}

Status ReadQuality(int64_t quality, JpegEncodeOptions* options) {
  if (quality < 0 || quality > 100) {
    return InvalidArgumentError(StrCat("quality must be in [0,100], got ", quality));
  }
  options->quality = static_cast<int>(quality);
  return OkStatus();
}

StatusOr<KernelFn> BindEncodeJpegVariableQuality(const BindContext&) {
  return KernelFn([](KernelContext& ctx) -> Status {
    RETURN_IF_ERROR(CheckJpegImage(ctx.input(0), ""));
    if (ctx.input(1).rank() != 0) {
      return InvalidArgumentError(
          StrCat("quality must be scalar: ", ctx.input(1).shape().ToString()));
    }
    JpegEncodeOptions options;
    RETURN_IF_ERROR(ReadQuality(ctx.input(1).scalar<int32_t>(), &options));
    ASSIGN_OR_RETURN(std::string file, EncodeJpeg(ctx.input(0), options));
    return SetContents(ctx, Shape(), {std::move(file)});
  });
}

StatusOr<KernelFn> BindEncodeJpeg(const BindContext& bind) {
  const ir::Node& node = *bind.node;
  JpegEncodeOptions options;
  RETURN_IF_ERROR(ReadQuality(IntAttr(node, "quality", 95), &options));
  options.progressive = BoolAttr(node, "progressive");
  options.optimize_size = BoolAttr(node, "optimize_size");
  options.chroma_downsampling = BoolAttr(node, "chroma_downsampling", true);
  options.density_in_cm = AttrOr<std::string>(node, "density_unit", "in") == "cm";
  options.x_density = static_cast<int>(IntAttr(node, "x_density", 300));
  options.y_density = static_cast<int>(IntAttr(node, "y_density", 300));
  options.xmp_metadata = AttrOr<std::string>(node, "xmp_metadata", "");
  const std::string format = AttrOr<std::string>(node, "format", "");
  return KernelFn([options, format](KernelContext& ctx) -> Status {
    RETURN_IF_ERROR(CheckJpegImage(ctx.input(0), format));
    ASSIGN_OR_RETURN(std::string file, EncodeJpeg(ctx.input(0), options));
    return SetContents(ctx, Shape(), {std::move(file)});
  });
}

StatusOr<KernelFn> BindEncodePng(const BindContext& bind) {
  const int64_t level = IntAttr(*bind.node, "compression", -1);
  if (level < -1 || level > 9) {
    return InvalidArgumentError(StrCat("compression should be in [-1,9], got ", level));
  }
  const auto compression = static_cast<int>(level);
  return KernelFn([compression](KernelContext& ctx) -> Status {
    const Tensor& images = ctx.input(0);
    if (images.rank() < 3) {
      return InvalidArgumentError(
          StrCat("images must be at least rank 3", images.shape().ToString()));
    }
    const int last = images.rank() - 1;
    const Shape image({images.dim(last - 2), images.dim(last - 1), images.dim(last)});
    const Shape batch(images.shape().dims().subspan(0, static_cast<size_t>(last - 2)));
    if (batch.num_elements() == 0) return SetContents(ctx, batch, {});
    RETURN_IF_ERROR(CheckImageSize(image.dim(1), image.dim(0)));
    const Tensor stack =
        images.Reshaped(Shape({batch.num_elements() * image.dim(0), image.dim(1), image.dim(2)}));
    std::vector<std::string> files;
    for (int64_t i = 0; i < batch.num_elements(); ++i) {
      ASSIGN_OR_RETURN(
          std::string file,
          EncodePng(stack.Slice(i * image.dim(0), (i + 1) * image.dim(0)), compression));
      files.push_back(std::move(file));
    }
    return SetContents(ctx, batch, std::move(files));
  });
}

}  // namespace

std::span<const KernelDef> ImageFileKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"DecodeAndCropJpeg", BindDecode, {}, "T", {}, {}, true},
      {"DecodeBmp", BindDecode, {}, "T", {}, {}, true},
      {"DecodeGif", BindDecode, {}, "T", {}, {}, true},
      {"DecodeImage",
       BindDecode,
       {DType::kUInt8, DType::kUInt16, DType::kFloat},
       "dtype",
       {},
       {},
       true},
      {"DecodeJpeg", BindDecode, {}, "T", {}, {}, true},
      {"DecodePng", BindDecode, {DType::kUInt8, DType::kUInt16}, "dtype", {}, {}, true},
      {"EncodeJpeg", BindEncodeJpeg, {}, "T", {}, {}, true},
      {"EncodeJpegVariableQuality", BindEncodeJpegVariableQuality, {}, "T", {}, {}, true},
      {"EncodePng", BindEncodePng, {DType::kUInt8, DType::kUInt16}, "T", {}, {}, true},
      {"ExtractJpegShape", BindJpegShape},
  });
  return table;
}

}  // namespace slipway::kernels
