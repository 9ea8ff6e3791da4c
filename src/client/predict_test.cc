// SPDX-License-Identifier: Apache-2.0
#include "client/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::client {
namespace {

using testing::HasSubstr;

TEST(DecodePredict, NestingIsNoWayToEndTheProgram) {
  constexpr size_t kDepth = 500'000;
  std::string deep(R"({"predictions": [1, {"a": )");
  deep.append(kDepth, '[').append(kDepth, ']').append("}]}");
  const auto object = DecodePredict(Protocol::kRest, deep);
  EXPECT_THAT(object.status().message(), HasSubstr("The answer holds an object, only numbers"));
  const std::string lists =
      "{\"predictions\": " + std::string(kDepth, '[') + std::string(kDepth, ']') + "}";
  EXPECT_FALSE(DecodePredict(Protocol::kRest, lists).ok());
}

TEST(DecodePredict, TextsAreShown) {
  const auto answer = DecodePredict(Protocol::kRest, "{\"outputs\": [\"yes\"]}");
  EXPECT_THAT(answer.status().message(), HasSubstr("yes"));
}

}  // namespace
}  // namespace slipway::client
