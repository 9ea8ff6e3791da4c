// SPDX-License-Identifier: Apache-2.0
#include "serve/multi_inference.h"

#include <set>

#include "base/strings.h"
#include "serve/examples.h"
#include "wire/coding.h"
#include "wire/inference.h"
#include "wire/json_tensor.h"

namespace slipway::serve {
namespace {

constexpr std::string_view kClassifyName = "tensorflow/serving/classify";
constexpr std::string_view kRegressName = "tensorflow/serving/regress";

std::string_view SignatureOf(const InferenceTaskView& task) {
  const std::string_view name = task.model_spec.signature_name;
  return name.empty() ? kDefaultSignature : name;
}

Status CheckTasks(const MultiInferenceRequestView& request) {
  if (request.tasks.empty() || !request.tasks[0].has_model_spec)
    return InvalidArgumentError("Missing ModelSpec");
  std::set<std::string_view> signatures;
  for (const InferenceTaskView& task : request.tasks) {
    if (task.model_spec.name != request.tasks[0].model_spec.name) {
      return InvalidArgumentError(
          StrCat("All ModelSpecs in a MultiInferenceRequest must access the same model name; got ",
                 Quoted(request.tasks[0].model_spec.name), " and ", Quoted(task.model_spec.name)));
    }
    if (!signatures.insert(SignatureOf(task)).second)
      return InvalidArgumentError(StrCat("Duplicate evaluation of signature: ", SignatureOf(task)));
    if (task.method_name != kClassifyName && task.method_name != kRegressName) {
      return UnimplementedError(StrCat("Unsupported signature method_name: ", task.method_name,
                                       "; wanted ", kClassifyName, " or ", kRegressName));
    }
  }
  return OkStatus();
}

Status RunTask(const InferenceTaskView& task, const Tensor& examples, bool check_method_names,
               const std::atomic<bool>* cancelled, Prediction* prediction, std::string* response) {
  const bool classify = task.method_name == kClassifyName;
  prediction->method = classify ? Method::kClassify : Method::kRegress;
  const std::string_view name = SignatureOf(task);
  if (prediction->lease->FindSignature(name) == nullptr) {
    RETURN_IF_ERROR(prediction->lease->WhyUnsupported(name));
    return InvalidArgumentError(StrCat("Requested signature not found in model graph: ", name));
  }
  RETURN_IF_ERROR(BindExamples(name, examples, check_method_names, prediction));
  RETURN_IF_ERROR(Run(prediction, cancelled));
  ModelSpecView spec = task.model_spec;
  spec.version = prediction->lease->version();
  spec.version_label = {};
  spec.signature_name = name;
  ProtoWriter writer(response);
  const size_t result = writer.BeginMessage(1);
  writer.Bytes(1, EncodeModelSpec(spec));
  RETURN_IF_ERROR(AppendExamplesResult(*prediction, classify ? 2 : 3, response));
  writer.EndMessage(result);
  return OkStatus();
}

}  // namespace

Status RunTasks(const MultiInferenceRequestView& request, bool check_method_names,
                const std::atomic<bool>* cancelled, Prediction* prediction, std::string* response) {
  RETURN_IF_ERROR(CheckTasks(request));
  ASSIGN_OR_RETURN(const Tensor examples, DecodeInput(request.input));
  if (prediction->metrics != nullptr) prediction->metrics->CountExamples(examples.num_elements());
  for (const InferenceTaskView& task : request.tasks) {
    RETURN_IF_ERROR(RunTask(task, examples, check_method_names, cancelled, prediction, response));
  }
  return OkStatus();
}

StatusOr<std::string> MultiInference(const FrontEnd& front, std::string_view bytes,
                                     int64_t deadline_ns) {
  ASSIGN_OR_RETURN(const MultiInferenceRequestView request, DecodeMultiInferenceRequest(bytes));
  RETURN_IF_ERROR(CheckTasks(request));
  Prediction prediction;
  prediction.deadline_ns = deadline_ns;
  const ModelSpecView& first = request.tasks[0].model_spec;
  ASSIGN_OR_RETURN(prediction.lease, FindServable(front.manager->registry(),
                                                  {first.name, first.version, first.version_label},
                                                  &prediction.metrics));
  std::string response;
  RETURN_IF_ERROR(
      RunTasks(request, front.check_method_names, front.cancelled, &prediction, &response));
  return response;
}

}  // namespace slipway::serve
