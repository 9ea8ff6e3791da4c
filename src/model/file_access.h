// SPDX-License-Identifier: Apache-2.0
//
// What keeps a model that is not trusted away from files that are not its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/env.h"
#include "ir/function.h"
#include "slipway/status.h"

namespace slipway::model {

enum class FileOps {
  kNone,  // a signature: clients may choose the name
  kRead,  // restoring, initialising: with an Env that holds the model's own files only
};

// An op that reaches beyond the model (model/op_risks.h), and is not allowed to.
bool IsRefused(std::string_view op, FileOps allowed);

// PERMISSION_DENIED when `entry`, or a function it reaches, holds an op that is refused; op, node
// and function are named.
Status CheckFileOps(const ir::Function& entry, const ir::FunctionLibrary* library, FileOps allowed);

// The files below `directory` of `base`, for reading; all else is PERMISSION_DENIED. A path with
// ".." in it is outside. Links are followed: who places them owns the directory. `base` is
// borrowed.
std::unique_ptr<Env> NewDirectoryEnv(Env* base, std::string directory);

}  // namespace slipway::model
