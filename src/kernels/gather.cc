// SPDX-License-Identifier: Apache-2.0
//
// Rows and elements by index, and one-hot.
#include <algorithm>

#include "kernels/attrs.h"
#include "kernels/index_loops.h"
#include "kernels/index_tensor.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"

namespace slipway::kernels {
namespace {

struct GatherPlan {
  int axis, batch_dims;
  Shape output;
};
StatusOr<GatherPlan> PlanGather(const Shape& params, const Shape& indices, int64_t axis,
                                int64_t batch_dims) {
  if (params.rank() < 1) {
    return InvalidArgumentError("params must be at least 1 dimensional, but is a scalar");
  }
  ASSIGN_OR_RETURN(int a, NormalizeAxis(axis, params.rank(), "Gather axis"));
  const int64_t b = batch_dims < 0 ? batch_dims + indices.rank() : batch_dims;
  if (b < 0 || b > std::min(indices.rank(), a)) {
    return InvalidArgumentError(StrCat("batch_dims ", batch_dims, " does not fit axis ", axis,
                                       ", params ", params.ToString(), " and indices ",
                                       indices.ToString()));
  }
  GatherPlan plan = {a, static_cast<int>(b), Shape()};
  for (int d = 0; d < plan.batch_dims; ++d) {
    if (params.dim(d) == indices.dim(d)) continue;
    return InvalidArgumentError(StrCat("params.shape[", d, "]: ", params.dim(d),
                                       " should be equal to indices.shape[", d,
                                       "]: ", indices.dim(d)));
  }
  IntVec dims;
  for (int d = 0; d < a; ++d) dims.push_back(params.dim(d));
  for (int d = plan.batch_dims; d < indices.rank(); ++d) dims.push_back(indices.dim(d));
  for (int d = a + 1; d < params.rank(); ++d) dims.push_back(params.dim(d));
  ASSIGN_OR_RETURN(plan.output, Shape::FromDims(dims.span()));
  return plan;
}

}  // namespace

Status Gather(KernelContext& c, const Tensor& params, const Tensor& indices, int64_t axis,
              int64_t batch_dims) {
  ASSIGN_OR_RETURN(GatherPlan plan, PlanGather(params.shape(), indices.shape(), axis, batch_dims));
  const Shape& p = params.shape();
  const int64_t limit = p.dim(plan.axis);
  RETURN_IF_ERROR(CheckIndices(indices, limit));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, plan.output));
  if (plan.output.num_elements() == 0) return OkStatus();
  const int64_t batch = ProductOfDims(p, 0, plan.batch_dims);
  const int64_t outer = ProductOfDims(p, plan.batch_dims, plan.axis);
  const int64_t inner = ProductOfDims(p, plan.axis + 1, p.rank());
  const int64_t count = ProductOfDims(indices.shape(), plan.batch_dims, indices.rank());
  int64_t to = 0;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t base = (b * outer + o) * limit;
      for (int64_t i = 0; i < count; ++i, to += inner) {
        const int64_t index = IndexAt(indices, b * count + i);
        CopyElements(params.dtype(), Bytes(params, (base + index) * inner), Bytes(*out, to), inner);
      }
    }
  }
  return OkStatus();
}

namespace {

StatusOr<KernelFn> BindGather(const BindContext& bind) {
  const int64_t batch_dims = IntAttr(*bind.node, "batch_dims");
  const bool has_axis = bind.node->op() == "GatherV2";
  return KernelFn([=](KernelContext& c) -> Status {
    int64_t axis = 0;
    if (has_axis) {
      RETURN_IF_ERROR(CheckScalar(c.input(2), "axis"));
      ASSIGN_OR_RETURN(axis, ReadInt(c.input(2), "axis"));
    }
    return Gather(c, c.input(0), c.input(1), axis, batch_dims);
  });
}

Status RunGatherNd(KernelContext& c) {
  const Tensor& params = c.input(0);
  const Tensor& indices = c.input(1);
  if (params.rank() < 1) return InvalidArgumentError("params must be at least a vector");
  ASSIGN_OR_RETURN(Places places, PlanPlaces(params.shape(), indices, "params"));
  IntVec dims;
  for (int d = 0; d + 1 < indices.rank(); ++d) dims.push_back(indices.dim(d));
  for (int d = static_cast<int>(places.depth); d < params.rank(); ++d) {
    dims.push_back(params.dim(d));
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  for (int64_t i = 0; i < places.count; ++i) {
    const int64_t place = PlaceAt(places, params.shape(), indices, i);
    if (place < 0) return BadPlace(places, params.shape(), indices, i);
    CopyElements(params.dtype(), Bytes(params, place * places.inner), Bytes(*out, i * places.inner),
                 places.inner);
  }
  return OkStatus();
}

StatusOr<KernelFn> BindGatherNd(const BindContext&) { return KernelFn(RunGatherNd); }

StatusOr<KernelFn> BindOneHot(const BindContext& bind) {
  const int64_t given = IntAttr(*bind.node, "axis", -1);
  return KernelFn([given](KernelContext& c) -> Status {
    const Tensor& indices = c.input(0);
    RETURN_IF_ERROR(CheckIndexType(indices));
    RETURN_IF_ERROR(CheckScalar(c.input(1), "depth"));
    RETURN_IF_ERROR(CheckScalar(c.input(2), "on_value"));
    RETURN_IF_ERROR(CheckScalar(c.input(3), "off_value"));
    ASSIGN_OR_RETURN(int64_t depth, ReadInt(c.input(1), "depth"));
    if (depth < 0) return InvalidArgumentError(StrCat("depth must be non-negative, got: ", depth));
    if (given < -1 || given > indices.rank()) {
      return InvalidArgumentError(StrCat("Expected axis to be -1 or between 0 and ", indices.rank(),
                                         ". But received: ", given));
    }
    const int axis = static_cast<int>(given == -1 ? indices.rank() : given);
    IntVec dims;
    for (int d = 0; d < axis; ++d) dims.push_back(indices.dim(d));
    dims.push_back(depth);
    for (int d = axis; d < indices.rank(); ++d) dims.push_back(indices.dim(d));
    ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    FillElements(out->dtype(), c.input(3).raw_data(), out->raw_data(), out->num_elements());
    const int64_t inner = ProductOfDims(indices.shape(), axis, indices.rank());
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t index = IndexAt(indices, i);
      if (index < 0 || index >= depth) continue;
      const int64_t at = (i / inner * depth + index) * inner + i % inner;
      CopyElements(out->dtype(), c.input(2).raw_data(), Bytes(*out, at), 1);
    }
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"Gather", BindGather},
      {"GatherNd", BindGatherNd},
      {"GatherV2", BindGather},
      {"OneHot", BindOneHot},
  });
}

}  // namespace

std::span<const KernelDef> GatherKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
