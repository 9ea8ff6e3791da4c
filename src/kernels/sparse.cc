// SPDX-License-Identifier: Apache-2.0
//
// Sparse tensors put in order, reshaped, sliced, joined, filled and made dense.
#include "kernels/sparse.h"

#include <algorithm>
#include <numeric>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {

std::string IndexText(const int64_t* index, int rank) {
  return StrCat("[", StrJoin(std::span(index, static_cast<size_t>(rank)), ","), "]");
}

namespace {

// A view of the three parts, which must fit together; the indices' values are not looked at.
// `name` and `shape_name` are for errors.
StatusOr<SparseView> ViewOf(const Tensor& indices, const Tensor& values, const Tensor& shape,
                            std::string_view name, std::string_view shape_name) {
  RETURN_IF_ERROR(CheckRank(indices, 2, "Input indices should be a matrix: indices"));
  RETURN_IF_ERROR(CheckRank(values, 1, "Input values should be a vector: values"));
  RETURN_IF_ERROR(
      CheckRank(shape, 1, StrCat("Input ", shape_name, " should be a vector: ", shape_name)));
  if (indices.dim(0) != values.dim(0) || indices.dim(1) != shape.dim(0)) {
    return InvalidArgumentError(StrCat(name, " of indices ", indices.shape().ToString(),
                                       ", values ", values.shape().ToString(), " and shape ",
                                       shape.shape().ToString(), ": they do not fit"));
  }
  SparseView s;
  s.indices = indices.flat<int64_t>().data();
  s.values = &values;
  s.count = indices.dim(0);
  s.rank = static_cast<int>(indices.dim(1));
  s.shape = shape.flat<int64_t>();
  return s;
}

}  // namespace

StatusOr<SparseView> SparseInput(const KernelContext& c, int first) {
  ASSIGN_OR_RETURN(SparseView s, ViewOf(c.input(first), c.input(first + 1), c.input(first + 2),
                                        "Sparse tensor", "shape"));
  RETURN_IF_ERROR(Shape::FromDims(s.shape).status());
  for (int64_t i = 0; i < s.count; ++i) {
    for (int d = 0; d < s.rank; ++d) {
      const int64_t index = s.at(i)[d];
      if (index >= 0 && index < s.shape[static_cast<size_t>(d)]) continue;
      return InvalidArgumentError(StrCat("indices[", i, "] = ", IndexText(s.at(i), s.rank),
                                         " is out of bounds: need 0 <= index < ",
                                         IndexText(s.shape.data(), s.rank)));
    }
  }
  return s;
}

int CompareIndices(const int64_t* a, const int64_t* b, int rank) {
  for (int d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

Status CheckSorted(const SparseView& s) {
  for (int64_t i = 1; i < s.count; ++i) {
    const int order = CompareIndices(s.at(i - 1), s.at(i), s.rank);
    if (order < 0) continue;
    return InvalidArgumentError(StrCat("indices[", i, "] = ", IndexText(s.at(i), s.rank),
                                       order == 0 ? " is repeated" : " is out of order"));
  }
  return OkStatus();
}

std::vector<int64_t> SortedOrder(const SparseView& s) {
  std::vector<int64_t> order(static_cast<size_t>(s.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return CompareIndices(s.at(a), s.at(b), s.rank) < 0;
  });
  return order;
}

StatusOr<int64_t*> PutIndices(KernelContext& c, int output, int64_t count, int rank) {
  ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(output, Shape({count, rank})));
  return indices->flat<int64_t>().data();
}

Status PutShape(KernelContext& c, int output, std::span<const int64_t> shape) {
  ASSIGN_OR_RETURN(Tensor * out,
                   c.AllocateOutput(output, Shape({static_cast<int64_t>(shape.size())})));
  std::copy(shape.begin(), shape.end(), out->flat<int64_t>().begin());
  return OkStatus();
}

namespace {

Status RunReorder(KernelContext& c) {
  ASSIGN_OR_RETURN(const SparseView s, SparseInput(c, 0));
  const std::vector<int64_t> order = SortedOrder(s);
  ASSIGN_OR_RETURN(int64_t * indices, PutIndices(c, 0, s.count, s.rank));
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({s.count})));
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    std::copy_n(s.at(from), s.rank, indices + i * s.rank);
    CopyElements(values->dtype(), ElementAt(*s.values, from), ElementAt(*values, i), 1);
  }
  return OkStatus();
}

