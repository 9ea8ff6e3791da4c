// SPDX-License-Identifier: Apache-2.0
//
// For tests: cases of layers, losses, metrics, optimizers, initialisers and fits that were made
// with Keras. One folder a case: case.json, and the .npy files that it names. They lie in
// $SLIPWAY_SHARED/training (../shared/training if not set); tests are skipped without them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/strings.h"
#include "exec/executable.h"
#include "nn/context.h"
#include "train/variables.h"
#include "wire/npy.h"

namespace slipway::train::cases {

using Json = nlohmann::json;

inline std::string TrainingFolder() {
  const char* shared = std::getenv("SLIPWAY_SHARED");
  return JoinPath(shared != nullptr ? shared : "../shared", "training");
}

struct Case {
  std::string folder;
  Json doc;

  double rtol() const { return doc.value("rtol", 1e-5); }
  double atol() const { return doc.value("atol", 1e-6); }
  std::string Text(const char* key) const { return doc.at(key).dump(); }
};

inline std::string GoldenFile(const std::string& group, const std::string& name) {
  return StrCat("tests/golden/training/", group, "/", name, ".json");
}

inline StatusOr<Case> LoadCase(const std::string& group, const std::string& name) {
  Case loaded{.folder = JoinPath(JoinPath(TrainingFolder(), group), name), .doc = {}};
  std::string golden = GoldenFile(group, name);
  bool ours = Env::Default()->Exists(golden);
  ASSIGN_OR_RETURN(std::string text,
                   ReadFile(Env::Default(), ours ? golden : JoinPath(loaded.folder, "case.json")));
  loaded.doc = Json::parse(text, nullptr, false);
  return loaded;
}

// The names of the group's cases that `takes` accepts, and "none" if the folder of cases is
// missing.
inline std::vector<std::string> CasesOf(const std::string& group,
                                        const std::function<bool(const Case&)>& takes) {
  std::vector<std::string> names;
  auto golden = Env::Default()->ListDirectory(StrCat("tests/golden/training/", group));
  for (size_t i = 0; golden.ok() && i < golden->size(); ++i) {
    const std::string& file = (*golden)[i];
    names.push_back(file.substr(0, file.rfind('.')));
  }
  auto shared = Env::Default()->ListDirectory(JoinPath(TrainingFolder(), group));
  if (shared.ok()) names.insert(names.end(), shared->begin(), shared->end());
  std::vector<std::string> out;
  for (const std::string& name : names) {
    auto loaded = LoadCase(group, name);
    if (loaded.ok() && takes(*loaded)) out.push_back(name);
  }
  if (!shared.ok()) out.push_back("none");
  return out;
}

inline double NumberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return value == "-Infinity" ? -std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::infinity();
}

inline Tensor ScalarOf(DType dtype, const Json& value) {
  switch (dtype) {
    case DType::kInt64:
      return Tensor::Scalar(value.get<int64_t>());
    case DType::kInt32:
      return Tensor::Scalar(value.get<int32_t>());
    default:
      return Tensor::Scalar(static_cast<float>(NumberOf(value)));
  }
}

// {"dtype", "shape", "values"}.
inline Tensor WrittenOut(const Json& spec) {
  std::vector<int64_t> dims = spec.at("shape");
  DType dtype = *ParseDType(spec.at("dtype").get<std::string>());
  Tensor out(dtype, Shape(std::span<const int64_t>(dims)));
  const Json& values = spec.at("values");
  for (size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
      case DType::kInt64:
        out.flat<int64_t>()[i] = values[i];
        break;
      case DType::kInt32:
        out.flat<int32_t>()[i] = values[i];
        break;
      default:
        out.flat<float>()[i] = static_cast<float>(NumberOf(values[i]));
    }
  }
  return out;
}

// Invalid for null.
inline Tensor TensorOf(const Case& from, const Json& spec) {
  if (spec.is_null()) return Tensor();
  if (spec.contains("value")) {
    return ScalarOf(*ParseDType(spec.at("dtype").get<std::string>()), spec.at("value"));
  }
  if (spec.contains("values")) return WrittenOut(spec);
  auto tensor = ReadNpy(Env::Default(), JoinPath(from.folder, spec.at("npy").get<std::string>()));
  EXPECT_TRUE(tensor.ok()) << tensor.status().ToString();
  return tensor.ok() ? *tensor : Tensor();
}

inline void ExpectNumberNear(double found, double wanted, double rtol, double atol,
                             const std::string& what) {
  if (std::isnan(wanted) || std::isinf(wanted)) {
    EXPECT_TRUE(found == wanted || (std::isnan(found) && std::isnan(wanted)))
        << what << ": found " << found << ", wanted " << wanted;
    return;
  }
  EXPECT_LE(std::abs(found - wanted), atol + rtol * std::abs(wanted))
      << what << ": found " << found << ", wanted " << wanted;
}

inline void ExpectNear(const Tensor& found, const Tensor& wanted, double rtol, double atol,
                       const std::string& what) {
  ASSERT_EQ(found.dtype(), wanted.dtype()) << what;
  ASSERT_EQ(found.shape(), wanted.shape())
      << what << ": " << found.shape().ToString() << " " << wanted.shape().ToString();
  if (found.dtype() == DType::kInt64) {
    for (int64_t i = 0; i < found.num_elements(); ++i) {
      auto at = static_cast<size_t>(i);
      ASSERT_EQ(found.flat<int64_t>()[at], wanted.flat<int64_t>()[at]) << what << " at " << i;
    }
    return;
  }
  for (int64_t i = 0; i < found.num_elements(); ++i) {
    auto at = static_cast<size_t>(i);
    ExpectNumberNear(found.flat<float>()[at], wanted.flat<float>()[at], rtol, atol,
                     StrCat(what, " at ", i));
    if (testing::Test::HasFailure()) return;
  }
}

// Runs what `build` adds to a graph against the store's variables; its results.
using BuildFn = std::function<std::vector<ir::Output>(nn::CallContext& context)>;
inline StatusOr<std::vector<Tensor>> RunGraph(VariableStore* store, bool training,
                                              const BuildFn& build) {
  ir::Function function;
  function.name = "case";
  ir::GraphBuilder builder(&function.graph);
  nn::CallContext context(&builder, training, nn::HandlesByPath(&builder));
  std::vector<ir::Output> results = build(context);
  RETURN_IF_ERROR(builder.status());
  for (ir::Output result : results) function.returns.push_back({"result", result});
  for (ir::Node* node : function.graph.nodes()) {
    if (node->effect() == ir::Effect::kWritesResource) {
      function.control_returns.emplace_back(node->name(), node);
    }
  }
  size_t count = results.size();
  exec::CompileOptions options;
  options.resources = store->container();
  ASSIGN_OR_RETURN(auto executable, exec::Executable::Compile(std::move(function), options));
  std::vector<Tensor> out(count);
  RETURN_IF_ERROR(executable->Run({}, out));
  return out;
}

}  // namespace slipway::train::cases
