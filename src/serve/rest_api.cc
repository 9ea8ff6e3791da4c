// SPDX-License-Identifier: Apache-2.0
#include "serve/rest_api.h"

#include <algorithm>

#include "base/clock.h"
#include "base/strings.h"
#include "serve/examples.h"
#include "serve/gzip.h"
#include "serve/index_page.h"
#include "serve/model_messages.h"
#include "wire/json_examples.h"
#include "wire/json_tensor.h"

namespace slipway::serve {
namespace {

// Longer bodies are parsed on a worker: at some 25 ns a number this is a fraction of a millisecond.
constexpr size_t kInlineBodyBytes = 64 * 1024;
constexpr size_t kGunzipLimit = 100 << 20;  // TensorFlow Serving's

std::string NotFoundSignature(std::string_view name) {
  return StrCat("Serving signature name: \"", name, "\" not found in signature def");
}

Method MethodOf(std::string_view verb) {
  if (verb == "predict") return Method::kPredict;
  return verb == "classify" ? Method::kClassify : Method::kRegress;
}

// The body's tensors, in the order of the signature it names.
Status ParseBody(std::string_view body, Prediction* prediction, JsonPredictFormat* format) {
  // A lambda of one pointer: std::function keeps it without allocating.
  const auto inputs_of =
      [prediction](std::string_view name) -> StatusOr<std::span<const TensorSpec>> {
    if (name.empty()) name = kDefaultSignature;
    prediction->signature = prediction->lease->FindSignature(name);
    if (prediction->signature == nullptr) {
      RETURN_IF_ERROR(prediction->lease->WhyUnsupported(name));
      return InvalidArgumentError(NotFoundSignature(name));
    }
    const std::vector<TensorSpec>& specs = prediction->signature->signature().inputs();
    if (specs.empty()) {
      return InvalidArgumentError(StrCat("Failed to get input map for signature: ", name,
                                         ": it has no inputs; call it over gRPC"));
    }
    return std::span<const TensorSpec>(specs);
  };
  ASSIGN_OR_RETURN(JsonPredictRequest request, ParsePredictJson(body, inputs_of));
  *format = request.format;
  prediction->inputs.clear();
  for (auto& [name, tensor] : request.inputs) prediction->inputs.push_back(std::move(tensor));
  prediction->fetched.clear();
  return OkStatus();
}

Status ParseExamplesBody(std::string_view body, bool check_method_names, Prediction* prediction) {
  ASSIGN_OR_RETURN(JsonExamplesRequest request, ParseExamplesJson(body));
  prediction->metrics->CountExamples(request.examples.num_elements());
  return BindExamples(request.signature_name, std::move(request.examples), check_method_names,
                      prediction);
}

Status EncodeBody(JsonPredictFormat format, const Prediction& prediction, std::string* body) {
  if (prediction.method != Method::kPredict) return AppendExamplesJson(prediction, body);
  // Kept from request to request; it holds no tensor in between.
  thread_local std::vector<NamedTensor> named;
  for (size_t i = 0; i < prediction.outputs.size(); ++i)
    named.push_back({prediction.OutputName(i), prediction.outputs[i]});
  Status status = AppendPredictJson(format, named, body);
  named.clear();
  return status;
}

}  // namespace

// A prediction over REST on its way from the body to the answer.
struct RestApi::Pending {
  Prediction prediction;
  JsonPredictFormat format = JsonPredictFormat::kRow;

