// SPDX-License-Identifier: Apache-2.0
#include "exec/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/clock.h"
#include "exec/testing.h"

namespace slipway::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor RandomTensor(const Shape& shape, uint32_t seed) {
  Tensor t(DType::kFloat, shape);
  std::mt19937 random(seed);
  for (float& v : t.flat<float>()) v = std::uniform_real_distribution<float>(-1, 1)(random);
  return t;
}

// relu(x W + b) with constant weights.
std::unique_ptr<Executable> DenseLayer(const Tensor& weights, const Tensor& bias) {
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kFloat, {-1, weights.dim(0)});
  ir::GraphBuilder& b = f.b();
  const ir::Output product = b.Op("MatMul", {x, b.Const(weights)});
  f.Return("y", b.Op("Relu", {b.Op("BiasAdd", {product, b.Const(bias)})}));
  return f.Compile();
}

std::vector<float> DenseReference(const Tensor& x, const Tensor& w, const Tensor& bias) {
  std::vector<float> y;
  for (int64_t row = 0; row < x.dim(0); ++row) {
    for (int64_t column = 0; column < w.dim(1); ++column) {
      double sum = bias.flat<float>()[static_cast<size_t>(column)];
      for (int64_t k = 0; k < w.dim(0); ++k) {
        sum += static_cast<double>(x.flat<float>()[static_cast<size_t>(row * w.dim(0) + k)]) *
               w.flat<float>()[static_cast<size_t>(k * w.dim(1) + column)];
      }
      y.push_back(static_cast<float>(std::max(sum, 0.0)));
    }
  }
  return y;
}

TEST(ExecutableTest, BatchesOfThreeSizesShareTheWeights) {
  const Tensor w = RandomTensor({40, 30}, 1), bias = RandomTensor({30}, 2);
  auto dense = DenseLayer(w, bias);
  size_t packed = 0;
  for (int64_t batch : {1, 7, 33}) {
    const Tensor x = RandomTensor({batch, 40}, 3);
    auto y = RunOnce(*dense, {x});
    ASSERT_TRUE(y.ok()) << y.status().ToString();
    EXPECT_EQ((*y)[0].shape(), Shape({batch, 30}));
    const std::vector<float> wanted = DenseReference(x, w, bias);
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR((*y)[0].flat<float>()[i], wanted[i], 1e-4) << batch << " " << i;
    }
    if (batch == 7) packed = dense->packed_weight_bytes();
  }
  EXPECT_EQ(dense->num_plans(), 3);
  EXPECT_EQ(dense->packed_weight_bytes(), packed) << "a new batch size packed the weights again";
}

TEST(ExecutableTest, WritesIntoTheCallersOutput) {
  auto dense = DenseLayer(RandomTensor({4, 3}, 1), RandomTensor({3}, 2));
  const Tensor x = RandomTensor({2, 4}, 3);
  std::vector<Tensor> outputs = {Tensor(DType::kFloat, {2, 3})};
  const void* memory = outputs[0].raw_data();
  const std::vector<Tensor> inputs = {x};
  ASSERT_TRUE(dense->Run(inputs, outputs).ok());
  EXPECT_EQ(outputs[0].raw_data(), memory);

  std::vector<float> lent(6);
  outputs[0] = Tensor::Borrow(DType::kFloat, {2, 3}, lent.data());
  ASSERT_TRUE(dense->Run(inputs, outputs).ok());
  EXPECT_EQ(outputs[0].raw_data(), lent.data());

  const Tensor kept = outputs[0] = Tensor(DType::kFloat, {2, 3});
  ASSERT_TRUE(dense->Run(inputs, outputs).ok());
  EXPECT_NE(outputs[0].raw_data(), kept.raw_data()) << "somebody else holds that memory";
}

TEST(ExecutableTest, ReturnsArgumentsConstantsAndTheSameValueTwice) {
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kFloat);
  const ir::Output doubled = f.b().Op("AddV2", {x, x});
  f.Return("x", x);
  f.Return("c", f.b().Scalar(7.0f));
  f.Return("d1", doubled);
  f.Return("d2", doubled);
  f.Return("view", f.b().Op("Reshape", {doubled, f.b().Int32Vector({-1})}));
  auto e = f.Compile();
  for (int run = 0; run < 2; ++run) {
    auto y = RunOnce(*e, {Tensor::FromValues<float>({1, 2}, {2, 1})});
    ASSERT_TRUE(y.ok()) << y.status().ToString();
    EXPECT_THAT((*y)[0].flat<float>(), ElementsAre(1, 2));
    EXPECT_EQ((*y)[1].scalar<float>(), 7);
    EXPECT_THAT((*y)[2].flat<float>(), ElementsAre(2, 4));
    EXPECT_THAT((*y)[3].flat<float>(), ElementsAre(2, 4));
    EXPECT_THAT((*y)[4].flat<float>(), ElementsAre(2, 4));
    EXPECT_EQ((*y)[4].shape(), Shape({2}));
  }
}

