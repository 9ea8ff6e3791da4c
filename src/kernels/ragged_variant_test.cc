// SPDX-License-Identifier: Apache-2.0
//
// Variants cannot be written into cases: what goes in as a ragged tensor must come out as
// TensorFlow's documentation of RaggedTensorFromVariant has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/testing.h"

namespace slipway::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StatusOr<std::vector<Tensor>> Call(const std::string& op, ir::AttrMap attrs,
                                   const std::vector<Tensor>& inputs) {
  ir::Graph graph;
  ir::NodeSpec spec{.op = op, .attrs = std::move(attrs)};
  for (const Tensor& input : inputs) {
    ir::NodeSpec placeholder{.op = "Placeholder", .attrs = {{"dtype", input.dtype()}}};
    ASSIGN_OR_RETURN(ir::Node * node, graph.AddNode(std::move(placeholder)));
    spec.inputs.push_back({node, 0});
  }
  ASSIGN_OR_RETURN(ir::Node * node, graph.AddNode(std::move(spec)));
  return RunNode(*node, inputs);
}

StatusOr<Tensor> ToVariant(const std::vector<Tensor>& inputs, bool batched) {
  ASSIGN_OR_RETURN(auto outputs, Call("RaggedTensorToVariant",
                                      {{"RAGGED_RANK", static_cast<int64_t>(inputs.size()) - 1},
                                       {"Tvalues", inputs.back().dtype()},
                                       {"Tsplits", DType::kInt64},
                                       {"batched_input", batched}},
                                      inputs));
  return outputs[0];
}
StatusOr<std::vector<Tensor>> FromVariant(const Tensor& encoded, int64_t input_rank,
                                          int64_t output_rank) {
  return Call("RaggedTensorFromVariant",
              {{"input_ragged_rank", input_rank},
               {"output_ragged_rank", output_rank},
               {"Tvalues", DType::kString},
               {"Tsplits", DType::kInt64}},
              {encoded});
}

// [[[a, b], []], [], [[c]]]
const Tensor kOuter = Tensor::Vector<int64_t>({0, 2, 2, 3});
const Tensor kInner = Tensor::Vector<int64_t>({0, 2, 2, 3});
const Tensor kWords = Tensor::Vector<std::string>({"a", "b", "c"});

TEST(RaggedVariant, KeepsAWholeRaggedTensor) {
  const auto encoded = ToVariant({kOuter, kInner, kWords}, /*batched=*/false);
  ASSERT_TRUE(encoded.ok()) << encoded.status().ToString();
  EXPECT_EQ(encoded->rank(), 0);
  const auto back = FromVariant(*encoded, 2, 2);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_THAT((*back)[0].flat<int64_t>(), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT((*back)[1].flat<int64_t>(), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT((*back)[2].flat<std::string>(), ElementsAre("a", "b", "c"));
}

TEST(RaggedVariant, RowsStackToWhatTheyWere) {
  const auto rows = ToVariant({kOuter, kInner, kWords}, /*batched=*/true);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->shape(), Shape({3}));
  const auto back = FromVariant(*rows, -1, 2);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_THAT((*back)[0].flat<int64_t>(), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT((*back)[1].flat<int64_t>(), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT((*back)[2].flat<std::string>(), ElementsAre("a", "b", "c"));
  // In a matrix of variants, each row of it becomes a row.
  const auto square = FromVariant(rows->Slice(0, 2).Reshaped(Shape({2, 1})), 1, 3);
  ASSERT_TRUE(square.ok()) << square.status().ToString();
  EXPECT_THAT((*square)[0].flat<int64_t>(), ElementsAre(0, 1, 2));
  EXPECT_THAT((*square)[1].flat<int64_t>(), ElementsAre(0, 2, 2));
  EXPECT_THAT((*square)[2].flat<int64_t>(), ElementsAre(0, 2, 2));
  EXPECT_THAT((*square)[3].flat<std::string>(), ElementsAre("a", "b"));
}

TEST(RaggedVariant, DenseRowsBecomeRaggedOnes) {
  const auto rows =
      ToVariant({Tensor::FromValues<std::string>({"a", "b", "c", "d"}, Shape({2, 2}))},
                /*batched=*/true);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  const auto back = FromVariant(*rows, 0, 1);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_THAT((*back)[0].flat<int64_t>(), ElementsAre(0, 2, 4));
  EXPECT_THAT((*back)[1].flat<std::string>(), ElementsAre("a", "b", "c", "d"));
}

TEST(RaggedVariant, NamesWhatDoesNotFit) {
  const auto encoded = ToVariant({kOuter, kInner, kWords}, /*batched=*/false);
  ASSERT_TRUE(encoded.ok());
  EXPECT_THAT(std::string(FromVariant(*encoded, 1, 1).status().message()),
              HasSubstr("has ragged_rank=2.  Expected ragged_rank=1"));
  EXPECT_THAT(std::string(FromVariant(*encoded, 1, 3).status().message()),
              HasSubstr("output_ragged_rank must be equal to"));
  Tensor empty(DType::kVariant, Shape({}));
  EXPECT_THAT(std::string(FromVariant(empty, 0, 0).status().message()),
              HasSubstr("does not hold a RaggedTensorVariant"));
  EXPECT_FALSE(ToVariant({Tensor::Vector<int64_t>({0, 9}), kWords}, true).ok());
}

}  // namespace
}  // namespace slipway::kernels
