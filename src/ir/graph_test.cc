// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"

namespace slipway::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Message(const Status& status) { return std::string(status.message()); }

Output Input(Graph& graph, const char* name, DType dtype = DType::kFloat,
             PartialShape shape = PartialShape::Unknown()) {
  return GraphBuilder(&graph).Placeholder(dtype, std::move(shape), name);
}

TEST(GraphTest, AddNodeFillsTypesFromInputs) {
  Graph graph;
  const Output x = Input(graph, "x"), y = Input(graph, "y");
  const auto node = graph.AddNode({.op = "AddV2", .name = "sum", .inputs = {x, y}});
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  EXPECT_EQ((*node)->dtype(0), DType::kFloat);
  EXPECT_EQ(*(*node)->Attr<DType>("T"), DType::kFloat);
  const auto pack = graph.AddNode({.op = "Pack", .inputs = {x, y, x}});
  ASSERT_TRUE(pack.ok()) << pack.status().ToString();
  EXPECT_EQ(*(*pack)->Attr<int64_t>("N"), 3);
  EXPECT_EQ(*(*pack)->Attr<int64_t>("axis"), 0);  // the schema's default
}

TEST(GraphTest, AddNodeRefusesWhatDoesNotFit) {
  Graph graph;
  const Output x = Input(graph, "x"), i = Input(graph, "i", DType::kInt32);
  const auto message = [&](NodeSpec spec) {
    const auto node = graph.AddNode(std::move(spec));
    EXPECT_EQ(node.status().code(), Code::kInvalidArgument);
    return Message(node.status());
  };
  EXPECT_THAT(
      message({.op = "AddV2", .name = "n", .inputs = {x, i}}),
      HasSubstr("AddV2 'n': Input 1 ('y') has type int32 that does not match type float32"));
  EXPECT_THAT(message({.op = "AddV2", .inputs = {x}}), HasSubstr("has 1 inputs; wanted 2 [x, y]"));
  EXPECT_THAT(message({.op = "Frobnicate"}), HasSubstr("Op type not registered 'Frobnicate'"));
  EXPECT_THAT(message({.op = "Relu", .inputs = {Output{x.node, 1}}}), HasSubstr("x:1"));
  EXPECT_THAT(message({.op = "Relu", .inputs = {x}, .attrs = {{"alpha", 1}}}),
              HasSubstr("attribute 'alpha' is not one of the op's [T]"));
  EXPECT_THAT(message({.op = "Placeholder"}), HasSubstr("'dtype' (type) is missing"));
  EXPECT_THAT(message({.op = "MatMul", .inputs = {x, x}, .attrs = {{"transpose_a", 1}}}),
              HasSubstr("'transpose_a' is int 1; wanted a value of type bool"));
  EXPECT_THAT(message({.op = "Sqrt", .inputs = {i}}),
              HasSubstr("attr 'T' of type DT_INT32 is not in the list of allowed values"));
  Graph other;
  EXPECT_THAT(message({.op = "Relu", .inputs = {Input(other, "far")}}), HasSubstr("of this graph"));
  EXPECT_EQ(graph.num_nodes(), 2);
}

TEST(GraphTest, NamesAreMadeUnique) {
  Graph graph;
  EXPECT_EQ(Input(graph, "x").node->name(), "x");
  EXPECT_EQ(Input(graph, "x").node->name(), "x_1");
  EXPECT_EQ(Input(graph, "x").node->name(), "x_2");
  EXPECT_EQ(graph.UniqueName("y"), "y");
  EXPECT_EQ(graph.FindNode("x_1")->name(), "x_1");
}

TEST(GraphTest, AttrErrorNamesBothTypes) {
  Graph graph;
  const Output x = Input(graph, "x");
  EXPECT_THAT(Message(x.node->Attr<int64_t>("dtype").status()),
              HasSubstr("attribute 'dtype' is type DT_FLOAT; wanted a value of type int"));
  EXPECT_THAT(Message(x.node->Attr<bool>("no").status()), HasSubstr("is missing"));
}

