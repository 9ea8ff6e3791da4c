// SPDX-License-Identifier: Apache-2.0
#include "exec/op_table.h"

#include <gtest/gtest.h>

#include "exec/op_cost.h"

namespace slipway::exec {
namespace {

TEST(OpTable, WhatRunsInsideIsNotCountedTwice) {
  StepProfile profile;
  profile.Add({.node = "in", .op = "MatMul", .start_ns = 20, .end_ns = 50, .flops = 60});
  profile.Add({.node = "while", .op = "While", .start_ns = 10, .end_ns = 100});
  profile.Add({.node = "in", .op = "MatMul", .start_ns = 60, .end_ns = 70, .flops = 40});
  profile.Add({.node = "other", .op = "Add", .start_ns = 20, .end_ns = 30, .thread = 1});
  const auto rows = OpTable(profile);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "While");
  EXPECT_EQ(rows[0].self_ns, 50);
  EXPECT_EQ(rows[1].name, "MatMul");
  EXPECT_EQ(rows[1].self_ns, 40);
  EXPECT_EQ(rows[1].calls, 2);
  EXPECT_EQ(rows[1].flops, 100);
  EXPECT_EQ(rows[2].self_ns, 10);
  EXPECT_EQ(OpTable(profile, /*by_node=*/true)[1].name, "in");
}

TEST(OpTable, TheFloorCountsMemoryBeyondTheCaches) {
  OpRow row{.calls = 2, .flops = 2000, .bytes = 8000};
  EXPECT_EQ(FloorNanos(row, 1, 10, 1 << 20), 2000);
  EXPECT_EQ(FloorNanos(row, 100, 10, 100), 800);
}

TEST(OpCost, ProductsAndConvolutions) {
  const auto of = [](const char* op, std::vector<Shape> in, Shape out) {
    std::vector<Tensor> inputs;
    for (const Shape& shape : in) inputs.emplace_back(DType::kFloat, shape);
    const Tensor output(DType::kFloat, std::move(out));
    return CostOf(op, nullptr, inputs, std::span(&output, 1));
  };
  EXPECT_EQ(of("MatMul", {{2, 3}, {3, 4}}, {2, 4}).flops, 2 * 2 * 3 * 4);
  EXPECT_EQ(of("MatMul", {{3, 2}, {3, 4}}, {2, 4}).flops, 2 * 2 * 3 * 4);  // transposed
  EXPECT_EQ(of("Conv2D", {{1, 8, 8, 3}, {3, 3, 3, 16}}, {1, 8, 8, 16}).flops, 2 * 64 * 16 * 27);
  EXPECT_EQ(of("Relu", {{5, 2}}, {5, 2}).flops, 10);
  EXPECT_EQ(of("Relu", {{5, 2}}, {5, 2}).bytes, 80);
}

}  // namespace
}  // namespace slipway::exec
