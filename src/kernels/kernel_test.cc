// SPDX-License-Identifier: Apache-2.0
//
// The registry, the cache of packed weights, bundles as ops, and what hostile values must not do.
#include "kernels/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "checkpoint/bundle.h"
#include "ir/builder.h"
#include "kernels/testing.h"

namespace slipway::kernels {
namespace {

// A node of the op over placeholders of unknown shape.
ir::Node* NodeFor(ir::Graph* graph, const std::string& op, std::span<const Tensor> inputs,
                  ir::AttrMap attrs = {}) {
  ir::GraphBuilder builder(graph);
  std::vector<ir::Output> outputs;
  for (const Tensor& input : inputs) {
    outputs.push_back(builder.Placeholder(input.dtype(), PartialShape(), "x"));
  }
  ir::Node* node = builder.AddNode(op, outputs, std::move(attrs));
  EXPECT_TRUE(builder.ok()) << builder.status().ToString();
  return node;
}

StatusOr<std::vector<Tensor>> RunOp(const std::string& op, std::vector<Tensor> inputs,
                                    ir::AttrMap attrs = {}, const RunNodeOptions& options = {}) {
  ir::Graph graph;
  ir::Node* node = NodeFor(&graph, op, inputs, std::move(attrs));
  if (node == nullptr) return InternalError("no node");
  return RunNode(*node, inputs, options);
}

TEST(Registry, NamesTheOpAndTheDtypesThatThereAre) {
  ir::Graph graph;
  const Tensor inputs[] = {Tensor(DType::kComplex64, {2})};
  const auto found = FindKernel(*NodeFor(&graph, "Round", inputs), "CPU");
  ASSERT_EQ(found.status().code(), Code::kNotFound);
  for (const char* part : {"Round", "complex64", "float32"}) {
    EXPECT_NE(found.status().message().find(part), std::string_view::npos) << part;
  }
}

TEST(Registry, KnowsNoOtherDevice) {
  ir::Graph graph;
  const Tensor inputs[] = {Tensor::Vector<float>({1})};
  EXPECT_EQ(FindKernel(*NodeFor(&graph, "Relu", inputs), "GPU").status().code(), Code::kNotFound);
}

TEST(Registry, HasASchemaForEveryKernel) {
  std::set<std::string> missing;
  for (const KernelDef* def : AllKernels()) {
    EXPECT_NE(def->bind, nullptr) << def->op;
    if (ir::FindOpSchema(def->op) == nullptr) missing.insert(def->op);
  }
  EXPECT_EQ(missing, std::set<std::string>());
}

TEST(WeightCache, PacksOnceForOneTensorAndLayout) {
  WeightCache cache;
  const Tensor weights = Tensor::Vector<float>({1, 2, 3});
  int packed = 0;
  const auto pack = [&]() -> StatusOr<Tensor> {
    ++packed;
    return weights.Clone();
  };
  const auto a = cache.Get(weights, "panels", pack);
  const auto b = cache.Get(weights, "panels", pack);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->get(), b->get());
  EXPECT_EQ(packed, 1);
  ASSERT_TRUE(cache.Get(weights, "other", pack).ok());
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.bytes(), 2 * weights.byte_size());
  const auto failed = cache.Get(
      weights, "bad", []() -> StatusOr<Tensor> { return ResourceExhaustedError("full"); });
  EXPECT_EQ(failed.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(cache.size(), 2u);
}

TEST(WeightCache, HoldsConstantWeightsOnceForAllBatchSizes) {
  Tensor w(DType::kFloat, {40, 30});
  for (int64_t i = 0; i < w.num_elements(); ++i) {
    w.flat<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 13) - 6;
  }
  WeightCache cache;
  ThreadPool pool(0);
  for (int64_t batch : {1, 7, 33}) {
    Tensor x(DType::kFloat, {batch, 40});
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      x.flat<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 7) - 3;
    }
    ir::Graph graph;
    const std::vector<Tensor> inputs = {x, w};
    ir::Node* node = NodeFor(&graph, "MatMul", inputs);
    const auto plain = RunNode(*node, inputs);
    ASSERT_TRUE(plain.ok());
    const PartialShape shapes[] = {x.shape(), w.shape()};
    const Tensor* constants[] = {nullptr, &w};
    BindContext bind;
    bind.node = node;
    bind.input_shapes = shapes;
    bind.constant_inputs = constants;
    bind.weights = &cache;
    const auto run = (*FindKernel(*node, "CPU"))->bind(bind);
    ASSERT_TRUE(run.ok());
    TestKernelContext context(*node, inputs, &pool);
    ASSERT_TRUE((*run)(context).ok());
    for (size_t i = 0; i < static_cast<size_t>(batch * 30); ++i) {
      ASSERT_EQ(context.outputs()[0].flat<float>()[i], (*plain)[0].flat<float>()[i]);
    }
    EXPECT_EQ(cache.size(), batch == 1 ? 0u : 1u);
  }
}