// `given` with its one open size filled in for so many elements.
StatusOr<IntVec> ResolveShape(const IntVec& given, int64_t elements) {
  IntVec shape = given;
  int64_t known = 1;
  int open = -1;
  for (int d = 0; d < given.rank(); ++d) {
    const int64_t size = given[static_cast<size_t>(d)];
    if (size == -1) {
      if (open >= 0) {
        return InvalidArgumentError(
            StrCat("only one output dimension may be -1, not both ", open, " and ", d));
      }
      open = d;
      continue;
    }
    if (size < 0) {
      return InvalidArgumentError(StrCat("size ", d, " must be non-negative, not ", size));
    }
    ASSIGN_OR_RETURN(known, CheckedMul(known, size, "new_shape"));
  }
  if (open >= 0) {
    if (known <= 0) {
      return InvalidArgumentError(
          "reshape cannot infer the missing input size for an empty tensor unless all specified "
          "input sizes are non-zero");
    }
    shape[static_cast<size_t>(open)] = elements / known;
    known *= elements / known;
  }
  if (known == elements) return shape;
  return InvalidArgumentError(StrCat("Input to reshape is a SparseTensor with ", elements,
                                     " dense values, but the requested shape has ", known));
}

Status RunReshape(KernelContext& c) {
  const Tensor& in = c.input(0);
  RETURN_IF_ERROR(CheckRank(in, 2, "Input indices should be a matrix: input_indices"));
  ASSIGN_OR_RETURN(const IntVec from,
                   ReadIntVector(c.input(1), "Input shape should be a vector: input_shape"));
  ASSIGN_OR_RETURN(const IntVec given,
                   ReadIntVector(c.input(2), "Target shape should be a vector: new_shape"));
  if (in.dim(1) != from.rank()) {
    return InvalidArgumentError(StrCat(
        "Input tensor rank must match input shape length: ", in.dim(1), " vs. ", from.rank()));
  }
  ASSIGN_OR_RETURN(const Shape dense, Shape::FromDims(from.span()));
  ASSIGN_OR_RETURN(const IntVec to, ResolveShape(given, dense.num_elements()));
  ASSIGN_OR_RETURN(int64_t * out, PutIndices(c, 0, in.dim(0), to.rank()));
  RETURN_IF_ERROR(PutShape(c, 1, to.span()));
  const int64_t* index = in.flat<int64_t>().data();
  for (int64_t i = 0; i < in.dim(0); ++i, index += from.rank(), out += to.rank()) {
    int64_t flat = 0;
    for (int d = 0; d < from.rank(); ++d) {
      const int64_t size = from[static_cast<size_t>(d)];
      if (index[d] < 0 || index[d] >= size) {
        return InvalidArgumentError(StrCat("indices[", i, "] = ", IndexText(index, from.rank()),
                                           " is out of bounds of shape ", dense.ToString()));
      }
      flat = flat * size + index[d];
    }
    for (int d = to.rank() - 1; d >= 0; --d) {
      out[d] = flat % to[static_cast<size_t>(d)];
      flat /= to[static_cast<size_t>(d)];
    }
  }
  return OkStatus();
}

