// SPDX-License-Identifier: Apache-2.0
//
// The op families. Each file of kernels gives its table; registry.cc lists them all.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.h"

namespace slipway::kernels {

std::span<const KernelDef> ActivationKernels();
std::span<const KernelDef> BinaryKernels();
std::span<const KernelDef> CastKernels();
std::span<const KernelDef> CompareKernels();
std::span<const KernelDef> ConcatSplitKernels();
std::span<const KernelDef> ControlKernels();
std::span<const KernelDef> GatherScatterKernels();
std::span<const KernelDef> MatMulKernels();
std::span<const KernelDef> OptimizerKernels();
std::span<const KernelDef> PadKernels();
std::span<const KernelDef> RandomKernels();
std::span<const KernelDef> ReduceKernels();
std::span<const KernelDef> SaveRestoreKernels();
std::span<const KernelDef> ScanKernels();
std::span<const KernelDef> ShapeKernels();
std::span<const KernelDef> SliceKernels();
std::span<const KernelDef> SoftmaxKernels();
std::span<const KernelDef> StringKernels();
std::span<const KernelDef> UnaryKernels();
std::span<const KernelDef> VariableKernels();

// A row of a table: `types` are those of the op's type attribute `attr`; none: any.
struct KernelRow {
  const char* op;
  BindFn bind;
  std::vector<DType> types = {};
  const char* attr = "T";
  std::vector<std::pair<int, int>> in_place = {};
  std::vector<std::pair<int, int>> shares = {};
  bool expensive = false;
};
std::vector<KernelDef> MakeKernels(std::vector<KernelRow> rows);

}  // namespace slipway::kernels