TEST(GraphTest, EditsKeepUsers) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = Input(graph, "x"), y = Input(graph, "y");
  const Output twice = b.Op("AddV2", {x, x}), relu = b.Op("Relu", {x});
  graph.AddControlInput(relu.node, y.node);
  EXPECT_EQ(x.node->users().size(), 3u);
  graph.ReplaceUses(x, y);
  EXPECT_TRUE(x.node->users().empty());
  EXPECT_EQ(twice.node->input(1), y);
  EXPECT_EQ(y.node->users().size(), 4u);
  graph.ReplaceControl(y.node, x.node);
  EXPECT_THAT(relu.node->control_inputs(), ElementsAre(x.node));
  graph.ReplaceControl(x.node, nullptr);
  EXPECT_TRUE(relu.node->control_inputs().empty());
  graph.Remove(x.node);
  EXPECT_EQ(graph.FindNode("x"), nullptr);
  EXPECT_TRUE(graph.Validate().ok());
}

TEST(GraphTest, RemovingInAnyOrderIsSafe) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = Input(graph, "x"), relu = b.Op("Relu", {x});
  graph.Remove(x.node);
  EXPECT_FALSE(relu.node->input(0).valid());
  EXPECT_THAT(Message(graph.Validate()), HasSubstr("input 0 is not a value of the graph"));
  graph.Remove(relu.node);
  EXPECT_EQ(graph.num_nodes(), 0);
}

TEST(GraphTest, TopologicalOrderOfAVeryLongChain) {
  Graph graph;
  GraphBuilder b(&graph);
  Output x = Input(graph, "x");
  const Output first = b.Op("Relu", {x});
  Output last = first;
  for (int i = 0; i < 100'000; ++i) last = b.Op("Relu", {last});
  ASSERT_TRUE(b.ok());
  const auto order = graph.TopologicalOrder();
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->back(), last.node);
  graph.SetInput(first.node, 0, last);
  EXPECT_EQ(graph.TopologicalOrder().status().code(), Code::kInvalidArgument);
  EXPECT_THAT(Message(graph.Validate()), HasSubstr("lies on a cycle"));
}

TEST(GraphTest, CreationOrderIsKeptWhereEdgesAllow) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output a = Input(graph, "a"), c = Input(graph, "c"), d = b.Op("Relu", {a});
  graph.AddControlInput(a.node, c.node);
  EXPECT_THAT(*graph.TopologicalOrder(), ElementsAre(c.node, a.node, d.node));
}

TEST(GraphTest, CloneIsIndependent) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = Input(graph, "x", DType::kFloat, {2, 3}), relu = b.Op("Relu", {x}, {}, "r");
  graph.AddControlInput(relu.node, x.node);
  relu.node->set_shape(0, {2, 3});
  std::unordered_map<const Node*, Node*> mapping;
  Graph copy = graph.Clone(&mapping);
  graph.Remove(relu.node);
  Node* twin = copy.FindNode("r");
  ASSERT_NE(twin, nullptr);
  EXPECT_EQ(mapping[x.node], twin->input(0).node);
  EXPECT_EQ(twin->shape(0), PartialShape({2, 3}));
  EXPECT_THAT(twin->control_inputs(), ElementsAre(copy.FindNode("x")));
  EXPECT_TRUE(copy.Validate().ok());
}

TEST(GraphTest, OpaqueNodesAreKeptAsTheyAre) {
  Graph graph;
  const Output x = Input(graph, "x");
  const auto node = graph.AddOpaqueNode({.op = "NobodyKnows", .inputs = {x}, .attrs = {{"k", 3}}},
                                        {DType::kFloat, DType::kInvalid});
  ASSERT_TRUE(node.ok());
  EXPECT_EQ((*node)->schema(), nullptr);
  EXPECT_EQ((*node)->effect(), Effect::kStateful);
  EXPECT_TRUE(graph.AddNode({.op = "Relu", .inputs = {Output{*node, 0}}}).ok());
  EXPECT_TRUE(graph.Validate().ok());
  EXPECT_TRUE(graph.InferShapes().ok());
}

TEST(GraphTest, UsesListsDataAndControl) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = Input(graph, "x");
  Node* add = b.AddNode("AddV2", {x, x});
  Node* relu = b.AddNode("Relu", {{add, 0}});
  graph.AddControlInput(relu, x.node);
  const Uses uses(graph);
  ASSERT_EQ(uses.of(x).size(), 2u);
  EXPECT_EQ(uses.of(x)[1].input, 1);
  EXPECT_TRUE(uses.of({relu, 0}).empty());
  EXPECT_THAT(uses.control_of(x.node), ElementsAre(relu));
}

}  // namespace
}  // namespace slipway::ir
