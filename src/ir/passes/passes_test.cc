// SPDX-License-Identifier: Apache-2.0
#include "ir/passes/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/printer.h"

namespace slipway::ir {
namespace {

// A function under construction.
struct TestFunction {
  Function f;
  GraphBuilder b{&f.graph};

  TestFunction() { f.name = "f"; }
  Output Arg(const char* name, PartialShape shape, DType dtype = DType::kFloat) {
    return *f.AddArg(name, dtype, std::move(shape));
  }
  Output Variable(const char* name, PartialShape shape) {
    return b.Op("VarHandleOp", {},
                {{"dtype", DType::kFloat}, {"shape", std::move(shape)}, {"shared_name", name}},
                name);
  }
  Output Read(Output handle, const char* name) {
    return b.Op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}}, name);
  }
  void Return(Output value) { f.returns.push_back({"y", value}); }

  // The function's text after one pass and pruning, or the error.
  std::string After(Status (*run)(Function&, const PassContext&, std::string*),
                    const PassContext& context = {}, std::string* note = nullptr);
};

std::string TestFunction::After(Status (*run)(Function&, const PassContext&, std::string*),
                                const PassContext& context, std::string* note) {
  std::string unused;
  if (!b.ok()) return b.status().ToString();
  Status s = run(f, context, note == nullptr ? &unused : note);
  if (s.ok()) s = Prune(f, context, &unused);
  if (s.ok()) s = f.graph.Validate();
  return s.ok() ? DebugText(f) : s.ToString();
}

using ::testing::HasSubstr;
using ::testing::Not;

// ---- prune ----

TEST(PruneTest, KeepsWhatResultsAndEffectsNeed) {
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output dead = t.b.Op("Exp", {x}, {}, "dead");
  Output handle = t.Variable("v", PartialShape({4}));
  Node* assign = t.b.AddNode("AssignVariableOp", {handle, x}, {{"dtype", DType::kFloat}}, "set");
  Output read = t.Read(handle, "read");
  t.Return(t.b.Op("Neg", {read}, {}, "neg"));
  ASSERT_TRUE(dead.valid());
  const std::string text = t.After(Prune);
  EXPECT_THAT(text, Not(HasSubstr("dead")));
  EXPECT_THAT(text, HasSubstr("set = AssignVariableOp(v, x)"));
  EXPECT_THAT(text, HasSubstr("read = ReadVariableOp(v) {dtype: type DT_FLOAT} after set"));
  ASSERT_NE(assign, nullptr);
}

TEST(PruneTest, DropsControlEdgesAndTargetsWithoutEffect) {
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output exp = t.b.Op("Exp", {x}, {}, "exp");
  Output neg = t.b.Op("Neg", {x}, {}, "neg");
  t.f.graph.AddControlInput(neg.node, exp.node);
  t.f.control_returns.emplace_back("exp", exp.node);
  t.Return(neg);
  EXPECT_EQ(t.After(Prune), R"(f(x: float32[4]) {
  neg = Neg(x)
  return y = neg
}
)");
}

// ---- inline_calls ----

// Adds one to a variable and returns twice x.
Function Bump() {
  TestFunction t;
  t.f.name = "bump";
  Output x = t.Arg("x", PartialShape::Unknown());
  Output handle = t.Arg("handle", PartialShape({}), DType::kResource);
  Node* add = t.b.AddNode("AssignAddVariableOp", {handle, t.b.Scalar<float>(1)},
                          {{"dtype", DType::kFloat}}, "add");
  t.f.control_returns.emplace_back("add", add);
  t.Return(t.b.Op("AddV2", {x, x}, {}, "twice"));
  return std::move(t.f);
}

AttrMap CallAttrs(const char* name) {
  return {{"f", FunctionRef{name, {}}},
          {"Tin", std::vector<DType>{DType::kFloat, DType::kResource}},
          {"Tout", std::vector<DType>{DType::kFloat}}};
}

TEST(InlineCallsTest, EffectsStayThoughNobodyAsks) {
  FunctionLibrary library;
  ASSERT_TRUE(library.Add(Bump()).ok());
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output handle = t.Variable("v", PartialShape({}));
  Output call = t.b.Op("StatefulPartitionedCall", {x, handle}, CallAttrs("bump"), "call");
  t.Return(call);
  PassContext context;
  context.library = &library;
  std::string note;
  const std::string text = t.After(InlineCalls, context, &note);
  EXPECT_EQ(note, "1 calls inlined");
  EXPECT_THAT(text, Not(HasSubstr("PartitionedCall")));
  EXPECT_THAT(text, HasSubstr("AssignAddVariableOp(v,"));
  EXPECT_THAT(text, HasSubstr("return y = call/twice"));
  EXPECT_THAT(text, HasSubstr("run "));
  // Shapes of the caller reach the body.
  EXPECT_EQ(t.f.returns[0].value.shape(), PartialShape({4}));
}

