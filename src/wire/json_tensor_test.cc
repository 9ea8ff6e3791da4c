// SPDX-License-Identifier: Apache-2.0
//
// The cases of TensorFlow Serving's json_tensor_test, and what it gets wrong.
#include "wire/json_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/strings.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TensorSpec Spec(std::string name, DType dtype) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.dtype = dtype;
  return spec;
}

StatusOr<JsonPredictRequest> Parse(std::string_view body, std::vector<TensorSpec> specs) {
  return ParsePredictJson(body, [&](std::string_view) -> StatusOr<std::span<const TensorSpec>> {
    return std::span<const TensorSpec>(specs);
  });
}

template <typename T>
std::vector<T> Values(const Tensor& t) {
  return std::vector<T>(t.flat<T>().begin(), t.flat<T>().end());
}

// The one input of a good body.
Tensor One(std::string_view body, DType dtype) {
  auto request = Parse(body, {Spec("x", dtype)});
  EXPECT_TRUE(request.ok()) << body << " " << request.status().ToString();
  return request.ok() ? request->inputs[0].second : Tensor();
}

void ExpectError(std::string_view body, std::vector<TensorSpec> specs, std::string_view words,
                 Code code = Code::kInvalidArgument) {
  const Status status = Parse(body, std::move(specs)).status();
  EXPECT_EQ(status.code(), code) << body << " " << status.ToString();
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(words))) << body;
}

void ExpectError(std::string_view body, DType dtype, std::string_view words,
                 Code code = Code::kInvalidArgument) {
  ExpectError(body, {Spec("x", dtype)}, words, code);
}

