// SPDX-License-Identifier: Apache-2.0
#include "kernels/pool_geometry.h"

namespace slipway::kernels {

StatusOr<Shape> Pool::output_shape() const {
  std::array<int64_t, 5> sizes{};
  sizes[0] = batch;
  sizes[static_cast<size_t>(spec.channel_axis())] = channels;
  for (int i = 3 - spec.spatial; i < 3; ++i) {
    sizes[static_cast<size_t>(spec.axis(i))] = dims[static_cast<size_t>(i)].output;
  }
  return Shape::FromDims({sizes.data(), static_cast<size_t>(spec.rank())});
}

StatusOr<Pool> MakePool(const ir::WindowSpec& spec, const Shape& input) {
  if (input.rank() != spec.rank()) {
    return InvalidArgumentError(StrCat("tensor_in must be ", spec.rank(),
                                       "-dimensional, but has shape ", input.ToString()));
  }
  if (spec.batch_window != 1 || spec.batch_stride != 1) {
    return UnimplementedError("Pooling is not yet supported on the batch dimension.");
  }
  if (spec.channel_window != 1 || spec.channel_stride != 1) {
    return UnimplementedError(
        "Pooling over channels is only supported by MaxPool of NHWC, and then not over space");
  }
  Pool p;
  p.spec = spec;
  p.dims = spec.dims;
  p.batch = input.dim(0);
  p.channels = input.dim(spec.channel_axis());
  for (int i = 3 - spec.spatial; i < 3; ++i) {
    ir::WindowDim& dim = p.dims[static_cast<size_t>(i)];
    dim.input = input.dim(spec.axis(i));
    RETURN_IF_ERROR(ir::ComputeWindow(spec.padding, &dim));
    ASSIGN_OR_RETURN(p.in_pixels, CheckedMul(p.in_pixels, dim.input, "Input size"));
    ASSIGN_OR_RETURN(p.out_pixels, CheckedMul(p.out_pixels, dim.output, "Output size"));
  }
  RETURN_IF_ERROR(p.output_shape().status());
  return p;
}

}  // namespace slipway::kernels
