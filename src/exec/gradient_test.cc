// SPDX-License-Identifier: Apache-2.0
//
// Every row of the table of gradients against finite differences of the op itself, with shapes that
// are known and with sizes that are not. A row without a case here is a failure.
#include "ir/gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "exec/executable.h"
#include "exec/gradient_cases.h"

namespace slipway::exec {
namespace {

using ir::Function;
using ir::GraphBuilder;
using ir::Output;

constexpr double kStep = 1e-2;

// A case as a function of its inputs: ys, or the gradients of ys weighted by extra arguments.
class CaseFunction {
 public:
  CaseFunction(const GradientCase& c, bool static_shapes) : case_(c) {
    function_.name = c.name;
    if (c.functions) c.functions(library_);
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      PartialShape shape(c.inputs[i].shape());
      if (!static_shapes) shape = PartialShape::UnknownOfRank(shape.rank());
      xs_.push_back(*function_.AddArg("x" + std::to_string(i), c.inputs[i].dtype(), shape));
    }
    for (Output y : c.make(b_, xs_)) {
      if (b_.ok() && IsFloating(y.dtype())) ys_.push_back(y);
    }
  }

  const Status& status() const { return b_.status(); }

  StatusOr<std::unique_ptr<Executable>> Forward() {
    for (size_t i = 0; i < ys_.size(); ++i) {
      function_.returns.push_back({"y" + std::to_string(i), ys_[i]});
    }
    return Compile();
  }

  // Arguments: the inputs, then a weight for each y. Results: a gradient for each floating input.
  StatusOr<std::unique_ptr<Executable>> Gradient() {
    std::vector<Output> weights;
    for (size_t i = 0; i < ys_.size(); ++i) {
      weights.push_back(
          *function_.AddArg("dy" + std::to_string(i), ys_[i].dtype(), ys_[i].shape()));
    }
    std::vector<Output> xs;
    for (size_t i = 0; i < xs_.size(); ++i) {
      if (case_.differentiates(i)) xs.push_back(xs_[i]);
    }
    ASSIGN_OR_RETURN(std::vector<Output> dxs, ir::AddGradients(b_, ys_, xs, weights, &library_));
    for (size_t i = 0; i < dxs.size(); ++i) {
      if (!dxs[i].valid()) return InternalError("an input has no gradient");
      function_.returns.push_back({"dx" + std::to_string(i), dxs[i]});
    }
    return Compile();
  }

 private:
  StatusOr<std::unique_ptr<Executable>> Compile() {
    RETURN_IF_ERROR(b_.status());
    return Executable::Compile(std::move(function_), {.library = &library_});
  }

