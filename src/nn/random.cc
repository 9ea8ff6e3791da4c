// SPDX-License-Identifier: Apache-2.0
#include "nn/random.h"

#include "base/strings.h"

namespace slipway::nn {
namespace {

constexpr int64_t kSeedModulus = 2147483646;
constexpr int32_t kPhilox = 1;  // TensorFlow's number of the algorithm

}  // namespace

int32_t FoldedSeed(int64_t seed) {
  int64_t folded = seed % kSeedModulus;
  return static_cast<int32_t>(folded < 0 ? folded + kSeedModulus : folded);
}

ir::Output StatelessRandom(ir::GraphBuilder& b, const char* op, ir::Output shape,
                           ir::Output seed_pair) {
  std::vector<ir::Output> key_counter = b.Ops("StatelessRandomGetKeyCounter", {seed_pair});
  if (!b.ok()) return {};
  return b.Op(op, {shape, key_counter[0], key_counter[1], b.Scalar(kPhilox)},
              {{"dtype", DType::kFloat}});
}

VariablePtr NewSeedState(BuildContext& context, int64_t seed) {
  auto state = std::make_shared<Variable>();
  state->path = StrCat(context.UniqueName("seed_generator"), "/seed_generator_state");
  state->dtype = DType::kInt64;
  state->shape = Shape({2});
  state->initial = Tensor::Vector<int64_t>({seed, 0});
  return state;
}

ir::Output NextSeedPair(CallContext& c, const Variable& state) {
  ir::GraphBuilder& b = c.builder();
  ir::Output now = c.Read(state);
  c.AssignAdd(state, b.Const(Tensor::Vector<int64_t>({0, 1})));
  ir::Output folded = b.Op("FloorMod", {now, b.Scalar<int64_t>(kSeedModulus)});
  return b.Op("Cast", {folded}, {{"DstT", DType::kInt32}});
}

}  // namespace slipway::nn
