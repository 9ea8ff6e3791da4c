// SPDX-License-Identifier: Apache-2.0
//
// Rows dealt out and put together by number, sequences turned round, and elements moved along axes.
#include <algorithm>
#include <cstring>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

bool StartsWith(const Shape& shape, const Shape& head) {
  if (shape.rank() < head.rank()) return false;
  for (int d = 0; d < head.rank(); ++d) {
    if (shape.dim(d) != head.dim(d)) return false;
  }
  return true;
}

StatusOr<KernelFn> BindDynamicPartition(const BindContext& bind) {
  const int64_t parts = IntAttr(*bind.node, "num_partitions", 1);
  return KernelFn([parts](KernelContext& c) -> Status {
    const Tensor& data = c.input(0);
    const Tensor& partitions = c.input(1);
    if (!StartsWith(data.shape(), partitions.shape())) {
      return InvalidArgumentError(StrCat(
          "data.shape must start with partitions.shape, got data.shape = ", data.shape().ToString(),
          ", partitions.shape = ", partitions.shape().ToString()));
    }
    const auto of = partitions.flat<int32_t>();
    std::vector<int64_t> sizes(static_cast<size_t>(parts));
    for (size_t i = 0; i < of.size(); ++i) {
      if (of[i] < 0 || of[i] >= parts) {
        return InvalidArgumentError(
            StrCat("partitions[", i, "] = ", of[i], " is not in [0, ", parts, ")"));
      }
      ++sizes[static_cast<size_t>(of[i])];
    }
    const int64_t inner = ProductOfDims(data.shape(), partitions.rank(), data.rank());
    std::vector<Tensor*> outputs;
    for (int64_t p = 0; p < parts; ++p) {
      Shape shape({sizes[static_cast<size_t>(p)]});
      for (int d = partitions.rank(); d < data.rank(); ++d) shape.AddDim(data.dim(d));
      ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(static_cast<int>(p), shape));
      outputs.push_back(out);
    }
    std::vector<int64_t> filled(static_cast<size_t>(parts), 0);
    for (size_t i = 0; i < of.size(); ++i) {
      const auto p = static_cast<size_t>(of[i]);
      CopyElements(data.dtype(), ElementAt(data, static_cast<int64_t>(i) * inner),
                   ElementAt(*outputs[p], filled[p]++ * inner), inner);
    }
    return OkStatus();
  });
}

// The rows of all data inputs share one shape; the sizes are one more than the largest index.
StatusOr<Shape> StitchedShape(const KernelContext& c, int pieces) {
  int64_t rows = 0;
  Shape row;
  for (int p = 0; p < pieces; ++p) {
    const Tensor& indices = c.input(p);
    const Tensor& data = c.input(pieces + p);
    if (!StartsWith(data.shape(), indices.shape())) {
      return InvalidArgumentError(StrCat("data[", p, "].shape = ", data.shape().ToString(),
                                         " does not start with indices[", p,
                                         "].shape = ", indices.shape().ToString()));
    }
    const Shape own(data.shape().dims().subspan(static_cast<size_t>(indices.rank())));
    if (p > 0 && !(own == row)) {
      return InvalidArgumentError(
          StrCat("Need data[0].shape[", c.input(0).rank(), ":] = data[", p, "].shape[",
                 indices.rank(), ":], got data[0].shape = ", c.input(pieces).shape().ToString(),
                 ", data[", p, "].shape = ", data.shape().ToString()));
    }
    row = own;
    for (int32_t index : indices.flat<int32_t>()) {
      if (index < 0) {
        return InvalidArgumentError(StrCat("indices[", p, "] is out of range: ", index, " < 0"));
      }
      rows = std::max<int64_t>(rows, int64_t{index} + 1);
    }
  }
  IntVec dims;
  dims.push_back(rows);
  for (int64_t d : row.dims()) dims.push_back(d);
  return Shape::FromDims(dims.span());
}

Status RunDynamicStitch(KernelContext& c) {
  const int pieces = c.num_inputs() / 2;
  ASSIGN_OR_RETURN(const Shape shape, StitchedShape(c, pieces));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  // Rows that no index names.
  if (!IsObject(y->dtype()) && y->num_elements() > 0) std::memset(y->raw_data(), 0, y->byte_size());
  const int64_t inner = ProductOfDims(shape, 1, shape.rank());
  for (int p = 0; p < pieces; ++p) {
    const auto indices = c.input(p).flat<int32_t>();
    const Tensor& data = c.input(pieces + p);
    for (size_t i = 0; i < indices.size(); ++i) {
      CopyElements(y->dtype(), ElementAt(data, static_cast<int64_t>(i) * inner),
                   ElementAt(*y, indices[i] * inner), inner);
    }
  }
  return OkStatus();
}

