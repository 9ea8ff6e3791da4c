// SPDX-License-Identifier: Apache-2.0
#include "serve/model_messages.h"

#include <google/protobuf/util/json_util.h>

#include "base/strings.h"
#include "proto/model_server_config.pb.h"
#include "proto/serving.pb.h"
#include "serve/model_config_file.h"
#include "wire/json_tensor.h"
#include "wire/tensor_proto.h"

namespace slipway::serve {
namespace {

namespace pb = tensorflow::serving;

std::string Json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  return status.ok() ? text : "{}";
}

pb::GetModelStatusResponse StatusProto(std::span<const VersionStatus> rows) {
  pb::GetModelStatusResponse response;
  for (const VersionStatus& row : rows) {
    auto* out = response.add_model_version_status();
    out->set_version(row.version);
    out->set_state(static_cast<pb::ModelVersionStatus::State>(row.state));
    auto* status = out->mutable_status();
    status->set_error_code(static_cast<tensorflow::error::Code>(row.status.code()));
    status->set_error_message(row.status.ok() ? row.notice : std::string(row.status.message()));
  }
  return response;
}

using TensorInfoMap = google::protobuf::Map<std::string, tensorflow::TensorInfo>;

void FillTensors(const std::vector<formats::SignatureTensor>& tensors, TensorInfoMap* out) {
  for (const formats::SignatureTensor& tensor : tensors) {
    tensorflow::TensorInfo& info = (*out)[tensor.name];
    if (!tensor.tensor_name.empty()) info.set_name(tensor.tensor_name);
    info.set_dtype(static_cast<tensorflow::DataType>(tensor.dtype));
    auto* shape = info.mutable_tensor_shape();
    shape->set_unknown_rank(!tensor.shape.has_rank());
    for (int i = 0; i < tensor.shape.rank(); ++i) shape->add_dim()->set_size(tensor.shape.dim(i));
  }
}

pb::SignatureDefMap SignatureDefs(const Servable& servable) {
  pb::SignatureDefMap map;
  for (const auto& [name, def] : servable.saved_model()->meta_graph().signatures) {
    tensorflow::SignatureDef& out = (*map.mutable_signature_def())[name];
    out.set_method_name(def.method_name);
    FillTensors(def.inputs, out.mutable_inputs());
    FillTensors(def.outputs, out.mutable_outputs());
    for (const auto& [input, value] : def.defaults) {
      std::string bytes;
      AppendTensorProto(value, TensorEncoding::kTyped, &bytes).IgnoreError();  // shown empty then
      (*out.mutable_defaults())[input].ParseFromString(bytes);
    }
  }
  return map;
}

void FillSpec(std::string_view model, const Servable& servable, pb::ModelSpec* spec) {
  spec->set_name(std::string(model));
  spec->mutable_version()->set_value(servable.version());
}

void ReadSpec(const pb::ModelSpec& spec, ModelQuery* query) {
  query->has_model_spec = true;
  query->name = spec.name();
  if (spec.has_version()) query->version = spec.version().value();
  query->label = spec.version_label();
}

}  // namespace

std::string StatusJson(std::span<const VersionStatus> rows) { return Json(StatusProto(rows)); }

std::string StatusMessage(std::span<const VersionStatus> rows) {
  return StatusProto(rows).SerializeAsString();
}

std::string MetadataJson(std::string_view model, const Servable& servable) {
  pb::ModelSpec spec;
  FillSpec(model, servable, &spec);
  return StrCat("{\n\"model_spec\":", Json(spec),
                ",\n\"metadata\": {\"signature_def\": ", Json(SignatureDefs(servable)), "}\n}\n");
}

std::string MetadataMessage(std::string_view model, const Servable& servable) {
  pb::GetModelMetadataResponse response;
  FillSpec(model, servable, response.mutable_model_spec());
  (*response.mutable_metadata())["signature_def"].PackFrom(SignatureDefs(servable));
  return response.SerializeAsString();
}

std::string ModelListJson(std::span<const std::string> names) {
  std::string text = "{\"models\": [";
  for (size_t i = 0; i < names.size(); ++i) {
    StrAppend(&text, i == 0 ? "" : ", ", "{\"name\": ");
    AppendJsonString(names[i], &text);
    text.push_back('}');
  }
  return text + "]}\n";
}

StatusOr<ModelQuery> ParseMetadataRequest(std::string_view bytes) {
  pb::GetModelMetadataRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return InvalidArgumentError("The bytes are not a GetModelMetadataRequest");
  ModelQuery query;
  if (request.has_model_spec()) ReadSpec(request.model_spec(), &query);
  query.metadata_fields.assign(request.metadata_field().begin(), request.metadata_field().end());
  return query;
}

StatusOr<ModelQuery> ParseStatusRequest(std::string_view bytes) {
  pb::GetModelStatusRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return InvalidArgumentError("The bytes are not a GetModelStatusRequest");
  ModelQuery query;
  if (request.has_model_spec()) ReadSpec(request.model_spec(), &query);
  return query;
}

StatusOr<std::vector<ModelConfig>> ParseReloadRequest(std::string_view bytes) {
  pb::ReloadConfigRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return InvalidArgumentError("The bytes are not a ReloadConfigRequest");
  ASSIGN_OR_RETURN(ModelList models, ModelsFrom(request.config()));
  if (!models) {
    return InvalidArgumentError(
        "ReloadConfigRequest must contain a ModelConfigList; an empty one unloads everything");
  }
  return *std::move(models);
}

std::string ReloadMessage() {
  pb::ReloadConfigResponse response;
  response.mutable_status();
  return response.SerializeAsString();
}

}  // namespace slipway::serve
