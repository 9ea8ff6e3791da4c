// SPDX-License-Identifier: Apache-2.0
#include "ir/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Output Variable(GraphBuilder& b, const char* name) {
  return b.Op("VarHandleOp", {},
              {{"dtype", DType::kFloat}, {"shape", PartialShape({2})}, {"shared_name", name}},
              name);
}

Node* Read(GraphBuilder& b, Output handle) {
  return b.AddNode("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}});
}

TEST(BuilderTest, FirstErrorSticks) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output bad = b.Op("MatMul", {b.Scalar(1.0f), b.Scalar(2)});
  EXPECT_FALSE(bad.valid());
  const Status first = b.status();
  EXPECT_EQ(first.code(), Code::kInvalidArgument);
  EXPECT_FALSE(b.Op("Relu", {bad}).valid());
  EXPECT_TRUE(b.Ops("Relu", {bad}).empty());
  EXPECT_EQ(b.AddNode("NoOp", {}), nullptr);
  EXPECT_EQ(b.status(), first);
  EXPECT_EQ(graph.num_nodes(), 2);
}

TEST(BuilderTest, ScopesNest) {
  Graph graph;
  GraphBuilder b(&graph);
  {
    GraphBuilder::Scope outer(&b, "dense");
    GraphBuilder::Scope inner(&b, "call");
    EXPECT_EQ(b.Scalar(1.0f).node->name(), "dense/call/Const");
  }
  EXPECT_EQ(b.Scalar(1.0f).node->name(), "Const");
}

TEST(BuilderTest, ScalarLikeHasTheDtypeOfAnyNumber) {
  Graph graph;
  GraphBuilder b(&graph);
  for (const DType dtype : {DType::kFloat, DType::kHalf, DType::kInt64, DType::kUInt8}) {
    const Output like = b.Placeholder(dtype, PartialShape::Unknown(), "x");
    EXPECT_EQ(b.ScalarLike(3, like).dtype(), dtype);
  }
  ASSERT_TRUE(b.ok());
  b.ScalarLike(3, b.Placeholder(DType::kString, PartialShape::Unknown(), "s"));
  EXPECT_FALSE(b.ok());
}

TEST(BuilderTest, ReadsAndWritesOfAVariableKeepProgramOrder) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output v = Variable(b, "v"), w = Variable(b, "w");
  const Output one = b.Const(Tensor::Vector<float>({1, 1}));
  Node* read1 = Read(b, v);
  Node* read2 = Read(b, v);
  Node* write = b.AddNode("AssignAddVariableOp", {v, one});
  Node* read3 = Read(b, v);
  Node* other = b.AddNode("AssignVariableOp", {w, one});
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  EXPECT_THAT(read1->control_inputs(), IsEmpty());
  EXPECT_THAT(read2->control_inputs(), IsEmpty());
  EXPECT_THAT(write->control_inputs(), UnorderedElementsAre(read1, read2));
  EXPECT_THAT(read3->control_inputs(), ElementsAre(write));
  EXPECT_THAT(other->control_inputs(), IsEmpty());
}

TEST(BuilderTest, HandlesOfOneVariableAreOneResource) {
  Graph graph;
  GraphBuilder b(&graph);
  Node* read = Read(b, Variable(b, "v"));
  const Output again = b.Op("Identity", {Variable(b, "v")});
  Node* write = b.AddNode("AssignVariableOp", {again, b.Const(Tensor::Vector<float>({1, 1}))});
  EXPECT_THAT(write->control_inputs(), ElementsAre(read));
}

TEST(BuilderTest, ALaterBuilderGoesOnInOrder) {
  Graph graph;
  GraphBuilder first(&graph);
  const Output v = Variable(first, "v");
  Node* read = Read(first, v);
  GraphBuilder second(&graph);
  Node* write =
      second.AddNode("AssignVariableOp", {v, second.Const(Tensor::Vector<float>({1, 1}))});
  EXPECT_THAT(write->control_inputs(), ElementsAre(read));
}

TEST(BuilderTest, StatefulOpsAreOrderedRandomOnesAreNot) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output name = b.Scalar(std::string("f"));
  Node* read = b.AddNode("ReadFile", {name});
  const Output shape = b.Int32Vector({2});
  Node* random = b.AddNode("RandomUniform", {shape}, {{"dtype", DType::kFloat}});
  Node* again = b.AddNode("ReadFile", {name});
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  EXPECT_THAT(random->control_inputs(), IsEmpty());
  EXPECT_THAT(again->control_inputs(), ElementsAre(read));
}

}  // namespace
}  // namespace slipway::ir
