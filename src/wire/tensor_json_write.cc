// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include "base/strings.h"
#include "wire/base64.h"
#include "wire/coding.h"
#include "wire/json_tensor.h"
#include "wire/npy.h"
#include "wire/tensor_json.h"
#include "wire/tensor_storage.h"

namespace slipway {
namespace {

void AppendReal(double value, std::string* out) {
  if (std::isnan(value)) {
    out->append("\"NaN\"");
  } else if (std::isinf(value)) {
    out->append(value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
  } else if (value == 0) {
    out->append(std::signbit(value) ? "-0.0" : "0.0");  // "-0" would be an integer
  } else {
    StrAppend(out, value);
  }
}

void AppendReal(float value, std::string* out) {
  if (std::isfinite(value) && value != 0) {
    StrAppend(out, value);  // shortest text that reads back as this float
  } else {
    AppendReal(static_cast<double>(value), out);
  }
}

template <typename T>
void AppendValue(const T& value, std::string* out) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (IsValidUtf8(value)) {
      AppendJsonString(value, out);
    } else {
      out->append("{\"b64\": \"");
      AppendBase64(value, out);
      out->append("\"}");
    }
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    out->push_back('[');
    AppendReal(value.real(), out);
    out->append(", ");
    AppendReal(value.imag(), out);
    out->push_back(']');
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    AppendReal(static_cast<float>(value), out);
  } else if constexpr (std::is_floating_point_v<T>) {
    AppendReal(value, out);
  } else if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>) {
    StrAppend(out, static_cast<int>(value));
  } else {
    StrAppend(out, value);
  }
}

void AppendDTypeAndShape(const Tensor& t, std::string* out) {
  StrAppend(out, "{\"dtype\": \"", DTypeEnumName(t.dtype()), "\", \"shape\": [",
            StrJoin(t.shape().dims(), ", "), "]");
}

void AppendInline(const Tensor& t, std::string* out) {
  AppendDTypeAndShape(t, out);
  if (t.valid() && t.dtype() != DType::kResource && t.dtype() != DType::kVariant) {
    out->append(", \"values\": [");
    WithStorage(t.dtype(), [&](auto v) {
      const char* separator = "";
      for (const auto& value : t.flat<decltype(v)>()) {
        out->append(separator);
        AppendValue(value, out);
        separator = ", ";
      }
    });
    out->push_back(']');
  }
  out->push_back('}');
}

// Writes the outputs of a response, large ones into files beside it.
class ResponseWriter {
 public:
  ResponseWriter(Env* env, const std::string& path) : env_(env), folder_(Dirname(path)) {
    stem_ = Basename(path);
    if (stem_.ends_with(".json")) stem_.resize(stem_.size() - 5);
  }

  Status AppendOutputs(const TensorMap& outputs, std::string_view step, std::string* out) {
    out->append("\"outputs\": {");
    const char* separator = "\n  ";
    for (const auto& [name, tensor] : outputs) {
      out->append(separator);
      AppendJsonString(name, out);
      out->append(": ");
      RETURN_IF_ERROR(AppendTensor(StrCat(stem_, step, ".", name), tensor, out));
      separator = ",\n  ";
    }
    out->append("}");
    return OkStatus();
  }

 private:
  Status AppendTensor(const std::string& name, const Tensor& tensor, std::string* out) {
    if (tensor.num_elements() <= kTensorJsonInlineElements || !NpyHolds(tensor.dtype())) {
      AppendInline(tensor, out);
      return OkStatus();
    }
    const std::string file = FileName(name);
    RETURN_IF_ERROR(WriteNpy(env_, JoinPath(folder_, file), tensor));
    AppendDTypeAndShape(tensor, out);
    out->append(", \"npy\": ");
    AppendJsonString(file, out);
    out->push_back('}');
    return OkStatus();
  }

  // Output names may hold any character and then look alike.
  std::string FileName(std::string name) {
    for (char& c : name) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain && c != '.' && c != '-' && c != '_') c = '_';
    }
    std::string file = StrCat(name, ".npy");
    for (int i = 2; !used_.insert(file).second; ++i) file = StrCat(name, "_", i, ".npy");
    return file;
  }

  Env* env_;
  std::string folder_;
  std::string stem_;
  std::set<std::string> used_;
};

}  // namespace

Status WriteTensorJsonResponse(Env* env, const std::string& path, bool steps,
                               std::span<const TensorJsonResult> results) {
  ResponseWriter writer(env, path);
  std::string out = "{";
  if (steps) out.append("\"steps\": [");
  for (size_t i = 0; i < results.size(); ++i) {
    if (steps) out.append(i == 0 ? "\n {" : ",\n {");
    if (results[i].status.ok()) {
      RETURN_IF_ERROR(writer.AppendOutputs(results[i].outputs, steps ? StrCat(".", i) : "", &out));
    } else {
      StrAppend(&out, "\"error\": {\"code\": \"", CodeName(results[i].status.code()),
                "\", \"message\": ");
      AppendJsonString(results[i].status.message(), &out);
      out.push_back('}');
    }
    if (steps) out.push_back('}');
  }
  out.append(steps ? "]}\n" : "}\n");
  return WriteFile(env, path, out);
}

std::string TensorToJson(const Tensor& tensor) {
  std::string out;
  AppendInline(tensor, &out);
  return out;
}

}  // namespace slipway
