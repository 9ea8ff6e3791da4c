// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "wire/base64.h"
#include "wire/npy.h"
#include "wire/tensor_json.h"
#include "wire/tensor_storage.h"

namespace slipway {
namespace {

using Json = nlohmann::ordered_json;
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

// What is nested by its kind only: to print it takes a stack as deep as it is.
std::string Shown(const Json& value) {
  const bool nested =
      std::any_of(value.begin(), value.end(), [](const Json& e) { return e.is_structured(); });
  if (nested) return StrCat("(an ", value.type_name(), ")");
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

Status WrongValue(const Json& value, DType dtype) {
  return InvalidArgumentError(
      StrCat("the value ", Shown(value), " does not fit type ", DTypeEnumName(dtype)));
}

std::optional<double> SpecialNumber(std::string_view text) {
  if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity" || text == "-inf") return -std::numeric_limits<double>::infinity();
  return ParseDouble(text);
}

std::optional<double> RealNumber(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return SpecialNumber(value.get_ref<const std::string&>());
  return std::nullopt;
}

// "1.5-2j", "3", "2j", "-Infinityj".
std::optional<std::complex<double>> ComplexText(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.back() != 'j' && text.back() != 'i') {
    const auto real = SpecialNumber(text);
    return real ? std::optional<std::complex<double>>(*real) : std::nullopt;
  }
  text.remove_suffix(1);
  // The sign that separates the parts is the last one that is not an exponent's.
  size_t split = text.size();
  for (size_t i = text.size(); i-- > 1;) {
    if ((text[i] == '+' || text[i] == '-') && text[i - 1] != 'e' && text[i - 1] != 'E') {
      split = i;
      break;
    }
  }
  std::string_view imaginary_text = split == text.size() ? text : text.substr(split);
  if (imaginary_text.starts_with('+')) imaginary_text.remove_prefix(1);
  const auto real =
      split == text.size() ? std::optional<double>(0) : SpecialNumber(text.substr(0, split));
  const auto imaginary = SpecialNumber(imaginary_text);
  if (!real || !imaginary) return std::nullopt;
  return std::complex<double>(*real, *imaginary);
}

std::optional<std::complex<double>> ComplexNumber(const Json& value) {
  if (value.is_number()) return std::complex<double>(value.get<double>());
  if (value.is_string()) return ComplexText(value.get_ref<const std::string&>());
  if (!value.is_array() || value.size() != 2) return std::nullopt;
  const auto real = RealNumber(value[0]);
  const auto imaginary = RealNumber(value[1]);
  if (!real || !imaginary) return std::nullopt;
  return std::complex<double>(*real, *imaginary);
}

template <typename T>
bool SetInteger(const Json& value, T* out) {
  if (value.is_number_unsigned()) {
    const auto v = value.get<uint64_t>();
    *out = static_cast<T>(v);
    return v <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  }
  if (value.is_number_integer()) {
    const auto v = value.get<int64_t>();
    *out = static_cast<T>(v);
    return std::in_range<T>(v);
  }
  if (value.is_number_float()) {
    const auto v = value.get<double>();
    if (v != std::floor(v) || std::abs(v) > 9007199254740992.0) return false;
    *out = static_cast<T>(static_cast<int64_t>(v));
    return std::in_range<T>(static_cast<int64_t>(v));
  }
  return false;
}

bool SetText(const Json& value, std::string* out) {
  if (value.is_string()) {
    *out = value.get_ref<const std::string&>();
    return true;
  }
  if (!value.is_object() || value.size() != 1 || !value.contains("b64")) return false;
  const Json& encoded = value["b64"];
  auto bytes =
      encoded.is_string() ? DecodeBase64(encoded.get_ref<const std::string&>()) : std::nullopt;
  if (!bytes) return false;
  *out = *std::move(bytes);
  return true;
}

template <typename T>
bool SetValue(const Json& value, T* out) {
  if constexpr (std::is_same_v<T, std::string>) {
    return SetText(value, out);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (value.is_boolean()) *out = value.get<bool>();
    int8_t number = 0;
    if (value.is_number()) {
      if (!SetInteger(value, &number) || (number != 0 && number != 1)) return false;
      *out = number == 1;
    }
    return value.is_boolean() || value.is_number();
  } else if constexpr (std::is_integral_v<T>) {
    return SetInteger(value, out);
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    const auto v = ComplexNumber(value);
    if (v) *out = static_cast<T>(*v);
    return v.has_value();
  } else {
    const auto v = RealNumber(value);
    if constexpr (std::is_floating_point_v<T>) {
      if (v) *out = static_cast<T>(*v);
    } else {
      if (v) *out = T(static_cast<float>(*v));
    }
    return v.has_value();
  }
}

template <typename T>
Status SetValues(const Json& values, Tensor* t) {
  auto* out = static_cast<T*>(t->raw_data());
  for (const Json& value : values) {
    if (!SetValue(value, out++)) return WrongValue(value, t->dtype());
  }
  return OkStatus();
}

StatusOr<Shape> ParseShape(const Json& json) {
  if (!json.is_array()) return InvalidArgumentError("\"shape\" must be a list of sizes");
  std::vector<int64_t> dims;
  for (const Json& size : json) {
    int64_t dim = 0;
    if (!SetInteger(size, &dim)) return InvalidArgumentError("\"shape\" must be a list of sizes");
    dims.push_back(dim);
  }
  return Shape::FromDims(dims);
}

StatusOr<DType> ParseDTypeKey(const Json& json) {
  const auto dtype =
      json.is_string() ? ParseDType(json.get_ref<const std::string&>()) : std::nullopt;
  if (dtype && *dtype != DType::kInvalid) return *dtype;
  return InvalidArgumentError(
      StrCat("unknown \"dtype\" ", Shown(json), "; wanted one such as \"DT_FLOAT\""));
}

StatusOr<Tensor> ParseNpyTensor(const Json& json, Env* env, const std::string& folder) {
  if (!json["npy"].is_string()) return InvalidArgumentError("\"npy\" must be a file name");
  ASSIGN_OR_RETURN(Tensor t,
                   ReadNpy(env, JoinPath(folder, json["npy"].get_ref<const std::string&>())));
  if (!json.contains("dtype")) return t;
  ASSIGN_OR_RETURN(const DType dtype, ParseDTypeKey(json["dtype"]));
  if (dtype == t.dtype()) return t;
  // Quantised types lie in the file as their integers.
  const bool same_storage = IsQuantized(dtype) && WithStorage(dtype, [&](auto v) {
                              return IsStoredAs<decltype(v)>(t.dtype());
                            });
  if (!same_storage) {
    return InvalidArgumentError(
        StrCat("the .npy file holds ", DTypeEnumName(t.dtype()), ", not ", DTypeEnumName(dtype)));
  }
  return Tensor(dtype, t.shape(), t.buffer());
}

StatusOr<Tensor> ParseTensor(const Json& json, Env* env, const std::string& folder) {
  if (!json.is_object()) return InvalidArgumentError("a tensor must be an object");
  if (json.contains("npy")) return ParseNpyTensor(json, env, folder);
  for (const char* key : {"dtype", "shape", "values"}) {
    if (!json.contains(key)) {
      return InvalidArgumentError(
          StrCat("a tensor needs \"", key, "\" (or only \"npy\", the name of a file)"));
    }
  }
  ASSIGN_OR_RETURN(const DType dtype, ParseDTypeKey(json["dtype"]));
  if (dtype == DType::kResource || dtype == DType::kVariant) {
    return InvalidArgumentError(StrCat("a tensor of type ", DTypeEnumName(dtype), " has no text"));
  }
  ASSIGN_OR_RETURN(const Shape shape, ParseShape(json["shape"]));
  const Json& values = json["values"];
  if (!values.is_array() || values.size() != static_cast<size_t>(shape.num_elements())) {
    return InvalidArgumentError(StrCat("\"values\" must be a list of the ", shape.num_elements(),
                                       " elements of shape ", shape.ToString(), ", not ",
                                       values.is_array() ? values.size() : 0));
  }
  ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(dtype, shape));
  RETURN_IF_ERROR(WithStorage(dtype, [&](auto v) { return SetValues<decltype(v)>(values, &t); }));
  return t;
}

StatusOr<TensorMap> ParseMap(const Json& json, Env* env, const std::string& folder,
                             std::string_view what) {
  if (!json.is_object()) {
    return InvalidArgumentError(StrCat("\"", what, "\" must be an object {NAME: TENSOR}"));
  }
  TensorMap map;
  for (const auto& [name, value] : json.items()) {
    StatusOr<Tensor> tensor = ParseTensor(value, env, folder);
    if (!tensor.ok()) return tensor.status().WithContext(StrCat(what, " ", Quoted(name)));
    map.emplace_back(name, *std::move(tensor));
  }
  return map;
}

StatusOr<TensorJsonCall> ParseCall(const Json& json, Env* env, const std::string& folder) {
  if (!json.is_object()) return InvalidArgumentError("a request must be a JSON object");
  TensorJsonCall call;
  if (json.contains("signature")) {
    const Json& signature = json["signature"];
    if (!signature.is_string()) return InvalidArgumentError("\"signature\" must be a text");
    call.signature = signature.get<std::string>();
  }
  if (json.contains("inputs")) {
    ASSIGN_OR_RETURN(call.inputs, ParseMap(json["inputs"], env, folder, "inputs"));
  }
  return call;
}

StatusOr<Json> ParseText(std::string_view text) {
  const bool bare =
      text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
  Json json = bare ? Json::parse(QuoteBareWords(text), nullptr, /*allow_exceptions=*/false)
                   : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidArgumentError("not JSON");
  return json;
}

StatusOr<Json> ReadJsonFile(Env* env, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(env, path, kMaxFileBytes));
  StatusOr<Json> json = ParseText(text);
  if (!json.ok()) return json.status().WithContext(path);
  return json;
}