TEST(JsonTensorRead, RowsAndColumns) {
  const Tensor rows = One(R"({"instances": [[1,2],[3,4],[5,6]]})", DType::kInt32);
  EXPECT_EQ(rows.shape(), Shape({3, 2}));
  EXPECT_EQ(Values<int32_t>(rows), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(One(R"({"inputs": [[1,2],[3,4]]})", DType::kFloat).shape(), Shape({2, 2}));
  EXPECT_EQ(One(R"({"inputs": 2.5})", DType::kDouble).shape(), Shape());
  EXPECT_EQ(One(R"({"inputs": {"x": [7]}})", DType::kInt64).shape(), Shape({1}));
  EXPECT_EQ(One(R"({"instances": [{"x": [1, 2]}, {"x": [3, 4]}]})", DType::kFloat).shape(),
            Shape({2, 2}));
  EXPECT_EQ(One(R"({"instances": [1.5, 2.5, 3.5, -4]})", DType::kFloat).shape(), Shape({4}));
  EXPECT_EQ(One(R"({"instances": [[], [ ]]})", DType::kFloat).shape(), Shape({2, 0}));
  EXPECT_EQ(One(R"({"inputs": [[[ ]]]})", DType::kFloat).shape(), Shape({1, 1, 0}));
}

TEST(JsonTensorRead, SignatureNameMayComeLast) {
  std::string seen;
  const std::vector<TensorSpec> specs = {Spec("x", DType::kFloat)};
  const auto request = ParsePredictJson(
      R"({"instances": [1], "other": {"deep": [{}]}, "signature_name": "s\u0031"} trailing)",
      [&](std::string_view name) -> StatusOr<std::span<const TensorSpec>> {
        seen = name;
        return std::span<const TensorSpec>(specs);
      });
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  EXPECT_EQ(seen, "s1");
  EXPECT_EQ(request->signature_name, "s1");
  EXPECT_EQ(request->format, JsonPredictFormat::kRow);
  const auto failed = ParsePredictJson(
      R"({"instances": [1]})", [&](std::string_view name) -> StatusOr<std::span<const TensorSpec>> {
        return FailedPreconditionError(std::string(name));
      });
  EXPECT_EQ(failed.status().message(), "serving_default");
  ExpectError(R"({"signature_name": 100, "instances": [1]})", DType::kFloat,
              "must be a string value");
}

TEST(JsonTensorRead, Numbers) {
  EXPECT_EQ(Values<float>(One(R"({"instances": [1, 2.5]})", DType::kFloat)),
            (std::vector<float>{1, 2.5}));
  EXPECT_EQ(Values<float>(One(R"({"inputs": 1435774380})", DType::kFloat))[0], 1435774380.0f);
  const Tensor limits = One(
      R"({"instances": [1.7976931348623157e308, -1.7976931348623157e308, 2.2e-308, -2.2e-308]})",
      DType::kFloat);
  EXPECT_EQ(Values<float>(limits), (std::vector<float>{INFINITY, -INFINITY, 0, -0.0f}));
  EXPECT_TRUE(std::signbit(limits.flat<float>()[3]));
  const Tensor tokens = One(R"({"instances": [1, NaN, Infinity, -Infinity, 2]})", DType::kFloat);
  EXPECT_TRUE(std::isnan(tokens.flat<float>()[1]));
  EXPECT_EQ(tokens.flat<float>()[3], -INFINITY);
  EXPECT_EQ(tokens.flat<float>()[4], 2);
  ExpectError(R"({"instances": [1e400]})", DType::kFloat, "Number too big to be stored in double");
  ExpectError(R"({"instances": [2.5]})", DType::kInt32, "is not of expected type: int32");
  ExpectError(R"({"instances": [300]})", DType::kUInt8, "is not of expected type: uint8");
  ExpectError(R"({"instances": [-1]})", DType::kUInt64, "is not of expected type: uint64");
  ExpectError(R"({"instances": ["x","y"]})", DType::kFloat,
              "JSON Value: \"x\" Type: String is not of expected type: float");
  ExpectError(R"({"instances": [null]})", DType::kFloat, "Type: Null");
  EXPECT_EQ(Values<int64_t>(One(R"({"instances": [-9223372036854775808, 9223372036854775807]})",
                                DType::kInt64)),
            (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(Values<uint64_t>(One(R"({"inputs": [18446744073709551615]})", DType::kUInt64))[0],
            UINT64_MAX);
  EXPECT_EQ(Values<int8_t>(One(R"({"inputs": [-128, 127]})", DType::kInt8)),
            (std::vector<int8_t>{-128, 127}));
  EXPECT_EQ(Values<bool>(One(R"({"inputs": [true, false]})", DType::kBool)),
            (std::vector<bool>{true, false}));
  ExpectError(R"({"inputs": [1]})", DType::kBool, "is not of expected type: bool");
  ExpectError(R"({"inputs": [1]})", DType::kComplex64, "complex64", Code::kUnimplemented);
  ExpectError(R"({"inputs": [1]})", DType::kComplex64, "complex64", Code::kUnimplemented);
}

TEST(JsonTensorRead, Strings) {
  const Tensor b64 =
      One(R"({"instances": [{"b64": "aGVsbG8="}, { "b64" : "d29ybGQ=" } ]})", DType::kString);
  EXPECT_EQ(b64.shape(), Shape({2}));
  EXPECT_EQ(Values<std::string>(b64), (std::vector<std::string>{"hello", "world"}));
  EXPECT_EQ(One(R"({"instances": [[{"b64": "aGVsbG8="}], [{"b64": "d29ybGQ="}]]})", DType::kString)
                .shape(),
            Shape({2, 1}));
  EXPECT_EQ(One(R"({"inputs": {"b64": "aGVsbG8="}})", DType::kString).shape(), Shape());
  EXPECT_EQ(Values<std::string>(One(
                R"({"instances": ["a\n\"\\\/\u00e9\ud83d\ude00", "é and a long tail of text"]})",
                DType::kString)),
            (std::vector<std::string>{"a\n\"\\/\xc3\xa9\xf0\x9f\x98\x80",
                                      "\xc3\xa9 and a long tail of text"}));
  ExpectError(R"({"instances": [{"b64": "x"}]})", DType::kString, "Unable to base64 decode");
  ExpectError(R"({"instances": [{"b64": "aGVsbG8=", "extra": 1}]})", DType::kString,
              "does not have named input: b64");
  ExpectError(R"({"instances": [{"b64": "aGVsbG8="}]})", DType::kFloat, "Type: Object");
  ExpectError("{\"instances\": [\"\xff\"]}", DType::kString, "Invalid encoding in string");
  ExpectError("{\"instances\": [\"a\nb\"]}", DType::kString, "Invalid encoding in string");
  ExpectError(R"({"instances": ["\ud800"]})", DType::kString, "surrogate pair");
  ExpectError(R"({"instances": ["\x"]})", DType::kString, "Invalid escape character");
  ExpectError(R"({"instances": ["\u12g4"]})", DType::kString, "Incorrect hex digit");
  ExpectError(R"({"instances": [1]})", DType::kString,
              "Type: Number is not of expected type: string");
}

