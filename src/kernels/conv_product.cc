// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv_product.h"

namespace slipway::kernels {
namespace {

int64_t GroupPanels(const Conv& c, bool transposed) {
  return transposed ? PackedGemmBSize(c.depth(), c.group_out())
                    : PackedGemmBSize(c.group_out(), c.depth());
}

}  // namespace

int64_t PackedFilterSize(const Conv& c, bool transposed) {
  return c.groups * GroupPanels(c, transposed);
}

void PackFilter(const Conv& c, const float* filter, bool transposed, float* panels) {
  GemmArgs g;
  g.n = transposed ? c.depth() : c.group_out();
  g.k = transposed ? c.group_out() : c.depth();
  g.ldb = c.out_channels;
  g.transpose_b = transposed;
  for (int64_t group = 0; group < c.groups; ++group) {
    g.b = filter + group * c.group_out();
    PackGemmB(g, panels + group * GroupPanels(c, transposed));
  }
}

StatusOr<PackedFilter> PackConstantFilter(const BindContext& bind, int input, const Conv& c,
                                          bool transposed) {
  const Tensor* filter = bind.constant(input);
  if (filter == nullptr || bind.weights == nullptr || filter->dtype() != DType::kFloat ||
      filter->num_elements() == 0) {
    return PackedFilter();
  }
  const auto pack = [&]() -> StatusOr<Tensor> {
    ASSIGN_OR_RETURN(Tensor panels,
                     Tensor::Allocate(DType::kFloat, Shape({PackedFilterSize(c, transposed)})));
    PackFilter(c, filter->flat<float>().data(), transposed, panels.flat<float>().data());
    return panels;
  };
  const std::string layout = StrCat(PackedGemmBLayout(transposed), ", filter ",
                                    filter->shape().ToString(), " in ", c.groups, " groups");
  ASSIGN_OR_RETURN(auto panels, bind.weights->Get(*filter, layout, pack));
  return PackedFilter{filter->raw_data(), filter->shape(), c.groups, std::move(panels)};
}

}  // namespace slipway::kernels