StatusOr<TensorJsonRequest> ParseRequest(const Json& json, Env* env, const std::string& folder) {
  TensorJsonRequest request;
  if (!json.is_object() || !json.contains("steps")) {
    ASSIGN_OR_RETURN(TensorJsonCall call, ParseCall(json, env, folder));
    request.calls.push_back(std::move(call));
    return request;
  }
  request.has_steps = true;
  if (!json["steps"].is_array()) return InvalidArgumentError("\"steps\" must be a list");
  for (const Json& step : json["steps"]) {
    StatusOr<TensorJsonCall> call = ParseCall(step, env, folder);
    if (!call.ok()) {
      return call.status().WithContext(StrCat("step ", request.calls.size()));
    }
    request.calls.push_back(*std::move(call));
  }
  return request;
}

}  // namespace

StatusOr<TensorJsonRequest> ParseTensorJsonRequest(std::string_view text, Env* env,
                                                   const std::string& folder) {
  ASSIGN_OR_RETURN(const Json json, ParseText(text));
  return ParseRequest(json, env, folder);
}

StatusOr<TensorJsonRequest> ReadTensorJsonRequest(Env* env, const std::string& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(env, path));
  StatusOr<TensorJsonRequest> request = ParseRequest(json, env, std::string(Dirname(path)));
  if (!request.ok()) return request.status().WithContext(path);
  return request;
}

StatusOr<TensorMap> ReadTensorJsonMap(Env* env, const std::string& path, std::string_view key) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(env, path));
  const std::string name(key);
  if (!json.is_object() || !json.contains(name)) {
    return InvalidArgumentError(StrCat(path, ": has no key ", Quoted(key)));
  }
  StatusOr<TensorMap> map = ParseMap(json[name], env, std::string(Dirname(path)), key);
  if (!map.ok()) return map.status().WithContext(path);
  return map;
}

std::string QuoteBareWords(std::string_view text) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!in_string) {
      for (std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (!text.substr(i).starts_with(word)) continue;
        StrAppend(&out, '"', word, '"');
        i += word.size();
        break;
      }
      if (i >= text.size()) break;
    }
    if (text[i] == '"') in_string = !in_string;
    out.push_back(text[i]);
    if (in_string && text[i] == '\\' && i + 1 < text.size()) out.push_back(text[++i]);
  }
  return out;
}

}  // namespace slipway
