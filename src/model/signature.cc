// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include "base/strings.h"
#include "model/saved_model.h"
#include "model/signature_internal.h"
#include "model/wrong_inputs.h"
#include "tensor/dtype_message.h"

namespace slipway::model {
namespace {

int FindSpec(const std::vector<TensorSpec>& specs, std::string_view name) {
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

Signature::Signature() : subsets_(std::make_unique<Subsets>()) {}
Signature::~Signature() = default;

int Signature::FindInput(std::string_view name) const { return FindSpec(inputs_, name); }
int Signature::FindOutput(std::string_view name) const { return FindSpec(outputs_, name); }

Status Signature::Run(std::span<const Tensor> inputs, std::span<Tensor> outputs,
                      const exec::RunOptions& options) const {
  return main_->Run(inputs, outputs, Limited(options));
}

exec::RunOptions Signature::Limited(const exec::RunOptions& options) const {
  exec::RunOptions limited = options;
  limited.max_call_depth = load_options_->max_call_depth;
  limited.max_loop_iterations = load_options_->max_loop_iterations;
  return limited;
}

StatusOr<std::shared_ptr<const exec::Executable>> Signature::FindSubset(
    const std::vector<int>& key) const {
  std::shared_ptr<Subsets::Entry> entry;
  {
    std::lock_guard lock(subsets_->mutex);
    auto& place = subsets_->entries[key];
    if (place == nullptr) {
      place = std::make_shared<Subsets::Entry>();
      subsets_->order.push_back(key);
    }
    entry = place;
    // The one that has been there longest goes; who runs it still holds it.
    if (subsets_->order.size() > kMaxSubsets) {
      subsets_->entries.erase(subsets_->order.front());
      subsets_->order.pop_front();
    }
  }
  std::lock_guard lock(entry->mutex);
  if (entry->executable == nullptr) {
    ASSIGN_OR_RETURN(entry->executable, compile_(key));
  }
  return entry->executable;
}

Status Signature::RunSubset(std::span<const Tensor> inputs, std::span<const int> fetched,
                            std::span<Tensor> outputs, const exec::RunOptions& options) const {
  for (int index : fetched) {
    if (index < 0 || static_cast<size_t>(index) >= outputs_.size()) {
      return InvalidArgumentError(
          StrCat("Signature '", name_, "' has ", outputs_.size(), " outputs, not output ", index));
    }
  }
  if (outputs.size() != fetched.size()) {
    return InvalidArgumentError(StrCat(fetched.size(), " outputs of signature '", name_,
                                       "' are fetched into room for ", outputs.size()));
  }
  std::vector<int> key(fetched.begin(), fetched.end());
  std::sort(key.begin(), key.end());
  key.erase(std::unique(key.begin(), key.end()), key.end());
  ASSIGN_OR_RETURN(const auto executable, FindSubset(key));
  if (std::equal(key.begin(), key.end(), fetched.begin(), fetched.end())) {
    return executable->Run(inputs, outputs, Limited(options));
  }
  const auto place = [&](int index) {
    return static_cast<size_t>(std::lower_bound(key.begin(), key.end(), index) - key.begin());
  };
  std::vector<Tensor> results(key.size());
  for (size_t i = 0; i < fetched.size(); ++i) results[place(fetched[i])] = std::move(outputs[i]);
  RETURN_IF_ERROR(executable->Run(inputs, results, Limited(options)));
  for (size_t i = 0; i < fetched.size(); ++i) outputs[i] = results[place(fetched[i])];
  return OkStatus();
}

namespace {

Status WrongNames(const Signature& signature, const TensorMap& inputs) {
  std::vector<std::string_view> sent;
  for (const auto& [name, tensor] : inputs) sent.push_back(name);
  return WrongInputs(signature, sent);
}

}  // namespace

StatusOr<TensorMap> Signature::Run(const TensorMap& inputs, std::span<const std::string> fetched,
                                   const exec::RunOptions& options) const {
  std::vector<Tensor> in(inputs_.size());
  size_t found = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::string& name = inputs_[i].name;
    if (const auto it = inputs.find(name); it != inputs.end()) {
      in[i] = it->second;
      ++found;
    } else if (const auto def = defaults().find(name); def != defaults().end()) {
      in[i] = def->second;
    } else {
      return WrongNames(*this, inputs);
    }
    if (in[i].dtype() == inputs_[i].dtype) continue;
    return InvalidArgumentError(
        StrCat("Expects arg[", i, "] to be ", DTypeMessageName(inputs_[i].dtype), " but ",
               DTypeMessageName(in[i].dtype()), " is provided (input '", name, "')"));
  }
  if (found != inputs.size()) return WrongNames(*this, inputs);

  std::vector<int> wanted;
  for (const auto& name : fetched) {
    const int index = FindOutput(name);
    if (index < 0) {
      return InvalidArgumentError(StrCat("output tensor alias not found in signature: ", name,
                                         "; there are ", outputs_.size(), " outputs in '", name_,
                                         "'"));
    }
    if (std::find(wanted.begin(), wanted.end(), index) != wanted.end()) {
      return InvalidArgumentError(StrCat("duplicate output tensor alias: ", name));
    }
    wanted.push_back(index);
  }
  const bool all = fetched.empty();
  std::vector<Tensor> out(all ? outputs_.size() : wanted.size());
  RETURN_IF_ERROR(all ? Run(in, out, options) : RunSubset(in, wanted, out, options));
  TensorMap result;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto index = all ? i : static_cast<size_t>(wanted[i]);
    result.emplace(outputs_[index].name, std::move(out[i]));
  }
  return result;
}

}  // namespace slipway::model