Status CheckLengths(const IntVec& lengths, int64_t rows, int batch_dim, int seq_dim,
                    int64_t longest) {
  if (static_cast<int64_t>(lengths.size()) != rows) {
    return InvalidArgumentError(StrCat("Length of seq_lengths != input.dims(", batch_dim, "), (",
                                       lengths.size(), " vs. ", rows, ")"));
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) return InvalidArgumentError(StrCat("seq_lens(", i, ") < 0"));
    if (lengths[i] > longest) {
      return InvalidArgumentError(StrCat("seq_lens(", i, ") > input.dims(", seq_dim, ")"));
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindReverseSequence(const BindContext& bind) {
  const int64_t seq = IntAttr(*bind.node, "seq_dim"), batch = IntAttr(*bind.node, "batch_dim");
  return KernelFn([seq, batch](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    const auto s = static_cast<int>(seq), b = static_cast<int>(batch);
    if (seq == batch) {
      return InvalidArgumentError(StrCat("batch_dim == seq_dim == ", seq));
    }
    if (seq < 0 || seq >= x.rank()) {
      return InvalidArgumentError(
          StrCat("seq_dim must be < input rank ( ", seq, " vs. ", x.rank(), ")"));
    }
    if (batch < 0 || batch >= x.rank()) {
      return InvalidArgumentError(
          StrCat("batch_dim must be < input rank ( ", batch, " vs. ", x.rank(), ")"));
    }
    ASSIGN_OR_RETURN(const IntVec lengths, ReadIntVector(c.input(1), "seq_lengths"));
    RETURN_IF_ERROR(CheckLengths(lengths, x.dim(b), b, s, x.dim(s)));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    const IntVec strides = RowMajorStrides(x.shape());
    const int last = std::max(s, b);
    const int64_t inner = ProductOfDims(x.shape(), last + 1, x.rank());
    for (int64_t at = 0; at < x.num_elements(); at += inner) {
      const int64_t row = at / strides[static_cast<size_t>(b)] % x.dim(b);
      const int64_t place = at / strides[static_cast<size_t>(s)] % x.dim(s);
      const int64_t length = lengths[static_cast<size_t>(row)];
      const int64_t to = place < length ? length - 1 - place : place;
      CopyElements(x.dtype(), ElementAt(x, at),
                   ElementAt(*y, at + (to - place) * strides[static_cast<size_t>(s)]), inner);
    }
    return OkStatus();
  });
}

// How far elements move along each axis, in [0, size).
StatusOr<IntVec> ReadShifts(const KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() < 1) return InvalidArgumentError("input must be 1-D or higher");
  ASSIGN_OR_RETURN(
      const IntVec shift,
      ReadIntVector(c.input(1), "shift must be a scalar or a 1-D vector: shift", true));
  ASSIGN_OR_RETURN(const IntVec axis,
                   ReadIntVector(c.input(2), "axis must be a scalar or a 1-D vector: axis", true));
  if (c.input(1).shape() != c.input(2).shape()) {
    return InvalidArgumentError("shift and axis must have the same size");
  }
  IntVec moves(static_cast<size_t>(x.rank()), 0);
  for (size_t i = 0; i < axis.size(); ++i) {
    const int64_t d = axis[i] < 0 ? axis[i] + x.rank() : axis[i];
    if (d < 0 || d >= x.rank()) {
      return InvalidArgumentError(StrCat("axis ", axis[i], " is out of range"));
    }
    const int64_t size = std::max<int64_t>(1, x.dim(static_cast<int>(d)));
    int64_t& move = moves[static_cast<size_t>(d)];
    move = (move + shift[i] % size + size) % size;
  }
  return moves;
}

Status RunRoll(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const IntVec moves, ReadShifts(c));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  if (x.num_elements() == 0) return OkStatus();
  const IntVec strides = RowMajorStrides(x.shape());
  const int last = x.rank() - 1;
  const int64_t n = x.dim(last), move = moves[static_cast<size_t>(last)];
  for (int64_t row = 0; row < x.num_elements(); row += n) {
    int64_t to = 0;
    for (int d = 0; d < last; ++d) {
      const auto at = static_cast<size_t>(d);
      to += (row / strides[at] % x.dim(d) + moves[at]) % x.dim(d) * strides[at];
    }
    CopyElements(x.dtype(), ElementAt(x, row), ElementAt(*y, to + move), n - move);
    CopyElements(x.dtype(), ElementAt(x, row + n - move), ElementAt(*y, to), move);
  }
  return OkStatus();
}

template <typename T>
Status Unravel(const Tensor& indices, const IntVec& dims, Tensor* y) {
  int64_t total = 1;
  for (int64_t d : dims) {
    if (d <= 0) return InvalidArgumentError("Input dims cannot contain a dim of zero or less");
    ASSIGN_OR_RETURN(total, CheckedMul(total, d, "Input dims product is causing integer overflow"));
  }
  const int64_t n = indices.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = indices.flat<T>()[static_cast<size_t>(i)];
    if (rest < 0 || rest >= total) {
      return InvalidArgumentError(
          StrCat("index is out of bound as with dims: ", rest, " is not in [0, ", total, ")"));
    }
    for (size_t d = dims.size(); d-- > 0;) {
      y->flat<T>()[static_cast<size_t>(static_cast<int64_t>(d) * n + i)] =
          static_cast<T>(rest % dims[d]);
      rest /= dims[d];
    }
  }
  return OkStatus();
}

Status RunUnravelIndex(KernelContext& c) {
  const Tensor& indices = c.input(0);
  if (indices.rank() > 1) {
    return InvalidArgumentError(StrCat("The indices can only be scalar or vector, got \"",
                                       indices.shape().ToString(), "\""));
  }
  if (c.input(1).rank() != 1) {
    return InvalidArgumentError(
        StrCat("The indices can only be 1-D, got \"", c.input(1).shape().ToString(), "\""));
  }
  ASSIGN_OR_RETURN(const IntVec dims, ReadIntVector(c.input(1), "dims"));
  Shape shape({dims.rank()});
  if (indices.rank() == 1) shape.AddDim(indices.dim(0));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  return indices.dtype() == DType::kInt32 ? Unravel<int32_t>(indices, dims, y)
                                          : Unravel<int64_t>(indices, dims, y);
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"DynamicPartition", BindDynamicPartition},
      {"DynamicStitch", BindPlain<RunDynamicStitch>},
      {"ParallelDynamicStitch", BindPlain<RunDynamicStitch>},
      {"ReverseSequence", BindReverseSequence},
      {"Roll", BindPlain<RunRoll>},
      {"UnravelIndex", BindPlain<RunUnravelIndex>},
  });
}

}  // namespace

std::span<const KernelDef> PartitionKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
