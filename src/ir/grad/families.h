// SPDX-License-Identifier: Apache-2.0
//
// The families of gradient functions, one file each. A new family is a new file and a line here
// and in all.cc.
#pragma once

#include <span>

#include "ir/gradient.h"

namespace slipway::ir::grad {

std::span<const GradientEntry> UnaryGradients();       // math_unary.cc
std::span<const GradientEntry> BinaryGradients();      // math_binary.cc
std::span<const GradientEntry> MatMulGradients();      // matmul.cc
std::span<const GradientEntry> NnGradients();          // nn.cc
std::span<const GradientEntry> ReduceGradients();      // reduce.cc
std::span<const GradientEntry> ArrayGradients();       // array.cc
std::span<const GradientEntry> IndexGradients();       // index.cc
std::span<const GradientEntry> ConvGradients();        // conv.cc
std::span<const GradientEntry> EinsumGradients();      // einsum.cc
std::span<const GradientEntry> FunctionalGradients();  // functional.cc
std::span<const GradientEntry> ListGradients();        // lists.cc
std::span<const GradientEntry> LoopGradients();        // loop.cc
std::span<const GradientEntry> ImageGradients();       // image.cc
std::span<const GradientEntry> LinalgGradients();      // linalg.cc
std::span<const GradientEntry> SegmentGradients();     // segments.cc
std::span<const GradientEntry> SpecialGradients();     // special.cc
std::span<const GradientEntry> ResourceGradients();    // resource.cc
std::span<const GradientEntry> OpsWithoutGradient();   // none.cc

}  // namespace slipway::ir::grad
