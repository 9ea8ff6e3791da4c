// SPDX-License-Identifier: Apache-2.0
#include "ir/window.h"

#include <algorithm>
#include <limits>

#include "base/strings.h"

namespace slipway::ir {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

Status CheckSize(int64_t value, std::string_view what) {
  if (value >= 1 && value <= kLargest) return OkStatus();
  return InvalidArgumentError(StrCat(what, " must be > 0 and fit 31 bits, but got ", value));
}

Status CheckLength(const std::vector<int64_t>& list, int rank, std::string_view what) {
  if (list.size() == static_cast<size_t>(rank)) return OkStatus();
  return InvalidArgumentError(StrCat("Sliding window ", what, " field must specify ", rank,
                                     " dimensions, not ", list.size()));
}

// The list of attribute `name`, or null.
const std::vector<int64_t>* ListAttr(const Node& node, const char* name) {
  const AttrValue* value = name == nullptr ? nullptr : node.FindAttr(name);
  return value == nullptr ? nullptr : value->As<std::vector<int64_t>>();
}

std::string TextAttr(const Node& node, const char* name, const char* otherwise) {
  const AttrValue* value = node.FindAttr(name);
  const std::string* text = value == nullptr ? nullptr : value->As<std::string>();
  return text == nullptr ? otherwise : *text;
}

Status SetExplicit(const Node& node, WindowSpec* spec) {
  const auto* pads = ListAttr(node, "explicit_paddings");
  if (spec->padding != Padding::kExplicit) {
    if (pads == nullptr || pads->empty()) return OkStatus();
    return InvalidArgumentError("explicit_paddings must be empty unless the padding is EXPLICIT");
  }
  const auto wanted = static_cast<size_t>(2 * spec->rank());
  if (pads == nullptr || pads->size() != wanted) {
    return InvalidArgumentError(StrCat("explicit_paddings attribute must contain ", wanted,
                                       " values, but got: ", pads == nullptr ? 0 : pads->size()));
  }
  for (int64_t pad : *pads) {
    if (pad >= 0 && pad <= kLargest) continue;
    return InvalidArgumentError("All elements of explicit_paddings must be nonnegative");
  }
  for (int i = 3 - spec->spatial; i < 3; ++i) {
    const auto at = static_cast<size_t>(2 * spec->axis(i));
    spec->dims[static_cast<size_t>(i)].before = (*pads)[at];
    spec->dims[static_cast<size_t>(i)].after = (*pads)[at + 1];
  }
  const auto channel = static_cast<size_t>(2 * spec->channel_axis());
  if ((*pads)[0] != 0 || (*pads)[1] != 0 || (*pads)[channel] != 0 || (*pads)[channel + 1] != 0) {
    return InvalidArgumentError(
        "Nonzero explicit padding in the batch or depth dimensions is not supported");
  }
  return OkStatus();
}

Status SetDilations(const std::vector<int64_t>& dilations, WindowSpec* spec) {
  RETURN_IF_ERROR(CheckLength(dilations, spec->rank(), "dilations"));
  if (dilations[0] != 1 || dilations[static_cast<size_t>(spec->channel_axis())] != 1) {
    return InvalidArgumentError(
        "Current implementation does not yet support dilations in the batch and depth dimensions.");
  }
  for (int i = 3 - spec->spatial; i < 3; ++i) {
    const int64_t dilation = dilations[static_cast<size_t>(spec->axis(i))];
    if (dilation < 1) {
      return InvalidArgumentError(
          StrCat("Dilated rates should be larger than 0, but got ", dilation));
    }
    spec->dims[static_cast<size_t>(i)].dilation = dilation;
  }
  return OkStatus();
}

}  // namespace

