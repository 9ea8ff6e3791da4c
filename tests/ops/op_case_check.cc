// SPDX-License-Identifier: Apache-2.0
#include "op_case_check.h"

#include <cmath>
#include <complex>
#include <optional>

#include "base/strings.h"
#include "kernels/testing.h"
#include "kernels/quantization.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using Json = nlohmann::json;

struct Tolerance {
  double relative = 0, absolute = 0;
};
Tolerance ToleranceFor(const ParsedOpCase& parsed, DType dtype) {
  Tolerance t;
  if (dtype == DType::kFloat) t = {1e-5, 1e-6};
  if (dtype == DType::kDouble) t = {1e-11, 1e-12};
  if (dtype == DType::kComplex64) t = {1e-5, 1e-6};
  if (dtype == DType::kComplex128) t = {1e-11, 1e-12};
  if (dtype == DType::kHalf) t = {4e-3, 2e-3};
  if (dtype == DType::kBFloat16) t = {2e-2, 1e-2};
  t.relative = parsed.json.value("rtol", t.relative);
  t.absolute = parsed.json.value("atol", t.absolute);
  return t;
}

bool Near(double got, double want, const Tolerance& t) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || want == got) return got == want;
  return std::abs(got - want) <= t.absolute + t.relative * std::abs(want);
}

template <typename T>
bool SameValue(const T& got, const T& want, const Tolerance& t) {
  if constexpr (std::is_floating_point_v<T>) {
    return Near(static_cast<double>(got), static_cast<double>(want), t);
  } else if constexpr (kIsHalf<T>) {
    return Near(static_cast<float>(got), static_cast<float>(want), t);
  } else if constexpr (kIsComplex<T>) {
    const Tolerance part = {t.relative, t.absolute + t.relative * std::abs(want)};
    return Near(got.real(), want.real(), part) && Near(got.imag(), want.imag(), part);
  } else {
    return got == want;
  }
}

template <typename T>
std::optional<size_t> FirstDifference(const Tensor& got, const Tensor& want, const Tolerance& t) {
  for (size_t i = 0; i < static_cast<size_t>(want.num_elements()); ++i) {
    if (!SameValue<T>(got.flat<T>()[i], want.flat<T>()[i], t)) return i;
  }
  return std::nullopt;
}

Status Disagreement(const std::string& what, const std::string& got, const std::string& want) {
  return InternalError(what + ": " + got + ", wanted " + want);
}

Status CompareTensors(const ParsedOpCase& parsed, const std::string& what, const Tensor& got,
                      const Tensor& want) {
  if (!got.valid()) return Disagreement(what, "not set", want.ToString(40));
  if (got.dtype() != want.dtype()) {
    return Disagreement(what, std::string(DTypeName(got.dtype())),
                        std::string(DTypeName(want.dtype())));
  }
  if (got.shape().ToString() != want.shape().ToString()) {
    return Disagreement(what, got.shape().ToString(), want.shape().ToString());
  }
  const Tolerance t = ToleranceFor(parsed, want.dtype());
  bool known = false;
  const auto at = SwitchType<std::optional<size_t>>(
      TypeList<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
               uint32_t, uint64_t, bool, std::string, std::complex<float>, std::complex<double>>{},
      StoredDType(want.dtype()), [&]<typename T>() {
        known = true;
        return FirstDifference<T>(got, want, t);
      });
  if (!known) return Disagreement(what, "not comparable", std::string(DTypeName(want.dtype())));
  if (!at.has_value()) return Status();
  return Disagreement(what + " element " + std::to_string(*at), got.ToString(40),
                      want.ToString(40));
}

Status CompareError(const ParsedOpCase& parsed, const Status& status) {
  const Json& error = parsed.json["error"];
  if (status.ok()) return Disagreement("error", "none", error.dump());
  const bool same_code = CodeName(status.code()) == error["code"].get<std::string>();
  const auto text = error["contains"].get<std::string>();
  if (same_code && status.message().find(text) != std::string_view::npos) return Status();
  return Disagreement("error", status.ToString(), error.dump());
}

}  // namespace

Status CheckOpCaseResult(std::string_view line) {
  ASSIGN_OR_RETURN(const ParsedOpCase parsed, ParseOpCase(line));
  const bool fails = parsed.json.contains("error");
  ir::Graph graph;
  auto node = BuildOpCaseNode(&graph, parsed, /*with_shapes=*/false);
  // What the attributes alone tell is refused before there is a kernel.
  if (!node.ok()) {
    return fails ? CompareError(parsed, node.status())
                 : Disagreement("node", node.status().ToString(), "no error");
  }
  const auto outputs = RunNode(**node, parsed.inputs);
  if (fails) return CompareError(parsed, outputs.status());
  if (!outputs.ok()) return Disagreement("error", outputs.status().ToString(), "none");
  if (outputs->size() != parsed.outputs.size()) {
    return Disagreement("outputs", std::to_string(outputs->size()),
                        std::to_string(parsed.outputs.size()));
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    RETURN_IF_ERROR(
        CompareTensors(parsed, "output " + std::to_string(i), (*outputs)[i], parsed.outputs[i]));
  }
  for (const auto& [key, want] : parsed.after) {
    ASSIGN_OR_RETURN(const Tensor value, parsed.variables.at(std::stoul(key))->Read());
    RETURN_IF_ERROR(CompareTensors(parsed, "variable " + key, value, want));
  }
  return Status();
}

Status CheckOpCaseShapes(std::string_view line) {
  ASSIGN_OR_RETURN(const ParsedOpCase parsed, ParseOpCase(line));
  ir::Graph graph;
  auto node = BuildOpCaseNode(&graph, parsed, /*with_shapes=*/true);
  if (parsed.json.contains("error")) return Status();
  if (!node.ok()) return Disagreement("node", node.status().ToString(), "no error");
  for (size_t i = 0; i < parsed.outputs.size(); ++i) {
    const auto& inferred = (*node)->shape(static_cast<int>(i));
    if (!inferred.Admits(parsed.outputs[i].shape())) {
      return Disagreement("inferred shape " + std::to_string(i), inferred.ToString(),
                          parsed.outputs[i].shape().ToString());
    }
  }
  return Status();
}

}  // namespace slipway::kernels
