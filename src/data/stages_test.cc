// SPDX-License-Identifier: Apache-2.0
//
// What the reference cases of tests/pipelines do not reach: other types, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipway/data.h"

namespace slipway::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset Words(const std::vector<std::vector<std::string>>& rows) {
  std::vector<TensorSpec> spec = {
      {.dtype = DType::kString, .shape = PartialShape({-1}), .name = ""}};
  return Dataset::Range(0, static_cast<int64_t>(rows.size()))
      ->Map(
          [rows](const std::vector<Tensor>& e) -> StatusOr<std::vector<Tensor>> {
            const auto& row = rows[static_cast<size_t>(e[0].scalar<int64_t>())];
            return std::vector<Tensor>{
                Tensor::FromValues<std::string>(row, Shape({static_cast<int64_t>(row.size())}))};
          },
          spec);
}

Status Fails(const Dataset& dataset) {
  auto iterator = *dataset.MakeIterator();
  std::vector<Tensor> element;
  while (true) {
    auto more = iterator->Next(&element);
    if (!more.ok()) return more.status();
    if (!*more) return OkStatus();
  }
}

TEST(RangeTest, GoesDownAndRefusesAStepOfZero) {
  auto iterator = *Dataset::Range(5, 0, -2)->MakeIterator();
  std::vector<Tensor> element;
  for (const int64_t wanted : {5, 3, 1}) {
    ASSERT_TRUE(*iterator->Next(&element));
    EXPECT_EQ(element[0].scalar<int64_t>(), wanted);
  }
  EXPECT_FALSE(*iterator->Next(&element));
  EXPECT_EQ(Dataset::Range(3, 3)->cardinality(), 0);
  EXPECT_EQ(Dataset::Range(INT64_MIN, INT64_MAX)->cardinality(), INT64_MAX);
  EXPECT_EQ(Dataset::Range(0, 1, 0).status().code(), Code::kInvalidArgument);
}

TEST(PaddedBatchTest, FillsWordsUp) {
  const Dataset rows = Words({{"a"}, {"b", "c"}});
  auto iterator = *rows.PaddedBatch(2, {.values = {Tensor::Scalar("-")}}).MakeIterator();
  std::vector<Tensor> batch;
  ASSERT_TRUE(*iterator->Next(&batch));
  EXPECT_EQ(batch[0].shape(), Shape({2, 2}));
  EXPECT_THAT(batch[0].flat<std::string>(), ElementsAre("a", "-", "b", "c"));
}

TEST(PaddedBatchTest, RefusesWhatDoesNotFit) {
  const Dataset rows = Words({{"a"}, {"b", "c"}});
  const Status small = Fails(rows.PaddedBatch(2, {.shapes = {PartialShape({1})}}));
  EXPECT_EQ(small.code(), Code::kDataLoss);
  EXPECT_THAT(small.message(), HasSubstr("has size 2 in dimension 0, wanted 1"));
  const Status type = Fails(rows.PaddedBatch(2, {.values = {Tensor::Scalar(1.0f)}}));
  EXPECT_EQ(type.code(), Code::kInvalidArgument);
  EXPECT_THAT(type.message(), HasSubstr("must be a scalar of string"));
}

TEST(UniqueTest, KnowsWordsByTheirBytes) {
  const Dataset words = Words({{"a", "bc"}, {"ab", "c"}, {"a", "bc"}});
  auto iterator = *words.Unique().MakeIterator();
  std::vector<Tensor> element;
  for (const char* wanted : {"a", "ab"}) {
    ASSERT_TRUE(*iterator->Next(&element));
    EXPECT_EQ(element[0].flat<std::string>()[0], wanted);
  }
  EXPECT_FALSE(*iterator->Next(&element));
  const Dataset numbers = *Dataset::FromTensorSlices({Tensor::Vector<float>({1, 1})});
  EXPECT_THAT(Fails(numbers.Unique()).message(), HasSubstr("integers and strings, not float"));
}

TEST(CacheTest, CallsTheFunctionOnceAnElement) {
  int calls = 0;
  const Dataset counted =
      Dataset::Range(0, 3)
          ->Map(
              [&calls](const std::vector<Tensor>& e) -> StatusOr<std::vector<Tensor>> {
                ++calls;
                return e;
              },
              {{.dtype = DType::kInt64, .shape = PartialShape({}), .name = ""}})
          .Cache();
  EXPECT_TRUE(Fails(counted).ok());
  EXPECT_TRUE(Fails(counted).ok());
  EXPECT_EQ(calls, 3);
}

TEST(FilterTest, AnErrorOfThePredicateComesOut) {
  const Dataset refused = Dataset::Range(0, 3)->Filter(
      [](const std::vector<Tensor>&) -> StatusOr<bool> { return InternalError("no"); });
  EXPECT_EQ(Fails(refused).code(), Code::kInternal);
}

TEST(ZipTest, NeedsADataset) {
  EXPECT_EQ(Dataset::Zip({}).status().code(), Code::kInvalidArgument);
}

TEST(UnbatchTest, RowsMustAgree) {
  const Dataset one =
      *Dataset::Zip({Dataset::Range(0, 4)->Batch(2), Dataset::Range(0, 4)->Batch(4)});
  EXPECT_THAT(Fails(one.Unbatch()).message(), HasSubstr("as many rows each"));
}

}  // namespace
}  // namespace slipway::data