// Reading, updating, then returning what was read gives the old value.
TEST(ExecutableTest, ReadBeforeUpdateKeepsTheOldValue) {
  kernels::ResourceContainer resources;
  FunctionMaker init;
  const ir::Output v0 = init.Variable("v", DType::kFloat, {2});
  init.Target(init.b().AddNode("AssignVariableOp",
                               {v0, init.b().Const(Tensor::Vector<float>({1, 2}))},
                               {{"dtype", DType::kFloat}}));
  ASSERT_TRUE(RunOnce(*init.Compile({.resources = &resources}), {}).ok());

  FunctionMaker f;
  const ir::Output v = f.Variable("v", DType::kFloat, {2});
  const ir::AttrMap dtype = {{"dtype", DType::kFloat}};
  const ir::Output before = f.b().Op("ReadVariableOp", {v}, dtype);
  f.b().AddNode("AssignAddVariableOp", {v, f.b().Const(Tensor::Vector<float>({10, 10}))}, dtype);
  const ir::Output after = f.b().Op("ReadVariableOp", {v}, dtype);
  f.Return("before", before);
  f.Return("after", after);
  auto e = f.Compile({.resources = &resources});
  auto first = RunOnce(*e, {});
  auto second = RunOnce(*e, {});
  ASSERT_TRUE(first.ok() && second.ok()) << first.status().ToString();
  EXPECT_THAT((*first)[0].flat<float>(), ElementsAre(1, 2));
  EXPECT_THAT((*first)[1].flat<float>(), ElementsAre(11, 12));
  EXPECT_THAT((*second)[0].flat<float>(), ElementsAre(11, 12));
  EXPECT_THAT((*second)[1].flat<float>(), ElementsAre(21, 22));
}

// An update whose readers are done happens in place: the variable stays where it is.
TEST(ExecutableTest, UpdateIsInPlaceWhenReadersAreDone) {
  kernels::ResourceContainer resources;
  auto variable = *resources.FindOrCreate<kernels::Variable>(
      "v", [] { return std::make_shared<kernels::Variable>("v", DType::kFloat, Shape({3})); });
  ASSERT_TRUE(variable->Assign(Tensor::Vector<float>({1, 2, 3})).ok());
  const void* place = variable->Read()->raw_data();

  FunctionMaker f;
  const ir::Output v = f.Variable("v", DType::kFloat, {3});
  const ir::AttrMap dtype = {{"dtype", DType::kFloat}};
  const ir::Output read = f.b().Op("ReadVariableOp", {v}, dtype);
  const ir::Output square = f.b().Op("Mul", {read, read});
  // The update does not depend on `late`, which reads the old value: the schedule puts it behind.
  f.b().AddNode("AssignSubVariableOp", {v, square}, dtype);
  const ir::Output late = f.b().Op("Neg", {read});
  f.Return("late", late);
  auto e = f.Compile({.resources = &resources});
  auto y = RunOnce(*e, {});
  ASSERT_TRUE(y.ok()) << y.status().ToString();
  EXPECT_THAT((*y)[0].flat<float>(), ElementsAre(-1, -2, -3));
  EXPECT_EQ(variable->Read()->raw_data(), place);
}

// The value lies in the result's memory, which the variable then shares: `neg` must not go there.
TEST(ExecutableTest, AnAssignedValueIsNotOverwritten) {
  kernels::ResourceContainer resources;
  auto variable = *resources.FindOrCreate<kernels::Variable>(
      "v", [] { return std::make_shared<kernels::Variable>("v", DType::kFloat, Shape({3})); });
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kFloat, {3});
  const ir::Output v = f.Variable("v", DType::kFloat, {3});
  const ir::Output twice = f.b().Op("AddV2", {x, x});
  ir::Node* assign = f.b().AddNode("AssignVariableOp", {v, twice}, {{"dtype", DType::kFloat}});
  const ir::Output neg = f.b().Op("Neg", {twice});
  f.b().graph()->AddControlInput(neg.node, assign);
  f.Target(assign);
  f.Return("neg", neg);
  auto e = f.Compile({.resources = &resources});
  auto y = RunOnce(*e, {Tensor::Vector<float>({1, 2, 3})});
  ASSERT_TRUE(y.ok()) << y.status().ToString();
  EXPECT_THAT((*y)[0].flat<float>(), ElementsAre(-2, -4, -6));
  EXPECT_THAT(variable->Read()->flat<float>(), ElementsAre(2, 4, 6));
}

