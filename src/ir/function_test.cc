// SPDX-License-Identifier: Apache-2.0
#include "ir/function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "ir/builder.h"

namespace slipway::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string Message(const Status& status) { return std::string(status.message()); }

// double(x) = x + x
Function Double(const char* name = "double") {
  Function f;
  f.name = name;
  const Output x = *f.AddArg("x", DType::kFloat, PartialShape::Unknown());
  GraphBuilder b(&f.graph);
  f.returns.push_back({"y", b.Op("AddV2", {x, x}, {}, "sum")});
  return f;
}

Output Variable(GraphBuilder& b) {
  return b.Op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape({2})}}, "v");
}

TEST(FunctionTest, ArgsAreNodesAndCloneMapsThem) {
  Function f = Double();
  EXPECT_EQ(f.args[0].node->op(), "_Arg");
  EXPECT_EQ(*f.args[0].node->Attr<int64_t>("index"), 0);
  f.control_returns.emplace_back("done", f.returns[0].value.node);
  StatusOr<Function> copy = f.Clone();
  ASSERT_TRUE(copy.ok());
  EXPECT_NE(copy->args[0].node, f.args[0].node);
  EXPECT_EQ(copy->returns[0].value.node, copy->graph.FindNode("sum"));
  EXPECT_EQ(copy->control_returns[0].second, copy->graph.FindNode("sum"));
  EXPECT_EQ(copy->returns[0].value.node->input(0).node, copy->args[0].node);
}

TEST(FunctionLibraryTest, AddsFindsAndRefusesTwice) {
  FunctionLibrary library;
  ASSERT_TRUE(library.Add(Double()).ok());
  EXPECT_EQ(library.Add(Double()).code(), Code::kAlreadyExists);
  EXPECT_EQ((*library.Find("double"))->name, "double");
  EXPECT_EQ(library.Find("triple").status().code(), Code::kNotFound);
  EXPECT_TRUE(library.Contains("double"));
  EXPECT_THAT(library.Names(), ElementsAre("double"));
}

