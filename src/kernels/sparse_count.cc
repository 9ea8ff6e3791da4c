// SPDX-License-Identifier: Apache-2.0
//
// How often each value stands in a row, as a sparse tensor.
#include <algorithm>
#include <array>
#include <map>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/sparse.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

struct CountOptions {
  int64_t least = -1, most = -1;
  bool binary = false;
};

// counts[row][value], written as a sparse matrix (or vector) of rows x values.
template <typename W>
Status PutCounts(KernelContext& c, const std::vector<std::map<int64_t, W>>& counts, bool vector,
                 int64_t columns) {
  int64_t n = 0;
  for (const auto& row : counts) n += static_cast<int64_t>(row.size());
  const int rank = vector ? 1 : 2;
  ASSIGN_OR_RETURN(int64_t * indices, PutIndices(c, 0, n, rank));
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({n})));
  W* out = values->flat<W>().data();
  for (size_t r = 0; r < counts.size(); ++r) {
    for (const auto& [value, count] : counts[r]) {
      if (!vector) *indices++ = static_cast<int64_t>(r);
      *indices++ = value;
      *out++ = count;
    }
  }
  const int64_t rows = static_cast<int64_t>(counts.size());
  const std::array<int64_t, 2> shape = {rows, columns};
  return PutShape(c, 2, std::span(shape).last(static_cast<size_t>(rank)));
}

// row(i): the row of value i.
template <typename W, typename Row>
Status CountValues(KernelContext& c, const CountOptions& o, const Tensor& values,
                   const Tensor& weights, int64_t rows, bool vector, Row&& row) {
  std::vector<std::map<int64_t, W>> counts(static_cast<size_t>(rows));
  int64_t columns = 0;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t value =
        values.dtype() == DType::kInt32 ? values.flat<int32_t>()[at] : values.flat<int64_t>()[at];
    if (value < 0) return InvalidArgumentError("Input values must all be non-negative");
    if (o.most > 0 && value >= o.most) continue;
    columns = std::max(columns, value == INT64_MAX ? value : value + 1);
    W& count = counts[static_cast<size_t>(row(i))][value];
    if (o.binary) {
      count = 1;
    } else {
      count = WrapAdd(count, weights.num_elements() == 0 ? W{1} : weights.flat<W>()[at]);
    }
  }
  columns = o.most > 0 ? o.most : std::max(columns, o.least);
  return PutCounts<W>(c, counts, vector, columns);
}

StatusOr<KernelFn> BindCount(const BindContext& bind) {
  CountOptions o;
  o.least = IntAttr(*bind.node, "minlength", -1);
  o.most = IntAttr(*bind.node, "maxlength", -1);
  o.binary = BoolAttr(*bind.node, "binary_output");
  const bool sparse = bind.node->op() == "SparseCountSparseOutput";
  return KernelFn([o, sparse](KernelContext& c) -> Status {
    SparseView s;
    const Tensor& values = c.input(sparse ? 1 : 0);
    const Tensor& weights = c.input(sparse ? 3 : 1);
    if (sparse) {
      ASSIGN_OR_RETURN(s, SparseInput(c, 0));
    }
    const int rank = sparse ? s.rank : values.rank();
    if (rank < 1 || rank > 2) {
      return InvalidArgumentError(
          StrCat("Input must be a 1 or 2-dimensional tensor. Got: ", rank, " dimensions"));
    }
    if (weights.num_elements() > 0 && !(weights.shape() == values.shape())) {
      return InvalidArgumentError(StrCat(
          "Weights and values must have the same shape. Weight shape: ", weights.shape().ToString(),
          "; values shape: ", values.shape().ToString()));
    }
    const bool vector = rank == 1;
    int64_t rows = 1;
    if (!vector) rows = sparse ? s.shape[0] : values.dim(0);
    if (rows > (int64_t{1} << 26)) {
      return ResourceExhaustedError(StrCat("Counts of ", rows, " rows are too many"));
    }
    const int64_t cols = !sparse && !vector && rows > 0 ? values.dim(1) : 1;
    const auto row = [&](int64_t i) { return vector ? 0 : sparse ? s.at(i)[0] : i / cols; };
    return SwitchType<Status>(
        TypeList<float, double, int32_t, int64_t>{}, weights.dtype(),
        [&]<typename W>() { return CountValues<W>(c, o, values, weights, rows, vector, row); });
  });
}

}  // namespace

std::span<const KernelDef> SparseCountKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"DenseCountSparseOutput", BindCount},
      {"SparseCountSparseOutput", BindCount},
  });
  return table;
}

}  // namespace slipway::kernels