TEST(SaveRestore, GivesBackWhatWasSavedWholeAndInPart) {
  const auto env = NewMemoryEnv();
  const RunNodeOptions options = {.env = env.get()};
  const auto names = [](std::initializer_list<std::string> n) {
    return Tensor::Vector<std::string>(n);
  };
  const Tensor matrix = Tensor::FromValues<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor text = Tensor::Vector<std::string>({"a", "bc"});
  ASSERT_TRUE(RunOp("SaveV2",
                    {Tensor::Scalar("dir/part"), names({"w", "t"}), names({"", ""}), matrix, text},
                    {{"dtypes", std::vector<DType>{DType::kFloat, DType::kString}}}, options)
                  .ok());
  ASSERT_TRUE(RunOp("MergeV2Checkpoints", {names({"dir/part"}), Tensor::Scalar("out/variables")},
                    {}, options)
                  .ok());
  EXPECT_FALSE(env->Exists(BundleIndexName("dir/part")));
  const auto restored = RunOp(
      "RestoreV2",
      {Tensor::Scalar("out/variables"), names({"t", "w", "w"}), names({"", "", "2 3 1,1:-"})},
      {{"dtypes", std::vector<DType>{DType::kString, DType::kFloat, DType::kFloat}}}, options);
  ASSERT_TRUE(restored.ok()) << restored.status().ToString();
  EXPECT_EQ((*restored)[0].flat<std::string>()[1], "bc");
  EXPECT_EQ((*restored)[1].flat<float>()[5], 6.0f);
  EXPECT_EQ((*restored)[2].shape(), Shape({1, 3}));
  EXPECT_EQ((*restored)[2].flat<float>()[0], 4.0f);
}

TEST(SaveRestore, NamesWhatDoesNotFit) {
  const auto env = NewMemoryEnv();
  const RunNodeOptions options = {.env = env.get()};
  const Tensor name = Tensor::Vector<std::string>({"w"}), whole = Tensor::Vector<std::string>({""});
  const Tensor prefix = Tensor::Scalar("v");
  const ir::AttrMap ints = {{"dtypes", std::vector<DType>{DType::kInt32}}};
  EXPECT_EQ(RunOp("RestoreV2", {prefix, name, whole}, ints, options).status().code(),
            Code::kNotFound);
  ASSERT_TRUE(RunOp("SaveV2", {prefix, name, whole, Tensor::Scalar<float>(1)},
                    {{"dtypes", std::vector<DType>{DType::kFloat}}}, options)
                  .ok());
  const Status wrong = RunOp("RestoreV2", {prefix, name, whole}, ints, options).status();
  EXPECT_EQ(wrong.code(), Code::kInvalidArgument);
  EXPECT_NE(wrong.message().find("expected dtype int32"), std::string_view::npos)
      << wrong.message();
}

TEST(HostileValues, HugeSizesAreErrors) {
  const auto fill =
      RunOp("Fill", {Tensor::Vector<int64_t>({1 << 30, 1 << 30}), Tensor::Scalar<float>(1)});
  EXPECT_FALSE(fill.ok());
  const auto overflow =
      RunOp("Fill", {Tensor::Vector<int64_t>({int64_t{1} << 62, 8}), Tensor::Scalar<float>(1)});
  EXPECT_EQ(overflow.status().code(), Code::kInvalidArgument);
  const auto tile = RunOp(
      "Tile", {Tensor::Vector<float>({1, 2, 3}), Tensor::Vector<int64_t>({int64_t{1} << 62})});
  EXPECT_EQ(tile.status().code(), Code::kInvalidArgument);
  const auto pad = RunOp("Pad", {Tensor::Vector<float>({1}),
                                 Tensor::FromValues<int64_t>({INT64_MAX, INT64_MAX}, {1, 2})});
  EXPECT_EQ(pad.status().code(), Code::kInvalidArgument);
}

TEST(HostileValues, ExtremeSlicesAreClampedOrRefused) {
  const Tensor x = Tensor::Vector<float>({1, 2, 3});
  const auto slice = RunOp(
      "StridedSlice", {x, Tensor::Vector<int64_t>({INT64_MIN}),
                       Tensor::Vector<int64_t>({INT64_MAX}), Tensor::Vector<int64_t>({INT64_MAX})});
  ASSERT_TRUE(slice.ok()) << slice.status().ToString();
  EXPECT_EQ((*slice)[0].num_elements(), 1);
  const auto backwards = RunOp(
      "StridedSlice", {x, Tensor::Vector<int64_t>({INT64_MAX}),
                       Tensor::Vector<int64_t>({INT64_MIN}), Tensor::Vector<int64_t>({INT64_MIN})});
  ASSERT_TRUE(backwards.ok()) << backwards.status().ToString();
  EXPECT_EQ((*backwards)[0].flat<float>()[0], 3.0f);
}

TEST(HostileValues, HandlesThatAreNoVariablesAreErrors) {
  const Tensor empty(DType::kResource, Shape());
  EXPECT_EQ(RunOp("ReadVariableOp", {empty}, {{"dtype", DType::kFloat}}).status().code(),
            Code::kInvalidArgument);
}

