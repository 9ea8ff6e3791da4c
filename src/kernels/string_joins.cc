// SPDX-License-Identifier: Apache-2.0
//
// Strings put together: along dimensions, by segments, as n-grams.
#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/broadcast.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// The dimensions to join, in the order given: the first varies fastest within a joined string.
StatusOr<IntVec> JoinedDims(const Tensor& indices, int rank) {
  IntVec dims;
  std::vector<bool> taken(static_cast<size_t>(rank));
  for (int32_t given : indices.flat<int32_t>()) {
    const int64_t dim = given < 0 ? int64_t{given} + rank : given;
    if (dim < 0 || dim >= rank) {
      return OutOfRangeError(
          StrCat("Invalid reduction dimension ", given, " for input with ", rank, " dimension(s)"));
    }
    if (taken[static_cast<size_t>(dim)]) {
      return InvalidArgumentError(StrCat("Duplicate reduction dimension ", given));
    }
    taken[static_cast<size_t>(dim)] = true;
    dims.push_back(dim);
  }
  return dims;
}

// Counts through the dimensions in `dims`, the first fastest; the offset of each position.
class Walk {
 public:
  Walk(const Shape& shape, const IntVec& dims) {
    for (int64_t dim : dims) {
      int64_t stride = 1;
      for (int d = static_cast<int>(dim) + 1; d < shape.rank(); ++d) stride *= shape.dim(d);
      strides_.push_back(stride);
      sizes_.push_back(shape.dim(static_cast<int>(dim)));
      count_ *= sizes_[sizes_.size() - 1];
    }
  }
  int64_t count() const { return count_; }
  int64_t Offset(int64_t position) const {
    int64_t offset = 0;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      offset += position % sizes_[i] * strides_[i];
      position /= sizes_[i];
    }
    return offset;
  }

 private:
  IntVec strides_, sizes_;
  int64_t count_ = 1;
};

StatusOr<KernelFn> BindReduceJoin(const BindContext& c) {
  const bool keep = BoolAttr(*c.node, "keep_dims");
  const std::string separator = AttrOr<std::string>(*c.node, "separator", "");
  return KernelFn([keep, separator](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(const IntVec joined, JoinedDims(ctx.input(1), x.rank()));
    Shape shape;
    IntVec kept;
    for (int d = 0; d < x.rank(); ++d) {
      const bool is_joined = std::find(joined.begin(), joined.end(), d) != joined.end();
      if (!is_joined) shape.AddDim(x.dim(d));
      if (is_joined && keep) shape.AddDim(1);
    }
    for (int d = x.rank() - 1; d >= 0; --d) {  // the last varies fastest in the output
      if (std::find(joined.begin(), joined.end(), d) == joined.end()) kept.push_back(d);
    }
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
    const Walk inside(x.shape(), joined), outside(x.shape(), kept);
    const auto from = x.flat<std::string>();
    for (int64_t i = 0; i < outside.count(); ++i) {
      std::string text;
      const int64_t base = outside.Offset(i);
      for (int64_t k = 0; k < inside.count(); ++k) {
        if (k > 0) text += separator;
        text += from[static_cast<size_t>(base + inside.Offset(k))];
      }
      y->flat<std::string>()[static_cast<size_t>(i)] = std::move(text);
    }
    return OkStatus();
  });
}

Status CheckSegments(const Tensor& x, const Tensor& ids, int64_t segments) {
  if (ids.rank() == 0) return InvalidArgumentError("segment_ids cannot have rank 0");
  if (ids.rank() > x.rank()) {
    return InvalidArgumentError(StrCat("segment_ids ", ids.shape().ToString(),
                                       " has more dimensions than the input ",
                                       x.shape().ToString()));
  }
  for (int d = 0; d < ids.rank(); ++d) {
    if (ids.dim(d) != x.dim(d)) {
      return InvalidArgumentError(StrCat("Segment dimension is ", ids.dim(d),
                                         " while input dimension is ", x.dim(d), " in rank ", d));
    }
  }
  if (segments < 0) {
    return InvalidArgumentError(
        StrCat("Number of segments must be non-negative but got ", segments));
  }
  return OkStatus();
}

