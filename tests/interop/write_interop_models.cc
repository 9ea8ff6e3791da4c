// SPDX-License-Identifier: Apache-2.0
//
// write_interop_models DIR: writes the SavedModels that saved_model_test.py loads with TensorFlow.
#include <cstdio>
#include <string>

#include "base/env.h"
#include "formats/saved_model_writer.h"
#include "ir/builder.h"

namespace slipway::formats {
namespace {

Tensor Filled(Shape shape, float start, float step) {
  Tensor tensor(DType::kFloat, std::move(shape));
  float value = start;
  for (float& x : tensor.flat<float>()) {
    x = value;
    value += step;
  }
  return tensor;
}

// A function under construction: user arguments first, then handles of captured variables.
struct Builder {
  explicit Builder(std::string name) : builder(&function.body.graph) {
    function.body.name = std::move(name);
  }
  ir::Output Arg(const std::string& name, DType dtype, PartialShape shape) {
    auto arg = function.body.AddArg(name, dtype, std::move(shape));
    if (!arg.ok()) builder.Fail(arg.status());
    return arg.ok() ? *arg : ir::Output();
  }
  ir::Output Handle(const ModelExport& model, int variable) {
    function.captures.push_back(variable);
    const auto& v = model.variables[static_cast<size_t>(variable)];
    return Arg(v.name + "_handle", DType::kResource, Shape());
  }
  ir::Output Read(ir::Output handle) {
    return builder.Op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}});
  }
  void Return(const std::string& name, ir::Output value) {
    function.body.returns.push_back({name, value});
  }

  ExportFunction function;
  ir::GraphBuilder builder;
};

ir::Output Dense(Builder* b, ir::Output x, ir::Output kernel, ir::Output bias) {
  const ir::Output product = b->builder.Op("MatMul", {x, b->Read(kernel)}, {}, "my layer:0/MatMul");
  return b->builder.Op("BiasAdd", {product, b->Read(bias)}, {}, "my layer:0/BiasAdd");
}

ExportFunction MlpFunction(const ModelExport& model, bool training, Status* status) {
  Builder b(training ? "call_training" : "call");
  ir::Output x = b.Arg("inputs", DType::kFloat, PartialShape({-1, 4}));
  std::vector<ir::Output> handles;
  for (int i = 0; i < 4; ++i) handles.push_back(b.Handle(model, i));
  x = b.builder.Op("Relu", {Dense(&b, x, handles[0], handles[1])});
  if (training) x = b.builder.Op("Mul", {x, b.builder.Scalar(2.0f)});
  b.Return("output_0", b.builder.Op("Softmax", {Dense(&b, x, handles[2], handles[3])}));
  if (!b.builder.ok()) *status = b.builder.status();
  return std::move(b.function);
}

StatusOr<ModelExport> Mlp() {
  ModelExport model;
  model.variables = {
      {"dense/kernel", Filled({4, 5}, -0.5f, 0.07f), true, {"layers", "0", "kernel"}},
      {"dense/bias", Filled({5}, 0.1f, -0.05f), true, {"layers", "0", "bias"}},
      {"dense_1/kernel", Filled({5, 3}, 0.4f, -0.06f), true, {"layers", "1", "kernel"}},
      {"dense_1/bias", Filled({3}, 0.0f, 0.1f), false, {"layers", "1", "bias"}}};
  Status status;
  model.call_inference = MlpFunction(model, false, &status);
  model.call_training = MlpFunction(model, true, &status);
  RETURN_IF_ERROR(status);
  model.signatures = {{"serving_default", {"image"}, {"probabilities"}}};
  return model;
}

// Several inputs and results, names that sort otherwise, a training call that counts.
StatusOr<ModelExport> Several() {
  ModelExport model;
  model.variables = {{"scale", Tensor::Scalar(3.0f), true, {}},
                     {"steps", Tensor::Scalar(0.0f), false, {}}};
  for (const bool training : {false, true}) {
    Builder b(training ? "train" : "infer");
    const ir::Output z = b.Arg("z", DType::kFloat, PartialShape({-1}));
    const ir::Output n = b.Arg("n", DType::kInt32, PartialShape({}));
    const ir::Output scale = b.Handle(model, 0);
    const ir::Output scaled = b.builder.Op("Mul", {z, b.Read(scale)});
    if (training) {
      b.builder.AddNode("AssignAddVariableOp", {b.Handle(model, 1), b.builder.Scalar(1.0f)},
                        {{"dtype", DType::kFloat}});
    }
    b.Return("scaled", scaled);
    b.Return("next", b.builder.Op("AddV2", {n, b.builder.Scalar<int32_t>(1)}));
    RETURN_IF_ERROR(b.builder.status());
    (training ? model.call_training : model.call_inference) = std::move(b.function);
  }
  model.signatures = {{"serving_default", {"z", "a"}, {"y", "count"}},
                      {"again", {"first", "second"}, {"p", "q"}}};
  return model;
}

StatusOr<ir::Function> Half() {
  Builder b("half");
  const ir::Output x = b.Arg("x", DType::kFloat, PartialShape());
  b.Return("y", b.builder.Op("Mul", {x, b.builder.Scalar(0.5f)}));
  RETURN_IF_ERROR(b.builder.status());
  return std::move(b.function.body);
}

// No variables; calls a function of the library.
StatusOr<ModelExport> Calls(const ir::FunctionLibrary* library) {
  ModelExport model;
  Builder b("call");
  const ir::Output x = b.Arg("inputs", DType::kFloat, PartialShape());
  b.Return("out", b.builder.Op("PartitionedCall", {x},
                               {{"f", ir::FunctionRef{"half", {}}},
                                {"Tin", std::vector<DType>{DType::kFloat}},
                                {"Tout", std::vector<DType>{DType::kFloat}}}));
  RETURN_IF_ERROR(b.builder.status());
  model.call_inference = std::move(b.function);
  model.signatures = {{"serving_default", {"x"}, {"y"}}};
  model.library = library;
  return model;
}

Status WriteAll(const std::string& dir) {
  Env* env = Env::Default();
  ASSIGN_OR_RETURN(const ModelExport mlp, Mlp());
  RETURN_IF_ERROR(WriteSavedModel(env, JoinPath(dir, "mlp"), mlp));
  RETURN_IF_ERROR(WriteSavedModel(env, JoinPath(dir, "mlp_again"), mlp));
  ASSIGN_OR_RETURN(const ModelExport several, Several());
  RETURN_IF_ERROR(WriteSavedModel(env, JoinPath(dir, "several"), several));
  ir::FunctionLibrary library;
  ASSIGN_OR_RETURN(ir::Function half, Half());
  RETURN_IF_ERROR(library.Add(std::move(half)));
  ASSIGN_OR_RETURN(const ModelExport calls, Calls(&library));
  return WriteSavedModel(env, JoinPath(dir, "calls"), calls);
}

}  // namespace
}  // namespace slipway::formats

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_interop_models DIR\n");
    return 2;
  }
  const slipway::Status status = slipway::formats::WriteAll(argv[1]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
