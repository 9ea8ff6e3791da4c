// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/ops/families.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// All inputs have one shape; each may be a scalar instead.
Status BetaincShape(ShapeContext& c) {
  PartialShape all;
  bool scalars = true;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).rank() == 0) continue;
    scalars = false;
    ASSIGN_OR_RETURN(all, MergeShapes(c, all, c.input(i)));
  }
  if (scalars) return ScalarShape(c);
  if (all.has_rank()) c.set_output(0, std::move(all));
  return OkStatus();
}

Status CrossShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, MergeShapes(c, c.input(0), c.input(1)));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

StatusOr<int64_t> Bins(const ShapeContext& c, int i) {
  RETURN_IF_ERROR(CheckScalar(c, i));
  const int64_t bins = ConstInteger(c, i).value_or(-1);
  if (bins < -1) return c.Error(StrCat("size (", bins, ") must be non-negative"));
  return bins;
}

Status BincountShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const int64_t bins, Bins(c, 1));
  c.set_output(0, {bins});
  return OkStatus();
}

Status DenseBincountShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  ASSIGN_OR_RETURN(const int64_t bins, Bins(c, 1));
  if (!input.has_rank()) return OkStatus();
  if (input.rank() > 2) {
    return c.Error(StrCat("Shape must be at most rank 2 but is rank ", input.rank()));
  }
  c.set_output(0, input.rank() == 2 ? PartialShape{input.dim(0), bins} : PartialShape{bins});
  return OkStatus();
}

Status HistogramShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  RETURN_IF_ERROR(CheckScalar(c, 2));
  c.set_output(0, {ConstInteger(c, 2).value_or(-1)});
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"BesselI0", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselI0e", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselI1", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselI1e", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselJ0", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselJ1", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselK0", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselK0e", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselK1", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselK1e", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselY0", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"BesselY1", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Betainc", "a: T, b: T, x: T", "z: T", "T: {float32, float64}", kPure, BetaincShape},
    {"Bincount", "arr: int32, size: int32, weights: T", "bins: T",
     "T: {float32, float64, int32, int64}", kPure, BincountShape},
    {"Bucketize", "input: T", "output: int32",
     "T: {float32, float64, int32, int64}, boundaries: list(float)", kPure, UnchangedShape},
    {"Cross", "a: T, b: T", "product: T", "T: realnumeric", kPure, CrossShape},
    {"CumulativeLogsumexp", "x: T, axis: Tidx", "out: T",
     "exclusive: bool = false, reverse: bool = false, T: floating, Tidx: index = int32",
     kPure, UnchangedShape},
    {"Dawsn", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"DenseBincount", "input: Tidx, size: Tidx, weights: T", "output: T",
     "Tidx: index, T: {float32, float64, int32, int64}, binary_output: bool = false",
     kPure, DenseBincountShape},
    {"Expint", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"FresnelCos", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"FresnelSin", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"HistogramFixedWidth", "values: T, value_range: T, nbins: int32", "out: dtype",
     "T: {float32, float64, int32, int64}, dtype: index = int32", kPure, HistogramShape},
    {"Igamma", "a: T, x: T", "z: T", "T: floating", kPure, BroadcastBinaryShape},
    {"IgammaGradA", "a: T, x: T", "z: T", "T: {float32, float64}", kPure, BroadcastBinaryShape},
    {"Igammac", "a: T, x: T", "z: T", "T: floating", kPure, BroadcastBinaryShape},
    {"Polygamma", "a: T, x: T", "z: T", "T: {float32, float64}", kPure, BroadcastBinaryShape},
    {"PopulationCount", "x: T", "y: uint8",
     "T: {int16, int32, int64, int8, uint16, uint32, uint64, uint8}", kPure, UnchangedShape},
    {"Spence", "x: T", "y: T", "T: floating", kPure, UnchangedShape},
    {"Zeta", "x: T, q: T", "z: T", "T: {float32, float64}", kPure, BroadcastBinaryShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> SpecialOps() { return kOps; }

}  // namespace slipway::ir
