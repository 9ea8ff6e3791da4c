// SPDX-License-Identifier: Apache-2.0
//
// SavedModels written by hand, as text: recursion, limits, and files that mean harm. Each is a few
// lines, so that it can be seen what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "base/strings.h"
#include "model/saved_model.h"

namespace slipway::model {
namespace {

using ::testing::HasSubstr;

// A type attribute, an int constant, a node.
std::string Type(const std::string& key, const std::string& type) {
  return StrCat(" attr { key: '", key, "' value { type: ", type, " } }");
}
std::string Types(const std::string& key, const std::string& list) {
  return StrCat(" attr { key: '", key, "' value { list { ", list, " } } }");
}
std::string Func(const std::string& key, const std::string& name) {
  return StrCat(" attr { key: '", key, "' value { func { name: '", name, "' } } }");
}
std::string Fields(const std::string& name, const std::string& op,
                   const std::vector<std::string>& inputs, const std::string& attrs) {
  std::string text = StrCat(" { name: '", name, "' op: '", op, "'");
  for (const std::string& input : inputs) StrAppend(&text, " input: '", input, "'");
  return StrCat(text, attrs, " }\n");
}
std::string IntConst(int value) {
  return StrCat(Type("dtype", "DT_INT32"),
                " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: ",
                value, " } } }");
}
const std::string kIntT = Type("T", "DT_INT32");
const std::string kX = "node" + Fields("x", "Placeholder", {}, Type("dtype", "DT_INT32") + " ");

// A MetaGraph with one signature: int32 x → y.
std::string Model(const std::string& graph, const std::string& library = "") {
  return StrCat("saved_model_schema_version: 1\nmeta_graphs {\nmeta_info_def { tags: 'serve' }\n",
                "graph_def {\n", kX, graph, "library {\n", library, "}\nversions { producer: 987 }",
                "\n}\nsignature_def { key: 'serving_default' value {\n",
                "inputs { key: 'x' value { name: 'x:0' dtype: DT_INT32 } }\n",
                "outputs { key: 'y' value { name: 'y:0' dtype: DT_INT32 } }\n",
                "method_name: 'tensorflow/serving/predict' } }\n}\n");
}

// A function int32 n → r.
std::string Function(const std::string& name, const std::string& nodes, const std::string& result) {
  return StrCat("function { signature { name: '", name, "' input_arg { name: 'n' type: DT_INT32 }",
                " output_arg { name: 'r' type: DT_INT32 } }\n", nodes, "ret { key: 'r' value: '",
                result, "' } }\n");
}

StatusOr<std::unique_ptr<SavedModel>> LoadText(const std::string& text, LoadOptions options = {}) {
  auto env = NewMemoryEnv();
  EXPECT_TRUE(env->CreateDirectories("/m").ok());
  EXPECT_TRUE(WriteFile(env.get(), "/m/saved_model.pbtxt", text).ok());
  return SavedModel::Load(env.get(), "/m", options);
}

StatusOr<int32_t> RunInt(const SavedModel& model, int32_t x) {
  ASSIGN_OR_RETURN(const Signature* signature, model.FindSignature("serving_default"));
  ASSIGN_OR_RETURN(const TensorMap y, signature->Run({{"x", Tensor::Scalar<int32_t>(x)}}));
  return y.at("y").scalar<int32_t>();
}

const std::string kBranch =
    Type("Tcond", "DT_BOOL") + Types("Tin", "type: DT_INT32") + Types("Tout", "type: DT_INT32");
const std::string kCall =
    Func("f", "factorial") + Types("Tin", "type: DT_INT32") + Types("Tout", "type: DT_INT32");

// factorial(n) = n <= 1 ? 1 : n * factorial(n - 1), its branches functions of their own.
std::string Factorial() {
  const std::string one = "node_def" + Fields("one", "Const", {}, IntConst(1));
  return Model(
      "node" + Fields("y", "PartitionedCall", {"x"}, kCall),
      Function("factorial",
               one + "node_def" + Fields("small", "LessEqual", {"n", "one:output:0"}, kIntT) +
                   "node_def" +
                   Fields("branch", "StatelessIf", {"small:z:0", "n"},
                          kBranch + Func("then_branch", "last") + Func("else_branch", "more")),
               "branch:output:0") +
          Function("last", one, "one:output:0") +
          Function("more",
                   one + "node_def" + Fields("less", "Sub", {"n", "one:output:0"}, kIntT) +
                       "node_def" + Fields("again", "PartitionedCall", {"less:z:0"}, kCall) +
                       "node_def" + Fields("product", "Mul", {"n", "again:output:0"}, kIntT),
                   "product:z:0"));
}

TEST(Recursion, Runs) {
  for (const bool passes : {true, false}) {
    auto model = LoadText(Factorial(), {.run_passes = passes});
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    for (const auto& [n, wanted] : {std::pair{0, 1}, {1, 1}, {5, 120}, {12, 479001600}}) {
      const auto y = RunInt(**model, n);
      ASSERT_TRUE(y.ok()) << y.status().ToString();
      EXPECT_EQ(*y, wanted);
    }
  }
}

TEST(Recursion, EndsAtTheLimit) {
  auto model = LoadText(Factorial());
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const Status deep = RunInt(**model, 100000).status();
  EXPECT_EQ(deep.code(), Code::kInvalidArgument);
  EXPECT_THAT(deep.message(), HasSubstr("nested more than 128 deep"));
  auto shallow = LoadText(Factorial(), {.max_call_depth = 10});
  ASSERT_TRUE(shallow.ok());
  EXPECT_THAT(RunInt(**shallow, 100).status().message(), HasSubstr("nested more than 10 deep"));
  // As deep as the flag lets one go.
  auto deepest = LoadText(Factorial(), {.max_call_depth = 1000});
  ASSERT_TRUE(deepest.ok());
  EXPECT_FALSE(RunInt(**deepest, 100000).ok());
  // What does not fit on the stack, with the frames of a sanitizer for instance, is refused too.
  const Status fits = RunInt(**deepest, 400).status();
  EXPECT_TRUE(fits.ok() || fits.code() == Code::kResourceExhausted) << fits.ToString();
}

TEST(Recursion, EndsWhereTheStackDoes) {
  auto model = LoadText(Factorial(), {.max_call_depth = 1000});
  ASSERT_TRUE(model.ok());
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 << 10), 0);
  struct Call {
    const SavedModel& model;
    Status status;
  } call{**model, OkStatus()};
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    auto* c = static_cast<Call*>(argument);
    c->status = RunInt(c->model, 100000).status();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &call), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(call.status.code(), Code::kResourceExhausted) << call.status.ToString();
  EXPECT_THAT(call.status.message(), HasSubstr("the thread's stack has no room for more"));
}