  const GradientCase& case_;
  ir::FunctionLibrary library_;
  Function function_;
  GraphBuilder b_{&function_.graph};
  std::vector<Output> xs_;
  std::vector<Output> ys_;
};

std::vector<Tensor> MustRun(const Executable& executable, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outputs(executable.outputs().size());
  const Status s = executable.Run(inputs, outputs);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return s.ok() ? outputs : std::vector<Tensor>();
}

double WeightedSum(const std::vector<Tensor>& ys, const std::vector<Tensor>& weights) {
  double sum = 0;
  for (size_t i = 0; i < ys.size(); ++i) {
    for (size_t k = 0; k < ys[i].flat<float>().size(); ++k) {
      sum += static_cast<double>(ys[i].flat<float>()[k]) * weights[i].flat<float>()[k];
    }
  }
  return sum;
}

// d(weighted ys)/d(element k of input i) by central differences.
double Slope(const Executable& forward, std::vector<Tensor> inputs, size_t i, size_t k,
             const std::vector<Tensor>& weights) {
  double sums[2];
  for (int side : {0, 1}) {
    std::vector<Tensor> moved = inputs;
    moved[i] = inputs[i].Clone();
    moved[i].flat<float>()[k] += static_cast<float>(side == 0 ? -kStep : kStep);
    const std::vector<Tensor> ys = MustRun(forward, moved);
    if (ys.empty()) return NAN;
    sums[side] = WeightedSum(ys, weights);
  }
  return (sums[1] - sums[0]) / (2 * kStep);
}

void Check(const GradientCase& c, bool static_shapes) {
  CaseFunction for_values(c, static_shapes);
  CaseFunction for_gradients(c, static_shapes);
  ASSERT_TRUE(for_values.status().ok()) << for_values.status().ToString();
  auto forward = for_values.Forward();
  ASSERT_TRUE(forward.ok()) << forward.status().ToString();
  auto backward = for_gradients.Gradient();
  ASSERT_TRUE(backward.ok()) << backward.status().ToString();

  std::mt19937 random(7);
  std::vector<Tensor> weights;
  for (const Tensor& y : MustRun(**forward, c.inputs)) {
    Tensor weight(DType::kFloat, y.shape());
    for (float& w : weight.flat<float>()) w = std::uniform_real_distribution<float>(-1, 1)(random);
    weights.push_back(std::move(weight));
  }
  std::vector<Tensor> arguments = c.inputs;
  arguments.insert(arguments.end(), weights.begin(), weights.end());
  const std::vector<Tensor> dxs = MustRun(**backward, arguments);
  size_t next = 0;
  for (size_t i = 0; i < c.inputs.size() && next < dxs.size(); ++i) {
    if (!c.differentiates(i)) continue;
    const Tensor& dx = dxs[next++];
    ASSERT_EQ(dx.shape(), c.inputs[i].shape()) << "input " << i;
    for (size_t k = 0; k < dx.flat<float>().size(); ++k) {
      const double wanted = Slope(**forward, c.inputs, i, k, weights);
      EXPECT_NEAR(dx.flat<float>()[k], wanted, c.tolerance * (1 + std::abs(wanted)))
          << "input " << i << " element " << k;
    }
  }
}

class GradientTest : public ::testing::TestWithParam<size_t> {
 protected:
  const GradientCase& Case() const { return AllGradientCases()[GetParam()]; }
};

TEST_P(GradientTest, AgreesWithFiniteDifferences) { Check(Case(), true); }
TEST_P(GradientTest, AgreesWithFiniteDifferencesWhereSizesAreUnknown) { Check(Case(), false); }

INSTANTIATE_TEST_SUITE_P(Ops, GradientTest, ::testing::Range<size_t>(0, AllGradientCases().size()),
                         [](const auto& info) { return AllGradientCases()[info.param].name; });

TEST(GradientCoverageTest, EveryRowHasACase) {
  // Variables cannot be moved as arguments: they have tests of their own below.
  std::set<std::string> covered = {"ReadVariableOp", "ResourceGather"};
  for (const GradientCase& c : AllGradientCases()) covered.insert(c.op);
  for (const ir::GradientEntry* entry : ir::AllGradients()) {
    if (entry->gradient == nullptr) continue;
    EXPECT_TRUE(covered.contains(entry->op)) << entry->op << " has a gradient but no case";
  }
}

// ---- variables ----

struct VariableFunction {
  Function f;
  GraphBuilder b{&f.graph};
  Output handle =
      b.Op("VarHandleOp", {},
           {{"dtype", DType::kFloat}, {"shape", PartialShape({3, 2})}, {"shared_name", "v"}});