  // Up to where it is known what the run costs.
  Status Parse(const FrontEnd& front, std::string_view body) {
    if (prediction.method != Method::kPredict)
      return ParseExamplesBody(body, front.check_method_names, &prediction);
    return ParseBody(body, &prediction, &format);
  }
  // Runs it and makes the answer's body, or an error's.
  Status Answer(const FrontEnd& front, std::string* body) {
    RETURN_IF_ERROR(Run(&prediction, front.cancelled));
    return EncodeBody(format, prediction, body);
  }
  void Count(Code code) const {
    if (prediction.metrics == nullptr) return;
    const int64_t took = Clock::Default()->NowNanos() - prediction.start_ns;
    prediction.metrics->CountRequest(prediction.method, Entrypoint::kRest, code, took);
  }
};

void RestApi::Handle(net::HttpRequest& request, net::HttpResponder responder) const {
  const bool v1 = request.path.size() >= 3 && request.path[0] == '/' &&
                  (request.path[1] | 0x20) == 'v' && request.path[2] == '1' &&
                  (request.path.size() == 3 || request.path[3] == '/');
  for (const ContainerRoute& route : front_.routes) {
    if (request.path == route.path) return HandleRoute(route, request, std::move(responder));
  }
  if (v1) {
    HandleV1(request, std::move(responder));
  } else {
    HandlePlain(request, std::move(responder));
  }
}

void RestApi::Reply(net::HttpResponder responder, net::HttpResponse response) const {
  if (front_.cors) {
    response.headers = {{"Access-Control-Allow-Origin", "*"},
                        {"Access-Control-Allow-Methods", "POST, GET"},
                        {"Access-Control-Allow-Headers", "Content-Type"}};
  }
  responder.Send(std::move(response));
}

void RestApi::ReplyError(net::HttpResponder responder, const Status& status) const {
  net::HttpResponse response;
  response.status = net::HttpStatusFor(status.code());
  response.body = JsonErrorBody(status.message());
  Reply(std::move(responder), std::move(response));
}

void RestApi::HandlePlain(net::HttpRequest& request, net::HttpResponder responder) const {
  net::HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  if (request.path == "/metrics" ||
      (!front_.metrics_path.empty() && request.path == front_.metrics_path)) {
    response.body = front_.metrics->PrometheusText();
  } else if (request.path == "/" && request.method == "GET") {
    const std::string_view host = request.Header("Host");
    response.content_type = "text/html; charset=utf-8";
    response.body = IndexPage(*front_.manager, host.empty() ? "localhost" : host);
  } else if (request.path == "/healthz") {
    response.body = "ok\n";
  } else if (request.path == "/readyz") {
    return ReplyReady(std::move(responder));
  } else {
    ReplyError(std::move(responder),
               NotFoundError(StrCat("There is nothing at ", Quoted(request.path, 200),
                                    "; the API is below /v1/models")));
    return;
  }
  responder.Send(std::move(response));
}

void RestApi::ReplyReady(net::HttpResponder responder) const {
  const Status ready = front_.accepting->load() ? front_.manager->Ready()
                                                : UnavailableError("The server is stopping");
  net::HttpResponse response;
  response.content_type = "text/plain; charset=utf-8";
  response.status = ready.ok() ? 200 : 503;
  response.body = ready.ok() ? "ok\n" : StrCat(ready.message(), "\n");
  responder.Send(std::move(response));
}

void RestApi::HandleRoute(const ContainerRoute& route, net::HttpRequest& request,
                          net::HttpResponder responder) const {
  const bool health = route.kind == ContainerRoute::Kind::kHealth;
  if (request.method != (health ? "GET" : "POST")) {
    return ReplyError(
        std::move(responder),
        InvalidArgumentError(StrCat("Malformed request: ", request.method, " ", request.path)));
  }
  if (health) return ReplyReady(std::move(responder));
  const std::string_view named =
      ModelOfAttributes(request.Header("X-Amzn-SageMaker-Custom-Attributes"));
  RestPath path;
  path.text = "predict";
  path.model = named.empty() ? std::string_view(front_.default_model) : named;
  Predict(request, path, std::move(responder));
}

void RestApi::HandleOptions(net::HttpRequest& request, net::HttpResponder responder) const {
  const std::string_view origin = request.Header("Origin");
  const bool known =
      origin.find("http://") != origin.npos || origin.find("https://") != origin.npos;
  net::HttpResponse response;
  response.status = known ? 200 : 400;
  Reply(std::move(responder), std::move(response));
}

void RestApi::HandleV1(net::HttpRequest& request, net::HttpResponder responder) const {
  if (request.method == "OPTIONS") return HandleOptions(request, std::move(responder));
  RestPath path;
  ParseRestPath(request.path, &path);
  const bool is_verb = path.kind == RestPath::Kind::kVerb;
  const bool method_fits = path.kind == RestPath::Kind::kBadVersion
                               ? request.method == "GET" || request.method == "POST"
                               : request.method == (is_verb ? "POST" : "GET");
  if (path.kind == RestPath::Kind::kMalformed || !method_fits) {
    return ReplyError(
        std::move(responder),
        InvalidArgumentError(StrCat("Malformed request: ", request.method, " ", request.path)));
  }
  if (is_verb) return Predict(request, path, std::move(responder));
  auto body = Describe(path);
  if (!body.ok()) return ReplyError(std::move(responder), body.status());
  net::HttpResponse response;
  response.body = *std::move(body);
  Reply(std::move(responder), std::move(response));
}

StatusOr<std::string> RestApi::Describe(const RestPath& path) const {
  switch (path.kind) {
    case RestPath::Kind::kBadVersion:
      return InvalidArgumentError(StrCat("Failed to convert version: ", path.text, " to numeric."));
    case RestPath::Kind::kModelList:
      return ModelListJson(front_.manager->ModelNames());
    case RestPath::Kind::kMetadata: {
      ASSIGN_OR_RETURN(const Lease lease,
                       FindServable(front_.manager->registry(),
                                    {path.model, path.version, path.label}, nullptr));
      return MetadataJson(path.model, *lease);
    }
    case RestPath::Kind::kStatus: {
      ASSIGN_OR_RETURN(const auto rows,
                       front_.manager->Statuses(path.model, path.version, path.label));
      return StatusJson(rows);
    }
    case RestPath::Kind::kMalformed:
    case RestPath::Kind::kVerb:
      break;
  }
  return InternalError("This path has no description");
}

void RestApi::Predict(net::HttpRequest& request, const RestPath& path,
                      net::HttpResponder responder) const {
  // Its vectors keep their memory from request to request of this loop.
  thread_local Pending pending;
  Prediction& prediction = pending.prediction;
  prediction.method = MethodOf(path.text);
  prediction.start_ns = Clock::Default()->NowNanos();
  prediction.deadline_ns =
      front_.rest_timeout_ns > 0 ? prediction.start_ns + front_.rest_timeout_ns : 0;
  auto lease = FindServable(front_.manager->registry(), {path.model, path.version, path.label},
                            &prediction.metrics);
  if (!lease.ok()) {
    pending.Count(lease.status().code());
    return ReplyError(std::move(responder), lease.status());
  }
  prediction.lease = *std::move(lease);
  const bool gzip =
      AsciiLower(request.Header("Content-Encoding")).find("gzip") != std::string::npos;
  if (gzip || request.body.size() > kInlineBodyBytes) {
    return PredictOnWorker(request.TakeBody(), gzip, std::exchange(pending, Pending()),
                           std::move(responder));
  }
  net::HttpResponse response;
  Status status = pending.Parse(front_, request.body);
  if (status.ok()) {
    if (prediction.signature->EstimateNanos(prediction.Rows()) > front_.inline_limit_ns) {
      return RunOnWorker(std::exchange(pending, Pending()), std::move(responder));
    }
    status = pending.Answer(front_, &response.body);
  }
  pending.Count(status.code());
  prediction.Recycle();
  if (!status.ok()) return ReplyError(std::move(responder), status);
  Reply(std::move(responder), std::move(response));
}

void RestApi::Finish(Pending* pending, const Status& status, std::string body,
                     net::HttpResponder responder) const {
  pending->Count(status.code());
  pending->prediction.Recycle();
  if (!status.ok()) return ReplyError(std::move(responder), status);
  net::HttpResponse response;
  response.body = std::move(body);
  Reply(std::move(responder), std::move(response));
}

void RestApi::RunOnWorker(Pending pending, net::HttpResponder responder) const {
  auto job = std::make_shared<std::pair<Pending, net::HttpResponder>>(std::move(pending),
                                                                      std::move(responder));
  const bool taken = front_.workers->Submit([this, job] {
    std::string body;
    const Status status = job->first.Answer(front_, &body);
    Finish(&job->first, status, std::move(body), std::move(job->second));
  });
  if (!taken) Finish(&job->first, front_.workers->Overloaded(), {}, std::move(job->second));
}

void RestApi::PredictOnWorker(net::Bytes body, bool gzip, Pending pending,
                              net::HttpResponder responder) const {
  struct Job {
    net::Bytes body;
    Pending pending;
    net::HttpResponder responder;
  };
  auto job = std::make_shared<Job>(Job{std::move(body), std::move(pending), std::move(responder)});
  const bool taken = front_.workers->Submit([this, job, gzip] {
    std::string answer;
    const Status status = [&]() -> Status {
      std::string inflated;
      std::string_view text = job->body.view();
      if (gzip) {
        ASSIGN_OR_RETURN(inflated, Gunzip(text, kGunzipLimit));
        text = inflated;
      }
      RETURN_IF_ERROR(job->pending.Parse(front_, text));
      return job->pending.Answer(front_, &answer);
    }();
    Finish(&job->pending, status, std::move(answer), std::move(job->responder));
  });
  if (!taken) Finish(&job->pending, front_.workers->Overloaded(), {}, std::move(job->responder));
}

}  // namespace slipway::serve