TEST(InlineCallsTest, ReadAfterTheCallWaitsForItsWrite) {
  FunctionLibrary library;
  ASSERT_TRUE(library.Add(Bump()).ok());
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output handle = t.Variable("v", PartialShape({}));
  Output call = t.b.Op("StatefulPartitionedCall", {x, handle}, CallAttrs("bump"), "call");
  Output read = t.Read(handle, "read");
  ASSERT_TRUE(call.valid());
  ASSERT_EQ(read.node->control_inputs(), std::vector<Node*>{call.node});
  t.Return(read);
  PassContext context;
  context.library = &library;
  const std::string text = t.After(InlineCalls, context);
  const size_t write = text.find("AssignAddVariableOp");
  ASSERT_NE(write, std::string::npos) << text;
  EXPECT_LT(write, text.find("read = ReadVariableOp")) << text;
  EXPECT_FALSE(read.node->control_inputs().empty());
}

TEST(InlineCallsTest, RecursionIsAnError) {
  FunctionLibrary library;
  for (auto [name, other] : {std::pair("ping", "pong"), std::pair("pong", "ping")}) {
    TestFunction t;
    t.f.name = name;
    Output x = t.Arg("x", {4});
    Output handle = t.Arg("handle", PartialShape({}), DType::kResource);
    t.Return(t.b.Op("StatefulPartitionedCall", {x, handle}, CallAttrs(other), "call"));
    ASSERT_TRUE(library.Add(std::move(t.f)).ok());
  }
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output handle = t.Variable("v", PartialShape({}));
  t.Return(t.b.Op("StatefulPartitionedCall", {x, handle}, CallAttrs("ping"), "call"));
  PassContext context;
  context.library = &library;
  EXPECT_THAT(t.After(InlineCalls, context), HasSubstr("ping -> pong -> ping"));
}

// ---- freeze_variables ----

TEST(FreezeVariablesTest, ReadsBecomeConstantsOfTheSameMemory) {
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output fixed = t.Variable("fixed", PartialShape({4}));
  Output live = t.Variable("live", PartialShape({4}));
  Output sum = t.b.Op("AddV2", {t.Read(fixed, "read_fixed"), t.Read(live, "read_live")}, {}, "sum");
  t.Return(t.b.Op("Mul", {sum, x}, {}, "y"));
  const Tensor value = Tensor::Vector<float>({1, 2, 3, 4});
  PassContext context;
  context.frozen_value = [&](const Node& handle) -> std::optional<Tensor> {
    if (handle.name() == "fixed") return value;
    return std::nullopt;
  };
  std::string note;
  const std::string text = t.After(FreezeVariables, context, &note);
  EXPECT_EQ(note, "1 variables frozen");
  EXPECT_THAT(text, HasSubstr("sum = AddV2(fixed/frozen, read_live)"));
  EXPECT_THAT(text, Not(HasSubstr("read_fixed")));
  const Node* constant = t.f.graph.FindNode("fixed/frozen");
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(constant->const_value().raw_data(), value.raw_data());
}

// ---- fold_constants ----

TEST(FoldConstantsTest, FoldsWhatItCanComputeAndLeavesWhatFails) {
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output two = t.b.Scalar<float>(2);
  Output good = t.b.Op("Neg", {two}, {}, "good");
  Output bad = t.b.Op("Exp", {two}, {}, "bad");
  t.Return(t.b.Op("AddN", {t.b.Op("Mul", {x, good}, {}, "a"), t.b.Op("Mul", {x, bad}, {}, "b")}, {},
                  "sum"));
  PassContext context;
  context.evaluate = [](const Node& node,
                        std::span<const Tensor> in) -> StatusOr<std::vector<Tensor>> {
    if (node.op() != "Neg") return InternalError("cannot");
    return std::vector<Tensor>{Tensor::Scalar<float>(-in[0].scalar<float>())};
  };
  const std::string text = t.After(FoldConstants, context);
  EXPECT_THAT(text, HasSubstr("a = Mul(x, good/folded)"));
  EXPECT_THAT(text, HasSubstr("b = Mul(x, bad)"));
}

