// SPDX-License-Identifier: Apache-2.0
//
// Libraries of custom ops: the example, and wrong ones.
#include "kernels/custom_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "exec/testing.h"
#include "model/saved_model.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

std::string Broken(int kind) {
  return StrCat(SLIPWAY_CUSTOM_OP_LIBRARIES, "/libbroken_custom_op_", kind, ".so");
}
const std::string kExample = std::string(SLIPWAY_CUSTOM_OP_LIBRARIES) + "/libexample_custom_op.so";

TEST(CustomOp, TheExampleRuns) {
  ASSERT_TRUE(kernels::LoadCustomOpLibrary(kExample).ok());
  EXPECT_TRUE(kernels::LoadCustomOpLibrary(kExample).ok()) << "loading twice is no error";
  auto model = model::SavedModel::Load(Env::Default(), "examples/custom_op/model");
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  auto y = (*(*model)->FindSignature("serving_default"))
               ->Run({{"x", Tensor::Vector<float>({-3, 0.25f, 3})}});
  ASSERT_TRUE(y.ok()) << y.status().ToString();
  EXPECT_EQ(y->at("y").ToString(), Tensor::Vector<float>({-2, 0.5f, 2}).ToString());
  Tensor text(DType::kString, Shape({2}));
  text.flat<std::string>()[0] = "abc";
  auto reversed = (*(*model)->FindSignature("backwards"))->Run({{"text", text}});
  ASSERT_TRUE(reversed.ok()) << reversed.status().ToString();
  EXPECT_EQ(reversed->at("reversed").flat<std::string>()[0], "cba");
  EXPECT_EQ(reversed->at("reversed").flat<std::string>()[1], "");
  text.flat<std::string>()[1] = std::string(5000, 'x');
  reversed = (*(*model)->FindSignature("backwards"))->Run({{"text", text}});
  EXPECT_EQ(reversed.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(reversed.status().message(), HasSubstr("a text has more than 4096 bytes"));
}

TEST(CustomOp, AttributesAndShapesAreChecked) {
  ASSERT_TRUE(kernels::LoadCustomOpLibrary(kExample).ok());
  exec::FunctionMaker f;
  const ir::Output x = f.Arg("x", DType::kFloat, {3});
  const ir::Output y = f.b().Op("ExampleClamp", {x}, {{"low", 5.0f}, {"high", 2.0f}}, "wrong");
  EXPECT_EQ(y.shape().ToString(), x.shape().ToString());
  f.Return("y", y);
  auto executable = f.Compile();
  ASSERT_NE(executable, nullptr);
  const Status status = exec::RunOnce(*executable, {Tensor::Vector<float>({1})}).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("node 'wrong' (ExampleClamp): low is above high"));
  ir::Graph graph;
  ir::GraphBuilder b(&graph);
  b.Op("ExampleClamp", {b.Scalar<int32_t>(1)});
  EXPECT_FALSE(b.ok()) << "integers for floats";
}

TEST(CustomOp, LibrariesThatAreWrongSayWhy) {
  const auto message = [](const std::string& path) {
    const Status status = kernels::LoadCustomOpLibrary(path);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr(path));
    return std::string(status.message());
  };
  EXPECT_THAT(message("nowhere/ops.so"), HasSubstr("nowhere/ops.so"));
  EXPECT_THAT(message(Broken(1)), HasSubstr("built for version 2"));
  EXPECT_THAT(message(Broken(2)), HasSubstr("no function slipway_register_ops"));
  EXPECT_THAT(message(Broken(3)), HasSubstr("Op MatMul is there already"));
  EXPECT_FALSE(kernels::HasKernel("BrokenBesideMatMul")) << "all ops of a library, or none";
  EXPECT_THAT(message(Broken(4)), HasSubstr("BrokenSchema"));
}

TEST(CustomOp, KernelsThatMisbehaveAreErrors) {
  ASSERT_TRUE(kernels::LoadCustomOpLibrary(Broken(5)).ok());
  const auto run = [](const std::string& op) {
    exec::FunctionMaker f;
    f.Return("y", f.b().Op(op, {f.Arg("x", DType::kFloat)}));
    auto executable = f.Compile();
    return executable == nullptr
               ? InternalError("not compiled")
               : exec::RunOnce(*executable, {Tensor::Vector<float>({1})}).status();
  };
  EXPECT_THAT(run("BrokenRefuse").message(), HasSubstr("not on my watch"));
  EXPECT_THAT(run("BrokenNothing").message(), HasSubstr("did not allocate output 0"));
  EXPECT_THAT(run("BrokenBeyond").message(), HasSubstr("there is no output 7"));
  EXPECT_THAT(run("BrokenNegative").message(), HasSubstr("Dimension 0 of an output is -5"));
  EXPECT_THAT(run("BrokenOddCode").message(), HasSubstr("failed with code -77"));
}

}  // namespace
}  // namespace slipway
