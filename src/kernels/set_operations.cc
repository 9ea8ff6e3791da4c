// SPDX-License-Identifier: Apache-2.0
//
// Rows as sets: union, intersection and differences of two tensors' rows, and the sizes of sets.
// The last dimension is the set; all before it are the group.
#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/sparse.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using Elements = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;

enum class SetOperation { kMinus, kReverseMinus, kIntersection, kUnion };

StatusOr<SetOperation> OperationOf(const ir::Node& node) {
  const auto given = AttrOr<std::string>(node, "set_operation", "");
  const std::string name = AsciiLower(given);
  if (name == "a-b") return SetOperation::kMinus;
  if (name == "b-a") return SetOperation::kReverseMinus;
  if (name == "intersection") return SetOperation::kIntersection;
  if (name == "union") return SetOperation::kUnion;
  return InvalidArgumentError(
      StrCat("Invalid set_operation ", given, "; wanted a-b, b-a, intersection or union"));
}

// One side of an operation. Dense ones have no indices: element i is in group i / row.
struct Operand {
  const Tensor* values = nullptr;
  const int64_t* indices = nullptr;
  IntVec groups;    // the sizes of all dimensions but the last
  int64_t row = 1;  // the size of the last

  int64_t GroupOf(int64_t i) const {
    if (indices == nullptr) return i / row;
    const int64_t* index = indices + i * (groups.rank() + 1);
    int64_t group = 0;
    for (size_t d = 0; d < groups.size(); ++d) group = group * groups[d] + index[d];
    return group;
  }
};

void SetShape(std::span<const int64_t> dims, Operand* operand) {
  operand->groups = IntVec(dims.first(dims.size() - 1));
  operand->row = dims.back();
}

StatusOr<Operand> DenseOperand(const Tensor& t) {
  if (t.rank() < 2) {
    return InvalidArgumentError(
        StrCat("Shape ", t.shape().ToString(), " has rank ", t.rank(), " < 2"));
  }
  Operand operand{&t};
  SetShape(t.shape().dims(), &operand);
  return operand;
}

StatusOr<Operand> SparseOperand(const KernelContext& c, int first, bool validate) {
  ASSIGN_OR_RETURN(const SparseView s, SparseInput(c, first));
  if (s.rank < 2)
    return InvalidArgumentError(StrCat("Invalid rank ", s.rank, "; wanted 2 or more"));
  if (validate) RETURN_IF_ERROR(CheckSorted(s));
  Operand operand{s.values, s.indices};
  SetShape(s.shape, &operand);
  return operand;
}

// Integers are compared as 64 bits wide: one instance for all of them.
template <typename Key>
struct Member {
  int64_t group = 0;
  Key key{};
  int64_t from = 0;  // the element that it is

  friend bool operator<(const Member& a, const Member& b) {
    return a.group != b.group ? a.group < b.group : a.key < b.key;
  }
  friend bool operator==(const Member& a, const Member& b) {
    return a.group == b.group && a.key == b.key;
  }
};

template <typename Key>
Key KeyAt(const Tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  if constexpr (std::is_same_v<Key, std::string_view>) {
    return t.flat<std::string>()[at];
  } else {
    return SwitchType<int64_t>(Elements{}, t.dtype(), [&]<typename T>() -> int64_t {
      if constexpr (std::is_integral_v<T>) {
        return int64_t{t.flat<T>()[at]};
      } else {
        return 0;
      }
    });
  }
}

