// SPDX-License-Identifier: Apache-2.0
//
// What TensorFlow makes of the files is in tests/interop/saved_model_test.py.
#include "formats/saved_model_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/fault_env.h"
#include "checkpoint/bundle.h"
#include "formats/saved_model_reader.h"
#include "ir/builder.h"

namespace slipway::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file system that cannot exchange names, as some networks' cannot.
class WithoutExchange : public FaultEnv {
 public:
  using FaultEnv::FaultEnv;
  Status Exchange(const std::string& a, const std::string& b) override {
    return Env::Exchange(a, b);
  }
};

// y = x * w + b.
ModelExport Affine() {
  ModelExport model;
  model.variables = {{"dense/w", Tensor::Scalar(2.0f), true, {"layers", "0", "w"}},
                     {"b", Tensor::Vector<float>({1, 2}), false, {}}};
  ir::Function& body = model.call_inference.body;
  body.name = "call";
  ir::GraphBuilder builder(&body.graph);
  const ir::Output x = *body.AddArg("inputs", DType::kFloat, PartialShape({-1, 2}));
  std::vector<ir::Output> reads;
  for (int i = 0; i < 2; ++i) {
    const ir::Output handle =
        *body.AddArg("handle_" + std::to_string(i), DType::kResource, Shape());
    model.call_inference.captures.push_back(i);
    reads.push_back(builder.Op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}}));
  }
  const ir::Output y = builder.Op("AddV2", {builder.Op("Mul", {x, reads[0]}), reads[1]});
  EXPECT_TRUE(builder.ok()) << builder.status().ToString();
  body.returns.push_back({"y", y});
  model.signatures = {{"serving_default", {"x"}, {"y"}}};
  return model;
}

TEST(SavedModelWriter, OurReaderReadsIt) {
  auto env = NewMemoryEnv();
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1", Affine()).ok());
  auto file = ReadSavedModel(env.get(), "/m/1");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_EQ(file->meta_graphs.size(), 1u);
  const MetaGraph& mg = file->meta_graphs[0];
  EXPECT_THAT(mg.tags, ElementsAre("serve"));
  const SignatureDef& def = mg.signatures.at("serving_default");
  ASSERT_EQ(def.inputs.size(), 1u);
  EXPECT_EQ(def.inputs[0].shape, PartialShape({-1, 2}));
  EXPECT_TRUE(FindTensor(mg.graph, def.inputs[0].tensor_name).ok());
  EXPECT_TRUE(FindTensor(mg.graph, def.outputs[0].tensor_name).ok());
  EXPECT_EQ(mg.saver.filename_tensor, "saver_filename:0");
  EXPECT_NE(mg.graph.FindNode(mg.saver.restore_op), nullptr);
  EXPECT_NE(mg.graph.FindNode(mg.init_op), nullptr);
  ASSERT_EQ(mg.variables.size(), 2u);
  EXPECT_EQ(mg.variables[0].name, "dense/w");
  EXPECT_EQ(mg.variables[1].shape, PartialShape({2}));
  EXPECT_FALSE(mg.variables[1].trainable);
  for (const auto& name : mg.functions->Names()) {
    auto function = mg.functions->Find(name);
    EXPECT_TRUE(function.ok()) << function.status().ToString();
  }
}

TEST(SavedModelWriter, KeysFollowTheObjects) {
  auto env = NewMemoryEnv();
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1", Affine()).ok());
  auto bundle = BundleReader::Open(env.get(), "/m/1/variables/variables");
  ASSERT_TRUE(bundle.ok());
  EXPECT_EQ((*bundle)->Read("layers/0/w/.ATTRIBUTES/VARIABLE_VALUE")->scalar<float>(), 2.0f);
  EXPECT_EQ((*bundle)->Read("b/.ATTRIBUTES/VARIABLE_VALUE")->flat<float>()[1], 2.0f);
  EXPECT_TRUE((*bundle)->Find("_CHECKPOINTABLE_OBJECT_GRAPH").ok());
}

TEST(SavedModelWriter, EqualModelsGiveEqualBytes) {
  auto env = NewMemoryEnv();
  ASSERT_TRUE(WriteSavedModel(env.get(), "/a", Affine()).ok());
  ASSERT_TRUE(WriteSavedModel(env.get(), "/b", Affine()).ok());
  for (const char* file : {"saved_model.pb", "fingerprint.pb", "variables/variables.index",
                           "variables/variables.data-00000-of-00001"}) {
    auto a = ReadFile(env.get(), JoinPath("/a", file));
    auto b = ReadFile(env.get(), JoinPath("/b", file));
    ASSERT_TRUE(a.ok() && b.ok()) << file;
    EXPECT_EQ(*a, *b) << file;
  }
}

