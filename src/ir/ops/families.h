// SPDX-License-Identifier: Apache-2.0
//
// The tables of op schemas, one a family. A new op is a row in one of them; a new family is a
// function here and a line in all.cc.
#pragma once

#include <span>

#include "ir/op_schema.h"

namespace slipway::ir {

std::span<const OpSchemaText> ElementwiseOps();
std::span<const OpSchemaText> MatMulOps();
std::span<const OpSchemaText> MatrixOps();
std::span<const OpSchemaText> NnOps();
std::span<const OpSchemaText> ReductionOps();
std::span<const OpSchemaText> ArrayOps();
std::span<const OpSchemaText> SlicingOps();
std::span<const OpSchemaText> GatherOps();
std::span<const OpSchemaText> IndexingOps();
std::span<const OpSchemaText> QuantizeOps();
std::span<const OpSchemaText> RandomOps();
std::span<const OpSchemaText> ResourceOps();
std::span<const OpSchemaText> ImageOps();
std::span<const OpSchemaText> IoOps();
std::span<const OpSchemaText> SignalOps();
std::span<const OpSchemaText> SpecialOps();
std::span<const OpSchemaText> SparseOps();
std::span<const OpSchemaText> StringOps();
std::span<const OpSchemaText> LookupOps();
std::span<const OpSchemaText> MediaOps();
std::span<const OpSchemaText> ParsingOps();
std::span<const OpSchemaText> RaggedOps();
std::span<const OpSchemaText> ControlOps();
std::span<const OpSchemaText> ListOps();
std::span<const OpSchemaText> ConvOps();
std::span<const OpSchemaText> PoolingOps();
std::span<const OpSchemaText> NormalizationOps();
std::span<const OpSchemaText> SpatialOps();

// Every table.
std::span<const std::span<const OpSchemaText>> AllOpFamilies();

}  // namespace slipway::ir
