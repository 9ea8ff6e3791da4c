// SPDX-License-Identifier: Apache-2.0
#include "model/file_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "formats/saved_model_writer.h"
#include "ir/builder.h"
#include "kernels/families.h"
#include "model/op_risks.h"
#include "model/saved_model.h"
#include "model/scan.h"

namespace slipway::model {
namespace {

using ::testing::HasSubstr;

// A model whose signature's function calls another one, in which `op` has strings for inputs.
Status WriteModelWith(Env* env, const std::string& op) {
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
  return formats::WriteSavedModel(env, "/m/1", model);
}

StatusOr<std::unique_ptr<SavedModel>> LoadModelWith(const std::string& op, bool allow) {
  auto env = NewMemoryEnv();
  RETURN_IF_ERROR(WriteModelWith(env.get(), op));
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

TEST(FileAccess, RestoringMayReadAndNothingElse) {
  EXPECT_FALSE(IsRefused("RestoreV2", FileOps::kRead));
  EXPECT_TRUE(IsRefused("RestoreV2", FileOps::kNone));
  for (const char* op : {"SaveV2", "PyFunc", "RpcCall"}) {
    EXPECT_TRUE(IsRefused(op, FileOps::kRead)) << op;
  }
  EXPECT_FALSE(IsRefused("MatMul", FileOps::kNone));
}

TEST(FileAccess, AScanFindsWhatServingRefuses) {
  auto env = NewMemoryEnv();
  ASSERT_TRUE(WriteModelWith(env.get(), "ReadFile").ok());
  const auto file = formats::ReadSavedModel(env.get(), "/m/1");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const MetaGraphScan scan = ScanMetaGraph(file->meta_graphs[0], {"ReadFile", "PrintV2"});
  EXPECT_FALSE(scan.served);
  EXPECT_THAT(scan.denylisted, testing::ElementsAre("ReadFile"));
  ASSERT_FALSE(scan.findings.empty());
  const ScanFinding& found = scan.findings[0];
  EXPECT_EQ(found.entry, "signature 'serving_default'");
  EXPECT_EQ(found.op, "ReadFile");
  EXPECT_EQ(found.node, "culprit");
  EXPECT_TRUE(found.refused);
  const std::string text = ScanText(scan, {"ReadFile", "PrintV2"});
  EXPECT_THAT(text, HasSubstr("MetaGraph with tag set ['serve'] contains the following denylisted "
                              "ops: {'ReadFile'}\n"));
  EXPECT_THAT(text, HasSubstr("refuses it without --allow_file_ops"));
  EXPECT_THAT(ScanJson({scan}), HasSubstr("\"served\": false"));
}

TEST(FileAccess, AScanKnowsTheModelsOwnFiles) {
  const auto file =
      formats::ReadSavedModel(Env::Default(), "tests/golden/saved_models/counter/saved_model");
  const MetaGraphScan scan = ScanMetaGraph(file->meta_graphs[0], {});
  EXPECT_TRUE(scan.served);
  ASSERT_EQ(scan.findings.size(), 1u);
  EXPECT_EQ(scan.findings[0].op, "RestoreV2");
  EXPECT_FALSE(scan.findings[0].refused);
  EXPECT_THAT(scan.unreached, testing::ElementsAre("MergeV2Checkpoints", "SaveV2"));
}

// Whoever adds an op on files must say here which kind it is.
TEST(FileAccess, EveryOpOnFilesIsKnown) {
  for (const kernels::KernelDef& def : kernels::SaveRestoreKernels()) {
    EXPECT_TRUE(def.op == "ShardedFilename" || RiskOf(def.op).has_value()) << def.op;
  }
}

}  // namespace
}  // namespace slipway::model