TEST(FoldConstantsTest, KnownShapesNeedNoEvaluation) {
  TestFunction t;
  Output x = t.Arg("x", {2, 3});
  t.Return(t.b.Op("Shape", {x}, {}, "shape"));
  Output batch = t.Arg("batch", {-1, 3});
  t.f.returns.push_back({"rank", t.b.Op("Rank", {batch}, {}, "rank")});
  t.f.returns.push_back({"size", t.b.Op("Size", {batch}, {}, "size")});
  const std::string text = t.After(FoldConstants);
  EXPECT_THAT(text, HasSubstr("return y = shape/folded"));
  EXPECT_THAT(text, HasSubstr("return rank = rank/folded"));
  EXPECT_THAT(text, HasSubstr("return size = size\n"));
}

TEST(FoldConstantsTest, ResultsOverTheLimitStayAsTheyAre) {
  TestFunction t;
  Output zero = t.b.Scalar<float>(0);
  t.Return(t.b.Op("Fill", {t.b.Int32Vector({1000}), zero}, {}, "fill"));
  PassContext context;
  context.max_folded_bytes = 3999;
  context.evaluate = [](const Node&, std::span<const Tensor>) -> StatusOr<std::vector<Tensor>> {
    ADD_FAILURE() << "computed although the size is known to be too large";
    return InternalError("no");
  };
  EXPECT_THAT(t.After(FoldConstants, context), HasSubstr("return y = fill\n"));
}

// ---- simplify ----

TEST(SimplifyTest, OneIsNeutralAndZeroIsNot) {
  TestFunction t;
  Output x = t.Arg("x", {-1, 4});
  Output times = t.b.Op("Mul", {t.b.Scalar<float>(1), x}, {}, "times");
  Output plus = t.b.Op("AddV2", {times, t.b.Scalar<float>(0)}, {}, "plus");
  Output minus = t.b.Op("Sub", {plus, t.b.Scalar<float>(0)}, {}, "minus");
  Output negative_zero = t.b.Op("AddV2", {minus, t.b.Scalar<float>(-0.0f)}, {}, "negative_zero");
  t.Return(t.b.Op("Identity", {negative_zero}, {}, "id"));
  const std::string text = t.After(SimplifyArithmetic);
  EXPECT_THAT(text, HasSubstr("plus = AddV2(x, "));
  EXPECT_THAT(text, HasSubstr("return y = plus"));
}

TEST(SimplifyTest, NeutralConstantThatWidensTheShapeStays) {
  TestFunction t;
  Output x = t.Arg("x", {-1});
  Tensor ones = Tensor::FromValues<float>({1, 1}, Shape({2, 1}));
  t.Return(t.b.Op("Mul", {x, t.b.Const(ones)}, {}, "widened"));
  EXPECT_THAT(t.After(SimplifyArithmetic), HasSubstr("return y = widened"));
}

TEST(SimplifyTest, ReshapesAndTransposesCollapse) {
  TestFunction t;
  Output x = t.Arg("x", {-1, 2, 6});
  Output a = t.b.Op("Reshape", {x, t.b.Int32Vector({-1, 12})}, {}, "a");
  Output b = t.b.Op("Reshape", {a, t.b.Int32Vector({-1, 2, 6})}, {}, "b");
  Output c = t.b.Op("Transpose", {b, t.b.Int32Vector({1, 2, 0})}, {}, "c");
  Output d = t.b.Op("Transpose", {c, t.b.Int32Vector({2, 0, 1})}, {}, "d");
  t.Return(d);
  EXPECT_THAT(t.After(SimplifyArithmetic), HasSubstr("return y = x"));
}

TEST(SimplifyTest, ControlEdgesGoOnToTheUsers) {
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output handle = t.Variable("v", PartialShape({4}));
  Node* assign = t.b.AddNode("AssignVariableOp", {handle, x}, {{"dtype", DType::kFloat}}, "set");
  Output id = t.b.Op("Identity", {x}, {}, "id");
  t.f.graph.AddControlInput(id.node, assign);
  t.Return(t.b.Op("Neg", {id}, {}, "neg"));
  t.f.returns.push_back({"z", id});
  const std::string text = t.After(SimplifyArithmetic);
  EXPECT_THAT(text, HasSubstr("neg = Neg(x) after set"));
  EXPECT_THAT(text, HasSubstr("return z = x"));
  EXPECT_THAT(text, HasSubstr("run set"));
}

// ---- common_subexpressions ----