Status ComputeWindow(Padding padding, WindowDim* d) {
  RETURN_IF_ERROR(CheckSize(d->stride, "Stride"));
  RETURN_IF_ERROR(CheckSize(d->dilation, "Dilation rate"));
  if (d->window < 0 || d->window > kLargest) return CheckSize(d->window, "Window");
  if (d->input < 0 || d->input > std::numeric_limits<int64_t>::max() / 4) {
    return InvalidArgumentError(StrCat("Input size ", d->input, " is not supported"));
  }
  const int64_t reach = d->reach();  // of two numbers of 31 bits
  switch (padding) {
    case Padding::kValid:
      d->before = d->after = 0;
      [[fallthrough]];
    case Padding::kExplicit: {
      // Rounded as C++ rounds, which for a slightly negative size gives an empty output.
      d->output = (d->input + d->before + d->after - reach + d->stride) / d->stride;
      break;
    }
    case Padding::kSame: {
      d->output = (d->input + d->stride - 1) / d->stride;
      const int64_t pad = std::max<int64_t>(0, (d->output - 1) * d->stride + reach - d->input);
      d->before = pad / 2;
      d->after = pad - pad / 2;
      break;
    }
  }
  if (d->output >= 0) return OkStatus();
  return InvalidArgumentError(StrCat("Computed output size would be negative: ", d->output,
                                     " [input_size: ", d->input, ", effective_filter_size: ", reach,
                                     ", stride: ", d->stride, "]"));
}

Status SetWindow(const std::vector<int64_t>& ksize, WindowSpec* spec) {
  RETURN_IF_ERROR(CheckLength(ksize, spec->rank(), "ksize"));
  for (int64_t size : ksize) RETURN_IF_ERROR(CheckSize(size, "Sliding window ksize"));
  spec->batch_window = ksize[0];
  spec->channel_window = ksize[static_cast<size_t>(spec->channel_axis())];
  for (int i = 3 - spec->spatial; i < 3; ++i) {
    spec->dims[static_cast<size_t>(i)].window = ksize[static_cast<size_t>(spec->axis(i))];
  }
  return OkStatus();
}

Status SetStrides(const std::vector<int64_t>& strides, WindowSpec* spec) {
  RETURN_IF_ERROR(CheckLength(strides, spec->rank(), "strides"));
  for (int64_t stride : strides) RETURN_IF_ERROR(CheckSize(stride, "Sliding window stride"));
  spec->batch_stride = strides[0];
  spec->channel_stride = strides[static_cast<size_t>(spec->channel_axis())];
  for (int i = 3 - spec->spatial; i < 3; ++i) {
    spec->dims[static_cast<size_t>(i)].stride = strides[static_cast<size_t>(spec->axis(i))];
  }
  return OkStatus();
}

StatusOr<WindowSpec> ReadWindowSpec(const Node& node, const WindowAttrNames& names) {
  WindowSpec spec;
  const std::string format = TextAttr(node, "data_format", "");
  const auto* strides = ListAttr(node, names.strides);
  if (format == "NCHW_VECT_C") {
    return UnimplementedError(StrCat(node.op(), " with data format NCHW_VECT_C; use NHWC"));
  }
  spec.spatial =
      format.size() == 5 || (format.empty() && strides != nullptr && strides->size() == 5) ? 3 : 2;
  spec.channels_first = format.starts_with("NC");
  const std::string padding = TextAttr(node, "padding", "VALID");
  if (padding == "SAME") spec.padding = Padding::kSame;
  if (padding == "EXPLICIT") spec.padding = Padding::kExplicit;
  if (const auto* ksize = ListAttr(node, names.window)) {
    RETURN_IF_ERROR(SetWindow(*ksize, &spec));
  }
  if (strides != nullptr) RETURN_IF_ERROR(SetStrides(*strides, &spec));
  if (const auto* dilations = ListAttr(node, names.dilations)) {
    RETURN_IF_ERROR(SetDilations(*dilations, &spec));
  }
  RETURN_IF_ERROR(SetExplicit(node, &spec));
  return spec;
}

}  // namespace slipway::ir
