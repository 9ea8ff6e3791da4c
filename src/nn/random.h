// SPDX-License-Identifier: Apache-2.0
//
// Random numbers in graphs, as Keras's TensorFlow backend draws them: stateless Philox ops under a
// seed pair [seed, n].
#pragma once

#include <cstdint>

#include "nn/context.h"

namespace slipway::nn {

// A 64-bit seed as the ops take it: floormod(seed, 2^31 - 2).
int32_t FoldedSeed(int64_t seed);

// A StatelessRandom…V2 op (float32) under a pair of int32 seeds.
ir::Output StatelessRandom(ir::GraphBuilder& builder, const char* op, ir::Output shape,
                           ir::Output seed_pair);

// The state of Keras's SeedGenerator: int64 [seed, n], n grows by one a draw.
VariablePtr NewSeedState(BuildContext& context, int64_t seed);
// The pair for the next draw, folded to int32; the state moves on.
ir::Output NextSeedPair(CallContext& context, const Variable& state);

}  // namespace slipway::nn
