// SPDX-License-Identifier: Apache-2.0
#include "slipway/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace slipway {
namespace {

TEST(StatusTest, SuccessIsOneNullPointer) {
  EXPECT_EQ(sizeof(Status), sizeof(void*));
  const Status status = OkStatus();
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.ToString(), "OK");
  EXPECT_TRUE(Status(Code::kOk, "dropped") == OkStatus());
}

TEST(StatusTest, CodesHaveTheCanonicalNamesAndNumbers) {
  const char* names[] = {"OK",
                         "CANCELLED",
                         "UNKNOWN",
                         "INVALID_ARGUMENT",
                         "DEADLINE_EXCEEDED",
                         "NOT_FOUND",
                         "ALREADY_EXISTS",
                         "PERMISSION_DENIED",
                         "RESOURCE_EXHAUSTED",
                         "FAILED_PRECONDITION",
                         "ABORTED",
                         "OUT_OF_RANGE",
                         "UNIMPLEMENTED",
                         "INTERNAL",
                         "UNAVAILABLE",
                         "DATA_LOSS",
                         "UNAUTHENTICATED"};
  for (int i = 0; i < 17; ++i) EXPECT_EQ(CodeName(static_cast<Code>(i)), names[i]);
  EXPECT_EQ(CodeName(static_cast<Code>(17)), "UNKNOWN");
  EXPECT_EQ(CodeName(static_cast<Code>(-1)), "UNKNOWN");
  EXPECT_EQ(InvalidArgumentError("x").code(), Code::kInvalidArgument);
  EXPECT_EQ(DataLossError("x").code(), Code::kDataLoss);
  EXPECT_EQ(NotFoundError("no file").ToString(), "NOT_FOUND: no file");
}

TEST(StatusTest, CopiesAndMovesAreIndependent) {
  Status a = InternalError("a");
  Status b = a;
  a = OkStatus();
  EXPECT_EQ(b.ToString(), "INTERNAL: a");
  Status c = std::move(b);
  EXPECT_EQ(c.message(), "a");
  const Status& self = c;
  c = self;
  EXPECT_EQ(c.message(), "a");
  EXPECT_FALSE(c == InternalError("b"));
  EXPECT_FALSE(c == AbortedError("a"));
}

TEST(StatusTest, ContextGoesInFront) {
  EXPECT_EQ(NotFoundError("b").WithContext("a").ToString(), "NOT_FOUND: a: b");
  EXPECT_TRUE(OkStatus().WithContext("a").ok());
}

StatusOr<std::unique_ptr<int>> Half(int value) {
  if (value % 2 != 0) return InvalidArgumentError("odd");
  return std::make_unique<int>(value / 2);
}

StatusOr<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const auto half, Half(value));
  ASSIGN_OR_RETURN(const auto quarter, Half(*half));
  return *quarter;
}

Status CheckQuarter(int value, int wanted) {
  ASSIGN_OR_RETURN(const int quarter, Quarter(value));
  RETURN_IF_ERROR(quarter == wanted ? OkStatus() : InternalError("wrong"));
  return OkStatus();
}

TEST(StatusOrTest, MacrosUnpackAndReturn) {
  EXPECT_TRUE(CheckQuarter(12, 3).ok());
  EXPECT_EQ(CheckQuarter(12, 4).ToString(), "INTERNAL: wrong");
  EXPECT_EQ(CheckQuarter(6, 1).ToString(), "INVALID_ARGUMENT: odd");
  EXPECT_EQ(CheckQuarter(5, 1).ToString(), "INVALID_ARGUMENT: odd");
}

TEST(StatusOrTest, HoldsAValueOrAnError) {
  StatusOr<std::vector<int>> value = std::vector<int>{1, 2};
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->size(), 2u);
  value->push_back(3);
  const std::vector<int> taken = *std::move(value);
  EXPECT_EQ(taken.size(), 3u);
  const StatusOr<std::vector<int>> error = AbortedError("no");
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.status().message(), "no");
  const StatusOr<std::string> text = "converted";
  EXPECT_EQ(*text, "converted");
}

TEST(StatusOrDeathTest, ReadingAnErrorAborts) {
  StatusOr<int> error = AbortedError("no");
  EXPECT_DEATH(error.value(), "");
  EXPECT_DEATH(StatusOr<int>{OkStatus()}, "");
}

}  // namespace
}  // namespace slipway
