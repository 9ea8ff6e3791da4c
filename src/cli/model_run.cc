// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/log.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/model_inputs.h"
#include "exec/profile.h"
#include "wire/npy.h"
#include "wire/tensor_json.h"

namespace slipway::cli {
namespace {

struct ModelRunFlags {
  ModelInputFlags model;
  std::string request;
  std::string response;
  std::string outdir;
  bool overwrite = false;
  std::string trace;
  // Of saved_model_cli's sessions, which are not here.
  std::string worker;
  bool init_tpu = false;
  bool tf_debug = false;
  bool use_tfrt = false;
};

// Whatever a flag of saved_model_cli asks for must not be left out in silence.
Status CheckFlags(const ModelRunFlags& f) {
  if (f.model.dir.empty()) {
    return InvalidArgumentError("--dir is missing: the SavedModel's directory");
  }
  if (!f.request.empty() && f.model.any_inputs()) {
    return InvalidArgumentError("--request holds all inputs; give no --inputs beside it");
  }
  if (!f.worker.empty() || f.init_tpu) {
    return InvalidArgumentError(
        "--worker and --init_tpu are for TensorFlow's sessions on other machines; the model runs "
        "here, `slipway serve` is for calls from elsewhere");
  }
  if (f.tf_debug) {
    return InvalidArgumentError("--tf_debug is TensorFlow's debugger; --trace shows what ran");
  }
  if (f.use_tfrt) LOG_WARNING("--use_tfrt changes nothing: there is one runtime");
  return OkStatus();
}

StatusOr<TensorJsonRequest> MakeRequest(const ModelRunFlags& f, const model::SavedModel& model) {
  if (!f.request.empty()) return ReadTensorJsonRequest(Env::Default(), f.request);
  TensorJsonRequest request;
  request.calls.emplace_back();
  ASSIGN_OR_RETURN(const model::Signature* signature, model.FindSignature(f.model.signature));
  ASSIGN_OR_RETURN(const model::TensorMap inputs, f.model.Inputs(*signature));
  request.calls[0].inputs.assign(inputs.begin(), inputs.end());
  return request;
}

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

// One .npy a result; nothing is written if one of them is there already.
Status SaveOutputs(const ModelRunFlags& f, const TensorJsonResult& result) {
  Env* env = Env::Default();
  RETURN_IF_ERROR(env->CreateDirectories(f.outdir));
  const auto path_of = [&](const std::string& name) { return JoinPath(f.outdir, name + ".npy"); };
  for (const auto& [name, tensor] : result.outputs) {
    if (f.overwrite || !env->Exists(path_of(name))) continue;
    return AlreadyExistsError(
        StrCat("Output file ", path_of(name),
               " already exists. Add \"--overwrite\" to overwrite the existing output files."));
  }
  for (const auto& [name, tensor] : result.outputs) {
    RETURN_IF_ERROR(WriteNpy(env, path_of(name), tensor).WithContext(StrCat("Output ", name)));
    std::printf("Output %s is saved to %s\n", name.c_str(), path_of(name).c_str());
  }
  return OkStatus();
}

Status PrintResult(const ModelRunFlags& f, const TensorJsonResult& result) {
  if (!result.status.ok()) std::printf("%s\n", result.status.ToString().c_str());
  for (const auto& [name, tensor] : result.outputs) {
    std::printf("Result for output key %s:\n%s\n", name.c_str(), tensor.ToString(100).c_str());
  }
  return f.outdir.empty() ? OkStatus() : SaveOutputs(f, result);
}

Status RunModel(const ModelRunFlags& f) {
  Env* env = Env::Default();
  model::LoadOptions options;
  options.required_signature = f.request.empty() ? f.model.signature : "";
  ASSIGN_OR_RETURN(const auto saved_model, f.model.Load(options));
  ASSIGN_OR_RETURN(const TensorJsonRequest request, MakeRequest(f, *saved_model));
  std::vector<TensorJsonResult> results;
  exec::StepProfile profile;
  for (const TensorJsonCall& call : request.calls) {
    const bool profiled = !f.trace.empty() && &call == &request.calls.back();
    results.push_back(
        RunCall(*saved_model, call, f.model.signature, profiled ? &profile : nullptr));
  }
  if (!request.has_steps) RETURN_IF_ERROR(results[0].status);
  if (!f.trace.empty()) RETURN_IF_ERROR(exec::WritePerfettoTrace(env, f.trace, profile));
  if (!f.response.empty()) {
    return WriteTensorJsonResponse(env, f.response, request.has_steps, results);
  }
  for (const TensorJsonResult& result : results) RETURN_IF_ERROR(PrintResult(f, result));
  return OkStatus();
}

}  // namespace

int RunModelRun(Args args) {
  ModelRunFlags f;
  std::vector<Flag> table = f.model.Table();
  table.insert(
      table.end(),
      {{"outdir", &f.outdir, "a directory for the outputs, each as NAME.npy"},
       {"overwrite", &f.overwrite, "write over files that are there in --outdir"},
       {"request", &f.request, "a request in typed tensor JSON (docs/formats/tensor-json.md)"},
       {"response", &f.response, "where the response in that form goes; printed if not given"},
       {"trace", &f.trace, "a file for when each op of the last call ran, for ui.perfetto.dev"},
       {"worker", &f.worker, "refused: a session of TensorFlow elsewhere"},
       {"init_tpu", &f.init_tpu, "refused: for --worker"},
       {"tf_debug", &f.tf_debug, "refused: TensorFlow's debugger"},
       {"use_tfrt", &f.use_tfrt, "changes nothing: there is one runtime"}});
  FlagSet flags("slipway model run --dir DIR [flags]",
                "Runs a signature of a SavedModel on inputs from files or the command line, with "
                "the flags of saved_model_cli run.",
                std::move(table));
  if (const Parsed parsed = ParseFlags(&flags, "model run", args, 0); parsed.exit) {
    return *parsed.exit;
  }
  if (const Status usage = CheckFlags(f); !usage.ok()) return FailUsage("model run", usage);
  const Status status = RunModel(f);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
