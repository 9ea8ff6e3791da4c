// SPDX-License-Identifier: Apache-2.0
#include "client/predict.h"

#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "net/client.h"
#include "wire/predict.h"

namespace slipway::client {
namespace {

using Json = nlohmann::json;

template <typename T>
Json NestedArrays(const Tensor& t, int dim, size_t* next) {
  if (dim == t.rank()) return Json(t.flat<T>()[(*next)++]);
  Json list = Json::array();
  for (int64_t i = 0; i < t.dim(dim); ++i) list.push_back(NestedArrays<T>(t, dim + 1, next));
  return list;
}

StatusOr<Json> TensorToArrays(const std::string& name, const Tensor& t) {
  size_t next = 0;
  switch (t.dtype()) {
    case DType::kFloat:
      return NestedArrays<float>(t, 0, &next);
    case DType::kDouble:
      return NestedArrays<double>(t, 0, &next);
    case DType::kInt32:
      return NestedArrays<int32_t>(t, 0, &next);
    case DType::kInt64:
      return NestedArrays<int64_t>(t, 0, &next);
    case DType::kUInt8:
      return NestedArrays<uint8_t>(t, 0, &next);
    case DType::kBool:
      return NestedArrays<bool>(t, 0, &next);
    case DType::kString:
      return NestedArrays<std::string>(t, 0, &next);
    default:
      return UnimplementedError(StrCat("Input '", name, "' of type ", DTypeName(t.dtype()),
                                       " cannot be sent over REST; use gRPC"));
  }
}

StatusOr<std::string> EncodeRest(const PredictTarget& target, const NamedTensors& inputs) {
  Json body = {{"inputs", Json::object()}};
  if (!target.signature_name.empty()) body["signature_name"] = target.signature_name;
  for (const auto& [name, tensor] : inputs) {
    ASSIGN_OR_RETURN(body["inputs"][name], TensorToArrays(name, tensor));
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

StatusOr<std::string> EncodeGrpc(const PredictTarget& target, const NamedTensors& inputs) {
  ModelSpecView spec;
  spec.name = target.model_name;
  spec.version = target.version;
  spec.signature_name = target.signature_name;
  std::vector<NamedTensor> named;
  for (const auto& [name, tensor] : inputs) named.push_back({name, tensor});
  std::string body;
  RETURN_IF_ERROR(AppendPredictRequest(spec, named, {}, TensorEncoding::kContent, &body));
  return body;
}

// A value that is no number, for a message. Lists and objects by their kind only: writing one out
// recurses as deep as a hostile server nested it.
std::string Shown(const Json& value) {
  if (value.is_structured()) return StrCat("an ", value.type_name());
  return Quoted(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

// Rectangular nested lists of numbers as a float tensor.
StatusOr<Tensor> ArraysToTensor(const Json& value) {
  std::vector<int64_t> dims;
  for (const Json* level = &value; level->is_array(); level = &level->front()) {
    dims.push_back(static_cast<int64_t>(level->size()));
    if (level->empty()) break;
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims));
  std::vector<float> flat;
  std::vector<const Json*> stack = {&value};
  while (!stack.empty()) {
    const Json* top = stack.back();
    stack.pop_back();
    if (top->is_array()) {
      for (auto it = top->rbegin(); it != top->rend(); ++it) stack.push_back(&*it);
    } else if (top->is_number()) {
      flat.push_back(top->get<float>());
    } else {
      return UnimplementedError(
          StrCat("The answer holds ", Shown(*top), ", only numbers are shown here"));
    }
  }
  if (static_cast<int64_t>(flat.size()) != shape.num_elements()) {
    return InvalidArgumentError("The answer's lists have unequal lengths");
  }
  return Tensor::FromValues<float>(std::span<const float>(flat), std::move(shape));
}

StatusOr<Prediction> DecodeRest(std::string_view body) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const bool columns = json.is_object() && json.contains("outputs");
  if (!columns && !(json.is_object() && json.contains("predictions"))) {
    return InternalError(StrCat("The answer is no prediction: ", Quoted(body)));
  }
  const Json& value = json[columns ? "outputs" : "predictions"];
  Prediction prediction;
  if (!value.is_object()) {
    ASSIGN_OR_RETURN(Tensor tensor, ArraysToTensor(value));
    prediction.outputs.emplace_back("", std::move(tensor));
    return prediction;
  }
  for (const auto& [name, output] : value.items()) {
    ASSIGN_OR_RETURN(Tensor tensor, ArraysToTensor(output));
    prediction.outputs.emplace_back(name, std::move(tensor));
  }
  return prediction;
}

StatusOr<Prediction> DecodeGrpc(std::string_view body) {
  ASSIGN_OR_RETURN(const PredictResponseView view, DecodePredictResponse(body));
  Prediction prediction;
  prediction.version = view.model_spec.version;
  for (const NamedTensor& output : view.outputs) {
    prediction.outputs.emplace_back(std::string(output.name), output.tensor);
  }
  return prediction;
}

Code CodeOfHttp(int status) {
  switch (status) {
    case 400:
      return Code::kInvalidArgument;
    case 404:
      return Code::kNotFound;
    case 429:
      return Code::kResourceExhausted;
    case 501:
      return Code::kUnimplemented;
    case 503:
      return Code::kUnavailable;
    case 504:
      return Code::kDeadlineExceeded;
    default:
      return Code::kUnknown;
  }
}

}  // namespace

std::string PredictPath(const PredictTarget& target) {
  if (target.protocol == Protocol::kGrpc) return "/tensorflow.serving.PredictionService/Predict";
  std::string path = StrCat("/v1/models/", target.model_name);
  if (target.version) StrAppend(&path, "/versions/", *target.version);
  return path + ":predict";
}

StatusOr<std::string> EncodePredict(const PredictTarget& target, const NamedTensors& inputs) {
  return target.protocol == Protocol::kRest ? EncodeRest(target, inputs)
                                            : EncodeGrpc(target, inputs);
}

StatusOr<Prediction> DecodePredict(Protocol protocol, std::string_view body) {
  return protocol == Protocol::kRest ? DecodeRest(body) : DecodeGrpc(body);
}

std::optional<int64_t> AnsweringVersion(std::string_view grpc_response) {
  StatusOr<PredictResponseView> view = DecodePredictResponse(grpc_response);
  return view.ok() ? view->model_spec.version : std::nullopt;
}

StatusOr<Prediction> Predict(const PredictTarget& target, const NamedTensors& inputs) {
  ASSIGN_OR_RETURN(const std::string body, EncodePredict(target, inputs));
  if (target.protocol == Protocol::kGrpc) {
    ASSIGN_OR_RETURN(auto channel, net::GrpcChannel::Connect(target.host, target.port));
    ASSIGN_OR_RETURN(const std::string answer, channel->Call(PredictPath(target), body));
    return DecodePredict(Protocol::kGrpc, answer);
  }
  ASSIGN_OR_RETURN(auto http, net::HttpClient::Connect(target.host, target.port));
  ASSIGN_OR_RETURN(const net::ClientResponse answer,
                   http->Request("POST", PredictPath(target), body));
  if (answer.status != 200) {
    return Status(CodeOfHttp(answer.status),
                  StrCat("HTTP ", answer.status, ": ", StripWhitespace(answer.body)));
  }
  return DecodePredict(Protocol::kRest, answer.body);
}

}  // namespace slipway::client
