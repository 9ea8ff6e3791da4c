// SPDX-License-Identifier: Apache-2.0
//
// Shapes in gradients: constants where shape inference knows them, Shape nodes elsewhere.
#pragma once

#include <optional>
#include <vector>

#include "ir/gradient.h"

namespace slipway::ir::grad {

// The shape of `value` as a vector of `dtype` (int32 or int64): a Const if it is known.
Output ShapeOf(GraphBuilder& builder, Output value, DType dtype = DType::kInt32);

// `gradient` under the shape of `like`; a constant target also where one size is unknown.
Output ReshapeLike(GraphBuilder& builder, Output gradient, Output like);

// A constant vector of `dtype` (int32 or int64).
Output IndexVector(GraphBuilder& builder, const std::vector<int64_t>& values, DType dtype);

// Elements of an int32 or int64 Const (looking through Identity), or nothing.
std::optional<std::vector<int64_t>> ConstantIntegers(Output value);

// Whether both values have the same shape whatever is fed: their known shapes say so, or their
// unknown sizes stem from the same size of the same value.
bool SameShape(Output a, Output b);

// Sets dL/dx_i of a binary elementwise op with inputs 0 and 1 that broadcast: `gradient` has the
// shape of the output and is summed over the dimensions along which input i was repeated. Without
// repetition nothing is added; where shapes do not tell, BroadcastGradientArgs decides.
void SetBroadcastGradient(GradientContext& c, int i, Output gradient);

// The general form: `gradient` summed to the shape of `value`, which was broadcast against `other`.
// The last `inner` dimensions take no part (the matrices of a batch product).
Output SumToShape(GraphBuilder& builder, Output gradient, Output value, Output other,
                  int inner = 0);

}  // namespace slipway::ir::grad
