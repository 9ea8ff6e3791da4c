// SPDX-License-Identifier: Apache-2.0
//
// A prediction into the caller's outputs allocates nothing and takes no lock once its plan exists.
#include <gtest/gtest.h>

#include "base/cost_counters_testing.h"
#include "exec/testing.h"

namespace slipway::exec {
namespace {

TEST(SteadyStateTest, DenseNetworkAllocatesNothingAndTakesNoLock) {
  if (SLIPWAY_SANITIZED) GTEST_SKIP() << "the sanitizer's own allocator is in the way";
  FunctionMaker f;
  ir::GraphBuilder& b = f.b();
  ir::Output h = f.Arg("x", DType::kFloat, {-1, 28, 28});
  h = b.Op("Reshape", {h, b.Int32Vector({-1, 784})});
  for (auto [in, out] : {std::pair<int64_t, int64_t>{784, 300}, {300, 100}, {100, 10}}) {
    Tensor w(DType::kFloat, {in, out}), bias(DType::kFloat, {out});
    for (float& v : w.flat<float>()) v = 0.01f;
    for (float& v : bias.flat<float>()) v = 0.5f;
    h = b.Op("BiasAdd", {b.Op("MatMul", {h, b.Const(w)}), b.Const(bias)});
    if (out != 10) h = b.Op("Relu", {h});
  }
  f.Return("y", b.Op("Softmax", {h}));
  Device device("/job:localhost/replica:0/task:0/device:CPU:0", "CPU",
                {.intra_op_threads = 1, .inter_op_threads = 1});
  auto e = f.Compile({.device = &device});
  ASSERT_NE(e, nullptr);

  Tensor x(DType::kFloat, {1, 28, 28});
  for (float& v : x.flat<float>()) v = 0.1f;
  const std::vector<Tensor> inputs = {x};
  std::vector<Tensor> outputs = {Tensor(DType::kFloat, {1, 10})};
  for (int warm_up = 0; warm_up < 10; ++warm_up) ASSERT_TRUE(e->Run(inputs, outputs).ok());

  const AllocatorStats before = CpuAllocator()->Stats();
  allocations = locks = 0;
  Status status;
  for (int run = 0; run < 100; ++run) status = e->Run(inputs, outputs);
  const int seen_allocations = allocations, seen_locks = locks;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(seen_allocations, 0);
  EXPECT_EQ(seen_locks, 0);
  EXPECT_EQ(CpuAllocator()->Stats().allocations, before.allocations);
  EXPECT_NEAR(outputs[0].flat<float>()[3], 0.1f, 1e-6);
}

}  // namespace
}  // namespace slipway::exec
