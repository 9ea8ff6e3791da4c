// SPDX-License-Identifier: Apache-2.0
//
// Equal values and order: unique values, differences of lists, bounds in sorted rows, the n-th
// element.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using Keyed = TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                       uint32_t, uint64_t, bool, Half, BFloat16>;

// Every number as 64 bits that are equal where the numbers are and in the order that they are in;
// zeros of both signs are one. NaN comes last. One instance of each algorithm serves all types.
constexpr uint64_t kNaNKey = ~uint64_t{0};
constexpr uint64_t kSignBit = uint64_t{1} << 63;

template <typename T>
uint64_t KeyOf(T v) {
  if constexpr (kIsHalf<T> || std::is_floating_point_v<T>) {
    const double wide = static_cast<double>(Widen(v)) + 0.0;
    if (wide != wide) return kNaNKey;
    const auto bits = std::bit_cast<uint64_t>(wide);
    return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(v)) ^ kSignBit;
  } else {
    return static_cast<uint64_t>(v);
  }
}
template <typename T>
T ValueOf(uint64_t key) {
  if constexpr (kIsHalf<T> || std::is_floating_point_v<T>) {
    if (key == kNaNKey) return T(std::numeric_limits<WideOf<T>>::quiet_NaN());
    const uint64_t bits = (key & kSignBit) != 0 ? key & ~kSignBit : ~key;
    return T(static_cast<WideOf<T>>(std::bit_cast<double>(bits)));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<int64_t>(key ^ kSignBit));
  } else {
    return static_cast<T>(key);
  }
}

void KeysOf(const Tensor& x, int64_t first, int64_t n, uint64_t* keys) {
  SwitchType<int>(Keyed{}, x.dtype(), [&]<typename T>() {
    std::transform(x.flat<T>().data() + first, x.flat<T>().data() + first + n, keys, KeyOf<T>);
    return 0;
  });
}
std::vector<uint64_t> KeysOf(const Tensor& x) {
  std::vector<uint64_t> keys(static_cast<size_t>(x.num_elements()));
  KeysOf(x, 0, x.num_elements(), keys.data());
  return keys;
}
// NaN equals nothing, not even itself, as in TensorFlow.
bool HasNaN(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kDouble || IsHalfSize(dtype);
}

// fn(keys, equals_nothing) with the elements as strings or as numbers' keys.
template <typename Fn>
void WithKeys(const Tensor& x, Fn&& fn) {
  if (x.dtype() == DType::kString) {
    fn(x.flat<std::string>(), [](const std::string&) { return false; });
  } else {
    const std::vector<uint64_t> keys = KeysOf(x);
    fn(std::span<const uint64_t>(keys),
       [nan = HasNaN(x.dtype())](uint64_t key) { return nan && key == kNaNKey; });
  }
}

// Slices of a tensor along one axis, compared as wholes: [outer, n, inner].
struct Slices {
  int64_t outer = 1, n = 0, inner = 1;
};

// first[k]: the slice at which value k appears first; of[i]: the value of slice i.
struct Grouping {
  std::vector<int64_t> first, of, count;

  // Slice i is value `found`, or a new one if that is negative.
  void Add(int64_t i, int64_t found) {
    if (found < 0) {
      found = static_cast<int64_t>(first.size());
      first.push_back(i);
      count.push_back(0);
    }
    of.push_back(found);
    ++count[static_cast<size_t>(found)];
  }
};

template <typename Key, typename EqualsNothing>
void GroupElements(std::span<const Key> keys, const EqualsNothing& equals_nothing, Grouping* g) {
  std::unordered_map<Key, int64_t> seen;
  seen.reserve(std::min<size_t>(keys.size(), 1 << 16));
  for (size_t i = 0; i < keys.size(); ++i) {
    int64_t found = -1;
    if (!equals_nothing(keys[i])) {
      const auto [it, fresh] = seen.emplace(keys[i], static_cast<int64_t>(g->first.size()));
      if (!fresh) found = it->second;
    }
    g->Add(static_cast<int64_t>(i), found);
  }
}

