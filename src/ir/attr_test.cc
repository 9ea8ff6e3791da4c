// SPDX-License-Identifier: Apache-2.0
#include "ir/attr.h"

#include <gtest/gtest.h>

#include <limits>

namespace slipway::ir {
namespace {

TEST(AttrTest, TextShowsTypeAndValue) {
  EXPECT_EQ(AttrValue(3).ToString(), "int 3");
  EXPECT_EQ(AttrValue(DType::kFloat).ToString(), "type DT_FLOAT");
  EXPECT_EQ(AttrValue(std::vector<DType>{DType::kFloat, DType::kInt32}).ToString(),
            "list(type) [DT_FLOAT, DT_INT32]");
  EXPECT_EQ(AttrValue("SAME").ToString(), "string \"SAME\"");
  EXPECT_EQ(AttrValue(std::vector<bool>{true, false}).ToString(), "list(bool) [true, false]");
  EXPECT_EQ(AttrValue(PartialShape({-1, 3})).ToString(), "shape [?,3]");
  EXPECT_EQ(AttrValue(FunctionRef{"f", {}}).ToString(), "func f");
  EXPECT_EQ(AttrValue().ToString(), "nothing");
  EXPECT_EQ(AttrValue(std::vector<int64_t>(100, 7)).ToString(),
            "list(int) [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, ...]");
}

TEST(AttrTest, EqualMeansTypeAndValue) {
  EXPECT_EQ(AttrValue(1), AttrValue(int64_t{1}));
  EXPECT_FALSE(AttrValue(1) == AttrValue(1.0f));
  EXPECT_FALSE(AttrValue(1) == AttrValue(true));
  EXPECT_EQ(AttrValue(std::numeric_limits<float>::quiet_NaN()),
            AttrValue(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(AttrValue(std::vector<int64_t>{1, 2}) == AttrValue(std::vector<int64_t>{1}));
  const FunctionRef f = {"f", {{"T", DType::kFloat}}};
  EXPECT_EQ(AttrValue(f), AttrValue(f));
  EXPECT_FALSE(AttrValue(f) == AttrValue(FunctionRef{"f", {{"T", DType::kHalf}}}));
}

TEST(AttrTest, TensorsCompareByDtypeShapeAndBytes) {
  const auto floats = [](float last) { return AttrValue(Tensor::Vector<float>({1, last})); };
  EXPECT_EQ(floats(2), floats(2));
  EXPECT_FALSE(floats(2) == floats(3));
  EXPECT_FALSE(AttrValue(Tensor::Scalar(1)) == AttrValue(Tensor::Vector<int32_t>({1})));
  EXPECT_FALSE(AttrValue(Tensor::Scalar(0)) == AttrValue(Tensor::Scalar(0.0f)));
  const std::string text(100, 'x');  // too long to lie in the string itself
  EXPECT_EQ(AttrValue(Tensor::Scalar(text)), AttrValue(Tensor::Scalar(text)));
  EXPECT_FALSE(AttrValue(Tensor::Scalar("a")) == AttrValue(Tensor::Scalar("b")));
}

}  // namespace
}  // namespace slipway::ir
