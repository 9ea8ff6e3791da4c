// SPDX-License-Identifier: Apache-2.0
//
// The passes, one file each. A new pass is a new file, a line here and one in DefaultPasses.
#pragma once

#include "ir/pass.h"

namespace slipway::ir {

Status InlineCalls(Function& function, const PassContext& context, std::string* note);
Status FreezeVariables(Function& function, const PassContext& context, std::string* note);
Status FoldConstants(Function& function, const PassContext& context, std::string* note);
Status SimplifyArithmetic(Function& function, const PassContext& context, std::string* note);
Status ShareCommonSubexpressions(Function& function, const PassContext& context, std::string* note);
Status FuseDense(Function& function, const PassContext& context, std::string* note);
Status Prune(Function& function, const PassContext& context, std::string* note);

}  // namespace slipway::ir