TEST(Hostile, ConcatenatesNothingTooLongForADimension) {
  const Tensor empty(DType::kFloat, {0, int64_t{1} << 62});
  const auto joined = RunOp("ConcatV2", {empty, empty, empty, Tensor::Scalar<int32_t>(1)});
  EXPECT_EQ(joined.status().code(), Code::kInvalidArgument) << joined.status().ToString();
}

TEST(Hostile, TopKOrdersNaN) {
  // Long enough for a sort that runs off its range where the order is none.
  Tensor x(DType::kFloat, {200});
  for (size_t i = 0; i < 200; ++i) {
    x.flat<float>()[i] = i % 3 == 0 ? std::nanf("") : static_cast<float>((i * 37) % 101);
  }
  const auto top = RunOp("TopKV2", {x, Tensor::Scalar<int32_t>(200)});
  ASSERT_TRUE(top.ok()) << top.status().ToString();
  const auto values = (*top)[0].flat<float>();
  const auto indices = (*top)[1].flat<int32_t>();
  for (size_t i = 0; i < 67; ++i) EXPECT_EQ(indices[i], static_cast<int32_t>(3 * i));
  for (size_t i = 68; i < 200; ++i) EXPECT_GE(values[i - 1], values[i]) << i;
}

// Memory that no view is declared for may be laid under another value.
TEST(Views, WhatIsNotDeclaredIsCopied) {
  const auto cast = [](const Tensor& x) {
    return RunOp("Cast", {x}, {{"SrcT", x.dtype()}, {"DstT", x.dtype()}});
  };
  const Tensor number = Tensor::Vector<float>({1, 2});
  const auto same = cast(number);
  ASSERT_TRUE(same.ok()) << same.status().ToString();
  EXPECT_NE((*same)[0].raw_data(), number.raw_data());
  EXPECT_EQ((*same)[0].flat<float>()[1], 2.0f);

  std::vector<Tensor> many;
  for (int i = 0; i < 100; ++i) many.push_back(Tensor::Scalar(static_cast<float>(i)));
  ir::Graph graph;
  ir::Node* node = NodeFor(&graph, "IdentityN", many);
  const auto def = FindKernel(*node, "CPU");
  const auto forwarded = RunNode(*node, many);
  ASSERT_TRUE(def.ok() && forwarded.ok());
  for (int i = 0; i < 100; ++i) {
    const auto at = static_cast<size_t>(i);
    const auto& shares = (*def)->shares;
    const bool declared = std::find(shares.begin(), shares.end(), std::pair(i, i)) != shares.end();
    EXPECT_EQ((*forwarded)[at].raw_data() == many[at].raw_data(), declared) << i;
    EXPECT_EQ((*forwarded)[at].scalar<float>(), static_cast<float>(i));
  }
}

// Output 0 lies over input 0, as the executor may decide for the pairs of KernelDef::in_place.
class OverwritingContext : public KernelContext {
 public:
  OverwritingContext(Tensor* first, std::vector<const Tensor*> inputs, ThreadPool* pool)
      : first_(first), pointers_(std::move(inputs)) {
    inputs_ = pointers_;
    intra_op_ = pool;
  }
  StatusOr<Tensor*> AllocateOutput(int, const Shape&) override { return first_; }
  void SetOutput(int, Tensor) override {}
  void* Scratch(size_t) override { return nullptr; }

 private:
  Tensor* first_;
  std::vector<const Tensor*> pointers_;
};

TEST(InPlace, ElementwiseKernelsMayWriteOverTheirInput) {
  ThreadPool pool(0);
  for (const char* op : {"AddV2", "SquaredDifference", "ReluGrad", "RealDiv"}) {
    for (int64_t n : {1, 7, 8, 9, 100}) {
      Tensor x(DType::kFloat, {n}), y(DType::kFloat, {n});
      for (int64_t i = 0; i < n; ++i) {
        x.flat<float>()[static_cast<size_t>(i)] = static_cast<float>(i) - 3;
        y.flat<float>()[static_cast<size_t>(i)] = static_cast<float>(2 * i % 5) - 2.5f;
      }
      ir::Graph graph;
      ir::Node* node = NodeFor(&graph, op, std::vector<Tensor>{x, y});
      const auto apart = RunNode(*node, std::vector<Tensor>{x, y});
      ASSERT_TRUE(apart.ok());
      const auto def = FindKernel(*node, "CPU");
      ASSERT_TRUE(def.ok());
      ASSERT_FALSE((*def)->in_place.empty()) << op;
      BindContext bind;
      bind.node = node;
      const auto run = (*def)->bind(bind);
      ASSERT_TRUE(run.ok());
      OverwritingContext context(&x, {&x, &y}, &pool);
      ASSERT_TRUE((*run)(context).ok());
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        EXPECT_EQ(x.flat<float>()[i], (*apart)[0].flat<float>()[i]) << op << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace slipway::kernels
