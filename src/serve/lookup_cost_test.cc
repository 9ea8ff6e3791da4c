// SPDX-License-Identifier: Apache-2.0
//
// From a model's name to a signature under lease: no allocation, no lock.
#include "base/cost_counters_testing.h"
#include "serve/predict.h"
#include "serve/rest_path.h"
#include "serve/test_models.h"

namespace slipway::serve {
namespace {

TEST(LookupCost, PathToSignatureAndRunNeitherAllocatesNorLocks) {
  if (SLIPWAY_SANITIZED) GTEST_SKIP() << "the sanitizer's own allocator is in the way";
  auto env = NewMemoryEnv();
  ASSERT_TRUE(formats::WriteSavedModel(env.get(), "/m/7", AffineModel(0.5f, 2.0f)).ok());
  auto servable = LoadServable(env.get(), 7, "/m/7", {});
  ASSERT_TRUE(servable.ok()) << servable.status().ToString();
  MetricsRegistry metrics;
  ServeMetrics families(&metrics);
  const auto cells = families.ForModel("a model with a long name");
  Registry registry;
  registry.Publish({{"a model with a long name", cells.get(), {servable->get()}}});

  Prediction prediction;
  const Tensor x = Tensor::Vector<float>({2.0f});
  prediction.inputs.reserve(1);
  const auto predict = [&] {
    RestPath path;
    ParseRestPath("/v1/models/a model with a long name/versions/7:predict", &path);
    auto lease =
        FindServable(registry, {path.model, path.version, path.label}, &prediction.metrics);
    ASSERT_TRUE(lease.ok());
    prediction.lease = *std::move(lease);
    prediction.signature = prediction.lease->FindSignature("serving_default");
    ASSERT_NE(prediction.signature, nullptr);
    EXPECT_LT(prediction.signature->EstimateNanos(1), 1'000'000);
    prediction.inputs.push_back(x);
    ASSERT_TRUE(serve::Run(&prediction, nullptr).ok());
    EXPECT_EQ(prediction.outputs[0].flat<float>()[0], 3.0f);
    prediction.metrics->CountRequest(Method::kPredict, Entrypoint::kRest, Code::kOk, 1000);
    prediction.Recycle();
  };
  predict();
  allocations = locks = 0;
  for (int i = 0; i < 100; ++i) predict();
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(locks, 0);
}

}  // namespace
}  // namespace slipway::serve