Status RunSlice(KernelContext& c) {
  ASSIGN_OR_RETURN(const SparseView s, SparseInput(c, 0));
  ASSIGN_OR_RETURN(const IntVec start, ReadIntVector(c.input(3), "start"));
  ASSIGN_OR_RETURN(const IntVec size, ReadIntVector(c.input(4), "size"));
  if (start.rank() != s.rank || size.rank() != s.rank) {
    return InvalidArgumentError(StrCat("Expected start and size to be vectors of length ", s.rank,
                                       " but got lengths ", start.rank(), " and ", size.rank()));
  }
  IntVec shape;
  for (int d = 0; d < s.rank; ++d) {
    const auto at = static_cast<size_t>(d);
    if (start[at] < 0 || size[at] < 0) {
      return InvalidArgumentError(StrCat("expected start and size to be non-negative but got ",
                                         start[at], " and ", size[at]));
    }
    shape.push_back(start[at] < s.shape[at] ? std::min(size[at], s.shape[at] - start[at]) : 0);
  }
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < s.count; ++i) {
    bool inside = true;
    for (int d = 0; d < s.rank; ++d) {
      const auto at = static_cast<size_t>(d);
      const int64_t place = s.at(i)[d] - start[at];
      inside = inside && place >= 0 && place < shape[at];
    }
    if (inside) kept.push_back(i);
  }
  const auto n = static_cast<int64_t>(kept.size());
  ASSIGN_OR_RETURN(int64_t * indices, PutIndices(c, 0, n, s.rank));
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({n})));
  RETURN_IF_ERROR(PutShape(c, 2, shape.span()));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = kept[static_cast<size_t>(i)];
    for (int d = 0; d < s.rank; ++d) {
      indices[i * s.rank + d] = s.at(from)[d] - start[static_cast<size_t>(d)];
    }
    CopyElements(values->dtype(), ElementAt(*s.values, from), ElementAt(*values, i), 1);
  }
  return OkStatus();
}

// The sparse tensor p of N, whose parts lie N inputs apart.
StatusOr<SparseView> PieceInput(const KernelContext& c, int p, int pieces) {
  return ViewOf(c.input(p), c.input(pieces + p), c.input(2 * pieces + p),
                StrCat("Sparse tensor ", p), "shapes");
}

StatusOr<IntVec> JoinedShape(std::span<const SparseView> pieces, int axis) {
  IntVec shape(pieces[0].shape);
  for (size_t p = 1; p < pieces.size(); ++p) {
    if (pieces[p].rank != pieces[0].rank) {
      return InvalidArgumentError(StrCat("Ranks of all input tensors must match: expected ",
                                         pieces[0].rank, " but got ", pieces[p].rank,
                                         " at position ", p));
    }
    for (int d = 0; d < pieces[0].rank; ++d) {
      const auto at = static_cast<size_t>(d);
      if (d == axis) {
        if (__builtin_add_overflow(shape[at], pieces[p].shape[at], &shape[at])) {
          return InvalidArgumentError("The joined dimension is too large");
        }
      } else if (shape[at] != pieces[p].shape[at]) {
        return InvalidArgumentError(StrCat("Input shapes must match: expected ", shape[at],
                                           " for dimension ", d, " but got ", pieces[p].shape[at],
                                           " at position ", p));
      }
    }
  }
  return shape;
}

StatusOr<KernelFn> BindConcat(const BindContext& bind) {
  const int64_t given = IntAttr(*bind.node, "concat_dim");
  return KernelFn([given](KernelContext& c) -> Status {
    const int n = c.num_inputs() / 3;
    std::vector<SparseView> pieces;
    int64_t total = 0;
    for (int p = 0; p < n; ++p) {
      ASSIGN_OR_RETURN(SparseView piece, PieceInput(c, p, n));
      total += piece.count;
      pieces.push_back(piece);
    }
    const int rank = pieces[0].rank;
    if (given < -rank || given >= rank) {
      return InvalidArgumentError(
          StrCat("Concat dimension must be in range [", -rank, ", ", rank, "), got ", given));
    }
    const int axis = static_cast<int>(given < 0 ? given + rank : given);
    ASSIGN_OR_RETURN(const IntVec shape, JoinedShape(pieces, axis));
    std::vector<int64_t> moved;
    std::vector<const char*> values;
    int64_t offset = 0;
    for (const SparseView& piece : pieces) {
      for (int64_t i = 0; i < piece.count; ++i) {
        for (int d = 0; d < rank; ++d) {
          moved.push_back(piece.at(i)[d] + (d == axis ? offset : 0));
        }
        values.push_back(ElementAt(*piece.values, i));
      }
      offset += piece.shape[static_cast<size_t>(axis)];
    }
    SparseView joined;
    joined.indices = moved.data();
    joined.count = total;
    joined.rank = rank;
    const std::vector<int64_t> order = SortedOrder(joined);
    ASSIGN_OR_RETURN(int64_t * indices, PutIndices(c, 0, total, rank));
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(1, Shape({total})));
    RETURN_IF_ERROR(PutShape(c, 2, shape.span()));
    for (int64_t i = 0; i < total; ++i) {
      const auto from = static_cast<size_t>(order[static_cast<size_t>(i)]);
      std::copy_n(joined.at(static_cast<int64_t>(from)), rank, indices + i * rank);
      CopyElements(out->dtype(), values[from], ElementAt(*out, i), 1);
    }
    return OkStatus();
  });
}