  std::vector<float> Gradient(Output y) {
    auto dx = ir::AddGradients(b, {{y}}, {{handle}});
    EXPECT_TRUE(dx.ok()) << dx.status().ToString();
    if (!dx.ok() || !(*dx)[0].valid()) return {};
    f.returns.push_back({"dx", (*dx)[0]});
    kernels::ResourceContainer resources;
    auto variable = resources.FindOrCreate<kernels::Variable>("v", [] {
      return std::make_shared<kernels::Variable>("v", DType::kFloat, PartialShape({3, 2}));
    });
    Tensor value = Tensor::FromValues<float>({1, 2, 3, 4, 5, 6}, Shape({3, 2}));
    EXPECT_TRUE((*variable)->Assign(value).ok());
    CompileOptions options;
    options.resources = &resources;
    auto executable = Executable::Compile(std::move(f), options);
    EXPECT_TRUE(executable.ok()) << executable.status().ToString();
    if (!executable.ok()) return {};
    const std::vector<Tensor> results = MustRun(**executable, {});
    if (results.empty()) return {};
    auto flat = results[0].flat<float>();
    return {flat.begin(), flat.end()};
  }
};

TEST(VariableGradientTest, ReadsOfOneVariableAddUp) {
  VariableFunction t;
  auto read = [&] { return t.b.Op("ReadVariableOp", {t.handle}, {{"dtype", DType::kFloat}}); };
  Output square = t.b.Op("Mul", {read(), read()});
  EXPECT_THAT(t.Gradient(square), ::testing::ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST(VariableGradientTest, RowsGatheredTwiceCountTwice) {
  VariableFunction t;
  Output rows =
      t.b.Op("ResourceGather", {t.handle, t.b.Int32Vector({2, 0, 2})}, {{"dtype", DType::kFloat}});
  EXPECT_THAT(t.Gradient(t.b.Op("Mul", {rows, t.b.Scalar<float>(10)})),
              ::testing::ElementsAre(10, 10, 0, 0, 20, 20));
}

// ---- ties and edges, as TensorFlow has them ----

std::vector<float> GradientOf(const std::vector<Tensor>& inputs, size_t wanted,
                              const std::function<Output(GraphBuilder&, std::vector<Output>)>& y) {
  Function f;
  GraphBuilder b(&f.graph);
  std::vector<Output> xs;
  for (const Tensor& x : inputs) xs.push_back(*f.AddArg("x", x.dtype(), x.shape()));
  auto dx = ir::AddGradients(b, {{y(b, xs)}}, {{xs[wanted]}});
  EXPECT_TRUE(dx.ok()) << dx.status().ToString();
  if (!dx.ok()) return {};
  f.returns.push_back({"dx", (*dx)[0]});
  auto executable = Executable::Compile(std::move(f), {});
  EXPECT_TRUE(executable.ok()) << executable.status().ToString();
  if (!executable.ok()) return {};
  const std::vector<Tensor> results = MustRun(**executable, inputs);
  if (results.empty()) return {};
  auto flat = results[0].flat<float>();
  return {flat.begin(), flat.end()};
}

TEST(GradientEdgeTest, ReluIsFlatAtZero) {
  EXPECT_THAT(GradientOf({Tensor::Vector<float>({-1, 0, 2})}, 0,
                         [](GraphBuilder& b, auto x) { return b.Op("Relu", {x[0]}); }),
              ::testing::ElementsAre(0, 0, 1));
}

TEST(GradientEdgeTest, TiesOfMaximumGoToTheFirstInput) {
  const std::vector<Tensor> same = {Tensor::Vector<float>({1, 2}), Tensor::Vector<float>({1, 3})};
  for (const char* op : {"Maximum", "Minimum"}) {
    const bool maximum = std::string(op) == "Maximum";
    auto y = [op](GraphBuilder& b, auto x) { return b.Op(op, {x[0], x[1]}); };
    EXPECT_THAT(GradientOf(same, 0, y), ::testing::ElementsAre(1, maximum ? 0 : 1));
    EXPECT_THAT(GradientOf(same, 1, y), ::testing::ElementsAre(0, maximum ? 1 : 0));
  }
}

TEST(GradientEdgeTest, TiesOfReduceMaxShare) {
  EXPECT_THAT(GradientOf({Tensor::Vector<float>({3, 1, 3})}, 0,
                         [](GraphBuilder& b, auto x) {
                           return b.Op("Max", {x[0], b.Int32Vector({0})});
                         }),
              ::testing::ElementsAre(0.5f, 0, 0.5f));
}

TEST(GradientEdgeTest, NormOfZeroHasNoDirection) {
  for (float v : GradientOf({Tensor::Vector<float>({0, 0})}, 0, [](GraphBuilder&b, auto x) {
         return b.Op("EuclideanNorm", {x[0], b.Int32Vector({0})});
       })) {
    EXPECT_TRUE(std::isnan(v)) << v;
  }
}

TEST(GradientEdgeTest, ProductWithAZero) {
  EXPECT_THAT(GradientOf({Tensor::Vector<float>({2, 0, 3})}, 0,
                         [](GraphBuilder& b, auto x) {
                           return b.Op("Prod", {x[0], b.Int32Vector({0})});
                         }),
              ::testing::ElementsAre(0, 6, 0));
}

}  // namespace
}  // namespace slipway::exec
