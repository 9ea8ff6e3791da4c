// SPDX-License-Identifier: Apache-2.0
#include "serve/examples.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/json_number.h"
#include "wire/json_tensor.h"

namespace slipway::serve {
namespace {

// What differs between the two methods before the run.
struct Kind {
  std::string_view word;  // "classification"
  std::string_view method_name;
};

const Kind& KindOf(Method method) {
  static constexpr Kind kClassify{"classification", "tensorflow/serving/classify"};
  static constexpr Kind kRegress{"regression", "tensorflow/serving/regress"};
  return method == Method::kClassify ? kClassify : kRegress;
}

// Classes of every example: labels, scores or both.
struct Classes {
  const std::string* labels = nullptr;
  const float* scores = nullptr;
  int64_t rows = 0;
  int64_t width = 0;

  std::string_view Label(int64_t i) const { return labels ? labels[i] : std::string_view(); }
  float Score(int64_t i) const { return scores ? scores[i] : 0.0f; }
};

Status BindOutputs(Prediction* prediction) {
  const model::Signature& signature = prediction->signature->signature();
  std::vector<int>& fetched = prediction->fetched;
  fetched.clear();
  if (prediction->method == Method::kRegress) {
    const int outputs = signature.FindOutput("outputs");
    if (outputs < 0) {
      return InvalidArgumentError(StrCat("No regression outputs found in SignatureDef: signature ",
                                         signature.name(), " has no output \"outputs\""));
    }
    fetched.push_back(outputs);
  } else {
    for (const char* name : {"classes", "scores"}) {
      const int index = signature.FindOutput(name);
      if (index >= 0) fetched.push_back(index);
    }
    if (fetched.empty()) {
      return InvalidArgumentError(
          StrCat("Expected classification signature outputs to contain at least one of \"classes\" "
                 "or \"scores\"; signature ",
                 signature.name(), " has neither"));
    }
  }
  std::ranges::sort(fetched);
  // All of them are the executable that is compiled already.
  if (fetched.size() == signature.outputs().size()) fetched.clear();
  return OkStatus();
}

Status CheckClasses(std::string_view name, const Tensor& tensor, DType dtype, int64_t rows) {
  if (tensor.dtype() != dtype) {
    return InvalidArgumentError(StrCat("Expected ", name, " Tensor of ", DTypeEnumName(dtype),
                                       ". Got: ", DTypeEnumName(tensor.dtype())));
  }
  if (tensor.rank() != 2) {
    return InvalidArgumentError(StrCat("Expected Tensor shape: [batch_size num_classes] but got ",
                                       tensor.shape().ToString(), " for ", name));
  }
  if (tensor.dim(0) != rows) {
    return InvalidArgumentError(
        StrCat("Expected ", name, " output batch size of ", rows, ". Got: ", tensor.dim(0)));
  }
  return OkStatus();
}

StatusOr<Classes> ClassesOf(const Prediction& prediction) {
  Classes classes;
  classes.rows = prediction.Rows();
  const Tensor* labels = nullptr;
  const Tensor* scores = nullptr;
  for (size_t i = 0; i < prediction.outputs.size(); ++i) {
    if (prediction.OutputName(i) == "classes") labels = &prediction.outputs[i];
    if (prediction.OutputName(i) == "scores") scores = &prediction.outputs[i];
  }
  if (labels != nullptr) {
    RETURN_IF_ERROR(CheckClasses("classes", *labels, DType::kString, classes.rows));
    classes.labels = labels->flat<std::string>().data();
    classes.width = labels->dim(1);
  }
  if (scores != nullptr) {
    RETURN_IF_ERROR(CheckClasses("scores", *scores, DType::kFloat, classes.rows));
    classes.scores = scores->flat<float>().data();
    classes.width = scores->dim(1);
  }
  if (labels != nullptr && scores != nullptr && labels->dim(1) != scores->dim(1)) {
    return InvalidArgumentError(StrCat("Tensors class and score should match in dim_size(1). Got ",
                                       labels->dim(1), " vs. ", scores->dim(1)));
  }
  return classes;
}

StatusOr<std::span<const float>> ValuesOf(const Prediction& prediction) {
  const int64_t rows = prediction.Rows();
  const Tensor& values = prediction.outputs[0];
  if (values.dtype() != DType::kFloat) {
    return InvalidArgumentError(
        StrCat("Expected output Tensor of DT_FLOAT.  Got: ", DTypeEnumName(values.dtype())));
  }
  const bool fits = values.rank() == 1 || (values.rank() == 2 && values.dim(1) == 1);
  if (!fits) {
    return InvalidArgumentError(
        StrCat("Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got ",
               values.shape().ToString()));
  }
  if (values.dim(0) != rows) {
    return InvalidArgumentError(
        StrCat("Input batch size did not match output batch size: ", rows, " vs. ", values.dim(0)));
  }
  return std::span<const float>(values.flat<float>().data(), static_cast<size_t>(rows));
}

// Fields of proto3: those with their default value are left out.
void AppendClass(std::string_view label, float score, ProtoWriter* writer) {
  const size_t one = writer->BeginMessage(1);
  if (!label.empty()) writer->Bytes(1, label);
  if (score != 0 || std::signbit(score)) writer->Float(2, score);
  writer->EndMessage(one);
}

void AppendNumber(float value, std::string* out) {
  char text[kMaxJsonNumberBytes];
  out->append(text, WriteJsonFloat(value, text));
}

void AppendClassesJson(const Classes& classes, std::string* out) {
  for (int64_t row = 0; row < classes.rows; ++row) {
    out->append(row == 0 ? "[" : ", [");
    for (int64_t i = row * classes.width; i < (row + 1) * classes.width; ++i) {
      out->append(i == row * classes.width ? "[" : ", [");
      AppendJsonString(classes.Label(i), out);
      out->append(", ");
      AppendNumber(classes.Score(i), out);
      out->push_back(']');
    }
    out->push_back(']');
  }
}

}  // namespace

Status BindExamples(std::string_view name, Tensor examples, bool check_method_name,
                    Prediction* prediction) {
  const Kind& kind = KindOf(prediction->method);
  if (name.empty()) name = kDefaultSignature;
  prediction->signature = prediction->lease->FindSignature(name);
  if (prediction->signature == nullptr) {
    RETURN_IF_ERROR(prediction->lease->WhyUnsupported(name));
    return InvalidArgumentError(StrCat("No signature was found with the name: ", name));
  }
  const model::Signature& signature = prediction->signature->signature();
  if (check_method_name && signature.method_name() != kind.method_name) {
    return InvalidArgumentError(StrCat("Expected ", kind.word, " signature method_name to be ",
                                       kind.method_name, ". Was: ", signature.method_name()));
  }
  if (signature.inputs().size() != 1 || signature.inputs()[0].name != "inputs") {
    return InvalidArgumentError(StrCat("No ", kind.word,
                                       " inputs found in SignatureDef: signature ", name,
                                       " wants one input, \"inputs\""));
  }
  RETURN_IF_ERROR(BindOutputs(prediction));
  prediction->inputs.assign(1, std::move(examples));
  return OkStatus();
}

Status AppendExamplesResult(const Prediction& prediction, uint32_t field, std::string* out) {
  ProtoWriter writer(out);
  if (prediction.method == Method::kRegress) {
    ASSIGN_OR_RETURN(const std::span<const float> values, ValuesOf(prediction));
    const size_t result = writer.BeginMessage(field);
    for (const float value : values) {
      const size_t one = writer.BeginMessage(1);
      if (value != 0 || std::signbit(value)) writer.Float(1, value);
      writer.EndMessage(one);
    }
    writer.EndMessage(result);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const Classes classes, ClassesOf(prediction));
  const size_t result = writer.BeginMessage(field);
  for (int64_t row = 0; row < classes.rows; ++row) {
    const size_t one = writer.BeginMessage(1);
    for (int64_t i = row * classes.width; i < (row + 1) * classes.width; ++i)
      AppendClass(classes.Label(i), classes.Score(i), &writer);
    writer.EndMessage(one);
  }
  writer.EndMessage(result);
  return OkStatus();
}

Status AppendExamplesJson(const Prediction& prediction, std::string* out) {
  if (prediction.method == Method::kClassify) {
    ASSIGN_OR_RETURN(const Classes classes, ClassesOf(prediction));
    out->append("{\n    \"results\": [");
    AppendClassesJson(classes, out);
  } else {
    ASSIGN_OR_RETURN(const std::span<const float> values, ValuesOf(prediction));
    out->append("{\n    \"results\": [");
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out->append(", ");
      AppendNumber(values[i], out);
    }
  }
  out->append("]\n}");
  return OkStatus();
}

}  // namespace slipway::serve
