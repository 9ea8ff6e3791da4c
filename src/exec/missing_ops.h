// SPDX-License-Identifier: Apache-2.0
//
// The ops that functions reach and that nothing here can run, collected over any number of
// functions so that one error can list them all.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ir/function.h"
#include "slipway/status.h"

namespace slipway::exec {

// Not thread safe.
class MissingOps {
 public:
  // Takes in what `function` needs, and what the functions of `library` need that it may call;
  // `library` may be null. `entry` says in the text who reaches them ("signature 'add'"). Errors of
  // functions that are not there or cannot be read pass through.
  Status Collect(const ir::Function& function, const ir::FunctionLibrary* library,
                 std::string_view entry);
  void Merge(const MissingOps& other);

  bool empty() const { return ops_.empty(); }
  // OK if nothing is missing, else UNIMPLEMENTED: every op with the number of its nodes, the names
  // of the first of them and who reaches them, and the page that says what to do.
  Status AsStatus() const;

  // Where the list of AsStatus sends its reader.
  static constexpr std::string_view kPage = "docs/unsupported-ops.md";

 private:
  struct Entry {
    std::set<std::string> nodes;  // a node that two entry points reach counts once
    std::set<std::string, std::less<>> entries;
  };
  void Check(const ir::Node& node, std::string_view callee, std::string_view entry);

  std::map<std::string, Entry> ops_;  // by the op, with the reason where its name is not enough
};

}  // namespace slipway::exec
