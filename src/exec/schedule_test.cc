// SPDX-License-Identifier: Apache-2.0
#include "exec/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/testing.h"

namespace slipway::exec {
namespace {

int StepOf(const Schedule& schedule, const std::string& op) {
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    if (schedule.steps[i]->op() == op) return static_cast<int>(i);
  }
  ADD_FAILURE() << "no step " << op;
  return 0;
}

// Neg reads the variable's memory through the view, so the update in place must wait for it.
TEST(ScheduleTest, UpdatesWaitForReadersBehindAnyView) {
  for (const char* view : {"Identity", "ExpandDims", "Squeeze"}) {
    FunctionMaker f;
    const ir::Output delta = f.Arg("delta", DType::kFloat, {1, 4});
    const ir::Output v = f.Variable("v", DType::kFloat, {1, 4});
    ir::GraphBuilder& b = f.b();
    const ir::Output read = b.Op("ReadVariableOp", {v}, {{"dtype", DType::kFloat}});
    std::vector<ir::Output> inputs = {read};
    if (std::string(view) == "ExpandDims") inputs.push_back(b.Const(Tensor::Scalar<int32_t>(0)));
    f.Return("y", b.Op("Neg", {b.Op(view, inputs)}));
    b.Ops("AssignSubVariableOp", {v, delta});
    ir::Function function = f.Take();
    for (ir::Node* node : function.graph.nodes()) {
      if (node->op() == "AssignSubVariableOp") {
        function.control_returns.emplace_back(node->name(), node);
      }
    }
    auto schedule = MakeSchedule(function);
    ASSERT_TRUE(schedule.ok()) << schedule.status().ToString();
    const int update = StepOf(*schedule, "AssignSubVariableOp");
    EXPECT_THAT(schedule->dependencies[static_cast<size_t>(update)],
                testing::Contains(StepOf(*schedule, "Neg")))
        << view;
  }
}

}  // namespace
}  // namespace slipway::exec
