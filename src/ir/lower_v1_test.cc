// SPDX-License-Identifier: Apache-2.0
#include "ir/lower_v1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"

namespace slipway::ir {
namespace {

using ::testing::HasSubstr;

int CountOps(const Graph& graph, const std::string& op) {
  int count = 0;
  for (const Node* node : graph.nodes()) count += node->op() == op ? 1 : 0;
  return count;
}

// A graph of TensorFlow 1 under construction; what a session would run of it.
class LowerV1Test : public ::testing::Test {
 protected:
  LowerV1Test() : b_(&graph_) {}

  StatusOr<Function> Extract(std::vector<std::pair<std::string, Output>> fetches,
                             std::vector<Node*> targets = {}) {
    EXPECT_TRUE(b_.ok()) << b_.status().ToString();
    SubgraphSpec spec;
    spec.name = "f";
    for (Node* node : graph_.nodes()) {
      if (node->op() == "Placeholder") spec.feeds.emplace_back(node->name(), Output{node, 0});
    }
    spec.fetches = std::move(fetches);
    spec.targets = std::move(targets);
    ASSIGN_OR_RETURN(Function function, ExtractFunction(graph_, spec));
    RETURN_IF_ERROR(LowerV1(function, "lowered", &library_));
    RETURN_IF_ERROR(function.graph.Validate());
    return function;
  }

  Output Enter(Output value, bool constant) {
    return b_.Op("Enter", {value}, {{"frame_name", "loop"}, {"is_constant", constant}});
  }
  // i = 0; while (i < n) i += 1
  struct Loop {
    Output merge, condition, exit;
  };
  Loop Count(Output n) {
    Loop loop;
    const Output in = Enter(b_.Scalar<int32_t>(0), false);
    loop.merge = b_.Op("Merge", {in, in}, {}, "variable");
    loop.condition = b_.Op("LoopCond", {b_.Op("Less", {loop.merge, Enter(n, true)})});
    const auto ways = b_.Ops("Switch", {loop.merge, loop.condition});
    const Output body = b_.Op("Identity", {ways[1]});
    const Output one = b_.Scalar<int32_t>(1);
    graph_.AddControlInput(one.node, body.node);
    const Output next = b_.Op("NextIteration", {b_.Op("AddV2", {body, one})});
    graph_.SetInput(loop.merge.node, 1, next);
    loop.exit = b_.Op("Exit", {ways[0]});
    return loop;
  }

