// SPDX-License-Identifier: Apache-2.0
//
// docs/reference/ops.md, the list of ops that models may use, is made from the registries:
//   SLIPWAY_WRITE_OPS_PAGE=1 build/dev/src/exec/exec_test --gtest_filter='OpsPage.*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/env.h"
#include "base/strings.h"
#include "exec/runtime_op.h"
#include "ir/gradient.h"
#include "ir/op_schema.h"
#include "kernels/kernel.h"
#include "kernels/types.h"

namespace slipway::exec {
namespace {

constexpr char kPage[] = "docs/reference/ops.md";
constexpr char kHead[] =
    "# Supported ops\n"
    "\n"
    "What a SavedModel may use: TensorFlow's ops by name. A model whose signatures, initialiser "
    "or\n"
    "restore function reach another one is refused when it is loaded, with a list of what is\n"
    "missing; ops that nothing reaches do no harm.\n"
    "\n"
    "*Types* are those of the op's type attributes. *integers* are those of 8 to 64 bits, "
    "*floats*\n"
    "are float32, float64, float16 and bfloat16 (the last two computed in float32), *numbers* are\n"
    "both, *all* is every type that there is. An op with no type attribute has a dash.\n"
    "*Gradient*: training can go back through it.\n"
    "\n"
    "This page is made by `src/exec/ops_page_test.cc`, which also checks it.\n"
    "\n"
    "| op | types | gradient |\n"
    "|---|---|---|\n";

using Types = std::set<DType>;

// Takes the group out of `types` if all of it is there.
void TakeGroup(const char* name, const std::vector<DType>& group, Types* types,
               std::vector<std::string>* words) {
  const bool whole = std::ranges::all_of(group, [&](DType t) { return types->contains(t); });
  if (!whole) return;
  for (DType t : group) types->erase(t);
  words->push_back(name);
}

std::string TypesText(Types types) {
  std::vector<std::string> words;
  TakeGroup("all", kernels::AllTypes(), &types, &words);
  TakeGroup("numbers", kernels::NumberTypes(), &types, &words);
  TakeGroup("floats", kernels::FloatTypes(), &types, &words);
  TakeGroup("integers", kernels::Ints::DTypes(), &types, &words);
  for (DType t : types) words.emplace_back(DTypeName(t));
  return StrJoin(words, " ");
}

std::string KernelTypes(const std::string& op, const std::vector<const kernels::KernelDef*>& defs) {
  std::map<std::string, Types> attrs;
  for (const kernels::KernelDef* def : defs) {
    for (const auto& constraint : def->types) {
      attrs[constraint.attr].insert(constraint.dtypes.begin(), constraint.dtypes.end());
    }
  }
  std::vector<std::string> parts;
  for (const auto& attr : ir::FindOpSchema(op)->attrs) {
    const bool any = !attrs.contains(attr.name);
    if (any && attr.type != "type" && attr.type != "list(type)") continue;
    // A type attribute without a constraint: what the op allows.
    Types types =
        any ? Types(attr.allowed_types.begin(), attr.allowed_types.end()) : attrs[attr.name];
    parts.push_back(StrCat(attr.name, ": ", types.empty() ? "all" : TypesText(std::move(types))));
  }
  return parts.empty() ? "–" : StrJoin(parts, "; ");
}

bool HasGradient(const std::string& op) {
  const ir::GradientEntry* entry = ir::FindGradient(op);
  return entry != nullptr && entry->gradient != nullptr;
}

std::string MakePage() {
  std::map<std::string, std::vector<const kernels::KernelDef*>> kernels_by_op;
  for (const kernels::KernelDef* def : kernels::AllKernels()) kernels_by_op[def->op].push_back(def);
  std::map<std::string, std::string> rows;
  for (const auto& [op, defs] : kernels_by_op) rows[op] = KernelTypes(op, defs);
  for (const ir::OpSchema* schema : ir::AllOpSchemas()) {
    if (FindRuntimeOp(schema->name) != nullptr) rows[schema->name] = "all";
  }
  std::string page = kHead;
  for (const auto& [op, types] : rows) {
    StrAppend(&page, "| `", op, "` | ", types, " | ", HasGradient(op) ? "yes" : "", " |\n");
  }
  return page;
}

TEST(OpsPage, ListsWhatThereIs) {
  const std::string page = MakePage();
  if (std::getenv("SLIPWAY_WRITE_OPS_PAGE") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(Env::Default(), kPage, page).ok());
  }
  const auto seen = ReadFile(Env::Default(), kPage);
  ASSERT_TRUE(seen.ok()) << seen.status().ToString();
  EXPECT_EQ(*seen, page) << "make it again with SLIPWAY_WRITE_OPS_PAGE=1";
}

}  // namespace
}  // namespace slipway::exec
