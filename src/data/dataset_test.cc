// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "slipway/data.h"

namespace slipway::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset Range(int64_t n) {
  Tensor t(DType::kInt64, {n});
  std::iota(t.flat<int64_t>().begin(), t.flat<int64_t>().end(), 0);
  return *Dataset::FromTensorSlices({t});
}

std::vector<int64_t> Rest(Iterator& it, int64_t limit = 1000) {
  std::vector<int64_t> all;
  std::vector<Tensor> element;
  while (static_cast<int64_t>(all.size()) < limit) {
    auto more = it.Next(&element);
    EXPECT_TRUE(more.ok()) << more.status().ToString();
    if (!more.ok() || !*more) break;
    for (int64_t v : element[0].flat<int64_t>()) all.push_back(v);
  }
  return all;
}

std::vector<int64_t> All(const Dataset& d, int64_t epoch = 0, int64_t limit = 1000) {
  return Rest(**d.MakeIterator({.epoch = epoch}), limit);
}

TEST(DatasetTest, SlicesAreRowsThatShareMemory) {
  const Tensor x = Tensor::FromValues<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor y = Tensor::Vector<int32_t>({7, 8, 9});
  auto d = Dataset::FromTensorSlices({x, y});
  ASSERT_TRUE(d.ok());
  auto it = *d->MakeIterator();
  std::vector<Tensor> element;
  ASSERT_TRUE(*it->Next(&element));
  ASSERT_TRUE(*it->Next(&element));
  EXPECT_THAT(element[0].flat<float>(), ElementsAre(3, 4));
  EXPECT_EQ(element[0].raw_data(), x.flat<float>().data() + 2);
  EXPECT_EQ(element[1].scalar<int32_t>(), 8);
  EXPECT_EQ(d->cardinality(), 3);
  EXPECT_THAT(
      std::string(Dataset::FromTensorSlices({x, Tensor::Vector<float>({1})}).status().message()),
      HasSubstr("has 1 rows"));
}

TEST(DatasetTest, BatchesAndTheRest) {
  EXPECT_EQ(Range(7).Batch(3).cardinality(), 3);
  EXPECT_EQ(Range(7).Batch(3, true).cardinality(), 2);
  auto it = *Range(7).Batch(3).MakeIterator();
  std::vector<Tensor> batch;
  std::vector<int64_t> rows;
  while (*it->Next(&batch)) rows.push_back(batch[0].dim(0));
  EXPECT_THAT(rows, ElementsAre(3, 3, 1));
  EXPECT_THAT(All(Range(7).Batch(3, true)), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(DatasetTest, BatchReusesTensorsThatNobodyHolds) {
  auto it = *Range(9).Batch(3).MakeIterator();
  std::vector<Tensor> batch;
  ASSERT_TRUE(*it->Next(&batch));
  const void* memory = batch[0].raw_data();
  ASSERT_TRUE(*it->Next(&batch));
  EXPECT_EQ(batch[0].raw_data(), memory);
  const Tensor held = batch[0];
  ASSERT_TRUE(*it->Next(&batch));
  EXPECT_THAT(held.flat<int64_t>(), ElementsAre(3, 4, 5));
}

TEST(DatasetTest, BatchOfUnequalShapesNamesBoth) {
  Dataset ragged = Range(4).Map(
      [](const std::vector<Tensor>& e) -> StatusOr<std::vector<Tensor>> {
        return std::vector<Tensor>{Tensor(DType::kFloat, {e[0].scalar<int64_t>()})};
      },
      {{.dtype = DType::kFloat, .shape = {-1}, .name = ""}});
  auto it = *ragged.Skip(1).Batch(2).MakeIterator();
  std::vector<Tensor> batch;
  const Status status = it->Next(&batch).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("[2]"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("[1]"));
}

TEST(ShuffleTest, IsAPermutationThatDependsOnSeedAndEpoch) {
  const Dataset d = Range(100).Shuffle(100, 5);
  std::vector<int64_t> first = All(d, 0);
  EXPECT_EQ(first, All(d, 0));
  EXPECT_NE(first, All(d, 1));
  EXPECT_NE(first, All(Range(100).Shuffle(100, 6), 0));
  const Dataset fixed = Range(100).Shuffle(100, 5, false);
  EXPECT_EQ(All(fixed, 0), All(fixed, 1));
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, All(Range(100)));
}

TEST(ShuffleTest, SmallBufferKeepsElementsNear) {
  const std::vector<int64_t> order = All(Range(200).Shuffle(10, 1));
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_LT(order[i], static_cast<int64_t>(i) + 10) << "an element came before it was read";
  }
  EXPECT_NE(order, All(Range(200)));
}

