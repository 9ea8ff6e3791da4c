// SPDX-License-Identifier: Apache-2.0
#include "nn/shapes.h"

namespace slipway::nn {

ir::Output BatchSize(ir::GraphBuilder& b, ir::Output x) {
  ir::Output shape = b.Op("Shape", {x});
  return b.Op("StridedSlice", {shape, b.Int32Vector({0}), b.Int32Vector({1}), b.Int32Vector({1})},
              {{"shrink_axis_mask", 1}});
}

ir::Output ElementCount(ir::GraphBuilder& b, ir::Output x) {
  if (!x.valid()) return {};
  int64_t known = x.shape().num_elements();
  if (known >= 0) return b.Scalar(static_cast<float>(known));
  return b.Op("Cast", {b.Op("Size", {x})}, {{"DstT", DType::kFloat}});
}

ir::Output FoldToMatrix(ir::GraphBuilder& b, ir::Output x, int64_t last) {
  return b.Op("Reshape", {x, b.Int32Vector({-1, static_cast<int32_t>(last)})});
}

ir::Output UnfoldFromMatrix(ir::GraphBuilder& b, ir::Output rows, ir::Output like, int64_t last) {
  if (!rows.valid() || !like.valid()) return {};
  const PartialShape& shape = like.shape();
  int unknown = 0;
  std::vector<int32_t> dims;
  for (int i = 0; i + 1 < shape.rank(); ++i) {
    dims.push_back(static_cast<int32_t>(shape.dim(i)));
    unknown += shape.dim(i) < 0 ? 1 : 0;
  }
  dims.push_back(static_cast<int32_t>(last));
  if (shape.has_rank() && unknown <= 1) return b.Op("Reshape", {rows, b.Int32Vector(dims)});
  ir::Output leading = b.Op("StridedSlice", {b.Op("Shape", {like}), b.Int32Vector({0}),
                                             b.Int32Vector({-1}), b.Int32Vector({1})});
  ir::Output wanted = b.Op(
      "ConcatV2", {leading, b.Int32Vector({static_cast<int32_t>(last)}), b.Scalar<int32_t>(0)});
  return b.Op("Reshape", {rows, wanted});
}

ir::Output Reduce(ir::GraphBuilder& b, const char* op, ir::Output x, std::vector<int32_t> axes,
                  bool keep_dims) {
  if (!x.valid()) return {};
  if (axes.empty()) {
    if (x.shape().rank() == 0) return x;
    if (x.shape().has_rank()) {
      axes = AxisRange(0, x.shape().rank());
    } else {
      ir::Output rank = b.Op("Rank", {x});
      return b.Op(op, {x, b.Op("Range", {b.Scalar<int32_t>(0), rank, b.Scalar<int32_t>(1)})},
                  {{"keep_dims", keep_dims}});
    }
  }
  return b.Op(op, {x, b.Int32Vector(axes)}, {{"keep_dims", keep_dims}});
}

std::vector<int32_t> AxisRange(int begin, int end) {
  std::vector<int32_t> axes;
  for (int i = begin; i < end; ++i) axes.push_back(i);
  return axes;
}

std::pair<ir::Output, ir::Output> SameRank(ir::GraphBuilder& b, ir::Output x, ir::Output y) {
  if (!x.valid() || !y.valid()) return {x, y};
  auto one_longer = [](ir::Output longer, ir::Output shorter) {
    int rank = longer.shape().rank();
    return rank > 0 && rank == shorter.shape().rank() + 1 && longer.shape().dim(rank - 1) == 1;
  };
  // Makes `longer` and `shorter` alike.
  auto align = [&](ir::Output& longer, ir::Output& shorter) {
    if (shorter.shape().rank() == 1) {
      shorter = b.Op("ExpandDims", {shorter, b.Scalar<int32_t>(-1)});
    } else {
      longer = b.Op("Squeeze", {longer}, {{"squeeze_dims", std::vector<int64_t>{-1}}});
    }
  };
  if (one_longer(x, y)) {
    align(x, y);
  } else if (one_longer(y, x)) {
    align(y, x);
  }
  return {x, y};
}

}  // namespace slipway::nn
