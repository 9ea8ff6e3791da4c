// SPDX-License-Identifier: Apache-2.0
//
// Ragged tensors: flat values with row splits for each ragged dimension.
#include "kernels/ragged.h"

#include <algorithm>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {

StatusOr<Lengths> CheckedSplits(const Tensor& tensor, int64_t total) {
  if (tensor.rank() != 1 || tensor.num_elements() < 1) {
    return InvalidArgumentError(
        StrCat("Invalid row split size: row_splits must be a vector of at "
               "least one element, but has shape ",
               tensor.shape().ToString()));
  }
  ASSIGN_OR_RETURN(const IntVec values, ReadInts(tensor, "row_splits"));
  Lengths splits(values.begin(), values.end());
  if (splits[0] != 0) {
    return InvalidArgumentError(StrCat("Expected row_splits[0] == 0, got ", splits[0]));
  }
  for (size_t i = 1; i < splits.size(); ++i) {
    if (splits[i] < splits[i - 1]) {
      return InvalidArgumentError(StrCat("Values in row_splits must be in ascending order, but ",
                                         splits[i], " follows ", splits[i - 1]));
    }
  }
  if (total >= 0 && splits.back() != total) {
    return InvalidArgumentError(StrCat("row_splits must end at the number of values, ", total,
                                       ", but end at ", splits.back()));
  }
  return splits;
}

int64_t RowWidth(const Tensor& values) {
  return values.rank() == 0 || values.dim(0) == 0 ? 0 : values.num_elements() / values.dim(0);
}

namespace {

Status CheckValues(const Tensor& values) {
  if (values.rank() >= 1) return OkStatus();
  return InvalidArgumentError("The values of a ragged tensor must have at least one dimension");
}

}  // namespace

StatusOr<std::vector<Lengths>> NestedSplits(const KernelContext& c, int first, int rank,
                                            const Tensor& values) {
  RETURN_IF_ERROR(CheckValues(values));
  std::vector<Lengths> nested(static_cast<size_t>(rank));
  int64_t below = values.dim(0);
  for (int i = rank - 1; i >= 0; --i) {
    ASSIGN_OR_RETURN(nested[static_cast<size_t>(i)], CheckedSplits(c.input(first + i), below));
    below = static_cast<int64_t>(nested[static_cast<size_t>(i)].size()) - 1;
  }
  return nested;
}

namespace {

// ---- RaggedTensorToTensor

// How each dimension divides what is below it: how many in each row.
StatusOr<Lengths> PartitionLengths(const std::string& type, const Tensor& tensor, int64_t rows) {
  if (type == "ROW_SPLITS") {
    ASSIGN_OR_RETURN(Lengths splits, CheckedSplits(tensor, -1));
    for (size_t i = 0; i + 1 < splits.size(); ++i) splits[i] = splits[i + 1] - splits[i];
    splits.pop_back();
    if (rows >= 0 && static_cast<int64_t>(splits.size()) != rows) {
      return InvalidArgumentError(
          StrCat("Invalid row split size: ", splits.size(), " rows are divided, there are ", rows));
    }
    return splits;
  }
  if (type != "VALUE_ROWIDS") {
    return InvalidArgumentError(StrCat("Unsupported row partition type ", type));
  }
  ASSIGN_OR_RETURN(const IntVec ids, ReadIntVector(tensor, "value_rowids"));
  Lengths lengths(static_cast<size_t>(rows));
  int64_t last = 0;
  for (int64_t id : ids) {
    if (id < last || id >= rows) {
      return InvalidArgumentError(StrCat("Invalid value_rowids: ", id, " after ", last,
                                         ", where there are ", rows, " rows"));
    }
    ++lengths[static_cast<size_t>(last = id)];
  }
  return lengths;
}

struct ToTensor {
  std::vector<Lengths> partitions;
  Shape shape;  // of the result
  int64_t first = 0;

