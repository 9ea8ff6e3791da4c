// SPDX-License-Identifier: Apache-2.0
//
// Every case of tests/golden/ops, which tools/make_op_cases.py takes from TensorFlow: one node, its
// kernel bound and run. A test a family: thousands of processes would cost more than the cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "op_case_check.h"

namespace slipway::kernels {
namespace {

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

class OpCases : public testing::TestWithParam<std::string> {};

TEST_P(OpCases, GiveWhatTensorFlowGives) {
  const auto cases = ReadCases(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const OpCase& c : cases) {
    const Status status = CheckOpCaseResult(c.line);
    EXPECT_TRUE(status.ok()) << c.name << ": " << status.ToString();
  }
}

TEST_P(OpCases, HaveShapesThatAdmitWhatTensorFlowGives) {
  for (const OpCase& c : ReadCases(GetParam())) {
    const Status status = CheckOpCaseShapes(c.line);
    EXPECT_TRUE(status.ok()) << c.name << ": " << status.ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(TensorFlow, OpCases, testing::ValuesIn(Families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipway::kernels
