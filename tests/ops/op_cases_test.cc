// SPDX-License-Identifier: Apache-2.0
//
// Every case of tests/golden/ops, which tools/make_op_cases.py takes from TensorFlow: one node, its
// kernel bound and run. A test a family: thousands of processes would cost more than the cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "kernels/testing.h"
#include "kernels/types.h"
#include "op_case.h"

namespace slipway::kernels {
namespace {

using Json = nlohmann::json;

struct OpCase {
  std::string name;
  std::string line;
};

const std::filesystem::path kFolder = "tests/golden/ops";

std::vector<std::string> Families() {
  std::vector<std::string> families;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".jsonl") families.push_back(entry.path().stem());
  }
  std::sort(families.begin(), families.end());
  return families;
}

std::vector<OpCase> ReadCases(const std::string& family) {
  std::vector<OpCase> cases;
  constexpr std::string_view kHead = R"({"name":")";
  std::ifstream in(kFolder / (family + ".jsonl"));
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kHead)) continue;
    const size_t end = line.find('"', kHead.size());
    cases.push_back({line.substr(kHead.size(), end - kHead.size()), line});
  }
  return cases;
}

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
void ExpectValues(const Tensor& got, const Tensor& want, const Tolerance& t) {
  for (size_t i = 0; i < static_cast<size_t>(want.num_elements()); ++i) {
    ASSERT_TRUE(SameValue<T>(got.flat<T>()[i], want.flat<T>()[i], t))
        << "element " << i << " of " << got.ToString(40) << ", wanted " << want.ToString(40);
  }
}

void ExpectTensor(const ParsedOpCase& parsed, const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.dtype(), want.dtype());
  ASSERT_EQ(got.shape().ToString(), want.shape().ToString());
  const Tolerance t = ToleranceFor(parsed, want.dtype());
  const bool known = SwitchType<bool>(
      TypeList<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
               uint32_t, uint64_t, bool, std::string, std::complex<float>, std::complex<double>>{},
      want.dtype(), [&]<typename T>() {
        ExpectValues<T>(got, want, t);
        return true;
      });
  EXPECT_TRUE(known);
}

class OpCases : public testing::TestWithParam<std::string> {};

void CheckError(const ParsedOpCase& parsed, const Status& status) {
  const Json& error = parsed.json["error"];
  ASSERT_FALSE(status.ok()) << "an error was wanted: " << error.dump();
  EXPECT_EQ(CodeName(status.code()), error["code"].get<std::string>()) << status.ToString();
  EXPECT_NE(status.message().find(error["contains"].get<std::string>()), std::string_view::npos)
      << status.ToString() << "\nwanted: " << error["contains"];
}

void CheckValues(const OpCase& c) {
  SCOPED_TRACE(c.name);
  auto parsed = ParseOpCase(c.line);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  ir::Graph graph;
  auto node = BuildOpCaseNode(&graph, *parsed, /*with_shapes=*/false);
  // What the attributes alone tell is refused before there is a kernel.
  if (!node.ok() && parsed->json.contains("error")) return CheckError(*parsed, node.status());
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  const auto outputs = RunNode(**node, parsed->inputs);
  if (parsed->json.contains("error")) return CheckError(*parsed, outputs.status());
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  ASSERT_EQ(outputs->size(), parsed->outputs.size());
  for (size_t i = 0; i < outputs->size(); ++i) {
    ExpectTensor(*parsed, (*outputs)[i], parsed->outputs[i]);
  }
  for (const auto& [key, want] : parsed->after) {
    const auto value = parsed->variables[std::stoul(key)]->Read();
    ASSERT_TRUE(value.ok());
    ExpectTensor(*parsed, *value, want);
  }
}

TEST_P(OpCases, GiveWhatTensorFlowGives) {
  const auto cases = ReadCases(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const OpCase& c : cases) CheckValues(c);
}

// What shape inference says of the node, told the inputs' shapes, must admit what TensorFlow gave.
void CheckInferredShapes(const OpCase& c) {
  SCOPED_TRACE(c.name);
  auto parsed = ParseOpCase(c.line);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  if (parsed->json.contains("error")) return;
  ir::Graph graph;
  auto node = BuildOpCaseNode(&graph, *parsed, /*with_shapes=*/true);
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  for (size_t i = 0; i < parsed->outputs.size(); ++i) {
    const auto& inferred = (*node)->shape(static_cast<int>(i));
    EXPECT_TRUE(inferred.Admits(parsed->outputs[i].shape()))
        << "inferred " << inferred.ToString() << ", TensorFlow gave "
        << parsed->outputs[i].shape().ToString();
  }
}

TEST_P(OpCases, HaveShapesThatAdmitWhatTensorFlowGives) {
  for (const OpCase& c : ReadCases(GetParam())) CheckInferredShapes(c);
}

INSTANTIATE_TEST_SUITE_P(TensorFlow, OpCases, testing::ValuesIn(Families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipway::kernels
