// SPDX-License-Identifier: Apache-2.0
#include "wire/predict.h"

#include <unordered_map>

#include "base/strings.h"
#include "wire/coding.h"

namespace slipway {
namespace {

struct Entry {
  std::string_view name;
  std::string_view value;
};

StatusOr<Entry> DecodeEntry(std::string_view bytes) {
  Entry entry;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) entry.name = reader.bytes();
    if (reader.tag() == BytesField(2)) entry.value = reader.bytes();
  }
  RETURN_IF_ERROR(reader.status("map of tensors"));
  RETURN_IF_ERROR(CheckUtf8Name("tensor name", entry.name));
  return entry;
}

// Of equal names the last value stays, in the place of the first.
void Deduplicate(std::vector<Entry>* entries) {
  if (entries->size() < 2) return;
  std::unordered_map<std::string_view, size_t> places;
  size_t kept = 0;
  for (const Entry& entry : *entries) {
    const auto [it, added] = places.try_emplace(entry.name, kept);
    (*entries)[it->second] = entry;
    kept += added;
  }
  entries->resize(kept);
}

StatusOr<std::vector<NamedTensor>> DecodeTensors(std::vector<Entry> entries, const char* what,
                                                 TensorDecodeOptions options) {
  Deduplicate(&entries);
  std::vector<NamedTensor> tensors;
  tensors.reserve(entries.size());
  for (const Entry& entry : entries) {
    StatusOr<Tensor> tensor = DecodeTensorProto(entry.value, options);
    if (!tensor.ok()) return tensor.status().WithContext(StrCat(what, " ", Quoted(entry.name)));
    options.max_bytes -= tensor->byte_size();
    options.max_splat_bytes -= TensorSplatBytes(tensor->byte_size(), entry.value.size());
    tensors.push_back({entry.name, *std::move(tensor)});
  }
  return tensors;
}

size_t FieldSize(uint32_t field, size_t size) {
  return static_cast<size_t>(VarintSize(BytesField(field)) + VarintSize(size)) + size;
}

Status CheckEncodable(std::span<const NamedTensor> tensors) {
  for (const NamedTensor& t : tensors) {
    const DType dtype = t.tensor.dtype();
    if (!t.tensor.valid() || dtype == DType::kResource || dtype == DType::kVariant) {
      return UnimplementedError(StrCat("Tensor ", Quoted(t.name), " is of type ",
                                       DTypeEnumName(dtype),
                                       "; only numbers and strings can be sent"));
    }
  }
  return OkStatus();
}

// The map `field` with its sizes computed first, so that nothing is moved.
Status AppendTensors(uint32_t field, std::span<const NamedTensor> tensors, TensorEncoding encoding,
                     size_t more, std::string* out) {
  std::vector<size_t> sizes;
  sizes.reserve(tensors.size());
  size_t total = more;
  for (const NamedTensor& t : tensors) {
    sizes.push_back(TensorProtoSize(t.tensor, encoding));
    total += FieldSize(field, FieldSize(1, t.name.size()) + FieldSize(2, sizes.back()));
  }
  out->reserve(out->size() + total);
  ProtoWriter writer(out);
  for (size_t i = 0; i < tensors.size(); ++i) {
    writer.BytesHeader(field, FieldSize(1, tensors[i].name.size()) + FieldSize(2, sizes[i]));
    writer.Bytes(1, tensors[i].name);
    writer.BytesHeader(2, sizes[i]);
    RETURN_IF_ERROR(AppendTensorProto(tensors[i].tensor, encoding, out));
  }
  return OkStatus();
}

}  // namespace

StatusOr<PredictRequestView> DecodePredictRequest(std::string_view bytes,
                                                  const TensorDecodeOptions& options) {
  PredictRequestView request;
  std::vector<Entry> inputs;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    switch (reader.tag()) {
      case BytesField(1):
        request.has_model_spec = true;
        RETURN_IF_ERROR(DecodeModelSpec(reader.bytes(), &request.model_spec));
        break;
      case BytesField(2): {
        ASSIGN_OR_RETURN(const Entry entry, DecodeEntry(reader.bytes()));
        inputs.push_back(entry);
        break;
      }
      case BytesField(3):
        RETURN_IF_ERROR(CheckUtf8Name("output name", reader.bytes()));
        request.output_filter.push_back(reader.bytes());
        break;
      default:
        break;
    }
  }
  RETURN_IF_ERROR(reader.status("PredictRequest"));
  ASSIGN_OR_RETURN(request.inputs, DecodeTensors(std::move(inputs), "Input", options));
  return request;
}

StatusOr<PredictResponseView> DecodePredictResponse(std::string_view bytes,
                                                    const TensorDecodeOptions& options) {
  PredictResponseView response;
  std::vector<Entry> outputs;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) {
      ASSIGN_OR_RETURN(const Entry entry, DecodeEntry(reader.bytes()));
      outputs.push_back(entry);
    } else if (reader.tag() == BytesField(2)) {
      RETURN_IF_ERROR(DecodeModelSpec(reader.bytes(), &response.model_spec));
    }
  }
  RETURN_IF_ERROR(reader.status("PredictResponse"));
  ASSIGN_OR_RETURN(response.outputs, DecodeTensors(std::move(outputs), "Output", options));
  return response;
}

Status AppendPredictRequest(const ModelSpecView& model_spec, std::span<const NamedTensor> inputs,
                            std::span<const std::string_view> output_filter,
                            TensorEncoding encoding, std::string* out) {
  RETURN_IF_ERROR(CheckEncodable(inputs));
  const std::string spec = EncodeModelSpec(model_spec);
  size_t more = FieldSize(1, spec.size());
  for (std::string_view name : output_filter) more += FieldSize(3, name.size());
  RETURN_IF_ERROR(AppendTensors(2, inputs, encoding, more, out));
  ProtoWriter writer(out);
  writer.Bytes(1, spec);
  for (std::string_view name : output_filter) writer.Bytes(3, name);
  return OkStatus();
}

Status AppendPredictResponse(const ModelSpecView& model_spec, std::span<const NamedTensor> outputs,
                             TensorEncoding encoding, std::string* out) {
  RETURN_IF_ERROR(CheckEncodable(outputs));
  const std::string spec = EncodeModelSpec(model_spec);
  RETURN_IF_ERROR(AppendTensors(1, outputs, encoding, FieldSize(2, spec.size()), out));
  ProtoWriter(out).Bytes(2, spec);
  return OkStatus();
}

}  // namespace slipway