TEST(ShuffleTest, EveryPlaceIsEquallyLikely) {
  std::vector<int> first_counts(10);
  for (int64_t epoch = 0; epoch < 5000; ++epoch) {
    ++first_counts[static_cast<size_t>(All(Range(10).Shuffle(10, 3), epoch)[0])];
  }
  for (int count : first_counts) EXPECT_NEAR(count, 500, 110);  // five standard deviations
}

// A shuffle over slices holds positions, one over other stages holds elements: the same properties.
TEST(ShuffleTest, WorksOverAnyStage) {
  std::vector<int64_t> order = All(Range(50).Take(40).Shuffle(40, 5));
  EXPECT_EQ(order.size(), 40u);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, All(Range(40)));
}

TEST(DatasetTest, TakeSkipRepeat) {
  EXPECT_THAT(All(Range(5).Skip(2).Take(2)), ElementsAre(2, 3));
  EXPECT_THAT(All(Range(2).Repeat(3)), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(All(Range(2).Repeat(), 0, 5), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_TRUE(All(Range(0).Repeat()).empty()) << "no elements, for ever";
  EXPECT_EQ(Range(5).Take(9).cardinality(), 5);
  EXPECT_EQ(Range(5).Repeat().cardinality(), std::nullopt);
  const std::vector<int64_t> twice = All(Range(30).Shuffle(30, 1).Repeat(2));
  EXPECT_NE(std::vector<int64_t>(twice.begin(), twice.begin() + 30),
            std::vector<int64_t>(twice.begin() + 30, twice.end()))
      << "the second repetition was not reshuffled";
}

TEST(PrefetchTest, KeepsOrderAndPassesErrorsOn) {
  EXPECT_EQ(All(Range(100).Prefetch(4)), All(Range(100)));
  Dataset failing = Range(10).Map(
      [](const std::vector<Tensor>& e) -> StatusOr<std::vector<Tensor>> {
        if (e[0].scalar<int64_t>() == 3) return DataLossError("record 3 is damaged");
        return e;
      },
      Range(1).element_spec());
  auto it = *failing.Prefetch(2).MakeIterator();
  std::vector<Tensor> element;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(*it->Next(&element));
  EXPECT_EQ(it->Next(&element).status().message(), "record 3 is damaged");
}

TEST(PrefetchTest, MayBeLeftInTheMiddle) {
  auto it = *Range(1'000'000).Prefetch(8).MakeIterator();
  std::vector<Tensor> element;
  ASSERT_TRUE(*it->Next(&element));
}

// Resuming a pass gives exactly what was left of it, wherever it was stopped.
TEST(IteratorStateTest, ResumesEveryPipelineAnywhere) {
  const Dataset pipelines[] = {
      Range(23),
      Range(23).Shuffle(23, 9).Batch(4),
      Range(23).Shuffle(5, 9).Batch(4, true).Prefetch(3),
      Range(23).Take(20).Shuffle(8, 2).Repeat(2).Batch(3),
      Range(23).Skip(3).Repeat(2).Prefetch(2),
  };
  for (const Dataset& d : pipelines) {
    const std::vector<int64_t> whole = All(d, 7);
    for (int stop = 0; stop < 12; ++stop) {
      auto it = *d.MakeIterator({.epoch = 7});
      std::vector<Tensor> element;
      size_t given = 0;
      for (int i = 0; i < stop && *it->Next(&element); ++i) {
        given += static_cast<size_t>(element[0].num_elements());
      }
      const std::string state = *it->SaveState();
      it = *d.MakeIterator({.epoch = 7});
      ASSERT_TRUE(it->RestoreState(state).ok());
      EXPECT_EQ(Rest(*it),
                std::vector<int64_t>(whole.begin() + static_cast<ptrdiff_t>(given), whole.end()));
    }
  }
}

TEST(IteratorStateTest, RefusesWhatIsNoState) {
  auto it = *Range(3).MakeIterator();
  EXPECT_EQ(it->RestoreState("nonsense").code(), Code::kDataLoss);
  EXPECT_EQ(it->RestoreState("slipway.iterator.1 -4").code(), Code::kDataLoss);
  EXPECT_EQ(it->RestoreState("slipway.iterator.1 99").code(), Code::kDataLoss);
}

}  // namespace
}  // namespace slipway::data
