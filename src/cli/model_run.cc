// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/strings.h"
#include "cli/command.h"
#include "exec/profile.h"
#include "model/saved_model.h"
#include "wire/npy.h"
#include "wire/tensor_json.h"

namespace slipway::cli {
namespace {

struct ModelRunFlags {
  std::string dir;
  std::string tag_set = "serve";
  std::string signature = "serving_default";
  std::string request;
  std::string response;
  std::vector<std::string> inputs;
  std::string trace;
};

TensorJsonResult RunCall(const model::SavedModel& saved_model, const TensorJsonCall& call,
                         const std::string& default_signature, exec::StepProfile* profile) {
  model::TensorMap inputs;
  for (const auto& [name, tensor] : call.inputs) inputs.insert_or_assign(name, tensor);
  TensorJsonResult result;
  auto signature =
      saved_model.FindSignature(call.signature.empty() ? default_signature : call.signature);
  if (!signature.ok()) {
    result.status = signature.status();
    return result;
  }
  StatusOr<model::TensorMap> outputs = (*signature)->Run(inputs, {}, {.profile = profile});
  result.status = outputs.status();
  if (outputs.ok()) result.outputs.assign(outputs->begin(), outputs->end());
  return result;
}

// "name=file.npy;other=file.npy", as saved_model_cli takes it.
Status AddInputs(Env* env, const std::string& text, TensorJsonCall* call) {
  for (std::string_view piece : StrSplit(text, ';')) {
    if (piece.empty()) continue;
    const size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      return InvalidArgumentError(
          StrCat("--inputs ", Quoted(piece), ": wanted NAME=FILE.npy, several with ';' between"));
    }
    const std::string path(piece.substr(equals + 1));
    ASSIGN_OR_RETURN(Tensor tensor, ReadNpy(env, path));
    call->inputs.emplace_back(std::string(piece.substr(0, equals)), std::move(tensor));
  }
  return OkStatus();
}

StatusOr<TensorJsonRequest> MakeRequest(Env* env, const ModelRunFlags& flags) {
  if (!flags.request.empty()) return ReadTensorJsonRequest(env, flags.request);
  TensorJsonRequest request;
  request.calls.emplace_back();
  for (const std::string& text : flags.inputs) {
    RETURN_IF_ERROR(AddInputs(env, text, &request.calls[0]));
  }
  return request;
}

Status RunModel(const ModelRunFlags& flags) {
  Env* env = Env::Default();
  model::LoadOptions options;
  options.tags.clear();
  for (std::string_view tag : StrSplit(flags.tag_set, ',')) options.tags.emplace_back(tag);
  ASSIGN_OR_RETURN(const auto saved_model, model::SavedModel::Load(env, flags.dir, options));
  ASSIGN_OR_RETURN(const TensorJsonRequest request, MakeRequest(env, flags));
  std::vector<TensorJsonResult> results;
  exec::StepProfile profile;
  for (const TensorJsonCall& call : request.calls) {
    const bool profiled = !flags.trace.empty() && &call == &request.calls.back();
    results.push_back(RunCall(*saved_model, call, flags.signature, profiled ? &profile : nullptr));
  }
  if (!request.has_steps) RETURN_IF_ERROR(results[0].status);
  if (!flags.trace.empty()) {
    RETURN_IF_ERROR(exec::WritePerfettoTrace(env, flags.trace, profile));
  }
  if (!flags.response.empty()) {
    return WriteTensorJsonResponse(env, flags.response, request.has_steps, results);
  }
  for (const TensorJsonResult& result : results) {
    if (!result.status.ok()) std::printf("%s\n", result.status.ToString().c_str());
    for (const auto& [name, tensor] : result.outputs) {
      std::printf("Result for output key %s:\n%s\n", name.c_str(), tensor.ToString(100).c_str());
    }
  }
  return OkStatus();
}

}  // namespace

int RunModelRun(Args args) {
  ModelRunFlags f;
  FlagSet flags(
      "slipway model run --dir DIR [flags]",
      "Runs a signature of a SavedModel on inputs from files.",
      {{"dir", &f.dir, "the SavedModel's directory"},
       {"tag_set", &f.tag_set, "tags of the MetaGraph, with ',' between"},
       {"signature_def", &f.signature, "the signature, if the request names none"},
       {"request", &f.request, "a request in typed tensor JSON (docs/formats/tensor-json.md)"},
       {"response", &f.response, "where the response goes; printed if not given"},
       {"inputs", &f.inputs, "inputs as NAME=FILE.npy, several with ';' between"},
       {"trace", &f.trace, "a file for when each op of the last call ran, for ui.perfetto.dev"}});
  if (const Parsed parsed = ParseFlags(&flags, "model run", args, 0); parsed.exit) {
    return *parsed.exit;
  }
  if (f.dir.empty()) {
    return FailUsage("model run",
                     InvalidArgumentError("--dir is missing: the SavedModel's directory"));
  }
  const Status status = RunModel(f);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
