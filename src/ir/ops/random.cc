// SPDX-License-Identifier: Apache-2.0
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status RandomShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, 0));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// Seeds are a vector of two.
Status CheckSeed(const ShapeContext& c, int i) {
  ASSIGN_OR_RETURN(const PartialShape seed, c.InputOfRank(i, 1));
  return MergeDims(c, seed.dim(0), 2).status();
}

Status StatelessShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckSeed(c, 1));
  return RandomShape(c);
}

// shape, key, counter, alg
Status StatelessV2Shape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  RETURN_IF_ERROR(c.InputOfRank(2, 1).status());
  RETURN_IF_ERROR(CheckScalar(c, 3));
  return RandomShape(c);
}

Status KeyCounterShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckSeed(c, 0));
  c.set_output(0, {1});
  c.set_output(1, {2});
  return OkStatus();
}

Status KeyCounterAlgShape(ShapeContext& c) {
  RETURN_IF_ERROR(KeyCounterShape(c));
  c.set_output(2, PartialShape({}));
  return OkStatus();
}

// The shape that input 0 gives, and behind it that of the parameter.
Status ParameterisedShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, 0));
  if (!shape.has_rank() || !c.input(1).has_rank()) return OkStatus();
  Dims dims = shape.dims();
  Append(&dims, c.input(1), 0, c.input(1).rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status MultinomialShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape logits, c.InputOfRank(0, 2));
  RETURN_IF_ERROR(CheckScalar(c, 1));
  const int64_t samples = ConstInteger(c, 1).value_or(-1);
  c.set_output(0, {logits.dim(0), samples < 0 ? -1 : samples});
  return OkStatus();
}

Status ReadAndSkipShape(ShapeContext& c) {
  c.set_output(0, {3});
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"StatelessRandomUniform", "shape: T, seed: Tseed", "output: dtype",
     "dtype: floating = float32, T: index = int32, Tseed: index = int64", kPure, StatelessShape},
    {"StatelessRandomNormal", "shape: T, seed: Tseed", "output: dtype",
     "dtype: floating = float32, T: index = int32, Tseed: index = int64", kPure, StatelessShape},
    {"StatelessTruncatedNormal", "shape: T, seed: Tseed", "output: dtype",
     "dtype: floating = float32, T: index = int32, Tseed: index = int64", kPure, StatelessShape},
    {"StatelessRandomUniformInt",
     "shape: T, seed: Tseed, minval: dtype, maxval: dtype",
     "output: dtype",
     "dtype: index, T: index, Tseed: index = int64", kPure, StatelessShape},
    {"StatelessRandomUniformFullInt", "shape: T, seed: Tseed", "output: dtype",
     "dtype: {int32, int64, uint32, uint64} = uint64, T: index = int32, Tseed: {int32, int64,"
     " uint32, uint64} = int64", kPure, StatelessShape},
    {"StatelessRandomUniformV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32",
     "output: dtype",
     "dtype: floating = float32, Tshape: index = int32", kPure, StatelessV2Shape},
    {"StatelessRandomNormalV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32",
     "output: dtype",
     "dtype: floating = float32, Tshape: index = int32", kPure, StatelessV2Shape},
    {"StatelessTruncatedNormalV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32",
     "output: dtype",
     "dtype: floating = float32, Tshape: index = int32", kPure, StatelessV2Shape},
    {"StatelessRandomUniformIntV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype",
     "output: dtype",
     "dtype: {int32, int64, uint32, uint64}, Tshape: index = int32", kPure, StatelessV2Shape},
    {"StatelessRandomUniformFullIntV2",
     "shape: Tshape, key: uint64, counter: uint64, alg: int32",
     "output: dtype",
     "dtype: {int32, int64, uint32, uint64} = uint64, Tshape: index = int32",
     kPure, StatelessV2Shape},
    {"StatelessRandomGetKeyCounter", "seed: Tseed", "key: uint64, counter: uint64",
     "Tseed: index = int64", kPure, KeyCounterShape},
    {"StatelessRandomGetAlg", "", "alg: int32", "", kPure, ScalarShape},
    {"StatelessRandomGetKeyCounterAlg", "seed: Tseed", "key: uint64, counter: uint64, alg: int32",
     "Tseed: index = int64", kPure, KeyCounterAlgShape},
    {"RandomUniform", "shape: T", "output: dtype",
     "seed: int = 0, seed2: int = 0, dtype: floating, T: index", kRandom, RandomShape},
    {"RandomStandardNormal", "shape: T", "output: dtype",
     "seed: int = 0, seed2: int = 0, dtype: floating, T: index", kRandom, RandomShape},
    {"TruncatedNormal", "shape: T", "output: dtype",
     "seed: int = 0, seed2: int = 0, dtype: floating, T: index", kRandom, RandomShape},
    {"RandomUniformInt", "shape: T, minval: Tout, maxval: Tout", "output: Tout",
     "seed: int = 0, seed2: int = 0, Tout: index, T: index", kRandom, RandomShape},
    {"RandomShuffle", "value: T", "output: T",
     "seed: int = 0, seed2: int = 0, T: type", kRandom, UnchangedShape},
    {"Multinomial", "logits: T, num_samples: int32", "output: output_dtype",
     "seed: int = 0, seed2: int = 0, T: realnumeric, output_dtype: index = int64",
     kRandom, MultinomialShape},
    {"RandomGamma", "shape: S, alpha: T", "output: T",
     "seed: int = 0, seed2: int = 0, S: index, T: {float16, float32, float64}",
     kRandom, ParameterisedShape},
    {"RandomPoissonV2", "shape: S, rate: R", "output: dtype",
     "seed: int = 0, seed2: int = 0, S: index, R: {float16, float32, float64, int32, int64} ="
     " float64, dtype: {float16, float32, float64, int32, int64} = int64",
     kRandom, ParameterisedShape},
    {"RngReadAndSkip", "resource: resource, alg: int32, delta: uint64", "value: int64",
     "", kWritesResource, ReadAndSkipShape},
    {"StatelessMultinomial", "logits: T, num_samples: int32, seed: Tseed", "output: output_dtype",
     "T: realnumeric, Tseed: index = int64, output_dtype: index = int64", kPure, MultinomialShape},
    {"StatelessRandomBinomial", "shape: S, seed: Tseed, counts: T, probs: T", "output: dtype",
     "S: index, Tseed: index = int64, T: {float16, float32, float64, int32, int64} = float64,"
     " dtype: {float16, float32, float64, int32, int64} = int64", kPure, StatelessShape},
    {"StatelessRandomGammaV2", "shape: T, seed: Tseed, alpha: dtype", "output: dtype",
     "dtype: {float16, float32, float64}, T: index, Tseed: index = int64", kPure, StatelessShape},
    {"StatelessRandomGammaV3",
     "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype",
     "output: dtype",
     "dtype: {float16, float32, float64}, shape_dtype: index = int32", kPure, StatelessV2Shape},
    {"StatelessRandomPoisson", "shape: T, seed: Tseed, lam: Rtype", "output: dtype",
     "Rtype: {float16, float32, float64, int32, int64}, dtype: {float16, float32, float64,"
     " int32, int64}, T: index, Tseed: index = int64", kPure, StatelessShape},
    {"StatelessShuffle", "value: T, key: uint64, counter: uint64, alg: int32", "output: T",
     "T: type", kPure, UnchangedShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> RandomOps() { return kOps; }

}  // namespace slipway::ir