// The distinct members of every group, in order.
template <typename Key>
std::vector<Member<Key>> MembersOf(const Operand& operand) {
  std::vector<Member<Key>> members;
  members.reserve(static_cast<size_t>(operand.values->num_elements()));
  for (int64_t i = 0; i < operand.values->num_elements(); ++i) {
    members.push_back({operand.GroupOf(i), KeyAt<Key>(*operand.values, i), i});
  }
  std::stable_sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

// An element of the result: which operand has it, and where.
struct Taken {
  int64_t group, from;
  bool second;
};

template <typename Key>
std::vector<Taken> Combine(SetOperation op, const Operand& a, const Operand& b) {
  const std::vector<Member<Key>> left = MembersOf<Key>(a), right = MembersOf<Key>(b);
  std::vector<Taken> result;
  size_t i = 0, j = 0;
  const bool only_left = op == SetOperation::kMinus || op == SetOperation::kUnion;
  const bool only_right = op == SetOperation::kReverseMinus || op == SetOperation::kUnion;
  const bool both = op == SetOperation::kIntersection || op == SetOperation::kUnion;
  while (i < left.size() || j < right.size()) {
    if (j == right.size() || (i < left.size() && left[i] < right[j])) {
      if (only_left) result.push_back({left[i].group, left[i].from, false});
      ++i;
    } else if (i == left.size() || right[j] < left[i]) {
      if (only_right) result.push_back({right[j].group, right[j].from, true});
      ++j;
    } else {
      if (both) result.push_back({left[i].group, left[i].from, false});
      ++i, ++j;
    }
  }
  return result;
}

Status PutResult(KernelContext& c, const Operand& a, const Operand& b,
                 const std::vector<Taken>& taken) {
  const int rank = a.groups.rank() + 1;
  const auto count = static_cast<int64_t>(taken.size());
  ASSIGN_OR_RETURN(int64_t * indices, PutIndices(c, 0, count, rank));
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({count})));
  int64_t place = 0, largest = 0;
  for (int64_t k = 0; k < count; ++k) {
    const Taken& t = taken[static_cast<size_t>(k)];
    place = k > 0 && taken[static_cast<size_t>(k) - 1].group == t.group ? place + 1 : 0;
    largest = std::max(largest, place + 1);
    int64_t rest = t.group;
    for (int d = rank - 2; d >= 0; --d) {
      const int64_t size = a.groups[static_cast<size_t>(d)];
      indices[k * rank + d] = rest % size;
      rest /= size;
    }
    indices[k * rank + rank - 1] = place;
    CopyElements(values->dtype(), ElementAt(t.second ? *b.values : *a.values, t.from),
                 ElementAt(*values, k), 1);
  }
  IntVec shape = a.groups;
  shape.push_back(largest);
  return PutShape(c, 2, shape.span());
}

StatusOr<KernelFn> BindOperation(const BindContext& bind) {
  ASSIGN_OR_RETURN(const SetOperation op, OperationOf(*bind.node));
  const bool validate = BoolAttr(*bind.node, "validate_indices", true);
  return KernelFn([op, validate](KernelContext& c) -> Status {
    const int n = c.num_inputs();  // a dense operand is one input, a sparse one three
    ASSIGN_OR_RETURN(const Operand a,
                     n == 6 ? SparseOperand(c, 0, validate) : DenseOperand(c.input(0)));
    ASSIGN_OR_RETURN(const Operand b,
                     n == 2 ? DenseOperand(c.input(1)) : SparseOperand(c, n - 3, validate));
    if (!std::ranges::equal(a.groups.span(), b.groups.span())) {
      return InvalidArgumentError(
          StrCat("Mismatched shapes ", IndexText(a.groups.data(), a.groups.rank()), " vs ",
                 IndexText(b.groups.data(), b.groups.rank()), " before the last dimension"));
    }
    return PutResult(c, a, b,
                     a.values->dtype() == DType::kString ? Combine<std::string_view>(op, a, b)
                                                         : Combine<int64_t>(op, a, b));
  });
}

template <typename Key>
void CountMembers(const Operand& operand, std::span<int32_t> sizes) {
  for (const Member<Key>& member : MembersOf<Key>(operand)) {
    ++sizes[static_cast<size_t>(member.group)];
  }
}

StatusOr<KernelFn> BindSetSize(const BindContext& bind) {
  return KernelFn(
      [validate = BoolAttr(*bind.node, "validate_indices", true)](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(const Operand operand, SparseOperand(c, 0, validate));
        ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(operand.groups.span()));
        ASSIGN_OR_RETURN(Tensor * sizes, c.AllocateOutput(0, shape));
        std::ranges::fill(sizes->flat<int32_t>(), 0);
        if (operand.values->dtype() == DType::kString) {
          CountMembers<std::string_view>(operand, sizes->flat<int32_t>());
        } else {
          CountMembers<int64_t>(operand, sizes->flat<int32_t>());
        }
        return OkStatus();
      });
}

}  // namespace

std::span<const KernelDef> SetOperationKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"DenseToDenseSetOperation", BindOperation, Elements::DTypes()},
      {"DenseToSparseSetOperation", BindOperation, Elements::DTypes()},
      {"SetSize", BindSetSize, Elements::DTypes()},
      {"SparseToSparseSetOperation", BindOperation, Elements::DTypes()},
  });
  return table;
}

}  // namespace slipway::kernels
