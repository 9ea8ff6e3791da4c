// SPDX-License-Identifier: Apache-2.0
#include "slipway/shape.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(ShapeTest, ScalarAndOthers) {
  const Shape scalar{};
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.num_elements(), 1);
  EXPECT_EQ(scalar.ToString(), "[]");
  const Shape matrix = {2, 3};
  EXPECT_EQ(matrix.num_elements(), 6);
  EXPECT_EQ(matrix.ToString(), "[2,3]");
  EXPECT_EQ(Shape({4, 0, 2}).num_elements(), 0);
  EXPECT_EQ(matrix, Shape({2, 3}));
  EXPECT_FALSE(matrix == Shape({3, 2}));
  EXPECT_FALSE(matrix == Shape({2, 3, 1}));
}

TEST(ShapeTest, GrowsPastTheInlineRank) {
  Shape shape;
  for (int i = 0; i < 10; ++i) {
    shape.AddDim(i + 1);
    EXPECT_EQ(shape.rank(), i + 1);
    for (int j = 0; j <= i; ++j) ASSERT_EQ(shape.dim(j), j + 1);
  }
  shape.set_dim(8, 77);
  const Shape copy = shape;
  EXPECT_EQ(copy, shape);
  EXPECT_EQ(copy.ToString(), "[1,2,3,4,5,6,7,8,77,10]");
  Shape moved = std::move(shape);
  EXPECT_EQ(moved, copy);
  shape = Shape({5});
  EXPECT_EQ(shape.ToString(), "[5]");
  moved = shape;  // from the heap back inline
  EXPECT_EQ(moved, Shape({5}));
  moved = copy;
  EXPECT_EQ(moved.dim(8), 77);
}

TEST(ShapeTest, FromDimsRefusesWhatCannotBe) {
  const auto code = [](std::vector<int64_t> dims) { return Shape::FromDims(dims).status().code(); };
  EXPECT_EQ(code({}), Code::kOk);
  EXPECT_EQ(code({2, 0, 3}), Code::kOk);
  EXPECT_EQ(code({int64_t{1} << 62, 1}), Code::kOk);
  EXPECT_EQ(code({0, int64_t{1} << 62, 4}), Code::kOk);
  EXPECT_EQ(code({2, -1}), Code::kInvalidArgument);
  EXPECT_EQ(code({int64_t{1} << 62, 2}), Code::kInvalidArgument);
  EXPECT_EQ(code({int64_t{1} << 62, 4, 0}), Code::kInvalidArgument);
  EXPECT_EQ(code(std::vector<int64_t>(254, 1)), Code::kOk);
  EXPECT_EQ(code(std::vector<int64_t>(255, 1)), Code::kInvalidArgument);
  EXPECT_EQ(Shape::FromDims(std::vector<int64_t>{3, -2}).status().message(),
            "Shape [3,-2] has a negative dimension");
}

TEST(PartialShapeTest, KnowsHowMuchItKnows) {
  const PartialShape unknown{};
  EXPECT_FALSE(unknown.has_rank());
  EXPECT_EQ(unknown.rank(), -1);
  EXPECT_EQ(unknown.ToString(), "<unknown>");
  const PartialShape partial = {-1, 3};
  EXPECT_EQ(partial.ToString(), "[?,3]");
  EXPECT_FALSE(partial.IsFullyDefined());
  EXPECT_EQ(partial.num_elements(), -1);
  EXPECT_EQ(partial.ToShape(), std::nullopt);
  const PartialShape full = Shape({2, 3});
  EXPECT_TRUE(full.IsFullyDefined());
  EXPECT_EQ(full.num_elements(), 6);
  EXPECT_EQ(full.ToShape(), Shape({2, 3}));
  EXPECT_EQ(PartialShape::UnknownOfRank(2).ToString(), "[?,?]");
}

TEST(PartialShapeTest, Admits) {
  EXPECT_TRUE(PartialShape().Admits(Shape({1, 2})));
  EXPECT_TRUE(PartialShape({-1, 3}).Admits(Shape({7, 3})));
  EXPECT_FALSE(PartialShape({-1, 3}).Admits(Shape({7, 4})));
  EXPECT_FALSE(PartialShape({-1, 3}).Admits(Shape({3})));
  EXPECT_TRUE(PartialShape(std::vector<int64_t>{}).Admits(Shape()));
}

TEST(PartialShapeTest, Merges) {
  const auto merge = [](PartialShape a, PartialShape b) {
    const StatusOr<PartialShape> merged = a.Merge(b);
    return merged.ok() ? merged->ToString() : std::string(merged.status().message());
  };
  EXPECT_EQ(merge({-1, 3}, {2, -1}), "[2,3]");
  EXPECT_EQ(merge(PartialShape(), {2, -1}), "[2,?]");
  EXPECT_EQ(merge({2, -1}, PartialShape()), "[2,?]");
  EXPECT_EQ(merge({2}, {3}), "Shapes [2] and [3] are incompatible");
  EXPECT_EQ(merge({2}, {2, 1}), "Shapes [2] and [2,1] are incompatible");
}

}  // namespace
}  // namespace slipway
