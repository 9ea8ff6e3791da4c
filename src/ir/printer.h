// SPDX-License-Identifier: Apache-2.0
//
// A function as text, for tests, listings and messages: one line a node, in topological order.
#pragma once

#include <string>

#include "ir/function.h"

namespace slipway::ir {

// "f(x: float32[?,4]) {
//    w = Const() {value: float32[1,4] [1 2 3 4]}
//    m = MatMul(x, w) {transpose_b: true} after set
//    return y = m
//    run set
//  }"
// Attributes that have their schema's default or that follow from the inputs are left out. Output 0
// of a node is the node's name, others are "name:1". The text depends on the function alone.
std::string DebugText(const Function& function);

}  // namespace slipway::ir