TEST(JsonTensorRead, NamedInputs) {
  const std::vector<TensorSpec> specs = {Spec("a", DType::kFloat), Spec("b", DType::kString)};
  const auto rows =
      Parse(R"({"instances": [{"b": "x", "a": [1, 2]}, {"a": [NaN, Infinity], "b": "y"}]})", specs);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ(rows->inputs[0].first, "a");
  EXPECT_EQ(rows->inputs[0].second.shape(), Shape({2, 2}));
  EXPECT_EQ(Values<std::string>(rows->inputs[1].second), (std::vector<std::string>{"x", "y"}));
  const auto columns =
      Parse(R"({"inputs": {"a": [[1]], "extra": [1, "x", null], "b": ["p", "q", "r"]}})", specs);
  ASSERT_TRUE(columns.ok()) << columns.status().ToString();
  EXPECT_EQ(columns->inputs[0].second.shape(), Shape({1, 1}));
  EXPECT_EQ(columns->inputs[1].second.shape(), Shape({3}));
  ExpectError(R"({"instances": [1, 2]})", specs, "expecting list of objects");
  ExpectError(R"({"inputs": [1, 2]})", specs, "expecting an object");
  ExpectError(R"({"inputs": {"a": 1}})", specs, "Missing named input: b");
  ExpectError(R"({"inputs": {"a": 1, "a": 2, "b": "x"}})", specs, "twice");
  ExpectError(R"({"instances": [{"a": 1}]})", specs, "keys must be equal to: a,b");
  ExpectError(R"({"instances": [{"a": 1, "b": "x", "c": 1}]})", specs,
              "does not have named input: c");
  ExpectError(R"({"instances": [{"a": 1, "a": 2}]})", specs, "twice");
  ExpectError(R"({"instances": [{"a": 1, "b": "x"}, 5]})", specs, "Expecting object but got");
  ExpectError(R"({"instances": [1, {"x": 1}]})", DType::kFloat, "but got object");
  const auto none = Parse(R"({"inputs": {}})", {});
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_TRUE(none->inputs.empty());
}

TEST(JsonTensorRead, RaggedRows) {
  ExpectError(R"({"instances": [[1, 2], [3]]})", DType::kFloat,
              "Expecting tensor size: 2 but got: 1");
  ExpectError(R"({"instances": [[[1, 2]], [[1], [2]]]})", DType::kFloat,
              "Expecting shape [1,2] but got: [2,1]");
  ExpectError(R"({"instances": [[[1, 2], [3]]]})", DType::kFloat,
              "Encountered list at unexpected size: 1 at level: 1 expected size: 2");
  ExpectError(R"({"inputs": [[1, 2], [3, 4, 5]]})", DType::kFloat, "unexpected size");
  ExpectError(R"({"inputs": [1, [2]]})", DType::kFloat, "Encountered list at unexpected level");
  ExpectError(R"({"inputs": [[1], 2]})", DType::kFloat, "incorrect level");
  ExpectError(R"({"instances": [[1], 2]})", DType::kFloat, "Failed to process element: 1");
  ExpectError(R"({"inputs": [[], [1]]})", DType::kFloat, "unexpected size");
}

