// SPDX-License-Identifier: Apache-2.0
//
// Levenshtein distances between the last dimensions of two sparse tensors.
#include <algorithm>
#include <compare>
#include <limits>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename T>
int64_t Distance(std::span<const T> a, std::span<const T> b) {
  std::vector<int64_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// A sparse tensor cut into sequences: runs of elements whose indices agree but for the last.
struct Sequences {
  const Tensor *indices, *values;
  int64_t rank = 0;

  int64_t count() const { return indices->dim(0); }
  const int64_t* index(int64_t i) const { return indices->flat<int64_t>().data() + i * rank; }
  int64_t RunEnd(int64_t begin) const {
    int64_t end = begin + 1;
    while (end < count() && std::equal(index(begin), index(begin) + rank - 1, index(end))) ++end;
    return end;
  }
  // -1, 0 or 1 as the sequence at i comes before, with or after the one of `other` at k.
  int Compare(int64_t i, const Sequences& other, int64_t k) const {
    if (i >= count()) return k >= other.count() ? 0 : 1;
    if (k >= other.count()) return -1;
    const auto order = std::lexicographical_compare_three_way(
        index(i), index(i) + rank - 1, other.index(k), other.index(k) + rank - 1);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
};

Status CheckSparse(KernelContext& c, int first, std::string_view name) {
  const Tensor &indices = c.input(first), &values = c.input(first + 1), &shape = c.input(first + 2);
  if (indices.rank() != 2) {
    return InvalidArgumentError(
        StrCat(name, "_indices should be a matrix, but got shape: ", indices.shape().ToString()));
  }
  if (values.rank() != 1) {
    return InvalidArgumentError(
        StrCat(name, "_values should be a vector, but got shape: ", values.shape().ToString()));
  }
  if (shape.rank() != 1) {
    return InvalidArgumentError(
        StrCat(name, "_shape should be a vector, but got shape: ", shape.shape().ToString()));
  }
  if (values.num_elements() != indices.dim(0)) {
    return InvalidArgumentError(StrCat(name, "_values.NumElements() = ", values.num_elements(),
                                       " but ", name,
                                       "_indices.NumElements()/rank = ", indices.dim(0)));
  }
  if (shape.num_elements() != indices.dim(1)) {
    return InvalidArgumentError(StrCat("Rank of ", name, "_indices is ", indices.dim(1), ", but ",
                                       name, "_shape has ", shape.num_elements(), " elements"));
  }
  return OkStatus();
}

StatusOr<Shape> GroupShape(const Tensor& hypothesis, const Tensor& truth) {
  if (hypothesis.num_elements() != truth.num_elements()) {
    return InvalidArgumentError(
        StrCat("Expected truth and hypothesis to have matching ranks, but their shapes are: ",
               truth.shape().ToString(), " and ", hypothesis.shape().ToString()));
  }
  if (truth.num_elements() < 2) {
    return InvalidArgumentError(
        StrCat("Input SparseTensors must have rank at least 2, but truth_shape rank is: ",
               truth.num_elements()));
  }
  IntVec dims;
  for (size_t d = 0; d + 1 < truth.flat<int64_t>().size(); ++d) {
    dims.push_back(std::max(truth.flat<int64_t>()[d], hypothesis.flat<int64_t>()[d]));
  }
  return Shape::FromDims(dims.span());
}

template <typename T>
class Run {
 public:
  Run(KernelContext& c, bool normalize)
      : hypothesis_{&c.input(0), &c.input(1), c.input(0).dim(1)},
        truth_{&c.input(3), &c.input(4), c.input(3).dim(1)},
        normalize_(normalize) {}

  Status Fill(Tensor* out) {
    std::fill(out->flat<float>().begin(), out->flat<float>().end(), 0.0f);
    int64_t h = 0, t = 0;
    while (h < hypothesis_.count() || t < truth_.count()) {
      const int order = truth_.Compare(t, hypothesis_, h);
      const int64_t h_end = order >= 0 ? hypothesis_.RunEnd(h) : h;
      const int64_t t_end = order <= 0 ? truth_.RunEnd(t) : t;
      const int64_t* index = order <= 0 ? truth_.index(t) : hypothesis_.index(h);
      RETURN_IF_ERROR(Set(index, Value(h, h_end, t, t_end), out));
      h = h_end;
      t = t_end;
    }
    return OkStatus();
  }

 private:
  float Value(int64_t h, int64_t h_end, int64_t t, int64_t t_end) const {
    const auto part = [](const Sequences& s, int64_t begin, int64_t end) {
      return s.values->template flat<T>().subspan(static_cast<size_t>(begin),
                                                  static_cast<size_t>(end - begin));
    };
    if (h == h_end) return normalize_ ? 1.0f : static_cast<float>(t_end - t);
    if (t == t_end) {
      return normalize_ ? std::numeric_limits<float>::infinity() : static_cast<float>(h_end - h);
    }
    const auto distance =
        static_cast<float>(Distance<T>(part(truth_, t, t_end), part(hypothesis_, h, h_end)));
    return normalize_ ? distance / static_cast<float>(t_end - t) : distance;
  }
  static Status Set(const int64_t* index, float value, Tensor* out) {
    int64_t offset = 0;
    for (int d = 0; d < out->rank(); ++d) {
      if (index[d] < 0 || index[d] >= out->dim(d)) {
        return InternalError(
            StrCat("Got an inner product ", index[d],
                   " which would require writing to outside of the buffer for the output tensor "
                   "(max elements ",
                   out->num_elements(), "): an index of dimension ", d, " is out of range"));
      }
      offset = offset * out->dim(d) + index[d];
    }
    out->flat<float>()[static_cast<size_t>(offset)] = value;
    return OkStatus();
  }

  Sequences hypothesis_, truth_;
  const bool normalize_;
};

using Compared = TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, bool,
                          std::string>;

StatusOr<KernelFn> BindEditDistance(const BindContext& c) {
  const bool normalize = BoolAttr(*c.node, "normalize", true);
  return KernelFn([normalize](KernelContext& ctx) -> Status {
    RETURN_IF_ERROR(CheckSparse(ctx, 0, "hypothesis"));
    RETURN_IF_ERROR(CheckSparse(ctx, 3, "truth"));
    ASSIGN_OR_RETURN(const Shape shape, GroupShape(ctx.input(2), ctx.input(5)));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    return SwitchType<Status>(Compared{}, ctx.input(1).dtype(),
                              [&]<typename T>() { return Run<T>(ctx, normalize).Fill(out); });
  });
}

}  // namespace

std::span<const KernelDef> EditDistanceKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"EditDistance", BindEditDistance, Compared::DTypes()},
  });
  return table;
}

}  // namespace slipway::kernels