TEST(Recursion, WithoutABranchIsRefused) {
  const std::string text =
      Model("node" + Fields("y", "PartitionedCall", {"x"}, kCall),
            Function("factorial", "node_def" + Fields("again", "PartitionedCall", {"n"}, kCall),
                     "again:output:0"));
  const Status status = LoadText(text).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'factorial' calls itself"));
  auto without_passes = LoadText(text, {.run_passes = false});
  ASSERT_TRUE(without_passes.ok()) << without_passes.status().ToString();
  EXPECT_THAT(RunInt(**without_passes, 1).status().message(), HasSubstr("may never end"));
}

TEST(Loop, EndsAtTheLimit) {
  const std::string text = Model(
      "node" +
          Fields("y", "StatelessWhile", {"x"},
                 Types("T", "type: DT_INT32") + Func("cond", "positive") + Func("body", "less")),
      StrCat("function { signature { name: 'positive' input_arg { name: 'n' type: DT_INT32 }",
             " output_arg { name: 'r' type: DT_BOOL } }\n", "node_def",
             Fields("zero", "Const", {}, IntConst(0)), "node_def",
             Fields("is", "Greater", {"n", "zero:output:0"}, kIntT),
             "ret { key: 'r' value: 'is:z:0' } }\n") +
          Function("less",
                   "node_def" + Fields("one", "Const", {}, IntConst(1)) + "node_def" +
                       Fields("minus", "Sub", {"n", "one:output:0"}, kIntT),
                   "minus:z:0"));
  auto model = LoadText(text, {.max_loop_iterations = 20});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_TRUE(RunInt(**model, 20).ok());
  const Status status = RunInt(**model, 21).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("goes on after 20 iterations"));
}

