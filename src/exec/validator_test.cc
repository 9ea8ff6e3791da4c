// SPDX-License-Identifier: Apache-2.0
#include "exec/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/evaluate.h"
#include "ir/builder.h"
#include "ir/gradient.h"
#include "ir/printer.h"

namespace slipway::exec {
namespace {

using ir::Function;
using ir::GraphBuilder;
using ir::Node;
using ir::Output;
using ::testing::HasSubstr;
using ::testing::Not;

Tensor Ramp(const Shape& shape, float scale) {
  Tensor t(DType::kFloat, shape);
  float value = -1;
  for (float& v : t.flat<float>()) v = scale * (value = value > 1 ? -0.9f : value + 0.13f);
  return t;
}

ir::PassContext FoldingContext() {
  ir::PassContext context;
  context.evaluate = [](const Node& node, std::span<const Tensor> inputs) {
    return EvaluateNode(node, inputs, {});
  };
  return context;
}

// Two dense layers on variables, a loss, its gradients and the update: a training step.
class TrainStep {
 public:
  TrainStep() {
    f.name = "step";
    Output x = *f.AddArg("x", DType::kFloat, {-1, 4});
    Output labels = *f.AddArg("labels", DType::kInt32, {-1});
    Output h = Dense(x, "hidden", 4, 5);
    h = b.Op("Relu", {h}, {}, "relu");
    Output logits = Dense(h, "output", 5, 3);
    Output loss = b.Op("SparseSoftmaxCrossEntropyWithLogits", {logits, labels});
    loss = b.Op("Mean", {loss, b.Int32Vector({0})}, {}, "loss");
    auto gradients = ir::AddGradients(b, {{loss}}, handles);
    EXPECT_TRUE(gradients.ok()) << gradients.status().ToString();
    for (size_t i = 0; gradients.ok() && i < handles.size(); ++i) {
      Node* update = b.AddNode("ResourceApplyGradientDescent",
                               {handles[i], b.Scalar<float>(0.1f), (*gradients)[i]});
      if (update != nullptr) f.control_returns.emplace_back(update->name(), update);
    }
    f.returns.push_back({"loss", loss});
    EXPECT_TRUE(b.ok()) << b.status().ToString();
  }

  static std::unique_ptr<kernels::ResourceContainer> Resources() {
    auto resources = std::make_unique<kernels::ResourceContainer>();
    for (auto [name, shape] :
         {std::pair("hidden/w", Shape({4, 5})), std::pair("hidden/b", Shape({5})),
          std::pair("output/w", Shape({5, 3})), std::pair("output/b", Shape({3}))}) {
      auto variable = resources->FindOrCreate<kernels::Variable>(name, [&] {
        return std::make_shared<kernels::Variable>(name, DType::kFloat, PartialShape(shape));
      });
      EXPECT_TRUE((*variable)->Assign(Ramp(shape, 0.7f)).ok());
    }
    return resources;
  }

  Function f;
  GraphBuilder b{&f.graph};
  std::vector<Output> handles;

 private:
  Output Variable(const std::string& name, PartialShape shape) {
    Output handle = b.Op("VarHandleOp", {},
                         {{"dtype", DType::kFloat}, {"shape", shape}, {"shared_name", name}}, name);
    handles.push_back(handle);
    return b.Op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}});
  }
  Output Dense(Output x, const std::string& name, int64_t in, int64_t out) {
    Output product = b.Op("MatMul", {x, Variable(name + "/w", {in, out})}, {}, name + "/product");
    return b.Op("BiasAdd", {product, Variable(name + "/b", {out})}, {}, name + "/sum");
  }
};

// Turns a - b into b - a.
Status SwapSubtraction(Function& function, const ir::PassContext&, std::string*) {
  for (Node* node : function.graph.nodes()) {
    if (node->op() != "Sub") continue;
    const Output a = node->input(0);
    function.graph.SetInput(node, 0, node->input(1));
    function.graph.SetInput(node, 1, a);
  }
  return OkStatus();
}

// Forgets what must run although no result needs it.
Status DropEffects(Function& function, const ir::PassContext&, std::string*) {
  function.control_returns.clear();
  return OkStatus();
}

TEST(ValidatorTest, DefaultPassesKeepATrainingStep) {
  TrainStep step;
  ValidatorOptions options;
  options.resources = TrainStep::Resources;
  auto failure = ValidatePasses(step.f, FoldingContext(), ir::DefaultPasses(), options);
  ASSERT_TRUE(failure.ok()) << failure.status().ToString();
  ASSERT_FALSE(failure->has_value()) << (*failure)->pass << ": " << (*failure)->difference << "\n"
                                     << (*failure)->function;
}

