// SPDX-License-Identifier: Apache-2.0
//
// Loops of the user's own: functions compiled from C++, with gradients and updates in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slipway/ops.h"

namespace slipway {
namespace {

using testing::HasSubstr;

TEST(FunctionTest, DifferentiatesAndUpdatesUserCode) {
  Variable w("w", Tensor::FromValues<float>({1, 2}, Shape({2, 1})));
  auto step = Function::Compile({{DType::kFloat, {-1, 2}, "x"}, {DType::kFloat, {-1, 1}, "y"}},
                                [&](Graph& g, std::span<const Value> in) -> std::vector<Value> {
                                  Value error = ops::MatMul(in[0], g.Read(w)) - in[1];
                                  Value loss = ops::ReduceMean(ops::Square(error));
                                  g.AssignSub(w, 0.5 * g.Gradients(loss, {w})[0]);
                                  return {loss};
                                });
  ASSERT_TRUE(step.ok()) << step.status().ToString();
  Tensor x = Tensor::FromValues<float>({1, 0, 0, 1}, Shape({2, 2}));
  Tensor y = Tensor::FromValues<float>({3, 3}, Shape({2, 1}));
  auto results = step->Run({x, y});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  // error = (1 - 3, 2 - 3); loss = (4 + 1) / 2; dw = error.
  EXPECT_FLOAT_EQ((*results)[0].scalar<float>(), 2.5f);
  EXPECT_FLOAT_EQ(w.value().flat<float>()[0], 2.0f);
  EXPECT_FLOAT_EQ(w.value().flat<float>()[1], 2.5f);
}

TEST(FunctionTest, BuildErrorsNameOpAndShapes) {
  auto bad =
      Function::Compile({{DType::kFloat, {-1, 2}, "x"}}, [&](Graph& g, std::span<const Value> in) {
        Value k = g.Constant(Tensor::FromValues<float>({1, 2, 3}, Shape({3, 1})));
        return std::vector<Value>{ops::MatMul(in[0], k)};
      });
  EXPECT_EQ(bad.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("MatMul"));
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("[3,1]"));
}

}  // namespace
}  // namespace slipway