// A table under one shared name that gives `value` for 1 and -1 for all else.
std::string TableModel(int value) {
  const std::string types = Type("key_dtype", "DT_INT32") + Type("value_dtype", "DT_INT32");
  const auto one = [](int element) {
    return StrCat(Type("dtype", "DT_INT32"),
                  " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { ",
                  "size: 1 } } int_val: ", element, " } } }");
  };
  std::string text = Model(
      "node" +
      Fields("table", "HashTableV2", {}, types + " attr { key: 'shared_name' value { s: 't' } }") +
      "node" + Fields("keys", "Const", {}, one(1)) + "node" +
      Fields("values", "Const", {}, one(value)) + "node" +
      Fields("init", "LookupTableImportV2", {"table", "keys", "values"},
             Type("Tin", "DT_INT32") + Type("Tout", "DT_INT32")) +
      "node" + Fields("none", "Const", {}, IntConst(-1)) + "node" +
      Fields("y", "LookupTableFindV2", {"table", "x", "none"},
             Type("Tin", "DT_INT32") + Type("Tout", "DT_INT32")));
  text.resize(text.size() - 2);  // the MetaGraph is still open
  return text +
         "signature_def { key: '__saved_model_init_op' value { outputs { key: "
         "'__saved_model_init_op' value { name: 'init' tensor_shape { unknown_rank: true } } } } "
         "}\n}\n";
}

TEST(Tables, TwoVersionsLoadedTogetherAnswerEachFromItsOwn) {
  auto first = LoadText(TableModel(10));
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  auto second = LoadText(TableModel(20));
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(*RunInt(**first, 1), 10);
    EXPECT_EQ(*RunInt(**second, 1), 20);
    EXPECT_EQ(*RunInt(**first, 7), -1);
  }
  first->reset();
  EXPECT_EQ(*RunInt(**second, 1), 20) << "after the other one went";
}

TEST(HostileModel, CyclesAreRefused) {
  const Status status = LoadText(Model("node" + Fields("a", "Neg", {"b"}, kIntT) + "node" +
                                       Fields("b", "Neg", {"a"}, kIntT) + "node" +
                                       Fields("y", "Add", {"x", "a"}, kIntT)))
                            .status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr("cycle"));
  // A way back of a loop that has no way in.
  EXPECT_FALSE(LoadText(Model("node" + Fields("a", "Neg", {"back"}, kIntT) + "node" +
                              Fields("back", "NextIteration", {"a"}, kIntT) + "node" +
                              Fields("y", "Add", {"x", "a"}, kIntT)))
                   .ok());
}

TEST(HostileModel, ConstantsMustFitTheirShape) {
  const auto load = [](const std::string& tensor) {
    return LoadText(Model(StrCat(
                        "node",
                        Fields("c", "Const", {},
                               StrCat(Type("dtype", "DT_INT32"),
                                      " attr { key: 'value' value { tensor { ", tensor, " } } }")),
                        "node", Fields("y", "Add", {"x", "c"}, kIntT))))
        .status();
  };
  EXPECT_TRUE(load("dtype: DT_INT32 tensor_shape { } int_val: 3").ok());
  for (const char* tensor :
       {"dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: [1, 2, 3]",
        "dtype: DT_INT32 tensor_shape { dim { size: 2 } } tensor_content: 'abc'",
        "dtype: DT_INT32 tensor_shape { dim { size: -4 } } int_val: 1",
        "dtype: DT_FLOAT tensor_shape { } float_val: 1",
        "dtype: DT_INT32 tensor_shape { unknown_rank: true } int_val: 1",
        "dtype: DT_INT32 tensor_shape { dim { size: 4294967296 } dim { size: 4294967296 } } "
        "int_val: 1"}) {
    EXPECT_EQ(load(tensor).code(), Code::kInvalidArgument) << tensor;
  }
  const Status large =
      load("dtype: DT_INT32 tensor_shape { dim { size: 1099511627776 } } int_val: 1");
  EXPECT_FALSE(large.ok());
}