Status CheckRows(const KernelContext& c) {
  const Tensor& indices = c.input(0);
  RETURN_IF_ERROR(CheckRank(c.input(2), 1, "dense_shape must be a vector: dense_shape"));
  RETURN_IF_ERROR(CheckRank(indices, 2, "indices must be a matrix: indices"));
  RETURN_IF_ERROR(CheckRank(c.input(1), 1, "values must be a vector: values"));
  RETURN_IF_ERROR(CheckScalar(c.input(3), "default_value must be a scalar: default_value"));
  if (indices.dim(0) != c.input(1).dim(0) || indices.dim(1) != c.input(2).dim(0)) {
    return InvalidArgumentError(StrCat("The length of values (", c.input(1).dim(0),
                                       ") must match the first dimension of indices (",
                                       indices.dim(0), "), and dense_shape the second"));
  }
  if (c.input(2).dim(0) == 0) return InvalidArgumentError("Dense shape cannot be empty.");
  const int64_t rows = c.input(2).flat<int64_t>()[0];
  if (rows < 0) return InvalidArgumentError(StrCat("dense_shape[0] = ", rows, " is negative"));
  if (rows == 0 && indices.dim(0) != 0) {
    return InvalidArgumentError(StrCat(
        "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = ", indices.dim(0)));
  }
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    const int64_t row = indices.flat<int64_t>()[static_cast<size_t>(i * indices.dim(1))];
    if (row < 0)
      return InvalidArgumentError(StrCat("indices(", i, ", 0) is invalid: ", row, " < 0"));
    if (row >= rows) {
      return InvalidArgumentError(StrCat("indices(", i, ", 0) is invalid: ", row, " >= ", rows));
    }
  }
  return OkStatus();
}

Status RunFillEmptyRows(KernelContext& c) {
  RETURN_IF_ERROR(CheckRows(c));
  const Tensor& in = c.input(0);
  const int64_t n = in.dim(0), rank = in.dim(1), rows = c.input(2).flat<int64_t>()[0];
  const int64_t* index = in.flat<int64_t>().data();
  ASSIGN_OR_RETURN(Tensor * empty, c.AllocateOutput(2, Shape({rows})));
  ASSIGN_OR_RETURN(Tensor * where, c.AllocateOutput(3, Shape({n})));
  // next[r]: where row r's next element goes.
  ASSIGN_OR_RETURN(const int64_t bytes, CheckedMul(rows, sizeof(int64_t), "dense_shape[0]"));
  auto* memory = static_cast<int64_t*>(c.Scratch(static_cast<size_t>(bytes) + 1));
  if (memory == nullptr) return ResourceExhaustedError(StrCat("No memory for ", rows, " rows"));
  const std::span<int64_t> next(memory, static_cast<size_t>(rows));
  std::fill(next.begin(), next.end(), 0);
  for (int64_t i = 0; i < n; ++i) ++next[static_cast<size_t>(index[i * rank])];
  int64_t total = 0;
  for (size_t r = 0; r < next.size(); ++r) {
    const int64_t count = next[r];
    empty->flat<bool>()[r] = count == 0;
    next[r] = total;
    total += std::max<int64_t>(count, 1);
  }
  ASSIGN_OR_RETURN(int64_t * indices, PutIndices(c, 0, total, static_cast<int>(rank)));
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({total})));
  for (size_t r = 0; r < next.size(); ++r) {
    if (!empty->flat<bool>()[r]) continue;
    std::fill_n(indices + next[r] * rank, rank, 0);
    indices[next[r] * rank] = static_cast<int64_t>(r);
    CopyElements(values->dtype(), c.input(3).raw_data(), ElementAt(*values, next[r]), 1);
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t to = next[static_cast<size_t>(index[i * rank])]++;
    std::copy_n(index + i * rank, rank, indices + to * rank);
    CopyElements(values->dtype(), ElementAt(c.input(1), i), ElementAt(*values, to), 1);
    where->flat<int64_t>()[static_cast<size_t>(i)] = to;
  }
  return OkStatus();
}

