// SPDX-License-Identifier: Apache-2.0
#include "serve/grpc_api.h"

#include "base/clock.h"
#include "base/strings.h"
#include "serve/examples.h"
#include "serve/model_messages.h"
#include "serve/multi_inference.h"
#include "wire/coding.h"
#include "wire/inference.h"
#include "wire/json_tensor.h"
#include "wire/predict.h"

namespace slipway::serve {
namespace {

// Longer messages are decoded on a worker.
constexpr size_t kInlineMessageBytes = 256 * 1024;
// A tensor may be declared with a few bytes, one value for all elements: so much of that is filled
// on an event loop, and so much at all.
constexpr uint64_t kInlineSplatBytes = 1 << 20;
constexpr uint64_t kMaxSplatBytes = 64 << 20;

void CountCall(const Prediction& prediction, Code code) {
  if (prediction.metrics == nullptr) return;
  const int64_t took = Clock::Default()->NowNanos() - prediction.start_ns;
  prediction.metrics->CountRequest(prediction.method, Entrypoint::kGrpc, code, took);
}

void Answer(net::GrpcCall call, StatusOr<std::string> response) {
  if (!response.ok()) return call.Finish(response.status());
  call.Finish(OkStatus(), *std::move(response));
}

}  // namespace

// Views of `request` point into the call's bytes. Of Classify and Regress only its spec is used.
struct GrpcApi::Job {
  PredictRequestView request;
  Prediction prediction;

