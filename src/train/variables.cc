// SPDX-License-Identifier: Apache-2.0
#include "train/variables.h"

#include "base/strings.h"
#include "exec/executable.h"

namespace slipway::train {

Status VariableStore::Create(std::span<const nn::VariablePtr> variables) {
  std::vector<nn::VariablePtr> fresh;
  for (const nn::VariablePtr& variable : variables) {
    if (container_.Find(variable->path) == nullptr) fresh.push_back(variable);
  }
  return Initialize(fresh);
}

Status VariableStore::Reset(std::span<const nn::VariablePtr> variables) {
  for (const nn::VariablePtr& variable : variables) {
    ASSIGN_OR_RETURN(auto resource, Find(variable->path));
    RETURN_IF_ERROR(resource->Assign(variable->initial));
  }
  return OkStatus();
}

void VariableStore::Remove(std::span<const nn::VariablePtr> variables) {
  for (const nn::VariablePtr& variable : variables) container_.Remove(variable->path);
}

Status VariableStore::Initialize(std::span<const nn::VariablePtr> variables) {
  if (variables.empty()) return OkStatus();
  // One graph for all first values: the same ops as any other computation, so the same numbers.
  ir::Function function;
  function.name = "initial_values";
  ir::GraphBuilder builder(&function.graph);
  for (const nn::VariablePtr& variable : variables) {
    function.returns.push_back({variable->path, nn::BuildInitialValue(builder, *variable)});
  }
  RETURN_IF_ERROR(builder.status());
  exec::CompileOptions options;
  options.run_passes = false;  // it runs once
  ASSIGN_OR_RETURN(auto executable, exec::Executable::Compile(std::move(function), options));
  std::vector<Tensor> values(variables.size());
  RETURN_IF_ERROR(executable->Run({}, values));
  for (size_t i = 0; i < variables.size(); ++i) {
    const nn::Variable& description = *variables[i];
    ASSIGN_OR_RETURN(auto resource,
                     container_.FindOrCreate<kernels::Variable>(description.path, [&] {
                       return std::make_shared<kernels::Variable>(
                           description.path, description.dtype, description.shape);
                     }));
    RETURN_IF_ERROR(resource->Assign(std::move(values[i])));
  }
  return OkStatus();
}

StatusOr<std::shared_ptr<kernels::Variable>> VariableStore::Find(std::string_view path) const {
  auto resource = std::dynamic_pointer_cast<kernels::Variable>(container_.Find(path));
  if (resource == nullptr) {
    return NotFoundError(StrCat("The model has no variable '", path, "'"));
  }
  return resource;
}

StatusOr<Tensor> VariableStore::Read(std::string_view path) const {
  ASSIGN_OR_RETURN(auto resource, Find(path));
  return resource->Read();
}

Status VariableStore::Write(std::string_view path, const Tensor& value) {
  ASSIGN_OR_RETURN(auto resource, Find(path));
  if (value.dtype() != resource->dtype() || !resource->shape().Admits(value.shape())) {
    return InvalidArgumentError(StrCat("Variable '", path, "' is ", DTypeName(resource->dtype()),
                                       resource->shape().ToString(), ", the value is ",
                                       DTypeName(value.dtype()), value.shape().ToString()));
  }
  return resource->Assign(value);
}

}  // namespace slipway::train