TEST(JsonTensorRead, Keys) {
  ExpectError(R"({"instances": [1], "inputs": [1]})", DType::kFloat, "only one of");
  ExpectError(R"({"x": 1})", DType::kFloat, "Missing 'inputs' or 'instances' key");
  ExpectError(R"({"instances": 5})", DType::kFloat, "Expecting 'instances' to be an list/array");
  ExpectError(R"({"instances": []})", DType::kFloat, "No values in 'instances' array");
  ExpectError("", DType::kFloat, "JSON Parse error: The document is empty");
  ExpectError("  ", DType::kFloat, "The document is empty");
  ExpectError("instances = [1, 2]", DType::kFloat, "JSON Parse error: Invalid value. at offset: 0");
  ExpectError("[1]", DType::kFloat, "must be a JSON object");
  EXPECT_EQ(One(R"({"instances": [1], "instances": [2, 3]})", DType::kFloat).shape(), Shape({2}));
}

TEST(JsonTensorRead, BrokenTextsAreParseErrors) {
  const std::string good =
      R"({"signature_name": "s", "k": {"a": [1, true, null]}, "instances": [[1.5, 2], [3, 4]]})";
  for (size_t n = 0; n < good.size(); ++n) {
    ExpectError(good.substr(0, n), DType::kFloat, "JSON Parse error");
  }
  for (const char* bad :
       {R"({"instances": [1 2]})", R"({"instances": [1,]})", R"({"instances": [,1]})",
        R"({"instances": [1}})", R"({"instances": [[1}]})", R"({"instances" [1]})",
        R"({instances: [1]})", R"({"instances": [1],})", R"({"instances": [01]})",
        R"({"instances": [1.]})", R"({"k": [1}, "instances": [1]})",
        R"({"k": tru, "instances": [1]})", R"({"k": [1e999], "instances": [1]})",
        "{\"k\": \"\xff\", \"instances\": [1]}", R"({"instances": [nul]})"}) {
    ExpectError(bad, DType::kFloat, "JSON Parse error");
  }
}

TEST(JsonTensorRead, AnyDepthIsSafe) {
  const std::string deep(500000, '[');
  const std::string shut(500000, ']');
  EXPECT_EQ(One(StrCat("{\"k\": ", deep, shut, ", \"instances\": [1]}"), DType::kFloat).shape(),
            Shape({1}));
  ExpectError(StrCat("{\"signature_name\": ", deep, shut, ", \"instances\": [1]}"), DType::kFloat,
              "must be a string value");
  ExpectError(StrCat("{\"instances\": [", deep, shut, "]}"), DType::kFloat, "unexpected level");
  ExpectError(StrCat("{\"instances\": ", deep), DType::kFloat, "JSON Parse error");
}

TEST(JsonTensorRead, ManyElementsAndTheLimit) {
  std::string body = "{\"instances\": [";
  for (int i = 0; i < 20000; ++i) StrAppend(&body, i == 0 ? "" : ",", "[", i, ",", i % 7, ".25]");
  body += "]}";
  const Tensor t = One(body, DType::kFloat);
  ASSERT_EQ(t.shape(), Shape({20000, 2}));
  EXPECT_EQ(t.flat<float>()[39998], 19999);
  EXPECT_EQ(t.flat<float>()[39999], 19999 % 7 + 0.25f);
  EXPECT_EQ(One(body, DType::kDouble).flat<double>()[39998], 19999);
  TensorDecodeOptions options;
  options.max_bytes = 1000;
  const std::vector<TensorSpec> specs = {Spec("x", DType::kFloat)};
  const auto refused = ParsePredictJson(
      body,
      [&](std::string_view) -> StatusOr<std::span<const TensorSpec>> {
        return std::span<const TensorSpec>(specs);
      },
      options);
  EXPECT_EQ(refused.status().code(), Code::kResourceExhausted);
}

// ---- Writing ----

std::string Written(JsonPredictFormat format, const std::vector<NamedTensor>& outputs) {
  std::string out;
  const Status status = AppendPredictJson(format, outputs, &out);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return out;
}