TEST(HostileModel, AttributesOfTheWrongTypeAreRefusedByName) {
  const Status status =
      LoadText(Model("node" + Fields("y", "Neg", {"x"}, " attr { key: 'T' value { i: 3 } }")))
          .status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'y'"));
  const std::string frame = StrCat(kIntT, " attr { key: 'frame_name' value { s: 'f' } }");
  EXPECT_EQ(LoadText(Model("node" +
                           Fields("in", "Enter", {"x"},
                                  frame + " attr { key: 'is_constant' value { s: 'no' } }") +
                           "node" + Fields("y", "Exit", {"in"}, kIntT)))
                .status()
                .code(),
            Code::kInvalidArgument);
}

// Pieces of loops and conditionals that no exporter makes.
TEST(HostileModel, PiecesOfControlFlowAreRefused) {
  const std::string frame = StrCat(kIntT, " attr { key: 'frame_name' value { s: 'f' } }");
  const std::string in = "node" + Fields("in", "Enter", {"x"}, frame);
  const std::string yes =
      "node" + Fields("yes", "Const", {},
                      StrCat(Type("dtype", "DT_BOOL"), " attr { key: 'value' value { tensor { ",
                             "dtype: DT_BOOL tensor_shape { } bool_val: true } } }"));
  const std::string two = kIntT + " attr { key: 'N' value { i: 2 } }";
  for (const std::string& graph : {in + "node" + Fields("y", "Exit", {"in"}, kIntT),
                                   in + yes + "node" + Fields("go", "LoopCond", {"yes"}, "") +
                                       "node" + Fields("y", "Exit", {"in", "^go"}, kIntT),
                                   "node" + Fields("y", "Exit", {"x"}, kIntT),
                                   "node" + Fields("y", "NextIteration", {"x"}, kIntT),
                                   "node" + Fields("y", "Merge", {"x", "x"}, two),
                                   yes + "node" + Fields("s", "Switch", {"x", "yes"}, kIntT) +
                                       "node" + Fields("y", "Merge", {"s", "s"}, two),
                                   in + yes + "node" + Fields("m", "Merge", {"in", "next"}, two) +
                                       "node" + Fields("go", "LoopCond", {"yes"}, "") + "node" +
                                       Fields("s", "Switch", {"m", "go"}, kIntT) + "node" +
                                       Fields("next", "NextIteration", {"s:1"}, kIntT) + "node" +
                                       Fields("c", "Const", {"^s"}, IntConst(1)) + "node" +
                                       Fields("y", "Exit", {"c"}, kIntT)}) {
    auto model = LoadText(Model(graph));
    // Loaded or refused, but never the end of the program.
    if (model.ok()) RunInt(**model, 1).status().IgnoreError();
  }
}

TEST(MemoryLimitOfAModel, CountsConstantsAndVariables) {
  const std::string text = Model("node" + Fields("c", "Const", {}, IntConst(1)) + "node" +
                                 Fields("y", "Add", {"x", "c"}, kIntT));
  EXPECT_TRUE(LoadText(text, {.max_model_bytes = 1000}).ok());
  const std::string golden = "tests/golden/saved_models/affine/saved_model";
  LoadOptions options;
  options.max_model_bytes = 1 << 20;
  EXPECT_TRUE(SavedModel::Load(Env::Default(), golden, options).ok());
  options.max_model_bytes = 2;
  const Status status = SavedModel::Load(Env::Default(), golden, options).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
}

}  // namespace
}  // namespace slipway::model