  Graph graph_;
  GraphBuilder b_;
  FunctionLibrary library_;
};

TEST_F(LowerV1Test, FramesBecomeAWhile) {
  const Loop loop = Count(b_.Placeholder(DType::kInt32, {}, "n"));
  const auto f = Extract({{"r", loop.exit}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(CountOps(f->graph, "StatelessWhile"), 1);
  for (const char* op : {"Enter", "Merge", "Switch", "NextIteration", "Exit", "LoopCond"}) {
    EXPECT_EQ(CountOps(f->graph, op), 0) << op;
  }
  // The variable, and n beside it.
  EXPECT_EQ(f->returns[0].value.node->inputs().size(), 2u);
}

TEST_F(LowerV1Test, EffectsOfTheConditionComeWithItAndThoseOfTheBodyWithTheBody) {
  const Loop loop = Count(b_.Placeholder(DType::kInt32, {}, "n"));
  const Node* way = nullptr;
  for (const Node* user : loop.merge.node->users()) {
    if (user->op() == "Switch") way = user;
  }
  ASSERT_NE(way, nullptr);
  const Output yes = b_.Scalar(true);
  Node* seen = b_.AddNode("Assert", {yes, loop.merge}, {{"T", std::vector{DType::kInt32}}}, "seen");
  Node* ran = b_.AddNode("Assert", {yes, {const_cast<Node*>(way), 1}},
                         {{"T", std::vector{DType::kInt32}}}, "ran");
  graph_.AddControlInput(loop.merge.node->input(1).node, ran);
  graph_.AddControlInput(loop.condition.node, seen);
  const auto f = Extract({{"r", loop.exit}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(CountOps(f->graph, "While"), 1);
  for (const std::string& name : library_.Names()) {
    const Graph& graph = (*library_.Find(name))->graph;
    const bool condition = name.ends_with("/cond");
    EXPECT_EQ(graph.FindNode("seen") != nullptr, condition) << name;
    EXPECT_EQ(graph.FindNode("ran") != nullptr, !condition) << name;
  }
}

TEST_F(LowerV1Test, AVariableIsKnownInTheBodyOfALoop) {
  const Output handle =
      b_.Op("VarHandleOp", {},
            {{"dtype", DType::kInt32}, {"shape", PartialShape({})}, {"shared_name", "v"}}, "v");
  const Output inside = Enter(handle, true);
  const Output n = b_.Op("ReadVariableOp", {inside}, {{"dtype", DType::kInt32}}, "n");
  const Output in = Enter(b_.Scalar<int32_t>(0), false);
  const Output merge = b_.Op("Merge", {in, in}, {}, "variable");
  const Output condition = b_.Op("LoopCond", {b_.Op("Less", {merge, n})});
  const auto ways = b_.Ops("Switch", {merge, condition});
  const Output next = b_.Op("NextIteration", {b_.Op("AddV2", {ways[1], n})});
  graph_.SetInput(merge.node, 1, next);
  const auto f = Extract({{"r", b_.Op("Exit", {ways[0]})}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(f->returns[0].value.node->inputs().size(), 1u)
      << "the handle is no variable of the loop";
  for (const std::string& name : library_.Names()) {
    EXPECT_EQ(CountOps((*library_.Find(name))->graph, "VarHandleOp"), 1) << name;
  }
}

// The second conditional depends on what the first one decides.
TEST_F(LowerV1Test, AMergeMayDecideInTurn) {
  const Output p = b_.Placeholder(DType::kBool, {}, "p");
  const Output x = b_.Placeholder(DType::kFloat, {}, "x");
  Output decision = p;
  Output value = x;
  for (int i = 0; i < 5; ++i) {
    const auto flags = b_.Ops("Switch", {decision, decision});
    const auto ways = b_.Ops("Switch", {value, decision});
    decision = b_.Ops("Merge", {b_.Op("LogicalNot", {flags[0]}), b_.Op("Identity", {flags[1]})})[0];
    value = b_.Ops("Merge", {b_.Op("Neg", {ways[0]}), b_.Op("Square", {ways[1]})})[0];
  }
  const auto f = Extract({{"value", value}, {"decision", decision}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(CountOps(f->graph, "Switch") + CountOps(f->graph, "Merge"), 0);
  EXPECT_GE(CountOps(f->graph, "StatelessIf"), 5);
}

TEST_F(LowerV1Test, ThousandsOfConditionalsEnd) {
  const Output p = b_.Placeholder(DType::kBool, {}, "p");
  Output value = b_.Placeholder(DType::kFloat, {}, "x");
  for (int i = 0; i < 3000; ++i) {
    const auto ways = b_.Ops("Switch", {value, b_.Op("LogicalNot", {p})});
    value = b_.Ops("Merge", {b_.Op("Neg", {ways[0]}), b_.Op("Square", {ways[1]})})[0];
  }
  const auto f = Extract({{"r", value}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(CountOps(f->graph, "StatelessIf"), 3000);
}

TEST_F(LowerV1Test, AnExitOfSomethingWithoutInputsIsRefused) {
  const Output n = b_.Placeholder(DType::kInt32, {}, "n");
  const Loop loop = Count(n);
  const Output lost =
      b_.Op("Const", {}, {{"dtype", DType::kInt32}, {"value", Tensor::Scalar<int32_t>(1)}});
  graph_.AddControlInput(lost.node, loop.merge.node);
  const auto f = Extract({{"r", loop.exit}, {"lost", b_.Op("Exit", {lost}, {}, "lost")}});
  EXPECT_EQ(f.status().code(), Code::kUnimplemented);
  EXPECT_THAT(f.status().message(), HasSubstr("'lost'"));
}

TEST_F(LowerV1Test, LoweredTwiceUnderOneNameTheFunctionsAreTheSame) {
  const Loop loop = Count(b_.Placeholder(DType::kInt32, {}, "n"));
  ASSERT_TRUE(Extract({{"r", loop.exit}}).ok());
  const size_t functions = library_.Names().size();
  EXPECT_EQ(functions, 2u);
  ASSERT_TRUE(Extract({{"r", loop.exit}}).ok());
  EXPECT_EQ(library_.Names().size(), functions);
}

TEST_F(LowerV1Test, AValueFetchedFromInsideALoopIsRefusedByName) {
  const Loop loop = Count(b_.Placeholder(DType::kInt32, {}, "n"));
  const auto f = Extract({{"r", loop.exit}, {"inside", loop.merge}});
  EXPECT_EQ(f.status().code(), Code::kUnimplemented);
  EXPECT_THAT(f.status().message(), HasSubstr("'variable' (Merge)"));
}

TEST_F(LowerV1Test, SwitchAndMergeBecomeAnIf) {
  const Output p = b_.Placeholder(DType::kBool, {}, "p");
  const Output x = b_.Placeholder(DType::kFloat, {}, "x");
  const auto ways = b_.Ops("Switch", {x, b_.Op("Identity", {p})});
  const auto merged = b_.Ops("Merge", {b_.Op("Neg", {ways[0]}), b_.Op("Square", {ways[1]})});
  const auto f = Extract({{"r", merged[0]}, {"index", merged[1]}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(CountOps(f->graph, "StatelessIf"), 1);
  EXPECT_EQ(CountOps(f->graph, "Neg") + CountOps(f->graph, "Switch"), 0);
}

TEST_F(LowerV1Test, AValueOfABranchThatMayNotRunIsRefusedByName) {
  const Output p = b_.Placeholder(DType::kBool, {}, "p");
  const auto ways = b_.Ops("Switch", {b_.Scalar(1.0f), p});
  const auto f = Extract({{"r", b_.Op("Neg", {ways[0]}, {}, "dead")}});
  EXPECT_EQ(f.status().code(), Code::kUnimplemented);
  EXPECT_THAT(f.status().message(), HasSubstr("'dead' (Neg)"));
}

TEST_F(LowerV1Test, ReferencesBecomeResourcesAndKeepTheirOrder) {
  const Output v =
      b_.Op("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape({})}}, "v");
  const Output by = b_.Placeholder(DType::kFloat, {}, "by");
  const Output before = b_.Op("Identity", {v}, {}, "before");
  const Output added = b_.Op("AssignAdd", {v, by}, {}, "added");
  graph_.AddControlInput(added.node, before.node);
  const Output set = b_.Op("Assign", {added, by}, {}, "set");
  const auto f = Extract({{"before", before}, {"after", set}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(CountOps(f->graph, "VariableV2") + CountOps(f->graph, "Assign"), 0);
  const Node* handle = f->graph.FindNode("v/handle");
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(*handle->Attr<std::string>("shared_name"), "v");
  // before -> added -> set -> the read that is fetched
  const Node* read = f->returns[1].value.node;
  ASSERT_EQ(read->op(), "ReadVariableOp");
  ASSERT_EQ(read->control_inputs().size(), 1u);
  const Node* assign = read->control_inputs()[0];
  ASSERT_EQ(assign->op(), "AssignVariableOp");
  ASSERT_EQ(assign->control_inputs().size(), 1u);
  const Node* add = assign->control_inputs()[0];
  ASSERT_EQ(add->op(), "AssignAddVariableOp");
  EXPECT_EQ(add->control_inputs()[0]->name(), "before");
}

}  // namespace
}  // namespace slipway::ir
