// SPDX-License-Identifier: Apache-2.0
//
// What only graphs of TensorFlow 1 hold, lowered to what all else here understands: reference
// variables become resource variables, the frames of loops (Enter, Merge, Switch, NextIteration,
// Exit) become While, switches and merges of conditionals become If. What cannot be lowered is
// refused with UNIMPLEMENTED and the node's name.
//
// The order of effects is kept: an update keeps the control edges of the op it stands for, and who
// reads through an assignment's output reads after it.
#pragma once

#include <string>

#include "ir/function.h"

namespace slipway::ir {

// All of it, for a function as ExtractFunction makes it (loops may still be cycles). The functions
// of loops and branches go to `library` under names that begin with `prefix`: the same function
// lowered twice under one prefix uses those that are there. Nothing happens to other functions.
Status LowerV1(Function& function, const std::string& prefix, FunctionLibrary* library);

// The steps. Frames come before conditionals; all bodies are lowered as well.
Status LowerRefVariables(Function& function);
Status LowerFrames(Function& function, const std::string& prefix, FunctionLibrary* library);
Status LowerConditionals(Function& function, const std::string& prefix, FunctionLibrary* library);

}  // namespace slipway::ir