  Status ReadPartitions(const KernelContext& c, const std::vector<std::string>& types);
  Status SetShape(const Tensor& wanted, const Tensor& values);
  std::vector<int64_t> Places() const;
};

Status ToTensor::ReadPartitions(const KernelContext& c, const std::vector<std::string>& types) {
  const Tensor& values = c.input(1);
  size_t at = 0;
  int64_t rows = -1;
  constexpr int64_t kMaxRows = int64_t{1} << 31;
  if (types[0] == "FIRST_DIM_SIZE") {
    ASSIGN_OR_RETURN(rows, ReadInt(c.input(3), "first dimension"));
    if (rows < 0 || rows > kMaxRows) {
      return InvalidArgumentError(StrCat("The first dimension is ", rows));
    }
    at = 1;
  } else if (types[0] != "ROW_SPLITS") {
    return InvalidArgumentError(StrCat("Cannot handle ", types[0], " as the first partition"));
  }
  first = rows;
  for (; at < types.size(); ++at) {
    const Tensor& tensor = c.input(3 + static_cast<int>(at));
    ASSIGN_OR_RETURN(Lengths lengths, PartitionLengths(types[at], tensor, rows));
    if (first < 0) first = static_cast<int64_t>(lengths.size());
    rows = 0;
    for (int64_t length : lengths) {
      if (__builtin_add_overflow(rows, length, &rows) || rows > kMaxRows) {
        return InvalidArgumentError("Row partitions describe too many values");
      }
    }
    partitions.push_back(std::move(lengths));
  }
  RETURN_IF_ERROR(CheckValues(values));
  if (rows != values.dim(0)) {
    return InvalidArgumentError(
        StrCat("Row partitions describe ", rows, " values, but there are ", values.dim(0)));
  }
  return OkStatus();
}

Status ToTensor::SetShape(const Tensor& wanted, const Tensor& values) {
  IntVec dims;
  dims.push_back(first);
  for (const Lengths& lengths : partitions) {
    dims.push_back(lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end()));
  }
  for (int d = 1; d < values.rank(); ++d) dims.push_back(values.dim(d));
  ASSIGN_OR_RETURN(const IntVec asked, ReadInts(wanted, "shape"));
  if (wanted.rank() == 0) {
    if (asked[0] != -1) {
      return InvalidArgumentError(
          "The only valid scalar shape tensor is the fully unknown shape "
          "specified as -1.");
    }
  } else {
    if (wanted.rank() != 1 || asked.size() != dims.size()) {
      return InvalidArgumentError(StrCat("Shape ", wanted.ToString(),
                                         " does not fit a ragged tensor of rank ", dims.size()));
    }
    const size_t ragged = partitions.size() + 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (asked[d] < 0) continue;
      if (d >= ragged && asked[d] != dims[d]) {
        return InvalidArgumentError(StrCat("Inner dimension ", d, " of the values is ", dims[d],
                                           ", the shape wants ", asked[d]));
      }
      dims[d] = asked[d];
    }
  }
  ASSIGN_OR_RETURN(shape, Shape::FromDims(dims.span()));
  return OkStatus();
}

// For each value its row in the result (a position over the ragged dimensions), or -1 where the
// result has no place for it.
std::vector<int64_t> ToTensor::Places() const {
  std::vector<int64_t> places(static_cast<size_t>(first));
  for (int64_t i = 0; i < first; ++i) {
    places[static_cast<size_t>(i)] = i < shape.dim(0) ? i : -1;
  }
  for (size_t p = 0; p < partitions.size(); ++p) {
    const int64_t size = shape.dim(static_cast<int>(p) + 1);
    std::vector<int64_t> below;
    for (size_t row = 0; row < partitions[p].size(); ++row) {
      for (int64_t k = 0; k < partitions[p][row]; ++k) {
        below.push_back(places[row] < 0 || k >= size ? -1 : places[row] * size + k);
      }
    }
    places = std::move(below);
  }
  return places;
}

// The default value, broadcast over the inner dimensions of a row.
Status FillDefaults(const Tensor& value, const Shape& inner, int64_t rows, Tensor* out) {
  const int lead = inner.rank() - value.rank();
  for (int d = 0; d < value.rank(); ++d) {
    if (lead < 0 || (value.dim(d) != 1 && value.dim(d) != inner.dim(lead + d))) {
      return InvalidArgumentError(StrCat("default_value ", value.shape().ToString(),
                                         " cannot be broadcast to the shape of a row, ",
                                         inner.ToString()));
    }
  }
  const int64_t width = inner.num_elements();
  if (value.num_elements() == 0 || rows == 0) return OkStatus();
  for (int64_t i = 0; i < width; ++i) {
    int64_t rest = i, from = 0, stride = 1;
    for (int d = inner.rank() - 1; d >= lead; --d) {
      const int64_t own = value.dim(d - lead);
      if (own != 1) from += rest % inner.dim(d) * stride;
      stride *= own;
      rest /= inner.dim(d);
    }
    CopyElements(out->dtype(), ElementAt(value, from), ElementAt(*out, i), 1);
  }
  for (int64_t row = 1; row < rows; ++row) {
    CopyElements(out->dtype(), ElementAt(*out, 0), ElementAt(*out, row * width), width);
  }
  return OkStatus();
}

