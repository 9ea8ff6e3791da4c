// SPDX-License-Identifier: Apache-2.0
//
// What the shape functions of several families need beyond ir/shape_inference.h. A size of -1 is
// unknown everywhere; sums and products of sizes saturate, and Graph refuses such shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/shape_inference.h"

namespace slipway::ir {

using Dims = std::vector<int64_t>;

int64_t DimAdd(int64_t a, int64_t b);
int64_t DimMul(int64_t a, int64_t b);

// The common size; INVALID_ARGUMENT "Dimensions must be equal, but are 784 and 10".
StatusOr<int64_t> MergeDims(const ShapeContext& c, int64_t a, int64_t b);
// The common shape; INVALID_ARGUMENT names both and where they differ.
StatusOr<PartialShape> MergeShapes(const ShapeContext& c, const PartialShape& a,
                                   const PartialShape& b);

// A constant integer input of rank 0 or 1, of at most 254 elements.
std::optional<Dims> ConstIntegers(const ShapeContext& c, int i);
// A constant integer scalar (or vector of one).
std::optional<int64_t> ConstInteger(const ShapeContext& c, int i);
// The shape that input i, a vector of sizes, stands for, as far as known. INVALID_ARGUMENT for
// sizes below -1 and inputs that are no vector.
StatusOr<PartialShape> ShapeFromInput(const ShapeContext& c, int i);

Status CheckScalar(const ShapeContext& c, int i);
Status CheckMinRank(const ShapeContext& c, int i, int rank);
// `axis` counted from 0. INVALID_ARGUMENT unless -rank <= axis < rank.
StatusOr<int> WrapAxis(const ShapeContext& c, int64_t axis, int rank);

// The bool, int or shape attribute of a node that was checked when it was added.
template <typename T>
const T& AttrOf(const ShapeContext& c, std::string_view name) {
  return c.node().CheckedAttr<T>(name);
}

// dims [begin, end) of a shape with a rank.
Dims SubDims(const PartialShape& shape, int begin, int end);
void Append(Dims* dims, const PartialShape& shape, int begin, int end);

// What is known of the variable behind a resource input: from its VarHandleOp, or from the
// "_handle_dtypes" and "_handle_shapes" attributes of an argument. Nothing known: kInvalid and an
// unknown shape.
struct HandleInfo {
  DType dtype = DType::kInvalid;
  PartialShape shape;
};
HandleInfo HandleOf(const ShapeContext& c, int i);

}  // namespace slipway::ir
