// SPDX-License-Identifier: Apache-2.0
//
// Which variables the entry points of a model may write: a variable that none of them can reach
// with a write never changes once the model is loaded, and may be taken for a constant.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"
#include "slipway/status.h"

namespace slipway::model {

// The name under which kernels keep what a VarHandleOp stands for.
StatusOr<std::string> VariableName(const ir::Node& handle);

// Follows handles through calls, branches and loops; where it cannot follow, it takes everything
// for written. Not thread safe.
class ResourceWrites {
 public:
  explicit ResourceWrites(const ir::FunctionLibrary* library) : library_(library) {}

  // Takes an entry point in; functions may call each other in circles. INVALID_ARGUMENT: a chain of
  // more than kMaxCallDepth of them (the last is named). Errors of functions that cannot be read
  // pass through.
  Status Add(const ir::Function& entry);

  // By the variable's name in the resource container (VariableName).
  bool MayBeWritten(std::string_view variable) const {
    return everything_ || written_.contains(variable);
  }
  // Whether running an entry point that was added changes anything or draws random numbers.
  bool HasEffects(std::string_view entry) const;

  static constexpr int kMaxCallDepth = 128;

 private:
  // What one function does, in terms of its own arguments.
  struct Summary {
    std::vector<bool> written_args;
    bool effects = false;
    friend bool operator==(const Summary&, const Summary&) = default;
  };

  Status SummarizeCallees(const ir::Function& function);
  void Settle(const std::vector<const ir::Function*>& functions);
  Summary Summarize(const ir::Function& function);
  void CollectWrites(const ir::Node& node, Summary* summary);
  void CollectCall(const ir::Node& node, int first_arg, Summary* summary);
  void MarkWritten(const ir::Output& handle, Summary* summary);
  void MarkAllInputs(const ir::Node& node, Summary* summary);

  const ir::FunctionLibrary* library_;
  std::map<std::string, Summary, std::less<>> summaries_;
  std::map<std::string, bool, std::less<>> entries_;
  std::set<std::string, std::less<>> written_;
  bool everything_ = false;
};

}  // namespace slipway::model
