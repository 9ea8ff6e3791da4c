// SPDX-License-Identifier: Apache-2.0
#include "wire/inference.h"

#include <algorithm>

#include "base/strings.h"
#include "wire/coding.h"

namespace slipway {
namespace {

StatusOr<InferenceTaskView> DecodeTask(std::string_view bytes) {
  InferenceTaskView task;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) {
      task.has_model_spec = true;
      RETURN_IF_ERROR(DecodeModelSpec(reader.bytes(), &task.model_spec));
    } else if (reader.tag() == BytesField(2)) {
      task.method_name = reader.bytes();
    }
  }
  RETURN_IF_ERROR(reader.status("InferenceTask"));
  return task;
}

// ExampleList, or ExampleListWithContext: the context has field 2.
Status AppendExamples(std::string_view list, bool with_context, std::vector<std::string>* out) {
  std::string_view context;
  std::vector<std::string_view> examples;
  ProtoReader reader(list);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) examples.push_back(reader.bytes());
    if (reader.tag() == BytesField(2) && with_context) context = reader.bytes();
  }
  RETURN_IF_ERROR(reader.status("ExampleList"));
  // Messages one behind the other are one message with the fields of both.
  for (const std::string_view example : examples) out->push_back(StrCat(context, example));
  return OkStatus();
}

}  // namespace

StatusOr<ExamplesRequestView> DecodeExamplesRequest(std::string_view bytes) {
  ExamplesRequestView request;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) {
      request.has_model_spec = true;
      RETURN_IF_ERROR(DecodeModelSpec(reader.bytes(), &request.model_spec));
    } else if (reader.tag() == BytesField(2)) {
      request.input = reader.bytes();
    }
  }
  RETURN_IF_ERROR(reader.status("request"));
  return request;
}

StatusOr<MultiInferenceRequestView> DecodeMultiInferenceRequest(std::string_view bytes) {
  MultiInferenceRequestView request;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) {
      ASSIGN_OR_RETURN(InferenceTaskView task, DecodeTask(reader.bytes()));
      request.tasks.push_back(task);
    } else if (reader.tag() == BytesField(2)) {
      request.input = reader.bytes();
    }
  }
  RETURN_IF_ERROR(reader.status("MultiInferenceRequest"));
  return request;
}

StatusOr<Tensor> DecodeInput(std::string_view input) {
  std::vector<std::string> examples;
  ProtoReader reader(input);
  while (reader.Next()) {
    const bool with_context = reader.tag() == BytesField(2);
    if (!with_context && reader.tag() != BytesField(1)) continue;
    examples.clear();  // the two are one choice; the last one counts
    RETURN_IF_ERROR(AppendExamples(reader.bytes(), with_context, &examples));
  }
  RETURN_IF_ERROR(reader.status("Input"));
  if (examples.empty()) return InvalidArgumentError("Input is empty.");
  return StringVector(std::move(examples));
}

StatusOr<Tensor> StringVector(std::vector<std::string> values) {
  const Shape shape({static_cast<int64_t>(values.size())});
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DType::kString, shape));
  std::ranges::move(values, tensor.flat<std::string>().begin());
  return tensor;
}

}  // namespace slipway