StatusOr<KernelFn> BindToTensor(const BindContext& c) {
  ASSIGN_OR_RETURN(const auto types, c.node->Attr<std::vector<std::string>>("row_partition_types"));
  if (types.empty() || types.size() + 3 != c.node->inputs().size()) {
    return InvalidArgumentError(StrCat("row_partition_types has ", types.size(), " elements for ",
                                       c.node->inputs().size() - 3, " row partitions"));
  }
  return KernelFn([types](KernelContext& ctx) -> Status {
    ToTensor ragged;
    const Tensor& values = ctx.input(1);
    RETURN_IF_ERROR(ragged.ReadPartitions(ctx, types));
    RETURN_IF_ERROR(ragged.SetShape(ctx.input(0), values));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ragged.shape));
    const auto outer = ragged.partitions.size() + 1;
    const Shape inner(ragged.shape.dims().subspan(outer));
    int64_t rows = 1;
    for (size_t d = 0; d < outer; ++d) rows *= ragged.shape.dim(static_cast<int>(d));
    RETURN_IF_ERROR(FillDefaults(ctx.input(2), inner, rows, out));
    const int64_t width = inner.num_elements();
    const std::vector<int64_t> places = ragged.Places();
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      CopyElements(out->dtype(), ElementAt(values, static_cast<int64_t>(i) * width),
                   ElementAt(*out, places[i] * width), width);
    }
    return OkStatus();
  });
}

// ---- RaggedTensorToSparse

StatusOr<KernelFn> BindToSparse(const BindContext& c) {
  const int rank = static_cast<int>(c.node->inputs().size()) - 1;
  return KernelFn([rank](KernelContext& ctx) -> Status {
    const Tensor& values = ctx.input(rank);
    ASSIGN_OR_RETURN(const auto nested, NestedSplits(ctx, 0, rank, values));
    const int columns = rank + values.rank();
    ASSIGN_OR_RETURN(Tensor * indices,
                     ctx.AllocateOutput(0, Shape({values.num_elements(), columns})));
    std::vector<int64_t> shape = {static_cast<int64_t>(nested[0].size()) - 1};
    for (const Lengths& splits : nested) {
      int64_t widest = 0;
      for (size_t i = 1; i < splits.size(); ++i) {
        widest = std::max(widest, splits[i] - splits[i - 1]);
      }
      shape.push_back(widest);
    }
    for (int d = 1; d < values.rank(); ++d) shape.push_back(values.dim(d));
    const int64_t width = RowWidth(values);
    int64_t* index = indices->flat<int64_t>().data();
    std::vector<int64_t> place(static_cast<size_t>(columns));
    for (int64_t row = 0; row < values.dim(0); ++row) {
      int64_t below = row;
      for (int d = rank; d >= 1; --d) {
        const Lengths& splits = nested[static_cast<size_t>(d) - 1];
        const auto above =
            std::upper_bound(splits.begin(), splits.end(), below) - splits.begin() - 1;
        place[static_cast<size_t>(d)] = below - splits[static_cast<size_t>(above)];
        below = above;
      }
      place[0] = below;
      for (int64_t k = 0; k < width; ++k) {
        int64_t rest = k;
        for (int d = columns - 1; d > rank; --d) {
          place[static_cast<size_t>(d)] = rest % shape[static_cast<size_t>(d)];
          rest /= shape[static_cast<size_t>(d)];
        }
        index = std::copy(place.begin(), place.end(), index);
      }
    }
    ASSIGN_OR_RETURN(Tensor * flat, ctx.AllocateOutput(1, Shape({values.num_elements()})));
    CopyElements(values.dtype(), values.raw_data(), flat->raw_data(), values.num_elements());
    return OutputVector(ctx, 2, std::move(shape));
  });
}

// ---- RaggedGather

// The rows [begin, end) at one level become these at the next.
using Span = std::pair<int64_t, int64_t>;