TEST(SavedModelWriter, ReplacesOnlyIfAllowed) {
  auto env = NewMemoryEnv();
  ModelExport model = Affine();
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1", model).ok());
  model.variables[0].value = Tensor::Scalar(5.0f);
  EXPECT_EQ(WriteSavedModel(env.get(), "/m/1", model, {.overwrite = false}).code(),
            Code::kAlreadyExists);
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1/", model).ok());
  auto bundle = BundleReader::Open(env.get(), "/m/1/variables/variables");
  ASSERT_TRUE(bundle.ok());
  EXPECT_EQ((*bundle)->Read("layers/0/w/.ATTRIBUTES/VARIABLE_VALUE")->scalar<float>(), 5.0f);
  EXPECT_THAT(*env->ListDirectory("/m"), ElementsAre("1"));
}

TEST(SavedModelWriter, ReplacesNothingButModels) {
  auto env = NewMemoryEnv();
  ASSERT_TRUE(env->CreateDirectories("/home/empty").ok());
  ASSERT_TRUE(WriteSavedModel(env.get(), "/home/empty", Affine()).ok());
  ASSERT_TRUE(env->CreateDirectories("/home/assets").ok());
  ASSERT_TRUE(WriteFile(env.get(), "/home/notes", "kept").ok());
  for (const char* dir : {"/home", "/home/notes", "/"}) {
    const Status status = WriteSavedModel(env.get(), dir, Affine());
    EXPECT_FALSE(status.ok()) << dir;
    EXPECT_EQ(*ReadFile(env.get(), "/home/notes"), "kept");
  }
  // A model among other files, as when the version's number is left out of the path.
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m", Affine()).ok());
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1", Affine()).ok());
  const Status status = WriteSavedModel(env.get(), "/m", Affine());
  EXPECT_EQ(status.code(), Code::kAlreadyExists);
  EXPECT_THAT(status.ToString(), HasSubstr("holds '1'"));
  EXPECT_EQ(WriteSavedModel(env.get(), ".", Affine()).code(), Code::kInvalidArgument);
  EXPECT_EQ(WriteSavedModel(env.get(), "/m/..", Affine()).code(), Code::kInvalidArgument);
}

TEST(SavedModelWriter, LeavesNothingAfterAnError) {
  auto env = NewMemoryEnv();
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1", Affine()).ok());
  ModelExport model = Affine();
  model.variables[1].object_path = {"layers", "0", "w"};  // another variable has it
  const Status status = WriteSavedModel(env.get(), "/m/1", model);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("layers/0/w"));
  EXPECT_THAT(*env->ListDirectory("/m"), ElementsAre("1"));
  EXPECT_TRUE(ReadSavedModel(env.get(), "/m/1").ok());
}

TEST(SavedModelWriter, AFullDiskLeavesTheOldModel) {
  auto base = NewMemoryEnv();
  ASSERT_TRUE(WriteSavedModel(base.get(), "/m/1", Affine()).ok());
  for (uint64_t bytes = 0; bytes < 4000; bytes += 500) {
    FaultEnv env(base.get());
    env.LimitBytes(bytes);
    EXPECT_EQ(WriteSavedModel(&env, "/m/1", Affine()).code(), Code::kResourceExhausted) << bytes;
    EXPECT_TRUE(ReadSavedModel(base.get(), "/m/1").ok());
  }
}

template <typename Faulty>
void FailEachWrite() {
  auto base = NewMemoryEnv();
  ASSERT_TRUE(WriteSavedModel(base.get(), "/m/1", Affine()).ok());
  Faulty counter(base.get());
  ASSERT_TRUE(WriteSavedModel(&counter, "/m/1", Affine()).ok());
  for (int64_t n = 0; n < counter.writes(); ++n) {
    Faulty env(base.get());
    env.FailWrite(n);
    // The last removes the old model, which is not needed for the new one to stand.
    const bool removal = n == counter.writes() - 1;
    EXPECT_EQ(WriteSavedModel(&env, "/m/1", Affine()).ok(), removal) << n;
    EXPECT_TRUE(ReadSavedModel(base.get(), "/m/1").ok()) << n;
    EXPECT_TRUE(VerifyBundle(base.get(), "/m/1/variables/variables", {.checksums = true}).ok());
  }
}

TEST(SavedModelWriter, AnyWriteMayFail) {
  FailEachWrite<FaultEnv>();
  FailEachWrite<WithoutExchange>();
}

// Killed at each write in turn; `then` looks at what is left.
template <typename Faulty>
void CrashAtEachWrite(const std::function<void(Env* left)>& then) {
  auto counted = NewMemoryEnv();
  ASSERT_TRUE(WriteSavedModel(counted.get(), "/m/1", Affine()).ok());
  Faulty counter(counted.get());
  ASSERT_TRUE(WriteSavedModel(&counter, "/m/1", Affine()).ok());
  for (int64_t n = 0; n < counter.writes(); ++n) {
    SCOPED_TRACE(n);
    auto base = NewMemoryEnv();
    ASSERT_TRUE(WriteSavedModel(base.get(), "/m/1", Affine()).ok());
    Faulty env(base.get());
    env.CrashAtWrite(n);
    WriteSavedModel(&env, "/m/1", Affine()).IgnoreError();
    then(base.get());
    EXPECT_TRUE(WriteSavedModel(base.get(), "/m/1", Affine()).ok());
  }
}

