// SPDX-License-Identifier: Apache-2.0
#include "wire/json_examples.h"

#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "wire/example.h"
#include "wire/inference.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// "x=float[1,2] y=bytes[a]", of all features as they stand.
std::string Describe(const std::string& example) {
  std::vector<NamedFeature> features;
  if (!ReadExample(example, &features).ok()) return "malformed";
  std::string text;
  for (const NamedFeature& feature : features) {
    StrAppend(&text, text.empty() ? "" : " ", feature.name, "=");
    const FeatureView view = slipway::ReadFeature(feature.bytes).value();
    std::vector<std::string> words;
    std::vector<float> floats;
    std::vector<int64_t> ints;
    if (view.dtype == DType::kString) AppendValues(view.list, &words);
    if (view.dtype == DType::kFloat) AppendValues(view.list, &floats);
    if (view.dtype == DType::kInt64) AppendValues(view.list, &ints);
    for (const float value : floats) words.push_back(StrCat(value));
    for (const int64_t value : ints) words.push_back(StrCat(value));
    StrAppend(&text, view.dtype == DType::kInvalid ? "none" : DTypeName(view.dtype), "[",
              StrJoin(words, ","), "]");
  }
  return text;
}

std::string Parse(std::string_view body) {
  const auto request = ParseExamplesJson(body);
  if (!request.ok()) return std::string(request.status().message());
  std::string text = request->signature_name + ":";
  for (const std::string& example : request->examples.flat<std::string>())
    StrAppend(&text, " {", Describe(example), "}");
  return text;
}

TEST(JsonExamples, KindsOfFeatures) {
  EXPECT_EQ(Parse(R"({"examples": [{"x": 2.0}]})"), "serving_default: {x=float32[2]}");
  EXPECT_EQ(Parse(R"({"signature_name": "s", "examples": [{"x": [1, -2], "b": [true, 3]}, {}]})"),
            "s: {x=int64[1,-2] b=int64[1,3]} {}");
  EXPECT_EQ(Parse(R"({"examples": [{"s": "a", "t": [{"b64": "QWRh"}, "\u00e9"], "e": []}]})"),
            "serving_default: {s=string[a] t=string[Ada,\xc3\xa9] e=none[]}");
  EXPECT_EQ(Parse(R"({"examples": [{"x": [1e2, -Infinity, NaN]}]})"),
            "serving_default: {x=float32[100,-inf,nan]}");
}

TEST(JsonExamples, TheContextStandsInFrontOfEach) {
  EXPECT_EQ(Parse(R"({"examples": [{"y": 5}, {"x": 6}], "context": {"x": 4}})"),
            "serving_default: {x=int64[4] y=int64[5]} {x=int64[4] x=int64[6]}");
}

TEST(JsonExamples, Errors) {
  const struct {
    std::string_view body;
    std::string_view error;
  } cases[] = {
      {"", "JSON Parse error: The document is empty."},
      {"[]", "Is not object"},
      {"{}", "key 'examples' is expected and was not found"},
      {R"({"signature_name": 1, "examples": [{}]})",
       "'signature_name' key must be a string value."},
      {R"({"examples": {"x": 1}})", "Expecting 'examples' value to be an list/array"},
      {R"({"examples": []})", "'examples' value is an empty array"},
      {R"({"examples": [[2.0]]})", "Example must be JSON object but got JSON Array"},
      {R"({"examples": [{}], "context": 3})", "Example must be JSON object but got JSON Number"},
      {R"({"examples": [{"x": null}]})", "Feature: x has element with unexpected JSON type: Null"},
      {R"({"examples": [{"x": [[1]]}]})",
       "Feature: x has element with unexpected JSON type: Array"},
      {R"({"examples": [{"x": {"y": 1}}]})",
       "Feature: x has element with unexpected JSON type: Object"},
      {R"({"examples": [{"x": [2.0, "two"]}]})",
       "Unexpected element type in feature: x expecting type: float"},
      {R"({"examples": [{"x": 9223372036854775808}]})", "9223372036854775808"},
      {R"({"examples": [{"x": 1,}]})", "JSON Parse error"},
      {R"({"examples": [{"x": 1}}})", "JSON Parse error"},
  };
  for (const auto& c : cases) EXPECT_THAT(Parse(c.body), HasSubstr(c.error)) << c.body;
  const std::string deep(100'000, '[');
  EXPECT_THAT(Parse(StrCat(R"({"examples": )", deep)), HasSubstr("JSON Parse error"));
  EXPECT_THAT(Parse(StrCat(R"({"examples": [{"x": )", deep, std::string(100'000, ']'), "}]}")),
              HasSubstr("unexpected JSON type: Array"));
}

TEST(Inference, AnInputOfExamplesWithContext) {
  // Input.example_list {"a", "b"}, by hand.
  EXPECT_EQ(DecodeInput(std::string("\x0a\x06\x0a\x01"
                                    "a\x0a\x01"
                                    "b"))
                .value()
                .ToString(),
            StringVector({"a", "b"}).value().ToString());
  // Input.example_list_with_context: examples "a" and "b", context "c", which stands in front.
  EXPECT_EQ(DecodeInput(std::string("\x12\x09\x0a\x01"
                                    "a\x0a\x01"
                                    "b\x12\x01"
                                    "c"))
                .value()
                .ToString(),
            StringVector({"ca", "cb"}).value().ToString());
  for (const std::string_view empty : {std::string_view(""), std::string_view("\x0a\x00", 2),
                                       std::string_view("\x12\x03\x12\x01"
                                                        "c",
                                                        5)})
    EXPECT_EQ(DecodeInput(empty).status().message(), "Input is empty.");
  EXPECT_EQ(DecodeInput("\x0a\x7f").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(DecodeMultiInferenceRequest("\x0a\x03\x0a\x7f").status().code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace slipway