// 2^61 elements are a shape; their bytes are no size.
TEST(ExecutableTest, ATensorBeyondAllMemoryIsRefused) {
  FunctionMaker f;
  auto number = [&](int64_t v) { return f.b().Const(Tensor::Scalar<int64_t>(v)); };
  const ir::Output range = f.b().Op("Range", {number(0), number(int64_t{1} << 61), number(1)});
  f.Return("sum", f.b().Op("Sum", {range, f.b().Int32Vector({0})}));
  auto e = f.Compile();
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(RunOnce(*e, {}).status().code(), Code::kResourceExhausted);
}

TEST(ExecutableTest, ErrorsNameNodeOpAndShapes) {
  auto dense = DenseLayer(RandomTensor({4, 3}, 1), RandomTensor({3}, 2));
  const Status wrong_shape = RunOnce(*dense, {RandomTensor({2, 5}, 1)}).status();
  EXPECT_EQ(wrong_shape.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(wrong_shape.message()), HasSubstr("MatMul"));
  const Status wrong_type = RunOnce(*dense, {Tensor::Vector<int32_t>({1})}).status();
  EXPECT_EQ(wrong_type.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(wrong_type.message()), HasSubstr("to be float32 but int32"));
  EXPECT_TRUE(RunOnce(*dense, {RandomTensor({2, 4}, 1)}).ok()) << "a failed run left a trace";
}

// Keras and tf.function leave such nodes behind; TensorFlow does not run them.
TEST(ExecutableTest, WhatNothingNeedsIsNotRunWithPassesOffEither) {
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kFloat, {-1, -1});
  f.b().Op("MatMul", {x, x});  // wrong unless x is square
  f.Return("y", f.b().Op("Relu", {x}));
  auto executable = Executable::Compile(f.Take(), {.run_passes = false});
  ASSERT_TRUE(executable.ok()) << executable.status().ToString();
  const auto outputs = RunOnce(**executable, {RandomTensor({2, 3}, 1)});
  EXPECT_TRUE(outputs.ok()) << outputs.status().ToString();
}

TEST(ExecutableTest, UnknownOpIsNamedWhenCompiling) {
  FunctionMaker f;
  auto node = f.b().graph()->AddOpaqueNode({.op = "FancyOp", .name = "fancy"}, {DType::kFloat});
  ASSERT_TRUE(node.ok());
  f.Return("y", {*node, 0});
  const Status status = Executable::Compile(f.Take(), {}).status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("FancyOp"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("'fancy'"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("docs/unsupported-ops.md"));
}

TEST(ExecutableTest, MissingOpsOfSeveralFunctionsAreOneListWithCounts) {
  MissingOps missing;
  for (const char* name : {"first", "second"}) {
    FunctionMaker f;
    ir::Output x = f.Arg("x", DType::kFloat, {-1});
    for (const char* node : {"a", "b", "c", "d", "e"}) {
      x = {*f.b().graph()->AddOpaqueNode({.op = "FancyOp", .name = node, .inputs = {x}},
                                         {DType::kFloat}),
           0};
    }
    f.Return("y", x);
    ir::Function function = f.Take();
    function.name = name;
    EXPECT_FALSE(Executable::Compile(std::move(function), {}, &missing).ok());
  }
  EXPECT_EQ(missing.AsStatus().message(),
            "An op is not supported: FancyOp, 5 nodes ('a', 'b', 'c' and 2 more), reached by "
            "'first', 'second'. See docs/unsupported-ops.md");
}

// 8 callers with 50 shapes each.
TEST(ExecutableTest, ManyShapesFromManyCallersKeepBoundedMemory) {
  constexpr size_t kLimit = 4 << 20;
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kFloat, {-1});
  ir::Output wide = f.b().Op("Exp", {x});
  for (int i = 0; i < 3; ++i) wide = f.b().Op("ConcatV2", {wide, wide, f.b().Scalar<int32_t>(0)});
  f.Return("y", f.b().Op("Sum", {wide, f.b().Const(Tensor::Vector<int32_t>({0}))}));
  auto executable = f.Compile({.max_idle_bytes = kLimit});
  ASSERT_NE(executable, nullptr);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 100; ++i) {
        const int64_t size = 1000 + 500 * ((i * 7 + caller * 3) % 50);
        Tensor zeros(DType::kFloat, Shape({size}));
        for (float& v : zeros.flat<float>()) v = 0;
        const auto y = RunOnce(*executable, {zeros});
        wrong += y.ok() && (*y)[0].scalar<float>() == static_cast<float>(8 * size) ? 0 : 1;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_LE(executable->num_plans(), 32);
  EXPECT_LE(executable->idle_bytes(), kLimit);
}

TEST(ExecutableTest, DeadlineAndCancellationStopBetweenKernels) {
  auto dense = DenseLayer(RandomTensor({4, 3}, 1), RandomTensor({3}, 2));
  const Tensor x = RandomTensor({2, 4}, 3);
  RunOptions late;
  late.deadline_ns = 1;
  EXPECT_EQ(RunOnce(*dense, {x}, late).status().code(), Code::kDeadlineExceeded);
  std::atomic<bool> cancelled{true};
  RunOptions stopped;
  stopped.cancelled = &cancelled;
  EXPECT_EQ(RunOnce(*dense, {x}, stopped).status().code(), Code::kCancelled);
}