TEST(SavedModelWriter, ThereIsNoMomentWithoutAWholeModel) {
  CrashAtEachWrite<FaultEnv>([](Env* left) {
    EXPECT_TRUE(ReadSavedModel(left, "/m/1").ok());
    EXPECT_TRUE(VerifyBundle(left, "/m/1/variables/variables", {.checksums = true}).ok());
  });
}

// The model, old or new, is there, at the worst under the name it had meanwhile.
TEST(SavedModelWriter, ACrashLosesNothingWithoutExchange) {
  CrashAtEachWrite<WithoutExchange>([](Env* left) {
    const std::string at = left->Exists("/m/1") ? "/m/1" : ReplacedName("/m/1/");
    EXPECT_TRUE(ReadSavedModel(left, at).ok());
  });
}

TEST(SavedModelWriter, WritersAtOnceLeaveOneWholeModel) {
  const std::string folder = JoinPath(::testing::TempDir(), "slipway_saved_model_at_once");
  Env* env = Env::Default();
  ASSERT_TRUE(env->RemoveTree(folder).ok());
  std::vector<std::thread> writers;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, i] {
      ModelExport model = Affine();
      model.variables[0].value = Tensor::Scalar(static_cast<float>(i));
      for (int round = 0; round < 10; ++round) {
        if (!WriteSavedModel(env, JoinPath(folder, "1"), model).ok()) ++failures;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(ReadSavedModel(env, JoinPath(folder, "1")).ok());
  const std::string prefix = JoinPath(folder, "1/variables/variables");
  EXPECT_TRUE(VerifyBundle(env, prefix, {.checksums = true}).ok());
  EXPECT_THAT(*env->ListDirectory(folder), ElementsAre("1"));
}

TEST(SavedModelWriter, TargetsAreCheckedBefore) {
  auto env = NewMemoryEnv();
  EXPECT_TRUE(CheckSavedModelTarget(env.get(), "/new/models/1").ok());
  EXPECT_TRUE(env->ListDirectory("/")->empty());  // nothing is made
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1", Affine()).ok());
  EXPECT_TRUE(CheckSavedModelTarget(env.get(), "/m/1/").ok());
  EXPECT_EQ(CheckSavedModelTarget(env.get(), "/m/1", {.overwrite = false}).code(),
            Code::kAlreadyExists);
  EXPECT_EQ(CheckSavedModelTarget(env.get(), "/m").code(), Code::kAlreadyExists);
  EXPECT_EQ(CheckSavedModelTarget(env.get(), "/m/1/saved_model.pb/1").code(),
            Code::kInvalidArgument);
}

TEST(SavedModelWriter, ASaveRestoresWhatAnInterruptedOneLeft) {
  auto env = NewMemoryEnv();
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1", Affine()).ok());
  ASSERT_TRUE(env->Rename("/m/1", ReplacedName("/m/1")).ok());  // and there it died
  const Status read = ReadSavedModel(env.get(), "/m/1").status();
  EXPECT_EQ(read.code(), Code::kNotFound);
  EXPECT_THAT(read.message(), HasSubstr("/m/.1.replaced"));
  ModelExport bad = Affine();
  bad.variables[1].object_path = {"layers", "0", "w"};  // another variable has it
  EXPECT_FALSE(WriteSavedModel(env.get(), "/m/1", bad).ok());
  EXPECT_TRUE(ReadSavedModel(env.get(), "/m/1").ok());
  ASSERT_TRUE(WriteSavedModel(env.get(), "/m/1", Affine()).ok());
  EXPECT_THAT(*env->ListDirectory("/m"), ElementsAre("1"));
}

TEST(SavedModelWriter, NamesWhatDoesNotFit) {
  auto env = NewMemoryEnv();
  ModelExport model = Affine();
  model.signatures[0].inputs = {"x", "y"};
  EXPECT_THAT(WriteSavedModel(env.get(), "/m/1", model).message(),
              HasSubstr("Signature 'serving_default', inputs: 2 names are given"));
  model = Affine();
  model.call_inference.captures = {0, 7};
  EXPECT_THAT(WriteSavedModel(env.get(), "/m/1", model).message(), HasSubstr("variable 7 of 2"));
  model = Affine();
  model.variables[1].name = "dense/w";
  EXPECT_THAT(WriteSavedModel(env.get(), "/m/1", model).message(), HasSubstr("used twice"));
}

}  // namespace
}  // namespace slipway::formats
