// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ir/function.h"
#include "ir/gradient.h"
#include "ir/printer.h"

namespace slipway::ir {
namespace {

using ::testing::HasSubstr;

struct Fixture {
  Function f;
  GraphBuilder b{&f.graph};

  Output Arg(const char* name, PartialShape shape, DType dtype = DType::kFloat) {
    return *f.AddArg(name, dtype, std::move(shape));
  }
  Output Grad(Output y, Output x) {
    auto gradients = AddGradients(b, {{y}}, {{x}});
    EXPECT_TRUE(gradients.ok()) << gradients.status().ToString();
    return gradients.ok() ? (*gradients)[0] : Output();
  }
  int Count(std::string_view op) const {
    const std::vector<Node*> nodes = f.graph.nodes();
    return static_cast<int>(
        std::count_if(nodes.begin(), nodes.end(), [&](const Node* n) { return n->op() == op; }));
  }
};

TEST(GradientTableTest, EveryRowIsAnOpWeHaveAndComesOnce) {
  std::set<std::string> seen;
  for (const GradientEntry* entry : AllGradients()) {
    EXPECT_TRUE(seen.insert(entry->op).second) << entry->op;
    EXPECT_NE(FindOpSchema(entry->op), nullptr) << entry->op;
    EXPECT_EQ(FindGradient(entry->op), entry);
  }
  EXPECT_EQ(FindGradient("NoSuchOp"), nullptr);
}

TEST(AddGradientsTest, FirstLayerMakesNoInputGradient) {
  Fixture t;
  Output x = t.Arg("x", {-1, 4});
  Output w = t.Arg("w", {4, 3});
  Output y = t.b.Op("MatMul", {x, w});
  Output loss = t.b.Op("Sum", {y, t.b.Int32Vector({0, 1})});
  Output dw = t.Grad(loss, w);
  ASSERT_TRUE(dw.valid());
  EXPECT_EQ(dw.node->op(), "MatMul");
  EXPECT_EQ(t.Count("MatMul"), 2);
}

TEST(AddGradientsTest, EqualShapesAreNotReduced) {
  Fixture t;
  Output x = t.Arg("x", {-1, 4});
  Output y = t.b.Op("Mul", {t.b.Op("Relu", {x}), t.b.Op("Tanh", {x})});
  Output dx = t.Grad(y, x);
  ASSERT_TRUE(dx.valid());
  EXPECT_EQ(dx.node->op(), "AddN");
  EXPECT_EQ(t.Count("Sum"), 0);
  EXPECT_EQ(t.Count("BroadcastGradientArgs"), 0);
}

TEST(AddGradientsTest, RepeatedVectorIsSummedOverRowsOnly) {
  Fixture t;
  Output x = t.Arg("x", {-1, 4});
  Output v = t.Arg("v", {4});
  Output dv = t.Grad(t.b.Op("Mul", {x, v}), v);
  ASSERT_TRUE(dv.valid());
  EXPECT_EQ(dv.node->op(), "Sum");
  EXPECT_EQ(t.Count("BroadcastGradientArgs"), 0);
}

TEST(AddGradientsTest, UnknownSizesDecideWhenTheyRun) {
  Fixture t;
  Output x = t.Arg("x", {-1, 4});
  Output y = t.Arg("y", {-1, 4});
  t.Grad(t.b.Op("Mul", {x, y}), x);
  EXPECT_EQ(t.Count("BroadcastGradientArgs"), 1);
}

TEST(AddGradientsTest, HandleGetsTheSumOfItsReads) {
  Fixture t;
  Output handle =
      t.b.Op("VarHandleOp", {},
             {{"dtype", DType::kFloat}, {"shape", PartialShape({4})}, {"shared_name", "v"}});
  auto read = [&] { return t.b.Op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}}); };
  Output y = t.b.Op("Mul", {read(), read()});
  Output d = t.Grad(y, handle);
  ASSERT_TRUE(d.valid());
  EXPECT_EQ(d.node->op(), "AddN");
  EXPECT_EQ(d.dtype(), DType::kFloat);
}

TEST(AddGradientsTest, NothingFlowsThroughStopGradientOrIntegers) {
  Fixture t;
  Output x = t.Arg("x", {4});
  EXPECT_FALSE(t.Grad(t.b.Op("StopGradient", {x}), x).valid());
  Output whole = t.b.Op("Cast", {x}, {{"DstT", DType::kInt32}});
  EXPECT_FALSE(t.Grad(t.b.Op("Cast", {whole}, {{"DstT", DType::kFloat}}), x).valid());
}

TEST(AddGradientsTest, NamesTheOpWithoutGradient) {
  Fixture t;
  Output x = t.Arg("x", {4});
  auto opaque =
      t.f.graph.AddOpaqueNode({.op = "Mystery", .name = "m", .inputs = {x}}, {DType::kFloat});
  ASSERT_TRUE(opaque.ok());
  auto gradients = AddGradients(t.b, {{Output{*opaque, 0}}}, {{x}});
  ASSERT_FALSE(gradients.ok());
  EXPECT_EQ(gradients.status().code(), Code::kUnimplemented);
  EXPECT_THAT(std::string(gradients.status().message()), HasSubstr("Mystery"));
}

TEST(AddGradientsTest, IntegersHaveNone) {
  Fixture t;
  Output x = t.Arg("x", {4}, DType::kInt32);
  EXPECT_EQ(AddGradients(t.b, {{x}}, {{x}}).status().code(), Code::kInvalidArgument);
}

TEST(AddGradientsTest, MeanOfCrossEntropyScalesByAScalar) {
  Fixture t;
  Output logits = t.Arg("logits", {-1, 10});
  Output labels = t.Arg("labels", {-1}, DType::kInt32);
  std::vector<Output> loss = t.b.Ops("SparseSoftmaxCrossEntropyWithLogits", {logits, labels});
  ASSERT_EQ(loss.size(), 2u) << t.b.status().ToString();
  Output mean = t.b.Op("Mean", {loss[0], t.b.Int32Vector({0})});
  Output d = t.Grad(mean, logits);
  ASSERT_TRUE(d.valid());
  EXPECT_EQ(d.node->op(), "Mul");
  EXPECT_EQ(d.node->input(0).shape().rank(), 0);
  EXPECT_EQ(d.node->input(1), loss[1]);
}

TEST(AddGradientsTest, GradYsWeightTheResults) {
  Fixture t;
  Output x = t.Arg("x", {4});
  Output w = t.Arg("w", {4});
  auto gradients = AddGradients(t.b, {{t.b.Op("Neg", {x})}}, {{x}}, {{w}});
  ASSERT_TRUE(gradients.ok());
  EXPECT_EQ((*gradients)[0].node->op(), "Neg");
  EXPECT_EQ((*gradients)[0].node->input(0), w);
  EXPECT_FALSE(AddGradients(t.b, {{x}}, {{x}}, {{w, w}}).ok());
}

}  // namespace
}  // namespace slipway::ir
