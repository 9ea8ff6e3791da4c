// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status ReductionShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  const bool keep = AttrOf<bool>(c, "keep_dims");
  const std::optional<Dims> axes = ConstIntegers(c, 1);
  if (!in.has_rank()) return OkStatus();
  if (!axes) {
    if (keep) c.set_output(0, PartialShape::UnknownOfRank(in.rank()));
    return OkStatus();
  }
  std::vector<bool> reduced(static_cast<size_t>(in.rank()), false);
  for (const int64_t axis : *axes) {
    if (axis < -in.rank() || axis >= in.rank()) {
      return c.Error(StrCat("Invalid reduction dimension ", axis, " for input with ", in.rank(),
                            " dimensions."));
    }
    reduced[static_cast<size_t>(axis < 0 ? axis + in.rank() : axis)] = true;
  }
  Dims dims;
  for (int i = 0; i < in.rank(); ++i) {
    const bool gone = reduced[static_cast<size_t>(i)];
    if (!gone || keep) dims.push_back(gone ? 1 : in.dim(i));
  }
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status ArgExtremeShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 1));
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  if (in.rank() <= 1) return ScalarShape(c);
  const std::optional<int64_t> axis = ConstInteger(c, 1);
  if (!axis) {
    c.set_output(0, PartialShape::UnknownOfRank(in.rank() - 1));
    return OkStatus();
  }
  if (*axis < -in.rank() || *axis >= in.rank()) {
    return c.Error(StrCat("Dimension (", *axis, ") must be in the range [", -in.rank(), ", ",
                          in.rank(), "), where ", in.rank(),
                          " is the number of dimensions in the input."));
  }
  Dims dims = in.dims();
  dims.erase(dims.begin() + (*axis < 0 ? *axis + in.rank() : *axis));
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Sum", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: numeric, Tidx: index = int32", kPure, ReductionShape},
    {"Mean", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: numeric, Tidx: index = int32", kPure, ReductionShape},
    {"Max", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: {bfloat16, float16, float32, float64, int16, int32, int64,"
     " int8, qint16, qint32, qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tidx: index"
     " = int32", kPure, ReductionShape},
    {"Min", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: {bfloat16, float16, float32, float64, int16, int32, int64,"
     " int8, qint16, qint32, qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tidx: index"
     " = int32", kPure, ReductionShape},
    {"Prod", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: numeric, Tidx: index = int32", kPure, ReductionShape},
    {"All", "input: bool, reduction_indices: Tidx", "output: bool",
     "keep_dims: bool = false, Tidx: index = int32", kPure, ReductionShape},
    {"Any", "input: bool, reduction_indices: Tidx", "output: bool",
     "keep_dims: bool = false, Tidx: index = int32", kPure, ReductionShape},
    {"EuclideanNorm", "input: T, reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false, T: numeric, Tidx: index = int32", kPure, ReductionShape},
    {"ArgMax", "input: T, dimension: Tidx", "output: output_type",
     "T: {bfloat16, bool, float16, float32, float64, int16, int32, int64, int8, qint16, qint32,"
     " qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tidx: {int16, int32, int64} ="
     " int32, output_type: {int16, int32, int64, uint16} = int64", kPure, ArgExtremeShape},
    {"ArgMin", "input: T, dimension: Tidx", "output: output_type",
     "T: {bfloat16, bool, float16, float32, float64, int16, int32, int64, int8, qint16, qint32,"
     " qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tidx: index = int32, output_type:"
     " index = int64", kPure, ArgExtremeShape},
    {"Cumsum", "x: T, axis: Tidx", "out: T",
     "exclusive: bool = false, reverse: bool = false, T: numeric, Tidx: index = int32",
     kPure, UnchangedShape},
    {"Cumprod", "x: T, axis: Tidx", "out: T",
     "exclusive: bool = false, reverse: bool = false, T: numeric, Tidx: index = int32",
     kPure, UnchangedShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ReductionOps() { return kOps; }

}  // namespace slipway::ir
