// SPDX-License-Identifier: Apache-2.0
//
// Equal values and order: unique values, differences of lists, bounds in sorted rows, the n-th
// element.
#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using KeyTypes = TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                          uint32_t, uint64_t, bool, Half, BFloat16, std::string>;

// A hash for each element, under which equal elements are equal; NaN equals nothing, not even
// itself, as in TensorFlow.
template <typename T>
struct KeyHash {
  size_t operator()(const T& v) const {
    if constexpr (kIsHalf<T>) {
      const float wide = Widen(v);
      return std::hash<float>()(wide);
    } else {
      return std::hash<T>()(v);
    }
  }
};
template <typename T>
struct KeyEqual {
  bool operator()(const T& a, const T& b) const {
    if constexpr (kIsHalf<T>) {
      return Widen(a) == Widen(b);
    } else {
      return a == b;
    }
  }
};

// Slices of a tensor along one axis, compared as wholes: [outer, n, inner].
struct Slices {
  int64_t outer = 1, n = 0, inner = 1;
};

// first[k]: the slice at which value k appears first; of[i]: the value of slice i.
struct Grouping {
  std::vector<int64_t> first, of, count;
};

template <typename T>
void GroupElements(const T* x, int64_t n, Grouping* g) {
  std::unordered_map<T, int64_t, KeyHash<T>, KeyEqual<T>> seen;
  seen.reserve(static_cast<size_t>(std::min<int64_t>(n, 1 << 16)));
  for (int64_t i = 0; i < n; ++i) {
    auto [it, fresh] = seen.emplace(x[i], static_cast<int64_t>(g->first.size()));
    if (fresh) {
      g->first.push_back(i);
      g->count.push_back(0);
    }
    g->of.push_back(it->second);
    ++g->count[static_cast<size_t>(it->second)];
  }
}

template <typename T>
void GroupSlices(const T* x, const Slices& s, Grouping* g) {
  const auto each = [&](int64_t i, auto&& fn) {
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t j = 0; j < s.inner; ++j) {
        if (!fn(x[(o * s.n + i) * s.inner + j], o * s.inner + j)) return false;
      }
    }
    return true;
  };
  std::unordered_multimap<size_t, int64_t> seen;
  for (int64_t i = 0; i < s.n; ++i) {
    size_t hash = 0;
    each(i, [&](const T& v, int64_t) {
      hash = hash * 1099511628211u + KeyHash<T>()(v);
      return true;
    });
    int64_t found = -1;
    const auto [begin, end] = seen.equal_range(hash);
    for (auto it = begin; it != end && found < 0; ++it) {
      const int64_t other = g->first[static_cast<size_t>(it->second)];
      const bool same = each(i, [&](const T& v, int64_t at) {
        const int64_t o = at / s.inner, j = at % s.inner;
        return KeyEqual<T>()(v, x[(o * s.n + other) * s.inner + j]);
      });
      if (same) found = it->second;
    }
    if (found < 0) {
      found = static_cast<int64_t>(g->first.size());
      seen.emplace(hash, found);
      g->first.push_back(i);
      g->count.push_back(0);
    }
    g->of.push_back(found);
    ++g->count[static_cast<size_t>(found)];
  }
}

StatusOr<Slices> SlicesAlong(const KernelContext& c, Shape* shape, int* axis) {
  const Tensor& x = c.input(0);
  *axis = 0;
  if (c.num_inputs() == 1) {
    RETURN_IF_ERROR(CheckRank(x, 1, "unique expects a 1D vector: x"));
  } else {
    const Tensor& given = c.input(1);
    if (given.rank() > 1 || given.num_elements() > 1) {
      return InvalidArgumentError(
          StrCat("axis does not support input tensors larger than 1 elements, got shape ",
                 given.shape().ToString()));
    }
    if (given.num_elements() == 0) {
      if (x.rank() != 1) {
        return InvalidArgumentError(
            StrCat("unique expects a 1D vector without an axis, got shape ", x.shape().ToString()));
      }
    } else {
      ASSIGN_OR_RETURN(int64_t value, ReadInt(given, "axis"));
      if (value < -x.rank() || value >= x.rank()) {
        return InvalidArgumentError(
            StrCat("axis has to be between [0, ", x.rank(), "), got ", value));
      }
      *axis = static_cast<int>(value < 0 ? value + x.rank() : value);
    }
  }
  *shape = x.shape();
  Slices s;
  s.outer = ProductOfDims(x.shape(), 0, *axis);
  s.n = x.dim(*axis);
  s.inner = ProductOfDims(x.shape(), *axis + 1, x.rank());
  return s;
}

void PutIndices(const std::vector<int64_t>& values, Tensor* y) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (y->dtype() == DType::kInt64) {
      y->flat<int64_t>()[i] = values[i];
    } else {
      y->flat<int32_t>()[i] = static_cast<int32_t>(values[i]);
    }
  }
}

char* At(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.raw_data()) + element * static_cast<int64_t>(DTypeSize(t.dtype()));
}

StatusOr<KernelFn> BindUnique(const BindContext& bind) {
  const bool counts = bind.node->num_outputs() == 3;
  return KernelFn([counts](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    Shape shape;
    int axis = 0;
    ASSIGN_OR_RETURN(const Slices s, SlicesAlong(c, &shape, &axis));
    Grouping g;
    SwitchType<int>(KeyTypes{}, x.dtype(), [&]<typename T>() {
      if (s.outer == 1 && s.inner == 1) {
        GroupElements<T>(x.flat<T>().data(), s.n, &g);
      } else {
        GroupSlices<T>(x.flat<T>().data(), s, &g);
      }
      return 0;
    });
    const auto unique = static_cast<int64_t>(g.first.size());
    shape.set_dim(axis, unique);
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t k = 0; k < unique; ++k) {
        CopyElements(x.dtype(), At(x, (o * s.n + g.first[static_cast<size_t>(k)]) * s.inner),
                     At(*y, (o * unique + k) * s.inner), s.inner);
      }
    }
    ASSIGN_OR_RETURN(Tensor * idx, c.AllocateOutput(1, Shape({s.n})));
    PutIndices(g.of, idx);
    if (!counts) return OkStatus();
    ASSIGN_OR_RETURN(Tensor * count, c.AllocateOutput(2, Shape({unique})));
    PutIndices(g.count, count);
    return OkStatus();
  });
}