StatusOr<KernelFn> BindGather(const BindContext& c) {
  const auto rank = static_cast<int>(IntAttr(*c.node, "PARAMS_RAGGED_RANK"));
  const auto out_rank = static_cast<int>(IntAttr(*c.node, "OUTPUT_RAGGED_RANK"));
  const DType splits_type = c.input_dtype(0);
  if (rank < 1 || rank + 2 != static_cast<int>(c.node->inputs().size())) {
    return InvalidArgumentError(StrCat("PARAMS_RAGGED_RANK is ", rank));
  }
  return KernelFn([=](KernelContext& ctx) -> Status {
    const Tensor &values = ctx.input(rank), &indices = ctx.input(rank + 1);
    ASSIGN_OR_RETURN(const auto nested, NestedSplits(ctx, 0, rank, values));
    if (indices.rank() < 1 || out_rank != rank + indices.rank() - 1) {
      return InvalidArgumentError(StrCat("OUTPUT_RAGGED_RANK is ", out_rank,
                                         " for indices of rank ", indices.rank(),
                                         " and params of ragged rank ", rank));
    }
    ASSIGN_OR_RETURN(const IntVec ids, ReadInts(indices, "indices"));
    const auto rows = static_cast<int64_t>(nested[0].size()) - 1;
    std::vector<Span> spans;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= rows) {
        return InvalidArgumentError(
            StrCat("indices[", i, "] = ", ids[i], " is not in [0, ", rows, ")"));
      }
      spans.emplace_back(ids[i], ids[i] + 1);
    }
    // The dimensions of the indices beyond the first are uniform.
    int64_t count = indices.dim(0);
    for (int d = 1; d < indices.rank(); ++d) {
      std::vector<int64_t> splits;
      for (int64_t i = 0; i <= count; ++i) splits.push_back(i * indices.dim(d));
      RETURN_IF_ERROR(OutputIndices(ctx, d - 1, splits_type, splits));
      count *= indices.dim(d);
    }
    for (int level = 0; level < rank; ++level) {
      const Lengths& in = nested[static_cast<size_t>(level)];
      std::vector<int64_t> splits = {0};
      for (auto& [begin, end] : spans) {
        for (int64_t row = begin; row < end; ++row) {
          const auto r = static_cast<size_t>(row);
          splits.push_back(splits.back() + in[r + 1] - in[r]);
        }
        begin = in[static_cast<size_t>(begin)];
        end = in[static_cast<size_t>(end)];
      }
      RETURN_IF_ERROR(OutputIndices(ctx, indices.rank() - 1 + level, splits_type, splits));
    }
    int64_t total = 0;
    for (const auto& [begin, end] : spans) total += end - begin;
    Shape shape = values.shape();
    shape.set_dim(0, total);
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(out_rank, shape));
    const int64_t width = RowWidth(values);
    int64_t at = 0;
    for (const auto& [begin, end] : spans) {
      CopyElements(out->dtype(), ElementAt(values, begin * width), ElementAt(*out, at * width),
                   (end - begin) * width);
      at += end - begin;
    }
    return OkStatus();
  });
}

// ---- RaggedBincount

template <typename T>
Status CountRows(KernelContext& c, bool binary) {
  const Tensor &values = c.input(1), &weights = c.input(3);
  if (c.input(2).rank() != 0) {
    return InvalidArgumentError(
        StrCat("Shape must be rank 0 but is rank ", c.input(2).rank(), " for size"));
  }
  ASSIGN_OR_RETURN(const int64_t size, ReadInt(c.input(2), "size"));
  if (size < 0) return InvalidArgumentError(StrCat("size (", size, ") must be non-negative"));
  ASSIGN_OR_RETURN(const Lengths splits, CheckedSplits(c.input(0), values.num_elements()));
  const bool weighted = weights.num_elements() > 0;
  if (weighted && weights.num_elements() != values.num_elements()) {
    return InvalidArgumentError(StrCat("weights ", weights.shape().ToString(),
                                       " must have the shape of values, ",
                                       values.shape().ToString(), ", or be empty"));
  }
  ASSIGN_OR_RETURN(const IntVec bins, ReadInts(values, "values"));
  const auto rows = static_cast<int64_t>(splits.size()) - 1;
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(std::array<int64_t, 2>{rows, size}));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  std::fill(out->flat<T>().begin(), out->flat<T>().end(), T{0});
  for (size_t row = 0; row + 1 < splits.size(); ++row) {
    for (int64_t i = splits[row]; i < splits[row + 1]; ++i) {
      const auto k = static_cast<size_t>(i);
      if (bins[k] < 0) return InvalidArgumentError("Input must be non-negative");
      if (bins[k] >= size) continue;
      T& sum = out->flat<T>()[row * static_cast<size_t>(size) + static_cast<size_t>(bins[k])];
      sum = binary ? T{1} : WrapAdd<T>(sum, weighted ? weights.flat<T>()[k] : T{1});
    }
  }
  return OkStatus();
}

using Counted = TypeList<float, double, int32_t, int64_t>;

StatusOr<KernelFn> BindBincount(const BindContext& c) {
  const bool binary = BoolAttr(*c.node, "binary_output");
  const DType dtype = c.node->dtype(0);
  return KernelFn([binary, dtype](KernelContext& ctx) {
    return SwitchType<Status>(Counted{}, dtype,
                              [&]<typename T>() { return CountRows<T>(ctx, binary); });
  });
}

}  // namespace

std::span<const KernelDef> RaggedKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"RaggedTensorToTensor", BindToTensor},
      {"RaggedTensorToSparse", BindToSparse},
      {"RaggedGather", BindGather},
      {"RaggedBincount", BindBincount, Counted::DTypes()},
  });
  return table;
}

}  // namespace slipway::kernels
