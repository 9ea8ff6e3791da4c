// SPDX-License-Identifier: Apache-2.0
#include "serve/predict.h"

#include <algorithm>

#include "base/clock.h"
#include "base/strings.h"
#include "model/wrong_inputs.h"
#include "tensor/dtype_message.h"
#include "wire/json_tensor.h"

namespace slipway::serve {
namespace {

std::string Braced(const std::vector<std::string_view>& names) {
  return StrCat("{", StrJoin(names, ","), "}");
}

Status WrongInputs(const model::Signature& signature, std::span<const NamedTensor> inputs) {
  std::vector<std::string_view> sent;
  for (const NamedTensor& input : inputs) sent.push_back(input.name);
  return model::WrongInputs(signature, sent);
}

Status BindFilter(std::span<const std::string_view> filter, Prediction* prediction) {
  const model::Signature& signature = prediction->signature->signature();
  for (const std::string_view name : filter) {
    const int index = signature.FindOutput(name);
    if (index < 0) {
      std::vector<std::string_view> names;
      for (const TensorSpec& spec : signature.outputs()) names.push_back(spec.name);
      return InvalidArgumentError(StrCat("output tensor alias not found in signature: ", name,
                                         " Outputs expected to be in the set ", Braced(names),
                                         "."));
    }
    const auto& fetched = prediction->fetched;
    if (std::find(fetched.begin(), fetched.end(), index) != fetched.end())
      return InvalidArgumentError(StrCat("duplicate output tensor alias: ", name));
    prediction->fetched.push_back(index);
  }
  return OkStatus();
}

}  // namespace

StatusOr<Lease> FindServable(const Registry& registry, const Target& target,
                             ModelMetrics** metrics) {
  if (target.model.empty()) return InvalidArgumentError("ModelSpec has no name specified.");
  Registry::Found found = registry.Find(target.model, target.version, target.label);
  if (metrics != nullptr) *metrics = found.metrics;
  if (!target.label.empty() && !found.version && found.metrics != nullptr) {
    return InvalidArgumentError(StrCat("Unrecognized servable version label: ", target.label));
  }
  if (found.lease) return std::move(found.lease);
  if (found.version || target.version) {
    return NotFoundError(StrCat("Servable not found for request: Specific(", target.model, ", ",
                                found.version ? *found.version : *target.version, ")"));
  }
  return NotFoundError(StrCat("Servable not found for request: Latest(", target.model, ")"));
}

int64_t Prediction::Rows() const {
  return inputs.empty() || inputs[0].rank() == 0 ? 1 : inputs[0].dim(0);
}

std::string_view Prediction::OutputName(size_t i) const {
  const size_t index = fetched.empty() ? i : static_cast<size_t>(fetched[i]);
  return signature->signature().outputs()[index].name;
}

void Prediction::Recycle() {
  constexpr size_t kKeptBytes = 64 * 1024;
  lease = Lease();
  signature = nullptr;
  metrics = nullptr;
  inputs.clear();
  fetched.clear();
  for (Tensor& output : outputs) {
    const bool keep = output.IsUnique() && output.owns_memory() && !IsObject(output.dtype()) &&
                      output.byte_size() <= kKeptBytes;
    if (!keep) output = Tensor();
  }
}

Status FindPredictSignature(std::string_view name, Prediction* prediction) {
  if (name.empty()) name = kDefaultSignature;
  prediction->signature = prediction->lease->FindSignature(name);
  if (prediction->signature != nullptr) return OkStatus();
  RETURN_IF_ERROR(prediction->lease->WhyUnsupported(name));
  return FailedPreconditionError(StrCat("Serving signature key \"", name, "\" not found."));
}

Status BindInputs(std::span<NamedTensor> inputs, std::span<const std::string_view> filter,
                  Prediction* prediction) {
  const model::Signature& signature = prediction->signature->signature();
  const std::vector<TensorSpec>& specs = signature.inputs();
  prediction->inputs.resize(specs.size());
  size_t given = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto input = std::find_if(inputs.begin(), inputs.end(), [&](const NamedTensor& one) {
      return one.name == specs[i].name;
    });
    if (input != inputs.end()) {
      ++given;
      if (input->tensor.dtype() != specs[i].dtype) {
        return InvalidArgumentError(StrCat(
            "Expects arg[", i, "] to be ", DTypeMessageName(specs[i].dtype), " but ",
            DTypeMessageName(input->tensor.dtype()), " is provided (input '", specs[i].name, "')"));
      }
      prediction->inputs[i] = input->tensor;
    } else if (const auto it = signature.defaults().find(specs[i].name);
               it != signature.defaults().end()) {
      prediction->inputs[i] = it->second;
    } else {
      return WrongInputs(signature, inputs);
    }
  }
  if (given != inputs.size()) return WrongInputs(signature, inputs);
  prediction->fetched.clear();
  return BindFilter(filter, prediction);
}

Status Run(Prediction* prediction, const std::atomic<bool>* cancelled) {
  const model::Signature& signature = prediction->signature->signature();
  const bool all = prediction->fetched.empty();
  prediction->outputs.resize(all ? signature.outputs().size() : prediction->fetched.size());
  const exec::RunOptions options{.deadline_ns = prediction->deadline_ns, .cancelled = cancelled};
  const int64_t start = Clock::Default()->NowNanos();
  RETURN_IF_ERROR(all ? signature.Run(prediction->inputs, prediction->outputs, options)
                      : signature.RunSubset(prediction->inputs, prediction->fetched,
                                            prediction->outputs, options));
  const int64_t took = Clock::Default()->NowNanos() - start;
  prediction->signature->Learn(prediction->Rows(), took);
  if (prediction->metrics != nullptr) prediction->metrics->CountRun(prediction->method, took);
  return OkStatus();
}

}  // namespace slipway::serve