TEST(JsonTensorWrite, RowsAndColumns) {
  const Tensor t = Tensor::FromValues<float>({2.5, 3, 3.5, 4.5}, Shape({2, 2}));
  EXPECT_EQ(Written(JsonPredictFormat::kRow, {{"y", t}}),
            "{\n    \"predictions\": [[2.5, 3.0], [3.5, 4.5]]\n}");
  EXPECT_EQ(Written(JsonPredictFormat::kColumn, {{"y", Tensor::Scalar<int64_t>(-5)}}),
            "{\n    \"outputs\": -5\n}");
  EXPECT_EQ(
      Written(JsonPredictFormat::kRow, {{"a", t}, {"b", Tensor::Vector<std::string>({"x", "\""})}}),
      "{\n    \"predictions\": [{\n            \"a\": [2.5, 3.0],\n            \"b\": \"x\"\n"
      "        }, {\n            \"a\": [3.5, 4.5],\n            \"b\": \"\\\"\"\n        }]\n}");
  EXPECT_EQ(Written(JsonPredictFormat::kColumn,
                    {{"a", Tensor::Vector<bool>({true})}, {"b", Tensor::Vector<int8_t>({-1, 2})}}),
            "{\n    \"outputs\": {\n        \"a\": [true],\n        \"b\": [-1, 2]\n    }\n}");
  EXPECT_EQ(Written(JsonPredictFormat::kRow, {{"y", Tensor(DType::kFloat, Shape({0, 3}))}}),
            "{\n    \"predictions\": []\n}");
  EXPECT_EQ(Written(JsonPredictFormat::kColumn, {{"y", Tensor(DType::kFloat, Shape({2, 0}))}}),
            "{\n    \"outputs\": [[], []]\n}");
  Tensor cube(DType::kInt32, Shape({2, 3, 2}));
  for (size_t i = 0; i < 12; ++i) cube.flat<int32_t>()[i] = static_cast<int32_t>(i);
  EXPECT_EQ(Written(JsonPredictFormat::kRow, {{"y", cube}}),
            "{\n    \"predictions\": [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]\n}");
}

TEST(JsonTensorWrite, StringsAndTokens) {
  const Tensor t = Tensor::Vector<std::string>({"hi\n"});
  EXPECT_EQ(Written(JsonPredictFormat::kRow, {{"foo_bytes", t}}),
            "{\n    \"predictions\": [{\"b64\": \"aGkK\"}]\n}");
  EXPECT_EQ(Written(JsonPredictFormat::kRow, {{"foo", t}}),
            "{\n    \"predictions\": [\"hi\\n\"]\n}");
  EXPECT_EQ(Written(JsonPredictFormat::kRow, {{"y", Tensor::Vector<float>({NAN, -INFINITY})}}),
            "{\n    \"predictions\": [NaN, -Infinity]\n}");
  std::string out;
  AppendJsonString("\xff\x01 \xc3\xa9\xe2\x82", &out);
  EXPECT_EQ(out, "\"\xef\xbf\xbd\\u0001 \xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(JsonTensorWrite, WhatHasNoForm) {
  std::string out = "kept";
  const std::vector<NamedTensor> scalar = {{"y", Tensor::Scalar(1.0f)}};
  Status status = AppendPredictJson(JsonPredictFormat::kRow, scalar, &out);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no shape information"));
  const std::vector<NamedTensor> uneven = {{"a", Tensor::Vector<float>({1, 2})},
                                           {"b", Tensor::Vector<float>({1})}};
  status = AppendPredictJson(JsonPredictFormat::kRow, uneven, &out);
  EXPECT_THAT(std::string(status.message()), HasSubstr("inconsistent batch size"));
  const std::vector<NamedTensor> complex = {{"y", Tensor::Vector<std::complex<float>>({{1, 2}})}};
  status = AppendPredictJson(JsonPredictFormat::kColumn, complex, &out);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(out, "kept");
  EXPECT_EQ(JsonErrorBody("a \"b\""), "{\n    \"error\": \"a \\\"b\\\"\"\n}\n");
}

}  // namespace
}  // namespace slipway
