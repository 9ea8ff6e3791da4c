// SPDX-License-Identifier: Apache-2.0
//
// How a family writes down its kernels.
#pragma once

#include <utility>
#include <vector>

#include "kernels/kernel.h"

namespace slipway::kernels {

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