TEST(CommonSubexpressionsTest, SharesPureNodesAndEqualConstants) {
  TestFunction t;
  Output x = t.Arg("x", {4});
  Output a = t.b.Op("Mul", {x, t.b.Scalar<float>(2)}, {}, "a");
  Output b = t.b.Op("Mul", {x, t.b.Scalar<float>(2)}, {}, "b");
  Output c = t.b.Op("Mul", {x, t.b.Scalar<float>(3)}, {}, "c");
  t.Return(t.b.Op("AddN", {a, b, c}, {}, "sum"));
  EXPECT_THAT(t.After(ShareCommonSubexpressions), HasSubstr("sum = AddN(a, a, c)"));
}

TEST(CommonSubexpressionsTest, RandomNumbersAndReadsAcrossAWriteAreNotShared) {
  TestFunction t;
  Output shape = t.b.Int32Vector({4});
  auto random = [&](const char* name) {
    return t.b.Op("RandomUniform", {shape}, {{"dtype", DType::kFloat}}, name);
  };
  Output handle = t.Variable("v", PartialShape({4}));
  Output before = t.Read(handle, "before");
  Output again = t.Read(handle, "again");
  t.b.AddNode("AssignVariableOp", {handle, random("r1")}, {{"dtype", DType::kFloat}}, "set");
  Output after = t.Read(handle, "after");
  t.Return(t.b.Op("AddN", {before, again, after, random("r2")}, {}, "sum"));
  EXPECT_THAT(t.After(ShareCommonSubexpressions),
              HasSubstr("sum = AddN(before, before, after, r2)"));
}

// ---- fuse_dense ----

TEST(FuseDenseTest, ProductBiasAndActivationBecomeOne) {
  TestFunction t;
  Output x = t.Arg("x", {-1, 4});
  Output w = t.Arg("w", {3, 4});
  Output bias = t.Arg("bias", {3});
  Output m = t.b.Op("MatMul", {x, w}, {{"transpose_b", true}}, "m");
  Output sum = t.b.Op("AddV2", {bias, m}, {}, "sum");
  t.Return(t.b.Op("Relu", {sum}, {}, "relu"));
  EXPECT_EQ(t.After(FuseDense), R"(f(x: float32[?,4], w: float32[3,4], bias: float32[3]) {
  relu_1 = _FusedMatMul(x, w, bias) {fused_ops: [BiasAdd, Relu], transpose_b: true}
  return y = relu_1
}
)");
}

TEST(FuseDenseTest, ValueThatIsUsedElsewhereStays) {
  TestFunction t;
  Output x = t.Arg("x", {-1, 4});
  Output w = t.Arg("w", {4, 3});
  Output bias = t.Arg("bias", {3});
  Output sum = t.b.Op("BiasAdd", {t.b.Op("MatMul", {x, w}, {}, "m"), bias}, {}, "sum");
  t.Return(t.b.Op("Relu", {sum}, {}, "relu"));
  t.f.returns.push_back({"logits", sum});
  const std::string text = t.After(FuseDense);
  EXPECT_THAT(text, HasSubstr("sum_1 = _FusedMatMul(x, w, bias) {fused_ops: [BiasAdd]}"));
  EXPECT_THAT(text, HasSubstr("relu = Relu(sum_1)"));
}

TEST(FuseDenseTest, SumThatWouldWidenTheProductStays) {
  TestFunction t;
  Output x = t.Arg("x", {-1, 4});
  Output w = t.Arg("w", {4, 1});
  Output bias = t.Arg("bias", {3});
  t.Return(t.b.Op("AddV2", {t.b.Op("MatMul", {x, w}, {}, "m"), bias}, {}, "sum"));
  EXPECT_THAT(t.After(FuseDense), HasSubstr("sum = AddV2(m, bias)"));
}

// ---- the list ----

TEST(RunPassesTest, ReportsEachPassAndNamesTheOneThatFails) {
  TestFunction t;
  Output x = t.Arg("x", {4});
  t.Return(t.b.Op("Identity", {x}, {}, "id"));
  std::vector<PassReport> reports;
  ASSERT_TRUE(RunPasses(t.f, {}, DefaultPasses(), &reports).ok());
  ASSERT_EQ(reports.size(), DefaultPasses().size());
  EXPECT_EQ(reports[3].pass, "simplify");
  EXPECT_EQ(reports[3].nodes_before, 2);
  EXPECT_EQ(reports[3].nodes_after, 1);
  EXPECT_EQ(reports[3].note, "1 nodes simplified");

  constexpr Pass kFails[] = {{"broken", "fails", [](Function&, const PassContext&, std::string*) {
                                return InternalError("sorry");
                              }}};
  EXPECT_THAT(RunPasses(t.f, {}, kFails).ToString(), HasSubstr("pass broken"));
}

}  // namespace
}  // namespace slipway::ir
