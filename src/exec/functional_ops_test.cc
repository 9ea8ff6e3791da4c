// SPDX-License-Identifier: Apache-2.0
#include "exec/functional_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "exec/testing.h"

namespace slipway::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// while i < n: body
class WhileTest : public ::testing::Test {
 protected:
  void AddCondition(const std::vector<DType>& types) {
    FunctionMaker cond("cond");
    std::vector<ir::Output> args;
    for (DType type : types) args.push_back(cond.Arg("a" + std::to_string(args.size()), type));
    cond.Return("r", cond.b().Op("Less", {args[0], args[1]}));
    ASSERT_TRUE(library_.Add(cond.Take()).ok());
  }
  std::unique_ptr<Executable> Loop(const std::vector<DType>& types,
                                   std::vector<PartialShape> shapes = {}) {
    FunctionMaker f;
    std::vector<ir::Output> args;
    for (DType type : types) args.push_back(f.Arg("x" + std::to_string(args.size()), type));
    const auto results = f.b().Ops("While", args,
                                   {{"T", types},
                                    {"cond", ir::FunctionRef{"cond", {}}},
                                    {"body", ir::FunctionRef{"body", {}}},
                                    {"output_shapes", std::move(shapes)}});
    for (const ir::Output& result : results) f.Return("r", result);
    return f.Compile({.library = &library_});
  }
  static const std::vector<DType> kInts2;
  void AddIncrement() {
    FunctionMaker body("body");
    const ir::Output i = body.Arg("i", DType::kInt32), n = body.Arg("n", DType::kInt32);
    body.Return("i", body.b().Op("AddV2", {i, body.b().Scalar<int32_t>(1)}));
    body.Return("n", n);
    ASSERT_TRUE(library_.Add(body.Take()).ok());
  }

  ir::FunctionLibrary library_;
};
const std::vector<DType> WhileTest::kInts2 = {DType::kInt32, DType::kInt32};

TEST_F(WhileTest, RunsUntilTheConditionIsFalse) {
  AddCondition(kInts2);
  AddIncrement();
  auto e = Loop(kInts2);
  ASSERT_NE(e, nullptr);
  auto r = RunOnce(*e, {Tensor::Scalar<int32_t>(3), Tensor::Scalar<int32_t>(1000)});
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_EQ((*r)[0].scalar<int32_t>(), 1000);
  r = RunOnce(*e, {Tensor::Scalar<int32_t>(5), Tensor::Scalar<int32_t>(5)});
  EXPECT_EQ((*r)[0].scalar<int32_t>(), 5);
}

// Both lie in memory of the loop's own: what the caller gave stays as it was.
TEST_F(WhileTest, VariablesMayGrow) {
  const std::vector<DType> types = {DType::kInt32, DType::kInt32, DType::kInt32};
  AddCondition(types);
  FunctionMaker body("body");
  const ir::Output i = body.Arg("i", DType::kInt32), n = body.Arg("n", DType::kInt32),
                   v = body.Arg("v", DType::kInt32);
  ir::GraphBuilder& b = body.b();
  body.Return("i", b.Op("AddV2", {i, b.Scalar<int32_t>(1)}));
  body.Return("n", n);
  const ir::Output square = b.Op("Reshape", {b.Op("Mul", {i, i}), b.Int32Vector({1})});
  body.Return("v", b.Op("ConcatV2", {v, square, b.Scalar<int32_t>(0)}));
  ASSERT_TRUE(library_.Add(body.Take()).ok());
  auto e = Loop(types, {PartialShape({}), PartialShape({}), PartialShape({-1})});
  ASSERT_NE(e, nullptr);
  const Tensor start = Tensor::Vector<int32_t>({7});
  auto r = RunOnce(*e, {Tensor::Scalar<int32_t>(0), Tensor::Scalar<int32_t>(5), start});
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_THAT((*r)[2].flat<int32_t>(), ElementsAre(7, 0, 1, 4, 9, 16));
  EXPECT_THAT(start.flat<int32_t>(), ElementsAre(7));
}

// A loop's variables begin in memory of the caller, who still needs it.
TEST_F(WhileTest, WhatCameInIsNotWrittenOver) {
  AddCondition(kInts2);
  AddIncrement();
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kInt32, {}), n = f.Arg("n", DType::kInt32, {});
  const ir::Output twice = f.b().Op("AddV2", {x, x});
  const auto results = f.b().Ops("While", {twice, n},
                                 {{"T", kInts2},
                                  {"cond", ir::FunctionRef{"cond", {}}},
                                  {"body", ir::FunctionRef{"body", {}}}});
  f.Return("r", f.b().Op("Mul", {results[0], twice}));
  auto e = f.Compile({.library = &library_});
  ASSERT_NE(e, nullptr);
  auto r = RunOnce(*e, {Tensor::Scalar<int32_t>(3), Tensor::Scalar<int32_t>(100)});
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_EQ((*r)[0].scalar<int32_t>(), 600);
}

// The list shares the memory of a value that lies where a result goes; what comes after must not
// be written there.
TEST(ListTest, KeepsItsElementsFromStepsInPlace) {
  FunctionMaker f;
  ir::GraphBuilder& b = f.b();
  const ir::Output x = f.Arg("x", DType::kFloat);
  const ir::Output y = b.Op("Square", {x});
  const ir::Output list = b.Op("EmptyTensorList", {b.Int32Vector({2}), b.Scalar<int32_t>(-1)},
                               {{"element_dtype", DType::kFloat}});
  const ir::Output pushed = b.Op("TensorListPushBack", {list, y});
  const ir::Output z = b.Op("Neg", {y});
  b.graph()->AddControlInput(z.node, pushed.node);
  f.Return("z", z);
  f.Return("stacked", b.Op("TensorListStack", {pushed, b.Int32Vector({2})},
                           {{"element_dtype", DType::kFloat}}));
  auto e = f.Compile();
  ASSERT_NE(e, nullptr);
  auto r = RunOnce(*e, {Tensor::Vector<float>({2, 3})});
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_THAT((*r)[0].flat<float>(), ElementsAre(-4, -9));
  EXPECT_THAT((*r)[1].flat<float>(), ElementsAre(4, 9));
}

