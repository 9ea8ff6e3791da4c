// SPDX-License-Identifier: Apache-2.0
#include "kernels/machine_probe.h"

#include <gtest/gtest.h>

namespace slipway::kernels {
namespace {

// Bounds that every machine of the last and next years meets, whatever else runs on it.
TEST(MachineProbeTest, LimitsArePlausible) {
  const MachineLimits limits = ProbeMachine();
  EXPECT_GT(limits.gflops, 0.05);
  EXPECT_LT(limits.gflops, 5000);
  EXPECT_GT(limits.gb_per_second, 0.01);
  EXPECT_LT(limits.gb_per_second, 5000);
  EXPECT_FALSE(limits.vector_target.empty());
}

}  // namespace
}  // namespace slipway::kernels
