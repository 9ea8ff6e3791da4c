// SPDX-License-Identifier: Apache-2.0
#include "nn/context.h"

#include <cctype>

#include "base/random.h"
#include "base/strings.h"

namespace slipway::nn {

ir::Output CallContext::Handle(const Variable& variable) {
  auto it = handles_.find(&variable);
  if (it == handles_.end()) it = handles_.emplace(&variable, make_handle_(variable)).first;
  return it->second;
}

ir::Output CallContext::Read(const Variable& variable) {
  auto it = reads_.find(&variable);
  if (it != reads_.end()) return it->second;
  ir::Output value =
      builder_->Op("ReadVariableOp", {Handle(variable)}, {{"dtype", variable.dtype}});
  // An argument handle carries no shape; the variable knows it.
  if (value.valid()) value.node->set_shape(0, variable.shape);
  reads_[&variable] = value;
  return value;
}

void CallContext::Update(const char* op, const Variable& variable, ir::Output value) {
  builder_->AddNode(op, {Handle(variable), value}, {{"dtype", variable.dtype}});
  Written(variable);
}

void CallContext::Assign(const Variable& variable, ir::Output value) {
  Update("AssignVariableOp", variable, value);
}

void CallContext::AssignAdd(const Variable& variable, ir::Output value) {
  Update("AssignAddVariableOp", variable, value);
}

void CallContext::AssignSub(const Variable& variable, ir::Output value) {
  Update("AssignSubVariableOp", variable, value);
}

CallContext::HandleFn HandlesByPath(ir::GraphBuilder* builder) {
  return [builder](const Variable& variable) {
    return builder->Op("VarHandleOp", {},
                       {{"dtype", variable.dtype},
                        {"shape", PartialShape(variable.shape)},
                        {"shared_name", variable.path}},
                       variable.path);
  };
}

std::string BuildContext::UniqueName(const std::string& base) {
  while (true) {
    int n = counts_[base]++;
    std::string name = n == 0 ? base : StrCat(base, "_", n);
    if (taken_.insert(name).second) return name;
  }
}

Status BuildContext::ClaimName(const std::string& name) {
  if (taken_.insert(name).second) return OkStatus();
  return AlreadyExistsError(StrCat("Two layers of the model are named '", name,
                                   "'; a name may be used once. Rename one of them"));
}

int64_t BuildContext::NextSeed() {
  Philox generator(seed_, draws_++);
  return 1 + static_cast<int64_t>(generator.Next()[0] % 1'000'000'000u);
}

std::string SnakeCase(std::string_view class_name) {
  std::string out;
  for (size_t i = 0; i < class_name.size(); ++i) {
    auto is = [&](size_t at, auto test) {
      return at < class_name.size() && test(static_cast<unsigned char>(class_name[at])) != 0;
    };
    auto upper = [](int c) { return std::isupper(c); };
    auto lower = [](int c) { return std::islower(c); };
    bool begins_word = i > 0 && is(i, upper) && (is(i - 1, lower) || is(i + 1, lower));
    if (begins_word) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(class_name[i])));
  }
  return out;
}

}  // namespace slipway::nn