  void Begin(Method method) {
    prediction.method = method;
    prediction.start_ns = Clock::Default()->NowNanos();
    prediction.deadline_ns = 0;
  }
  void Recycle() {
    prediction.Recycle();
    request = PredictRequestView();
  }
};

net::GrpcMethods GrpcApi::Methods(bool with_health) const {
  net::GrpcMethods methods;
  for (const auto& [name, method] :
       {std::pair{"Predict", Method::kPredict}, std::pair{"Classify", Method::kClassify},
        std::pair{"Regress", Method::kRegress}}) {
    methods[StrCat("/tensorflow.serving.PredictionService/", name)] =
        [this, method = method](net::GrpcCall call) { Predict(method, std::move(call)); };
  }
  methods["/tensorflow.serving.PredictionService/MultiInference"] = [this](net::GrpcCall call) {
    MultiInference(std::move(call));
  };
  methods["/tensorflow.serving.PredictionService/GetModelMetadata"] = [this](net::GrpcCall call) {
    auto response = Metadata(call.request());
    serve::Answer(std::move(call), std::move(response));
  };
  methods["/tensorflow.serving.ModelService/GetModelStatus"] = [this](net::GrpcCall call) {
    auto response = ModelStatus(call.request());
    serve::Answer(std::move(call), std::move(response));
  };
  methods["/tensorflow.serving.ModelService/HandleReloadConfigRequest"] =
      [this](net::GrpcCall call) { Reload(std::move(call)); };
  if (with_health) {
    methods["/grpc.health.v1.Health/Check"] = [this](net::GrpcCall call) {
      auto response = Health(call.request());
      serve::Answer(std::move(call), std::move(response));
    };
  }
  return methods;
}

Status GrpcApi::Prepare(std::string_view request, uint64_t max_splat_bytes, Job* job) const {
  std::string_view input;
  if (job->prediction.method == Method::kPredict) {
    TensorDecodeOptions options;
    options.max_splat_bytes = max_splat_bytes;
    ASSIGN_OR_RETURN(job->request, DecodePredictRequest(request, options));
  } else {
    ASSIGN_OR_RETURN(const ExamplesRequestView view, DecodeExamplesRequest(request));
    job->request.has_model_spec = view.has_model_spec;
    job->request.model_spec = view.model_spec;
    input = view.input;
  }
  if (!job->request.has_model_spec) return InvalidArgumentError("Missing ModelSpec");
  const ModelSpecView& spec = job->request.model_spec;
  Prediction& prediction = job->prediction;
  ASSIGN_OR_RETURN(prediction.lease, FindServable(front_.manager->registry(),
                                                  {spec.name, spec.version, spec.version_label},
                                                  &prediction.metrics));
  if (prediction.method != Method::kPredict) {
    ASSIGN_OR_RETURN(Tensor examples, DecodeInput(input));
    prediction.metrics->CountExamples(examples.num_elements());
    return BindExamples(spec.signature_name, std::move(examples), front_.check_method_names,
                        &prediction);
  }
  RETURN_IF_ERROR(FindPredictSignature(spec.signature_name, &prediction));
  return BindInputs(job->request.inputs, job->request.output_filter, &prediction);
}

Status GrpcApi::Answer(Job* job, std::string* response) const {
  Prediction& prediction = job->prediction;
  RETURN_IF_ERROR(Run(&prediction, front_.cancelled));
  ModelSpecView spec;
  spec.name = job->request.model_spec.name;
  spec.version = prediction.lease->version();
  spec.signature_name = prediction.signature->signature().name();
  if (prediction.method != Method::kPredict) {
    RETURN_IF_ERROR(AppendExamplesResult(prediction, 1, response));
    ProtoWriter(response).Bytes(2, EncodeModelSpec(spec));
    return OkStatus();
  }
  // Kept from call to call; it holds no tensor in between.
  thread_local std::vector<NamedTensor> named;
  for (size_t i = 0; i < prediction.outputs.size(); ++i)
    named.push_back({prediction.OutputName(i), prediction.outputs[i]});
  Status status = AppendPredictResponse(
      spec, named, front_.content_encoding ? TensorEncoding::kContent : TensorEncoding::kTyped,
      response);
  named.clear();
  return status;
}

void GrpcApi::Predict(Method method, net::GrpcCall call) const {
  if (call.request().size() > kInlineMessageBytes) return PredictOnWorker(method, std::move(call));
  // Its vectors keep their memory from call to call of this loop.
  thread_local Job job;
  job.Begin(method);
  job.prediction.deadline_ns = call.deadline_ns().value_or(0);
  Status status = Prepare(call.request(), kInlineSplatBytes, &job);
  if (status.code() == Code::kResourceExhausted) {
    job.Recycle();
    return PredictOnWorker(method, std::move(call));
  }
  if (status.ok() &&
      job.prediction.signature->EstimateNanos(job.prediction.Rows()) > front_.inline_limit_ns) {
    // The decoded tensors go along; moving the call leaves its bytes where they are.
    struct Hop {
      net::GrpcCall call;
      Job job;
    };
    auto hop = std::make_shared<Hop>(Hop{std::move(call), std::exchange(job, Job())});
    const auto finish = [hop](Status result, std::string response) {
      CountCall(hop->job.prediction, result.code());
      hop->job.Recycle();
      hop->call.Finish(std::move(result), std::move(response));
    };
    const bool taken = front_.workers->Submit([this, hop, finish] {
      std::string response;
      Status result = Answer(&hop->job, &response);
      finish(std::move(result), std::move(response));
    });
    if (!taken) finish(front_.workers->Overloaded(), {});
    return;
  }
  std::string response;
  if (status.ok()) status = Answer(&job, &response);
  CountCall(job.prediction, status.code());
  job.Recycle();
  call.Finish(std::move(status), std::move(response));
}

void GrpcApi::PredictOnWorker(Method method, net::GrpcCall call) const {
  auto shared = std::make_shared<net::GrpcCall>(std::move(call));
  const bool taken = front_.workers->Submit([this, shared, method] {
    Job job;
    job.Begin(method);
    job.prediction.deadline_ns = shared->deadline_ns().value_or(0);
    std::string response;
    Status status = Prepare(shared->request(), kMaxSplatBytes, &job);
    if (status.ok()) status = Answer(&job, &response);
    CountCall(job.prediction, status.code());
    job.Recycle();
    shared->Finish(std::move(status), std::move(response));
  });
  if (!taken) shared->Finish(front_.workers->Overloaded());
}

// Several runs: always on a worker.
void GrpcApi::MultiInference(net::GrpcCall call) const {
  auto shared = std::make_shared<net::GrpcCall>(std::move(call));
  const bool taken = front_.workers->Submit([this, shared] {
    serve::Answer(std::move(*shared), serve::MultiInference(front_, shared->request(),
                                                            shared->deadline_ns().value_or(0)));
  });
  if (!taken) shared->Finish(front_.workers->Overloaded());
}

StatusOr<std::string> GrpcApi::Metadata(std::string_view request) const {
  ASSIGN_OR_RETURN(const ModelQuery query, ParseMetadataRequest(request));
  if (!query.has_model_spec) return InvalidArgumentError("Missing ModelSpec");
  if (query.metadata_fields.empty()) {
    return InvalidArgumentError("GetModelMetadataRequest must specify at least one metadata_field");
  }
  for (const std::string& field : query.metadata_fields) {
    if (field != "signature_def")
      return InvalidArgumentError(StrCat("Metadata field ", field, " is not supported"));
  }
  ASSIGN_OR_RETURN(
      const Lease lease,
      FindServable(front_.manager->registry(), {query.name, query.version, query.label}, nullptr));
  return MetadataMessage(query.name, *lease);
}

StatusOr<std::string> GrpcApi::ModelStatus(std::string_view request) const {
  ASSIGN_OR_RETURN(const ModelQuery query, ParseStatusRequest(request));
  if (!query.has_model_spec) return InvalidArgumentError("Missing ModelSpec");
  ASSIGN_OR_RETURN(const auto rows,
                   front_.manager->Statuses(query.name, query.version, query.label));
  return StatusMessage(rows);
}

void GrpcApi::Reload(net::GrpcCall call) const {
  auto models = ParseReloadRequest(call.request());
  if (!models.ok()) return call.Finish(models.status());
  auto shared = std::make_shared<net::GrpcCall>(std::move(call));
  front_.reload->Submit(*std::move(models), [shared](Status status) {
    if (!status.ok()) return shared->Finish(std::move(status));
    shared->Finish(OkStatus(), ReloadMessage());
  });
}

StatusOr<std::string> GrpcApi::Health(std::string_view request) const {
  ProtoReader reader(request);
  std::string_view service;
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) service = reader.bytes();
  }
  RETURN_IF_ERROR(reader.status("HealthCheckRequest"));
  constexpr std::string_view kPackage = "tensorflow.serving.";
  std::string_view name = service;
  if (name.starts_with(kPackage)) name.remove_prefix(kPackage.size());
  if (!service.empty() && name != "PredictionService" && name != "ModelService")
    return NotFoundError(StrCat("There is no service ", Quoted(service), " here"));
  const bool serving = front_.accepting->load() && front_.manager->Ready().ok();
  std::string response;
  ProtoWriter(&response).Varint(1, serving ? 1 : 2);
  return response;
}

}  // namespace slipway::serve
