// SPDX-License-Identifier: Apache-2.0
//
// A pass: one change to a function, one file in ir/passes/. They run in the order of one visible
// list (DefaultPasses). A pass knows nothing of devices and files; what must be computed is
// computed by an Evaluate handed in, variables are read through a lookup handed in.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"

namespace slipway::ir {

struct PassContext {
  // Null where there are no functions to inline.
  const FunctionLibrary* library = nullptr;
  // Runs one pure node on constant inputs. Empty: nothing is folded.
  std::function<StatusOr<std::vector<Tensor>>(const Node&, std::span<const Tensor>)> evaluate;
  // The value of a variable (by the VarHandleOp) that no entry point of the model can write after
  // loading, else nothing. Empty: no variable is frozen.
  std::function<std::optional<Tensor>(const Node& var_handle)> frozen_value;
  // Constants larger than this are not made by folding.
  int64_t max_folded_bytes = 16 << 20;
};

struct PassReport {
  std::string pass;
  int nodes_before = 0;
  int nodes_after = 0;
  std::string note;  // what it did, in a few words: "12 calls inlined"
};

struct Pass {
  const char* name;
  const char* what;  // one line, for `slipway model show --passes`
  // Changes the function, or tells why it cannot; `note` may be left empty.
  Status (*run)(Function& function, const PassContext& context, std::string* note);
};

// What runs with passes off too: TensorFlow's functions do not run what no result and no effect
// needs, so that a wrong node there is no error.
std::span<const Pass> RequiredPasses();

// inline → freeze → fold → simplify → common subexpressions → fuse → prune, each a file.
std::span<const Pass> DefaultPasses();

Status RunPasses(Function& function, const PassContext& context, std::span<const Pass> passes,
                 std::vector<PassReport>* reports = nullptr);

}  // namespace slipway::ir
