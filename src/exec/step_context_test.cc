// SPDX-License-Identifier: Apache-2.0
#include "exec/step_context.h"

#include <gtest/gtest.h>

#include <cstring>

#include "exec/testing.h"

namespace slipway::exec {
namespace {

class StepContextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FunctionMaker f;
    f.Return("y", f.b().Op("Neg", {f.Arg("x", DType::kFloat)}));
    function_ = f.Take();
    const Tensor x = Tensor::Vector<float>({1, 2});
    const PlanEnvironment environment{.device = Device::DefaultCpu(),
                                      .resources = &resources_,
                                      .weights = &weights_,
                                      .env = Env::Default()};
    auto plan = BuildPlan(function_, std::span(&x, 1), environment, /*concurrent=*/false);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    plan_ = *std::move(plan);
    frame_ = std::make_unique<Frame>(*plan_, Device::DefaultCpu());
  }

  kernels::ResourceContainer resources_;
  kernels::WeightCache weights_;
  ir::Function function_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Frame> frame_;
  const RunOptions options_;
};

TEST_F(StepContextTest, AKernelThatAsksForScratchTwiceGetsTwoPlaces) {
  constexpr size_t kBytes = 4096;
  StepContext context(plan_->steps[0], frame_.get(), Device::DefaultCpu(), options_);
  auto* first = static_cast<char*>(context.Scratch(kBytes));
  ASSERT_NE(first, nullptr);
  std::memset(first, 1, kBytes);
  for (int more = 0; more < 3; ++more) {
    auto* other = static_cast<char*>(context.Scratch(kBytes));
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(other + kBytes <= first || first + kBytes <= other);
    std::memset(other, 2, kBytes);
  }
  EXPECT_EQ(std::string(first, kBytes), std::string(kBytes, 1));
}

TEST_F(StepContextTest, MemoryThatIsNotThereIsNull) {
  StepContext context(plan_->steps[0], frame_.get(), Device::DefaultCpu(), options_);
  for (const size_t bytes : {size_t{1} << 60, SIZE_MAX}) {
    EXPECT_EQ(context.Scratch(bytes), nullptr);
    EXPECT_EQ(context.Scratch(bytes), nullptr) << "the second place";
  }
  EXPECT_NE(context.Scratch(16), nullptr);
}

}  // namespace
}  // namespace slipway::exec