Status RunListDiff(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Tensor& y = c.input(1);
  RETURN_IF_ERROR(CheckRank(x, 1, "x should be a 1D vector: x"));
  RETURN_IF_ERROR(CheckRank(y, 1, "y should be a 1D vector: y"));
  std::vector<int64_t> kept;
  SwitchType<int>(KeyTypes{}, x.dtype(), [&]<typename T>() {
    std::unordered_map<T, bool, KeyHash<T>, KeyEqual<T>> gone;
    for (const T& v : y.flat<T>()) gone.emplace(v, true);
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (!gone.contains(x.flat<T>()[static_cast<size_t>(i)])) kept.push_back(i);
    }
    return 0;
  });
  const Shape shape({static_cast<int64_t>(kept.size())});
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  ASSIGN_OR_RETURN(Tensor * idx, c.AllocateOutput(1, shape));
  for (size_t i = 0; i < kept.size(); ++i) {
    CopyElements(x.dtype(), At(x, kept[i]), At(*out, static_cast<int64_t>(i)), 1);
  }
  PutIndices(kept, idx);
  return OkStatus();
}

// For each value of a row, how many elements of the sorted row are below it (or not above it).
StatusOr<KernelFn> BindBound(const BindContext& bind) {
  const bool upper = bind.node->op() == "UpperBound";
  return KernelFn([upper](KernelContext& c) -> Status {
    const Tensor& sorted = c.input(0);
    const Tensor& values = c.input(1);
    RETURN_IF_ERROR(CheckRank(sorted, 2, "sorted input argument must be a matrix: sorted_inputs"));
    RETURN_IF_ERROR(CheckRank(values, 2, "values must be a matrix: values"));
    if (sorted.dim(0) != values.dim(0)) {
      return InvalidArgumentError(StrCat(
          "Leading dim_size of both tensors must match: ", sorted.dim(0), " vs. ", values.dim(0)));
    }
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, values.shape()));
    const int64_t n = sorted.dim(1), m = values.dim(1);
    std::vector<int64_t> places(static_cast<size_t>(values.num_elements()));
    SwitchType<int>(AllNumbers{}, sorted.dtype(), [&]<typename T>() {
      const auto less = [](const T& a, const T& b) { return Widen(a) < Widen(b); };
      for (int64_t i = 0; i < values.num_elements(); ++i) {
        const T* row = sorted.flat<T>().data() + i / m * n;
        const T value = values.flat<T>()[static_cast<size_t>(i)];
        const T* place = upper ? std::upper_bound(row, row + n, value, less)
                               : std::lower_bound(row, row + n, value, less);
        places[static_cast<size_t>(i)] = place - row;
      }
      return 0;
    });
    PutIndices(places, y);
    return OkStatus();
  });
}

StatusOr<KernelFn> BindNthElement(const BindContext& bind) {
  const bool reverse = BoolAttr(*bind.node, "reverse");
  return KernelFn([reverse](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    RETURN_IF_ERROR(CheckScalar(c.input(1), "N must be scalar: n"));
    ASSIGN_OR_RETURN(int64_t n, ReadInt(c.input(1), "n"));
    if (n < 0) return InvalidArgumentError(StrCat("n must be non-negative: ", n));
    if (x.rank() < 1) {
      return InvalidArgumentError("Input must be at least rank 1 but is rank 0");
    }
    const int64_t cols = x.dim(x.rank() - 1);
    if (n >= cols) {
      return InvalidArgumentError(StrCat("Input must have last dimension > n = ", n));
    }
    if (reverse) n = cols - n - 1;
    const Shape shape(x.shape().dims().first(static_cast<size_t>(x.rank() - 1)));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    return SwitchType<Status>(AllNumbers{}, x.dtype(), [&]<typename T>() -> Status {
      auto* row = static_cast<T*>(c.Scratch(static_cast<size_t>(cols) * sizeof(T)));
      if (row == nullptr) return ResourceExhaustedError("No memory to sort a row");
      // NaN after all others keeps the order strict.
      const auto before = [](const T& a, const T& b) {
        const auto p = Widen(a), q = Widen(b);
        return p < q || (q != q && p == p);
      };
      for (int64_t r = 0; r < y->num_elements(); ++r) {
        std::copy_n(x.flat<T>().data() + r * cols, cols, row);
        std::nth_element(row, row + n, row + cols, before);
        y->flat<T>()[static_cast<size_t>(r)] = row[n];
      }
      return OkStatus();
    });
  });
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> keys = KeyTypes::DTypes(), numbers = AllNumbers::DTypes();
  return MakeKernels({
      {"ListDiff", [](const BindContext&) -> StatusOr<KernelFn> { return KernelFn(RunListDiff); },
       keys},
      {"LowerBound", BindBound, numbers},
      {"NthElement", BindNthElement, numbers},
      {"Unique", BindUnique, keys},
      {"UniqueV2", BindUnique, keys},
      {"UniqueWithCounts", BindUnique, keys},
      {"UniqueWithCountsV2", BindUnique, keys},
      {"UpperBound", BindBound, numbers},
  });
}

}  // namespace

std::span<const KernelDef> SetKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
