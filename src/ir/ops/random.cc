// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"StatelessRandomUniform", "shape: T, seed: Tseed", "output: dtype",
     "dtype: floating = float32, T: index = int32, Tseed: index = int64", kPure, nullptr},
    {"StatelessRandomNormal", "shape: T, seed: Tseed", "output: dtype",
     "dtype: floating = float32, T: index = int32, Tseed: index = int64", kPure, nullptr},
    {"StatelessTruncatedNormal", "shape: T, seed: Tseed", "output: dtype",
     "dtype: floating = float32, T: index = int32, Tseed: index = int64", kPure, nullptr},
    {"StatelessRandomUniformInt",
     "shape: T, seed: Tseed, minval: dtype, maxval: dtype",
     "output: dtype",
     "dtype: index, T: index, Tseed: index = int64", kPure, nullptr},
    {"StatelessRandomUniformFullInt", "shape: T, seed: Tseed", "output: dtype",
     "dtype: {int32, int64, uint32, uint64} = uint64, T: index = int32, Tseed: {int32, int64,"
     " uint32, uint64} = int64", kPure, nullptr},
    {"StatelessRandomUniformV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32",
     "output: dtype",
     "dtype: floating = float32, Tshape: index = int32", kPure, nullptr},
    {"StatelessRandomNormalV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32",
     "output: dtype",
     "dtype: floating = float32, Tshape: index = int32", kPure, nullptr},
    {"StatelessTruncatedNormalV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32",
     "output: dtype",
     "dtype: floating = float32, Tshape: index = int32", kPure, nullptr},
    {"StatelessRandomUniformIntV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype",
     "output: dtype",
     "dtype: {int32, int64, uint32, uint64}, Tshape: index = int32", kPure, nullptr},
    {"StatelessRandomUniformFullIntV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32",
     "output: dtype",
     "dtype: {int32, int64, uint32, uint64} = uint64, Tshape: index = int32", kPure, nullptr},
    {"StatelessRandomGetKeyCounter", "seed: Tseed", "key: uint64, counter: uint64",
     "Tseed: index = int64", kPure, nullptr},
    {"StatelessRandomGetAlg", "", "alg: int32", "", kPure, ScalarShape},
    {"StatelessRandomGetKeyCounterAlg", "seed: Tseed", "key: uint64, counter: uint64, alg: int32",
     "Tseed: index = int64", kPure, nullptr},
    {"RandomUniform", "shape: T", "output: dtype",
     "seed: int = 0, seed2: int = 0, dtype: floating, T: index", kRandom, nullptr},
    {"RandomStandardNormal", "shape: T", "output: dtype",
     "seed: int = 0, seed2: int = 0, dtype: floating, T: index", kRandom, nullptr},
    {"TruncatedNormal", "shape: T", "output: dtype",
     "seed: int = 0, seed2: int = 0, dtype: floating, T: index", kRandom, nullptr},
    {"RandomUniformInt", "shape: T, minval: Tout, maxval: Tout", "output: Tout",
     "seed: int = 0, seed2: int = 0, Tout: index, T: index", kRandom, nullptr},
    {"RandomShuffle", "value: T", "output: T",
     "seed: int = 0, seed2: int = 0, T: type", kRandom, UnchangedShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> RandomOps() { return kOps; }

}  // namespace slipway::ir