StatusOr<KernelFn> BindSegmentJoin(const BindContext& c) {
  const std::string separator = AttrOr<std::string>(*c.node, "separator", "");
  return KernelFn([separator](KernelContext& ctx) -> Status {
    const Tensor &x = ctx.input(0), &ids = ctx.input(1);
    if (ctx.input(2).rank() != 0) {
      return InvalidArgumentError("Number of segments must be a scalar");
    }
    ASSIGN_OR_RETURN(const int64_t segments, ReadInt(ctx.input(2), "num_segments"));
    RETURN_IF_ERROR(CheckSegments(x, ids, segments));
    IntVec dims(1, segments);
    for (int d = ids.rank(); d < x.rank(); ++d) dims.push_back(x.dim(d));
    ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims.span()));
    const int64_t rows = ids.num_elements();
    const int64_t width = rows == 0 ? 0 : x.num_elements() / rows;
    const bool wide = ids.dtype() == DType::kInt64;
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
    std::vector<bool> begun(static_cast<size_t>(segments));
    const auto from = x.flat<std::string>();
    const auto to = y->flat<std::string>();
    for (int64_t row = 0; row < rows; ++row) {
      const auto r = static_cast<size_t>(row);
      const int64_t id = wide ? ids.flat<int64_t>()[r] : ids.flat<int32_t>()[r];
      if (id < 0 || id >= segments) {
        return InvalidArgumentError(
            StrCat("segment_ids are not allowed to exceed num_segments or to have negative values. "
                   "segment_ids[",
                   row, "] is ", id, ", num_segments ", segments));
      }
      for (int64_t k = 0; k < width; ++k) {
        std::string& text = to[static_cast<size_t>(id * width + k)];
        if (begun[static_cast<size_t>(id)]) text += separator;
        text += from[static_cast<size_t>(row * width + k)];
      }
      begun[static_cast<size_t>(id)] = true;
    }
    return OkStatus();
  });
}

struct NGrams {
  std::string separator, left_pad, right_pad;
  std::vector<int64_t> widths;
  int64_t pad_width = -1;
  bool preserve_short = false;
  DType splits_type = DType::kInt64;

  int64_t Pad(int64_t width) const {
    return pad_width < 0 ? width - 1 : std::min(pad_width, width - 1);
  }
  int64_t Count(int64_t length, int64_t width) const {
    return std::max<int64_t>(0, length + 2 * Pad(width) - width + 1);
  }
  void Append(std::span<const std::string> row, int64_t width, std::vector<std::string>* out) const;
  Status AppendRow(std::span<const std::string> row, std::vector<std::string>* out) const;
  Status Run(KernelContext& c) const;
};

void NGrams::Append(std::span<const std::string> row, int64_t width,
                    std::vector<std::string>* out) const {
  const auto length = static_cast<int64_t>(row.size());
  const int64_t pad = Pad(width), count = Count(length, width);
  for (int64_t i = 0; i < count; ++i) {
    std::string& text = out->emplace_back();
    for (int64_t k = i; k < i + width; ++k) {
      if (k > i) text += separator;
      const int64_t at = k - pad;
      text += at < 0 ? left_pad : at < length ? row[static_cast<size_t>(at)] : right_pad;
    }
  }
}

Status NGrams::AppendRow(std::span<const std::string> row, std::vector<std::string>* out) const {
  // A width of the model's own making would otherwise buy any amount of memory.
  constexpr size_t kMaxNGrams = size_t{1} << 28;
  const auto length = static_cast<int64_t>(row.size());
  const size_t before = out->size();
  for (int64_t width : widths) {
    if (static_cast<uint64_t>(Count(length, width)) > kMaxNGrams - out->size()) {
      return ResourceExhaustedError(StrCat("More than ", kMaxNGrams, " n-grams"));
    }
    Append(row, width, out);
  }
  if (!preserve_short || out->size() != before || row.empty()) return OkStatus();
  // Too short for every width: one n-gram of all there is.
  const int64_t pad = std::max<int64_t>(pad_width, 0);
  Append(row, length + 2 * pad, out);
  return OkStatus();
}

StatusOr<std::vector<int64_t>> CheckedSplits(const Tensor& splits, int64_t size) {
  ASSIGN_OR_RETURN(const IntVec values, ReadInts(splits, "data_splits"));
  std::vector<int64_t> all(values.begin(), values.end());
  if (all.empty()) return all;
  if (all[0] != 0) {
    return InvalidArgumentError(StrCat("First split value must be 0, got ", all[0]));
  }
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i] < all[i - 1] || all[i] > size) {
      return InvalidArgumentError(
          StrCat("Invalid split value ", all[i], ", must be in [", all[i - 1], ", ", size, "]"));
    }
  }
  if (all.back() != size) {
    return InvalidArgumentError(
        StrCat("Last split value must be data size. Expected ", size, ", got ", all.back()));
  }
  return all;
}