TEST(ExecutableTest, OldPlansGiveWay) {
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kFloat);
  f.Return("y", f.b().Op("Neg", {x}));
  auto e = f.Compile({.max_plans = 4});
  for (int64_t n = 1; n <= 20; ++n) {
    auto y = RunOnce(*e, {RandomTensor({n}, 1)});
    ASSERT_TRUE(y.ok());
    EXPECT_EQ((*y)[0].shape(), Shape({n}));
  }
  EXPECT_EQ(e->num_plans(), 4);
}

TEST(ExecutableTest, ManyThreadsManyShapes) {
  const Tensor w = RandomTensor({16, 8}, 1), bias = RandomTensor({8}, 2);
  auto dense = DenseLayer(w, bias);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 60; ++i) {
        const Tensor x = RandomTensor({1 + (i * 7 + t) % 40, 16}, t);
        auto y = RunOnce(*dense, {x});
        const std::vector<float> wanted = DenseReference(x, w, bias);
        if (!y.ok()) {
          ++wrong;
          continue;
        }
        for (size_t k = 0; k < wanted.size(); ++k) {
          if (std::abs((*y)[0].flat<float>()[k] - wanted[k]) > 1e-4) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Two towers of products: the concurrent runner is tried, and whatever wins gives the same numbers.
TEST(ExecutableTest, ConcurrentStepsGiveTheSameResult) {
  Device device("/job:localhost/replica:0/task:0/device:CPU:7", "CPU",
                {.intra_op_threads = 1, .inter_op_threads = 3});
  FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kFloat, {-1, 128});
  ir::GraphBuilder& b = f.b();
  std::vector<ir::Output> towers;
  for (uint32_t tower = 0; tower < 4; ++tower) {
    ir::Output h = x;
    for (uint32_t layer = 0; layer < 3; ++layer) {
      h = b.Op("Tanh",
               {b.Op("MatMul", {h, b.Const(RandomTensor({128, 128}, tower * 10 + layer))})});
    }
    towers.push_back(h);
  }
  f.Return("sum", b.Op("AddN", towers));
  auto e = f.Compile({.device = &device});
  const Tensor input = RandomTensor({128, 128}, 99);
  auto first = RunOnce(*e, {input});
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  StepProfile profile;
  for (int run = 0; run < 12; ++run) {
    RunOptions options;
    options.profile = run >= 4 ? &profile : nullptr;
    auto again = RunOnce(*e, {input}, options);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(std::memcmp((*again)[0].raw_data(), (*first)[0].raw_data(), (*first)[0].byte_size()),
              0);
  }
  EXPECT_GE(profile.events().size(), 12u * 8u);
  auto env = NewMemoryEnv();
  ASSERT_TRUE(WritePerfettoTrace(env.get(), "trace.json", profile).ok());
  EXPECT_THAT(*ReadFile(env.get(), "trace.json"), HasSubstr("\"name\":\"MatMul\""));
}

TEST(ExecutableTest, BranchesRunOneFunction) {
  ir::FunctionLibrary library;
  FunctionMaker twice("twice"), negate("negate");
  const ir::Output a = twice.Arg("a", DType::kFloat);
  twice.Return("r", twice.b().Op("AddV2", {a, a}));
  ASSERT_TRUE(library.Add(twice.Take()).ok());
  const ir::Output c = negate.Arg("c", DType::kFloat);
  negate.Return("r", negate.b().Op("Neg", {c}));
  ASSERT_TRUE(library.Add(negate.Take()).ok());

  FunctionMaker f;
  const ir::Output p = f.Arg("p", DType::kBool);
  const ir::Output x = f.Arg("x", DType::kFloat);
  const std::vector<DType> floats = {DType::kFloat};
  f.Return("y", f.b().Op("StatelessIf", {p, x},
                         {{"Tcond", DType::kBool},
                          {"Tin", floats},
                          {"Tout", floats},
                          {"then_branch", ir::FunctionRef{"twice", {}}},
                          {"else_branch", ir::FunctionRef{"negate", {}}}}));
  auto e = f.Compile({.library = &library});
  ASSERT_NE(e, nullptr);
  EXPECT_EQ((*RunOnce(*e, {Tensor::Scalar(true), Tensor::Scalar(3.0f)}))[0].scalar<float>(), 6);
  EXPECT_EQ((*RunOnce(*e, {Tensor::Scalar(false), Tensor::Scalar(3.0f)}))[0].scalar<float>(), -3);
}

}  // namespace
}  // namespace slipway::exec