TEST_F(WhileTest, ShapesThatTheNodeDeclaresAreChecked) {
  AddCondition(kInts2);
  AddIncrement();
  auto e = Loop(kInts2, {PartialShape({2}), PartialShape({})});
  ASSERT_NE(e, nullptr);
  auto r = RunOnce(*e, {Tensor::Scalar<int32_t>(0), Tensor::Scalar<int32_t>(1)});
  EXPECT_EQ(r.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(r.status().message(), HasSubstr("declares [2]"));
}

TEST_F(WhileTest, EndsByLimitDeadlineAndCancellation) {
  AddCondition(kInts2);
  AddIncrement();
  auto e = Loop(kInts2);
  ASSERT_NE(e, nullptr);
  const std::vector<Tensor> forever = {Tensor::Scalar<int32_t>(0),
                                       Tensor::Scalar<int32_t>(INT32_MAX)};
  RunOptions options;
  options.max_loop_iterations = 10;
  EXPECT_EQ(RunOnce(*e, forever, options).status().code(), Code::kResourceExhausted);
  EXPECT_TRUE(RunOnce(*e, {Tensor::Scalar<int32_t>(0), Tensor::Scalar<int32_t>(10)}, options).ok());
  options = {};
  options.deadline_ns = Clock::Default()->NowNanos() + 20'000'000;
  EXPECT_EQ(RunOnce(*e, forever, options).status().code(), Code::kDeadlineExceeded);
  const std::atomic<bool> cancelled = true;
  options = {};
  options.cancelled = &cancelled;
  EXPECT_EQ(RunOnce(*e, forever, options).status().code(), Code::kCancelled);
}

TEST_F(WhileTest, ABodyWithTooFewResultsIsRefused) {
  AddCondition(kInts2);
  FunctionMaker body("body");
  body.Return("i", body.Arg("i", DType::kInt32));
  body.Arg("n", DType::kInt32);
  ASSERT_TRUE(library_.Add(body.Take()).ok());
  auto e = Loop(kInts2);
  ASSERT_NE(e, nullptr);
  auto r = RunOnce(*e, {Tensor::Scalar<int32_t>(0), Tensor::Scalar<int32_t>(1)});
  EXPECT_EQ(r.status().code(), Code::kInvalidArgument);
}

TEST(CaseTest, TakesTheLastBranchForIndicesOutOfRange) {
  ir::FunctionLibrary library;
  std::vector<ir::FunctionRef> branches;
  for (int i = 0; i < 3; ++i) {
    FunctionMaker branch("branch" + std::to_string(i));
    branch.Return("r", branch.b().Scalar<int32_t>(10 * i));
    ASSERT_TRUE(library.Add(branch.Take()).ok());
    branches.push_back({"branch" + std::to_string(i), {}});
  }
  FunctionMaker f;
  const ir::Output index = f.Arg("index", DType::kInt32);
  f.Return("r", f.b().Op("StatelessCase", {index},
                         {{"Tin", std::vector<DType>()},
                          {"Tout", std::vector<DType>{DType::kInt32}},
                          {"branches", branches}}));
  auto e = f.Compile({.library = &library});
  ASSERT_NE(e, nullptr);
  for (const auto& [given, wanted] : {std::pair(0, 0), {1, 10}, {2, 20}, {3, 20}, {-1, 20}}) {
    auto r = RunOnce(*e, {Tensor::Scalar<int32_t>(given)});
    ASSERT_TRUE(r.ok()) << r.status().ToString();
    EXPECT_EQ((*r)[0].scalar<int32_t>(), wanted);
  }
}

TEST(CallTest, RecursionEndsAtTheLimit) {
  ir::FunctionLibrary library;
  FunctionMaker again("again");
  const std::vector<DType> ints = {DType::kInt32};
  const ir::AttrMap branch = {{"Tcond", DType::kInt32},
                              {"Tin", ints},
                              {"Tout", ints},
                              {"then_branch", ir::FunctionRef{"again", {}}},
                              {"else_branch", ir::FunctionRef{"stop", {}}}};
  const ir::Output n = again.Arg("n", DType::kInt32);
  const ir::Output less = again.b().Op("Sub", {n, again.b().Scalar<int32_t>(1)});
  again.Return("r", again.b().Op("If", {less, less}, branch));
  ASSERT_TRUE(library.Add(again.Take()).ok());
  FunctionMaker stop("stop");
  stop.Return("r", stop.Arg("n", DType::kInt32));
  ASSERT_TRUE(library.Add(stop.Take()).ok());
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kInt32);
  f.Return("r", f.b().Op("If", {x, x}, branch));
  auto e = f.Compile({.library = &library});
  ASSERT_NE(e, nullptr);
  RunOptions options;
  options.max_call_depth = 20;
  auto r = RunOnce(*e, {Tensor::Scalar<int32_t>(15)}, options);
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_EQ((*r)[0].scalar<int32_t>(), 0);
  r = RunOnce(*e, {Tensor::Scalar<int32_t>(50)}, options);
  EXPECT_EQ(r.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(r.status().message(), HasSubstr("nested more than 20 deep"));
}

}  // namespace
}  // namespace slipway::exec