TEST(ValidatorTest, TrainingStepIsFusedWhereTheGradientAllows) {
  TrainStep step;
  std::vector<ir::PassReport> reports;
  ASSERT_TRUE(ir::RunPasses(step.f, FoldingContext(), ir::DefaultPasses(), &reports).ok());
  const std::string text = ir::DebugText(step.f);
  EXPECT_THAT(text, HasSubstr("{fused_ops: [BiasAdd, Relu]}"));
  EXPECT_THAT(text, HasSubstr("{fused_ops: [BiasAdd]}"));
  EXPECT_THAT(text, Not(HasSubstr("= BiasAdd(")));
}

TEST(ValidatorTest, DefaultPassesKeepShapesArithmeticAndCalls) {
  ir::FunctionLibrary library;
  {
    Function callee;
    callee.name = "scale";
    GraphBuilder b(&callee.graph);
    Output x = *callee.AddArg("x", DType::kFloat, PartialShape::Unknown());
    callee.returns.push_back({"y", b.Op("Mul", {x, b.Op("Exp", {b.Scalar<float>(0.5f)})})});
    ASSERT_TRUE(library.Add(std::move(callee)).ok());
  }
  Function f;
  f.name = "f";
  GraphBuilder b(&f.graph);
  Output x = *f.AddArg("x", DType::kFloat, {-1, 2, 3});
  Output call = b.Op("PartitionedCall", {x},
                     {{"f", ir::FunctionRef{"scale", {}}},
                      {"Tin", std::vector<DType>{DType::kFloat}},
                      {"Tout", std::vector<DType>{DType::kFloat}}});
  Output batch =
      b.Op("StridedSlice",
           {b.Op("Shape", {call}), b.Int32Vector({0}), b.Int32Vector({1}), b.Int32Vector({1})},
           {{"shrink_axis_mask", 1}});
  Output flat = b.Op("Reshape", {call, b.Op("Pack", {batch, b.Scalar<int32_t>(6)})});
  Output sum = b.Op("AddV2", {b.Op("Identity", {flat}), b.Op("Neg", {b.Op("Neg", {flat})})});
  Output back = b.Op("Reshape", {sum, b.Int32Vector({-1, 2, 3})});
  Output moved = b.Op("Transpose", {back, b.Int32Vector({2, 0, 1})});
  f.returns.push_back({"y", b.Op("Transpose", {moved, b.Int32Vector({1, 2, 0})})});
  f.returns.push_back({"rank", b.Op("Rank", {flat})});
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  ir::PassContext context = FoldingContext();
  context.library = &library;
  auto failure = ValidatePasses(f, context, ir::DefaultPasses());
  ASSERT_TRUE(failure.ok()) << failure.status().ToString();
  ASSERT_FALSE(failure->has_value()) << (*failure)->pass << ": " << (*failure)->difference << "\n"
                                     << (*failure)->function;
}

TEST(ValidatorTest, WrongPassIsShownOnTheSmallestFunction) {
  Function f;
  f.name = "f";
  GraphBuilder b(&f.graph);
  Output x = *f.AddArg("x", DType::kFloat, {-1, 4});
  Output unused = *f.AddArg("unused", DType::kFloat, {2});
  Output a = b.Op("Exp", {b.Op("Tanh", {x})});
  Output difference = b.Op("Sub", {a, b.Op("Neg", {b.Op("Square", {x})})}, {}, "difference");
  Output y = b.Op("Tanh", {b.Op("AddV2", {difference, a})});
  f.returns.push_back({"y", y});
  f.returns.push_back({"unused", b.Op("Neg", {unused})});
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  constexpr ir::Pass kWrong[] = {{"wrong", "swaps", SwapSubtraction}};
  auto failure = ValidatePasses(f, {}, kWrong);
  ASSERT_TRUE(failure.ok()) << failure.status().ToString();
  ASSERT_TRUE(failure->has_value());
  EXPECT_EQ((*failure)->pass, "wrong");
  EXPECT_EQ((*failure)->nodes, 1) << (*failure)->function;
  EXPECT_THAT((*failure)->function, HasSubstr("= Sub("));
}

TEST(ValidatorTest, LostUpdateIsSeenInTheVariables) {
  TrainStep step;
  ValidatorOptions options;
  options.resources = TrainStep::Resources;
  constexpr ir::Pass kWrong[] = {{"forgetful", "drops effects", DropEffects}};
  auto failure = ValidatePasses(step.f, {}, kWrong, options);
  ASSERT_TRUE(failure.ok()) << failure.status().ToString();
  ASSERT_TRUE(failure->has_value());
  EXPECT_THAT((*failure)->difference, HasSubstr("variable '"));
}

}  // namespace
}  // namespace slipway::exec