TEST(FunctionLibraryTest, ParsesOnceOnFirstUseFromAnyThread) {
  FunctionLibrary library;
  std::atomic<int> calls = 0;
  ASSERT_TRUE(library
                  .AddLazily("f",
                             [&]() -> StatusOr<Function> {
                               ++calls;
                               return Double("f");
                             })
                  .ok());
  EXPECT_EQ(calls, 0);
  std::vector<std::thread> threads;
  std::array<const Function*, 4> found = {};
  for (const Function*& out : found) threads.emplace_back([&] { out = *library.Find("f"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 1);
  for (const Function* f : found) EXPECT_EQ(f, found[0]);
}

TEST(FunctionLibraryTest, AnErrorOfTheParserStays) {
  FunctionLibrary library;
  int calls = 0;
  ASSERT_TRUE(library
                  .AddLazily("f",
                             [&]() -> StatusOr<Function> {
                               ++calls;
                               return InvalidArgumentError("bad edge");
                             })
                  .ok());
  EXPECT_EQ(Message(library.Find("f").status()), "Function \"f\": bad edge");
  EXPECT_EQ(Message(library.Find("f").status()), "Function \"f\": bad edge");
  EXPECT_EQ(calls, 1);
}

TEST(ExtractTest, CutsAtFeedsAndLeavesTheRest) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = b.Placeholder(DType::kFloat, {2, 3}, "x");
  const Output mid = b.Op("Relu", {x}, {}, "mid");
  const Output y = b.Op("AddV2", {mid, b.Scalar(1.0f)}, {}, "y");
  b.Op("Neg", {y}, {}, "unused");
  const StatusOr<Function> f = ExtractFunction(graph, {"f", {{"in", mid}}, {{"out", y}}, {}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(f->graph.num_nodes(), 3);  // _Arg, Const, AddV2
  EXPECT_EQ(f->args[0].name, "in");
  EXPECT_EQ(f->args[0].node->shape(0), mid.shape());
  EXPECT_EQ(f->returns[0].name, "out");
  EXPECT_EQ(f->returns[0].value.node->input(0).node, f->args[0].node);
  EXPECT_TRUE(f->graph.Validate().ok());
}

TEST(ExtractTest, NamesAPlaceholderThatIsNotFed) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = b.Placeholder(DType::kFloat, {2}, "dense_input"), y = b.Op("Relu", {x});
  const auto f = ExtractFunction(graph, {"serve", {}, {{"out", y}}, {}});
  EXPECT_EQ(f.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(Message(f.status()),
              HasSubstr("feed a value for placeholder tensor 'dense_input' with dtype float32"));
}

TEST(ExtractTest, RefusesWhatIsNotInTheGraph) {
  Graph graph, other;
  const Output x = GraphBuilder(&graph).Scalar(1.0f), far = GraphBuilder(&other).Scalar(1.0f);
  EXPECT_THAT(Message(ExtractFunction(graph, {"f", {}, {{"y", far}}, {}}).status()),
              HasSubstr("Fetch \"y\" of \"f\" is not a value"));
  EXPECT_FALSE(ExtractFunction(graph, {"f", {}, {{"y", {x.node, 7}}}, {}}).ok());
  EXPECT_FALSE(ExtractFunction(graph, {"f", {}, {}, {nullptr}}).ok());
  EXPECT_FALSE(ExtractFunction(graph, {"f", {{"a", x}, {"b", x}}, {}, {}}).ok());
}

TEST(ExtractTest, TargetsFeedsAsFetchesAndControlEdges) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = b.Placeholder(DType::kFloat, {2}, "x");
  Node* before = b.AddNode("NoOp", {}, {}, "before");
  const Output v = Variable(b);
  Node* assign = b.AddNode("AssignVariableOp", {v, x}, {}, "assign");
  graph.AddControlInput(assign, before);
  graph.AddControlInput(assign, x.node);  // x is fed: nothing to wait for
  const auto f = ExtractFunction(graph, {"f", {{"v", x}}, {{"echo", x}}, {assign}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(f->returns[0].value.node, f->args[0].node);
  ASSERT_EQ(f->control_returns.size(), 1u);
  EXPECT_THAT(f->control_returns[0].second->control_inputs(),
              ElementsAre(f->graph.FindNode("before")));
  EXPECT_EQ(f->graph.FindNode("v")->op(), "VarHandleOp");  // its name is its identity
  EXPECT_EQ(f->args[0].name, "v");
  EXPECT_EQ(f->args[0].node->name(), "v_arg");
}

TEST(ExtractTest, DeepGraphsAndCycles) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = b.Placeholder(DType::kFloat, {2}, "x"), first = b.Op("Relu", {x});
  Output last = first;
  for (int i = 0; i < 100'000; ++i) last = b.Op("Relu", {last});
  const auto f = ExtractFunction(graph, {"deep", {{"x", x}}, {{"y", last}}, {}});
  ASSERT_TRUE(f.ok()) << f.status().ToString();
  EXPECT_EQ(f->graph.num_nodes(), 100'002);
  graph.SetInput(first.node, 0, last);
  const auto cyclic = ExtractFunction(graph, {"loop", {{"x", x}}, {{"y", last}}, {}});
  EXPECT_EQ(cyclic.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(Message(cyclic.status()), HasSubstr("cycle"));
}

TEST(InlineTest, ReplacesArgumentsAndPrefixesNames) {
  const Function f = Double();
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = b.Placeholder(DType::kFloat, {2, 3}, "x");
  const auto results = InlineCall(&graph, f, std::vector{x}, "call", {}, nullptr);
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ((*results)[0].node->name(), "call/sum");
  EXPECT_EQ((*results)[0].node->input(1), x);
  EXPECT_EQ((*results)[0].shape(), x.shape());  // inferred anew from the real input
  EXPECT_EQ(graph.num_nodes(), 2);
}

TEST(InlineTest, RefusesInputsThatDoNotFit) {
  const Function f = Double();
  Graph graph;
  const Output n = GraphBuilder(&graph).Scalar(1);
  EXPECT_THAT(Message(InlineCall(&graph, f, {}, "c", {}, nullptr).status()),
              HasSubstr("\"double\" with 0 inputs; it has 1"));
  EXPECT_THAT(Message(InlineCall(&graph, f, std::vector{n}, "c", {}, nullptr).status()),
              HasSubstr("is int32; argument 'x' is float32"));
}

TEST(InlineTest, ProgramOrderIsKept) {
  Function f;
  f.name = "step";
  const Output handle = *f.AddArg("v", DType::kResource, PartialShape({}));
  GraphBuilder body(&f.graph);
  const Output read = body.Op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}}, "read");
  body.AddNode("AssignVariableOp", {handle, body.Op("Neg", {read}, {}, "neg")}, {}, "write");
  f.returns.push_back({"old", read});

  Graph graph;
  GraphBuilder b(&graph);
  const Output v = Variable(b);
  Node* one = b.AddNode("NoOp", {}, {}, "one");
  Node* two = b.AddNode("NoOp", {}, {}, "two");
  Node* last = nullptr;
  const auto results =
      InlineCall(&graph, f, std::vector{v}, "call", std::vector<Node*>{one, two}, &last);
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  Node* before = graph.FindNode("call/before");
  EXPECT_THAT(before->control_inputs(), UnorderedElementsAre(one, two));
  Node* copied_read = graph.FindNode("call/read");
  Node* copied_write = graph.FindNode("call/write");
  EXPECT_THAT(copied_read->control_inputs(), ElementsAre(before));
  EXPECT_THAT(copied_write->control_inputs(), UnorderedElementsAre(before, copied_read));
  EXPECT_TRUE(graph.FindNode("call/neg")->control_inputs().empty());
  EXPECT_THAT(last->control_inputs(), UnorderedElementsAre(copied_read, copied_write));
}

TEST(InlineTest, APureBodyHandsOnWhatItWaitedFor) {
  const Function f = Double();
  Graph graph;
  GraphBuilder b(&graph);
  Node* before = b.AddNode("NoOp", {});
  Node* last = nullptr;
  ASSERT_TRUE(
      InlineCall(&graph, f, std::vector{b.Scalar(1.0f)}, "c", std::vector{before}, &last).ok());
  EXPECT_THAT(last->control_inputs(), ElementsAre(before));
}

TEST(InlineTest, AResourceKnownByItsNodesNameKeepsIt) {
  Function f;
  f.name = "own";
  GraphBuilder body(&f.graph);
  f.returns.push_back({"v", Variable(body)});
  Graph graph;
  const auto results = InlineCall(&graph, f, {}, "c", {}, nullptr);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(*(*results)[0].node->Attr<std::string>("shared_name"), "v");
}

}  // namespace
}  // namespace slipway::ir
