// SPDX-License-Identifier: Apache-2.0
//
// Moving pixels between space, depth and batch; patches and glimpses of images.
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"
#include "ir/window.h"

namespace slipway::ir {
namespace {

using enum Effect;

int64_t Divide(int64_t a, int64_t b) { return a < 0 || b <= 0 ? -1 : a / b; }

// 1: space grows by the block, depth shrinks by its square; -1: the other way round.
template <int kGrow>
Status SpaceDepthShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, c.InputOfRank(0, 4));
  if (!shape.has_rank()) shape = PartialShape::UnknownOfRank(4);
  const int64_t block = AttrOf<int64_t>(c, "block_size");
  if (block > (int64_t{1} << 30)) return c.Error(StrCat("block_size ", block, " is too large"));
  const bool first = AttrOf<std::string>(c, "data_format").starts_with("NC");
  for (int i : {first ? 2 : 1, first ? 3 : 2}) {
    shape.set_dim(i, kGrow > 0 ? DimMul(shape.dim(i), block) : Divide(shape.dim(i), block));
  }
  const int channel = first ? 1 : 3;
  shape.set_dim(channel, kGrow > 0 ? Divide(shape.dim(channel), block * block)
                                   : DimMul(shape.dim(channel), block * block));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// The block's sizes, if they are known: of input 1, or of the attribute of the older ops.
std::optional<Dims> BlockOf(const ShapeContext& c) {
  if (c.num_inputs() == 3) return ConstIntegers(c, 1);
  const int64_t block = AttrOf<int64_t>(c, "block_size");
  return Dims{block, block};
}

// kGrow 1: batch to space. Sizes that depend on paddings or crops stay unknown.
template <int kGrow>
Status SpaceBatchShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  const auto block = BlockOf(c);
  if (!shape.has_rank() || !block.has_value()) {
    c.set_output(0, shape.has_rank() ? PartialShape::UnknownOfRank(shape.rank()) : shape);
    return OkStatus();
  }
  if (static_cast<size_t>(shape.rank()) <= block->size()) {
    return c.Error(
        StrCat("Shape must be at least rank ", block->size() + 1, " but is rank ", shape.rank()));
  }
  int64_t product = 1;
  for (int64_t size : *block) {
    if (size < 1) return c.Error(StrCat("block_shape must be positive, not ", size));
    product = DimMul(product, size);
  }
  shape.set_dim(0, kGrow > 0 ? Divide(shape.dim(0), product) : DimMul(shape.dim(0), product));
  const Tensor* pads = c.input_value(c.num_inputs() - 1);
  const auto count = static_cast<int64_t>(block->size());
  const bool known = pads != nullptr && pads->num_elements() == 2 * count;
  for (int64_t i = 0; i < count; ++i) {
    const auto axis = static_cast<int>(i + 1);
    int64_t size = -1;
    if (known && shape.dim(axis) >= 0) {
      const auto pad = [&](int64_t at) {
        const auto j = static_cast<size_t>(at);
        return pads->dtype() == DType::kInt32 ? int64_t{pads->flat<int32_t>()[j]}
                                              : pads->flat<int64_t>()[j];
      };
      const int64_t before = pad(2 * i), after = pad(2 * i + 1);
      if (before < 0 || after < 0) return c.Error("paddings and crops cannot be negative");
      const int64_t by = (*block)[static_cast<size_t>(i)];
      size = kGrow > 0 ? DimMul(shape.dim(axis), by) -
                             std::min(DimAdd(before, after), DimMul(shape.dim(axis), by))
                       : Divide(DimAdd(shape.dim(axis), DimAdd(before, after)), by);
    }
    shape.set_dim(axis, size);
  }
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status PatchesShape(ShapeContext& c) {
  auto spec = ReadWindowSpec(c.node(), {.window = "ksizes", .dilations = "rates"});
  if (!spec.ok()) return c.Error(spec.status().message());
  ASSIGN_OR_RETURN(PartialShape shape, c.InputOfRank(0, spec->rank()));
  if (!shape.has_rank()) shape = PartialShape::UnknownOfRank(spec->rank());
  int64_t channels = shape.dim(spec->rank() - 1);
  for (int i = 3 - spec->spatial; i < 3; ++i) {
    WindowDim dim = spec->dims[static_cast<size_t>(i)];
    channels = DimMul(channels, dim.window);
    dim.input = shape.dim(spec->axis(i));
    if (dim.input < 0) continue;
    const Status status = ComputeWindow(spec->padding, &dim);
    if (!status.ok()) return c.Error(status.message());
    shape.set_dim(spec->axis(i), dim.output);
  }
  shape.set_dim(spec->rank() - 1, channels);
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status GlimpseShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, c.InputOfRank(0, 4));
  if (!shape.has_rank()) shape = PartialShape::UnknownOfRank(4);
  const auto size = ConstIntegers(c, 1);
  const bool known = size.has_value() && size->size() == 2;
  shape.set_dim(1, known ? (*size)[0] : -1);
  shape.set_dim(2, known ? (*size)[1] : -1);
  if (known && ((*size)[0] < 0 || (*size)[1] < 0)) return c.Error("size must not be negative");
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"BatchToSpace", "input: T, crops: Tidx", "output: T",
     "T: type, block_size: int >= 2, Tidx: index = int32", kPure, SpaceBatchShape<1>},
    {"BatchToSpaceND", "input: T, block_shape: Tblock_shape, crops: Tcrops", "output: T",
     "T: type, Tblock_shape: index = int32, Tcrops: index = int32", kPure, SpaceBatchShape<1>},
    {"DepthToSpace", "input: T", "output: T",
     "T: type, block_size: int >= 2, data_format: {'NCHW', 'NCHW_VECT_C', 'NHWC'} = 'NHWC'",
     kPure, SpaceDepthShape<1>},
    {"ExtractGlimpse", "input: float32, size: int32, offsets: float32", "glimpse: float32",
     "centered: bool = true, normalized: bool = true, uniform_noise: bool = true, noise: string"
     " = 'uniform'", kRandom, GlimpseShape},
    {"ExtractImagePatches", "images: T", "patches: T",
     "ksizes: list(int) >= 4, strides: list(int) >= 4, rates: list(int) >= 4, T: {bfloat16,"
     " bool, complex128, complex64, float16, float32, float64, int16, int32, int64, int8,"
     " uint16, uint32, uint64, uint8}, padding: {'SAME', 'VALID'}", kPure, PatchesShape},
    {"ExtractVolumePatches", "input: T", "patches: T",
     "ksizes: list(int) >= 5, strides: list(int) >= 5, T: realnumeric, padding: {'SAME',"
     " 'VALID'}", kPure, PatchesShape},
    {"SpaceToBatch", "input: T, paddings: Tpaddings", "output: T",
     "T: type, Tpaddings: index = int32, block_size: int >= 2", kPure, SpaceBatchShape<-1>},
    {"SpaceToBatchND", "input: T, block_shape: Tblock_shape, paddings: Tpaddings", "output: T",
     "T: type, Tblock_shape: index = int32, Tpaddings: index = int32", kPure, SpaceBatchShape<-1>},
    {"SpaceToDepth", "input: T", "output: T",
     "T: type, block_size: int >= 2, data_format: {'NCHW', 'NCHW_VECT_C', 'NHWC'} = 'NHWC'",
     kPure, SpaceDepthShape<-1>},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> SpatialOps() { return kOps; }

}  // namespace slipway::ir