Status NGrams::Run(KernelContext& c) const {
  const Tensor& data = c.input(0);
  const auto values = data.flat<std::string>();
  ASSIGN_OR_RETURN(std::vector<int64_t> splits, CheckedSplits(c.input(1), data.num_elements()));
  if (splits.empty() || values.empty()) {  // nothing to cut: as many strings, all empty
    RETURN_IF_ERROR(OutputVector(c, 0, std::vector<std::string>(values.size())));
    return OutputIndices(c, 1, splits_type, splits);
  }
  std::vector<std::string> grams;
  std::vector<int64_t> ends = {0};
  for (size_t i = 1; i < splits.size(); ++i) {
    const auto begin = static_cast<size_t>(splits[i - 1]);
    const auto row = values.subspan(begin, static_cast<size_t>(splits[i]) - begin);
    RETURN_IF_ERROR(AppendRow(row, &grams));
    ends.push_back(static_cast<int64_t>(grams.size()));
    if (c.cancelled()) return CancelledError("StringNGrams was cancelled");
  }
  if (splits_type == DType::kInt32 && ends.back() > std::numeric_limits<int32_t>::max()) {
    return InvalidArgumentError(StrCat(ends.back(), " n-grams do not fit int32 row splits"));
  }
  RETURN_IF_ERROR(OutputVector(c, 0, std::move(grams)));
  return OutputIndices(c, 1, splits_type, ends);
}

StatusOr<KernelFn> BindNGrams(const BindContext& c) {
  NGrams grams;
  ASSIGN_OR_RETURN(grams.separator, c.node->Attr<std::string>("separator"));
  ASSIGN_OR_RETURN(grams.left_pad, c.node->Attr<std::string>("left_pad"));
  ASSIGN_OR_RETURN(grams.right_pad, c.node->Attr<std::string>("right_pad"));
  ASSIGN_OR_RETURN(grams.widths, c.node->Attr<std::vector<int64_t>>("ngram_widths"));
  ASSIGN_OR_RETURN(grams.pad_width, c.node->Attr<int64_t>("pad_width"));
  grams.preserve_short = BoolAttr(*c.node, "preserve_short_sequences");
  grams.splits_type = c.node->dtype(1);
  constexpr int64_t kMaxWidth = 1 << 20;
  for (int64_t width : grams.widths) {
    if (width <= 0) return InvalidArgumentError("ngram_widths must contain positive values");
    if (width > kMaxWidth) {
      return InvalidArgumentError(
          StrCat("ngram_widths holds ", width, "; at most ", kMaxWidth, " is supported"));
    }
  }
  grams.pad_width = std::min(grams.pad_width, kMaxWidth);
  return KernelFn([grams](KernelContext& ctx) { return grams.Run(ctx); });
}

// Add of strings puts the second behind the first.
Status RunAdd(KernelContext& c) {
  const Shape* shapes[] = {&c.input(0).shape(), &c.input(1).shape()};
  Broadcast plan;
  RETURN_IF_ERROR(Broadcast::Make(shapes, &plan));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, plan.output));
  const auto first = c.input(0).flat<std::string>(), second = c.input(1).flat<std::string>();
  const int last = plan.rank - 1;
  plan.ForEachRun(0, out->num_elements(), [&](const int64_t* offsets, int64_t at, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      out->flat<std::string>()[static_cast<size_t>(at + i)] =
          StrCat(first[static_cast<size_t>(offsets[0] + i * plan.strides[0][last])],
                 second[static_cast<size_t>(offsets[1] + i * plan.strides[1][last])]);
    }
  });
  return OkStatus();
}

}  // namespace

std::span<const KernelDef> StringJoinKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"Add", BindRun<RunAdd>, {DType::kString}},
      {"ReduceJoin", BindReduceJoin},
      {"UnsortedSegmentJoin", BindSegmentJoin},
      {"StringNGrams", BindNGrams},
  });
  return table;
}

}  // namespace slipway::kernels
