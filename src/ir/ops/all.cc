// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"

namespace slipway::ir {

std::span<const std::span<const OpSchemaText>> AllOpFamilies() {
  static const std::span<const OpSchemaText> families[] = {
      ElementwiseOps(),   MatMulOps(),   MatrixOps(), NnOps(),       ReductionOps(),
      ArrayOps(),         SlicingOps(),  GatherOps(), IndexingOps(), RandomOps(),
      ResourceOps(),      IoOps(),       SignalOps(), SpecialOps(),  SparseOps(),
      StringOps(),        ControlOps(),  ListOps(),   LookupOps(),   ParsingOps(),
      ImageOps(),         RaggedOps(),   ConvOps(),   PoolingOps(),  MediaOps(),
      NormalizationOps(), QuantizeOps(), SpatialOps()};
  return families;
}

}  // namespace slipway::ir
