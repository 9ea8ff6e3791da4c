// SPDX-License-Identifier: Apache-2.0
//
// What one core of this machine can do at most, measured: the yardstick that every figure of a
// kernel is given beside.
#pragma once

#include <string>

namespace slipway::kernels {

struct MachineLimits {
  double gflops = 0;          // 1e9 float32 operations a second, multiply-adds counted twice
  double gb_per_second = 0;   // 1e9 bytes a second read from memory that no cache holds
  std::string vector_target;  // Highway's name of the target that kernels run as, e.g. "AVX2"
};

// Measures now, on the calling thread, in under 100 ms each; the best of many short blocks, so that
// another process delays but hardly changes the answer. Bandwidth is 0 without 64 MiB of memory.
// Thread safe.
MachineLimits ProbeMachine();

}  // namespace slipway::kernels
