// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "checkpoint/bundle.h"

namespace slipway {

StatusOr<TensorSlice> TensorSlice::Parse(std::string_view text) {
  TensorSlice slice;
  if (text.empty()) return slice;
  for (std::string_view part : StrSplit(text, ':')) {
    Extent extent;
    if (part != "-") {
      const size_t comma = part.find(',');
      const auto start = ParseInt64(part.substr(0, comma));
      const auto length =
          comma == std::string_view::npos ? std::nullopt : ParseInt64(part.substr(comma + 1));
      if (!start || !length || *start < 0 || *length <= 0) {
        return InvalidArgumentError(StrCat("Slice ", Quoted(text), " has the part ", Quoted(part),
                                           "; wanted \"start,length\" or \"-\""));
      }
      extent = {*start, *length};
    }
    slice.extents.push_back(extent);
  }
  return slice;
}

std::string TensorSlice::ToString() const {
  std::string out = "[";
  for (const Extent& extent : extents) {
    if (out.size() > 1) out += ',';
    if (extent.length < 0) {
      out += ':';
    } else {
      StrAppend(&out, extent.start, ":", extent.start + extent.length);
    }
  }
  return out + "]";
}

StatusOr<Shape> TensorSlice::ShapeIn(const Shape& shape) const {
  if (static_cast<int>(extents.size()) != shape.rank()) {
    return InvalidArgumentError(StrCat("Slice ", ToString(), " has ", extents.size(),
                                       " dimensions, the tensor of shape ", shape.ToString(),
                                       " has ", shape.rank()));
  }
  Shape result = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    const Extent& extent = extents[static_cast<size_t>(i)];
    if (extent.length < 0) continue;
    if (extent.start < 0 || extent.start > shape.dim(i) ||
        extent.length > shape.dim(i) - extent.start) {
      return InvalidArgumentError(
          StrCat("Slice ", ToString(), " does not lie within shape ", shape.ToString()));
    }
    result.set_dim(i, extent.length);
  }
  return result;
}

}  // namespace slipway
