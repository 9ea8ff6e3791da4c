// SPDX-License-Identifier: Apache-2.0
#include "model/file_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "formats/saved_model_writer.h"
#include "ir/builder.h"
#include "kernels/families.h"
#include "model/saved_model.h"

namespace slipway::model {
namespace {

using ::testing::HasSubstr;

// A model whose signature's function calls another one, in which `op` has strings for inputs.
StatusOr<std::unique_ptr<SavedModel>> LoadModelWith(const std::string& op, bool allow) {
  ir::Function inner;
  inner.name = "inner";
  ir::GraphBuilder in(&inner.graph);
  const ir::Output given = *inner.AddArg("text", DType::kString, PartialShape());
  std::vector<ir::Output> inputs = {in.Const(Tensor::Scalar(std::string("/elsewhere/file")))};
  if (op == "MergeV2Checkpoints") inputs[0] = in.Const(Tensor::Vector<std::string>({"/a/b"}));
  if (op != "ReadFile") inputs.push_back(in.Const(Tensor::Scalar(std::string("/elsewhere/x"))));
  ir::Node* node = in.AddNode(op, inputs, {}, "culprit");
  EXPECT_TRUE(in.ok()) << in.status().ToString();
  if (op != "ReadFile") inner.control_returns.emplace_back("culprit", node);
  inner.returns.push_back({"y", op == "ReadFile" ? ir::Output{node, 0} : given});
  ir::FunctionLibrary library;
  EXPECT_TRUE(library.Add(std::move(inner)).ok());

  formats::ModelExport model;
  model.library = &library;
  ir::Function& body = model.call_inference.body;
  body.name = "call";
  ir::GraphBuilder b(&body.graph);
  const ir::Output x = *body.AddArg("x", DType::kString, PartialShape());
  const std::vector<DType> types = {DType::kString};
  const ir::Output y = b.Op("StatefulPartitionedCall", {x},
                            {{"Tin", types}, {"Tout", types}, {"f", ir::FunctionRef{"inner", {}}}});
  EXPECT_TRUE(b.ok()) << b.status().ToString();
  body.returns.push_back({"y", y});
  model.signatures = {{"serving_default", {"x"}, {"y"}}};
  auto env = NewMemoryEnv();
  RETURN_IF_ERROR(formats::WriteSavedModel(env.get(), "/m/1", model));
  LoadOptions options;
  options.allow_file_ops = allow;
  return SavedModel::Load(env.get(), "/m/1", options);
}

TEST(FileAccess, ASignatureThatReachesFilesIsRefusedWhereItIsNotTrusted) {
  for (const char* op : {"ReadFile", "WriteFile", "MergeV2Checkpoints"}) {
    const Status refused = LoadModelWith(op, false).status();
    EXPECT_EQ(refused.code(), Code::kPermissionDenied) << op << ": " << refused.ToString();
    for (const char* part : {"serving_default", op, "culprit", "export the model without it"}) {
      EXPECT_THAT(refused.message(), HasSubstr(part));
    }
    const Status trusted = LoadModelWith(op, true).status();
    EXPECT_TRUE(trusted.ok()) << op << ": " << trusted.ToString();
  }
}

TEST(FileAccess, AModelMayAlwaysRestoreItsOwnVariables) {
  for (const char* name : {"affine", "counter", "text"}) {
    LoadOptions options;
    options.allow_file_ops = false;
    const auto model = SavedModel::Load(
        Env::Default(), StrCat("tests/golden/saved_models/", name, "/saved_model/"), options);
    EXPECT_TRUE(model.ok()) << model.status().ToString();
  }
}

TEST(FileAccess, ADirectoryHoldsItsOwnFilesOnly) {
  auto base = NewMemoryEnv();
  ASSERT_TRUE(base->CreateDirectories("/m/1/assets").ok());
  ASSERT_TRUE(base->CreateDirectories("/m/10").ok());
  for (const char* path : {"/m/1/assets/words", "/m/10/other", "/m/secret"}) {
    ASSERT_TRUE(WriteFile(base.get(), path, "text").ok());
  }
  auto env = NewDirectoryEnv(base.get(), "/m/1/");
  EXPECT_EQ(*ReadFile(env.get(), "/m/1/assets/words"), "text");
  for (const char* path : {"/m/10/other", "/m/secret", "/m/1/../secret", "m/secret"}) {
    EXPECT_EQ(ReadFile(env.get(), path).status().code(), Code::kPermissionDenied) << path;
    EXPECT_FALSE(env->Exists(path)) << path;
  }
  EXPECT_EQ(WriteFile(env.get(), "/m/1/new", "").code(), Code::kPermissionDenied);
  EXPECT_EQ(env->RemoveTree("/m/1").code(), Code::kPermissionDenied);
  EXPECT_TRUE(base->Exists("/m/1/assets/words"));
}

// Whoever adds an op on files must say here which kind it is.
TEST(FileAccess, EveryOpOnFilesIsKnown) {
  for (const kernels::KernelDef& def : kernels::SaveRestoreKernels()) {
    EXPECT_TRUE(def.op == "ShardedFilename" || ReadsFiles(def.op) || WritesFiles(def.op)) << def.op;
  }
}

}  // namespace
}  // namespace slipway::model