// Indices [n, rank], [n] (of a vector) or a scalar.
Status ReadPlaces(const KernelContext& c, int64_t* count, int64_t* depth) {
  const Tensor& indices = c.input(0);
  if (indices.rank() > 2) {
    return InvalidArgumentError(
        StrCat("sparse_indices should be a scalar, vector, or matrix, got "
               "shape ",
               indices.shape().ToString()));
  }
  *count = indices.rank() > 0 ? indices.dim(0) : 1;
  *depth = indices.rank() > 1 ? indices.dim(1) : 1;
  RETURN_IF_ERROR(CheckRank(c.input(1), 1, "output_shape must be rank 1: output_shape"));
  if (c.input(1).dim(0) != *depth) {
    return InvalidArgumentError(StrCat("output_shape has incorrect number of elements: ",
                                       c.input(1).dim(0), " should be: ", *depth));
  }
  const Tensor& values = c.input(2);
  if (values.rank() > 1 || (values.rank() == 1 && values.dim(0) != *count)) {
    return InvalidArgumentError(StrCat("sparse_values has incorrect shape ",
                                       values.shape().ToString(), ", should be [] or [", *count,
                                       "]"));
  }
  return CheckScalar(c.input(3), "default_value should be a scalar: default_value");
}

StatusOr<KernelFn> BindToDense(const BindContext& bind) {
  const bool validate = BoolAttr(*bind.node, "validate_indices", true);
  return KernelFn([validate](KernelContext& c) -> Status {
    int64_t count = 0, depth = 0;
    RETURN_IF_ERROR(ReadPlaces(c, &count, &depth));
    ASSIGN_OR_RETURN(const Shape shape, ReadShape(c.input(1), "output_shape"));
    ASSIGN_OR_RETURN(const IntVec flat, ReadInts(c.input(0), "sparse_indices"));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    const Tensor& values = c.input(2);
    FillElements(y->dtype(), c.input(3).raw_data(), y->raw_data(), y->num_elements());
    const int rank = static_cast<int>(depth);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t* index = flat.data() + i * depth;
      int64_t at = 0;
      for (int d = 0; d < rank; ++d) {
        if (index[d] < 0 || index[d] >= shape.dim(d)) {
          return InvalidArgumentError(StrCat("indices[", i, "] = ", IndexText(index, rank),
                                             " is out of bounds: need 0 <= index < ",
                                             shape.ToString()));
        }
        at = at * shape.dim(d) + index[d];
      }
      const int order = i == 0 || !validate ? -1 : CompareIndices(index - depth, index, rank);
      if (order >= 0) {
        return InvalidArgumentError(StrCat("indices[", i, "] = ", IndexText(index, rank),
                                           order == 0 ? " is repeated" : " is out of order"));
      }
      CopyElements(y->dtype(), ElementAt(values, values.rank() == 0 ? 0 : i), ElementAt(*y, at), 1);
    }
    return OkStatus();
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"SparseConcat", BindConcat},
      {"SparseFillEmptyRows", BindPlain<RunFillEmptyRows>},
      {"SparseReorder", BindPlain<RunReorder>},
      {"SparseReshape", BindPlain<RunReshape>},
      {"SparseSlice", BindPlain<RunSlice>},
      {"SparseToDense", BindToDense},
  });
}

}  // namespace

std::span<const KernelDef> SparseKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