template <typename Key, typename EqualsNothing>
void GroupSlices(std::span<const Key> keys, const EqualsNothing& equals_nothing, const Slices& s,
                 Grouping* g) {
  const auto at = [&](int64_t i, int64_t k) -> const Key& {
    return keys[static_cast<size_t>((k / s.inner * s.n + i) * s.inner + k % s.inner)];
  };
  const int64_t size = s.outer * s.inner;
  const auto same = [&](int64_t a, int64_t b) {
    for (int64_t k = 0; k < size; ++k) {
      if (at(a, k) != at(b, k) || equals_nothing(at(a, k))) return false;
    }
    return true;
  };
  std::unordered_multimap<size_t, int64_t> seen;
  for (int64_t i = 0; i < s.n; ++i) {
    size_t hash = 0;
    for (int64_t k = 0; k < size; ++k) hash = hash * 1099511628211u + std::hash<Key>()(at(i, k));
    int64_t found = -1;
    const auto [begin, end] = seen.equal_range(hash);
    for (auto it = begin; it != end && found < 0; ++it) {
      if (same(i, g->first[static_cast<size_t>(it->second)])) found = it->second;
    }
    if (found < 0) seen.emplace(hash, static_cast<int64_t>(g->first.size()));
    g->Add(i, found);
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

StatusOr<KernelFn> BindUnique(const BindContext& bind) {
  const bool counts = bind.node->num_outputs() == 3;
  return KernelFn([counts](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    Shape shape;
    int axis = 0;
    ASSIGN_OR_RETURN(const Slices s, SlicesAlong(c, &shape, &axis));
    Grouping g;
    WithKeys(x, [&](auto keys, const auto& equals_nothing) {
      if (s.outer == 1 && s.inner == 1) {
        GroupElements(keys, equals_nothing, &g);
      } else {
        GroupSlices(keys, equals_nothing, s, &g);
      }
    });
    const auto unique = static_cast<int64_t>(g.first.size());
    shape.set_dim(axis, unique);
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t k = 0; k < unique; ++k) {
        CopyElements(x.dtype(), ElementAt(x, (o * s.n + g.first[static_cast<size_t>(k)]) * s.inner),
                     ElementAt(*y, (o * unique + k) * s.inner), s.inner);
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
  WithKeys(y, [&](auto gone_keys, const auto&) {
    using Key = typename decltype(gone_keys)::value_type;
    const std::unordered_set<Key> gone(gone_keys.begin(), gone_keys.end());
    WithKeys(x, [&](auto keys, const auto& equals_nothing) {
      if constexpr (std::is_same_v<typename decltype(keys)::value_type, Key>) {
        for (size_t i = 0; i < keys.size(); ++i) {
          if (equals_nothing(keys[i]) || !gone.contains(keys[i])) {
            kept.push_back(static_cast<int64_t>(i));
          }
        }
      }
    });
  });
  const Shape shape({static_cast<int64_t>(kept.size())});
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  ASSIGN_OR_RETURN(Tensor * idx, c.AllocateOutput(1, shape));
  for (size_t i = 0; i < kept.size(); ++i) {
    CopyElements(x.dtype(), ElementAt(x, kept[i]), ElementAt(*out, static_cast<int64_t>(i)), 1);
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
    const std::vector<uint64_t> rows = KeysOf(sorted), wanted = KeysOf(values);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto row = rows.begin() + static_cast<int64_t>(i) / m * n;
      places[i] = (upper ? std::upper_bound(row, row + n, wanted[i])
                         : std::lower_bound(row, row + n, wanted[i])) -
                  row;
    }
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
    auto* row = static_cast<uint64_t*>(c.Scratch(static_cast<size_t>(cols) * sizeof(uint64_t)));
    if (row == nullptr) return ResourceExhaustedError("No memory to sort a row");
    for (int64_t r = 0; r < y->num_elements(); ++r) {
      KeysOf(x, r * cols, cols, row);
      std::nth_element(row, row + n, row + cols);
      SwitchType<int>(AllNumbers{}, x.dtype(), [&]<typename T>() {
        y->flat<T>()[static_cast<size_t>(r)] = ValueOf<T>(row[n]);
        return 0;
      });
    }
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<DType> keys = Keyed::DTypes();
  keys.push_back(DType::kString);
  const std::vector<DType> numbers = AllNumbers::DTypes();
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
