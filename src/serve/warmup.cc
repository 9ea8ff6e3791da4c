// SPDX-License-Identifier: Apache-2.0
#include "serve/warmup.h"

#include <algorithm>

#include "base/strings.h"
#include "serve/examples.h"
#include "serve/multi_inference.h"
#include "serve/predict.h"
#include "wire/coding.h"
#include "wire/inference.h"
#include "wire/predict.h"
#include "wire/record.h"

namespace slipway::serve {
namespace {

constexpr int64_t kMaxRecords = 1000;

// The kinds of PredictionLog, by field number.
enum LogKind : uint32_t { kClassify = 2, kRegress = 3, kMultiInference = 4, kPredict = 6 };

struct Log {
  uint32_t kind = 0;
  std::string_view request;
};

StatusOr<Log> DecodeLog(std::string_view record) {
  Log log;
  ProtoReader reader(record);
  while (reader.Next()) {
    if (reader.type() != WireType::kBytes || reader.field() < 2) continue;
    log.kind = reader.field();
    ProtoReader fields(reader.bytes());
    while (fields.Next()) {
      if (fields.tag() == BytesField(1)) log.request = fields.bytes();
    }
    RETURN_IF_ERROR(fields.status("PredictionLog"));
  }
  RETURN_IF_ERROR(reader.status("PredictionLog"));
  return log;
}

Status ReplayPredict(std::string_view bytes, Prediction* prediction) {
  ASSIGN_OR_RETURN(PredictRequestView request, DecodePredictRequest(bytes));
  RETURN_IF_ERROR(FindPredictSignature(request.model_spec.signature_name, prediction));
  RETURN_IF_ERROR(BindInputs(request.inputs, request.output_filter, prediction));
  return Run(prediction, nullptr);
}

Status ReplayExamples(Method method, std::string_view bytes, Prediction* prediction) {
  prediction->method = method;
  ASSIGN_OR_RETURN(const ExamplesRequestView request, DecodeExamplesRequest(bytes));
  ASSIGN_OR_RETURN(Tensor examples, DecodeInput(request.input));
  RETURN_IF_ERROR(BindExamples(request.model_spec.signature_name, std::move(examples),
                               /*check_method_name=*/false, prediction));
  return Run(prediction, nullptr);
}

Status ReplayMultiInference(std::string_view bytes, Prediction* prediction) {
  ASSIGN_OR_RETURN(const MultiInferenceRequestView request, DecodeMultiInferenceRequest(bytes));
  std::string ignored;
  return RunTasks(request, /*check_method_names=*/false, nullptr, prediction, &ignored);
}

Status Replay(const Log& log, Servable* servable) {
  Prediction prediction;
  servable->Ref();
  prediction.lease = Lease(servable);
  switch (log.kind) {
    case kPredict:
      return ReplayPredict(log.request, &prediction);
    case kClassify:
      return ReplayExamples(Method::kClassify, log.request, &prediction);
    case kRegress:
      return ReplayExamples(Method::kRegress, log.request, &prediction);
    case kMultiInference:
      return ReplayMultiInference(log.request, &prediction);
    default:
      return UnimplementedError(
          StrCat("Unsupported log_type for warmup: field ", log.kind, " of PredictionLog"));
  }
}

Status ReplayRecord(std::string_view record, int32_t iterations, Servable* servable) {
  ASSIGN_OR_RETURN(const Log log, DecodeLog(record));
  for (int32_t i = 0; i < std::max<int32_t>(iterations, 1); ++i)
    RETURN_IF_ERROR(Replay(log, servable));
  return OkStatus();
}

}  // namespace

StatusOr<int64_t> ReplayWarmup(Env* env, const std::string& directory, const WarmupOptions& options,
                               Servable* servable) {
  const std::string path = JoinPath(directory, "assets.extra/tf_serving_warmup_requests");
  if (!options.replay || !env->Exists(path)) return 0;
  ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(env, path));
  int64_t records = 0;
  for (std::string_view record;; ++records) {
    const StatusOr<bool> more = reader->Next(&record);
    if (!more.ok()) {
      return Status(more.status().code(),
                    StrCat("Please verify your warmup data is in TFRecord format: ",
                           more.status().message()));
    }
    if (!*more) return records;
    if (records == kMaxRecords) {
      return InvalidArgumentError(
          StrCat("Number of warmup records exceeds the maximum (", kMaxRecords, "): ", path));
    }
    RETURN_IF_ERROR(ReplayRecord(record, options.iterations, servable)
                        .WithContext(StrCat("Warm-up record ", records, " of ", path)));
  }
}

}  // namespace slipway::serve
