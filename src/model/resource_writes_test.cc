// SPDX-License-Identifier: Apache-2.0
#include "model/resource_writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "ir/builder.h"

namespace slipway::model {
namespace {

using ::testing::HasSubstr;

ir::Output Handle(ir::GraphBuilder& b, const char* name) {
  return b.Op("VarHandleOp", {},
              {{"dtype", DType::kFloat}, {"shape", PartialShape({})}, {"shared_name", name}}, name);
}

ir::AttrMap CallAttrs(const std::string& callee, size_t handles) {
  return {{"f", ir::FunctionRef{callee, {}}},
          {"Tin", std::vector<DType>(handles, DType::kResource)},
          {"Tout", std::vector<DType>()}};
}

// f(a, b): assigns b, reads a.
ir::Function Assigns(const std::string& name) {
  ir::Function f;
  f.name = name;
  ir::GraphBuilder b(&f.graph);
  const ir::Output first = *f.AddArg("a", DType::kResource, Shape());
  const ir::Output second = *f.AddArg("b", DType::kResource, Shape());
  const ir::Output read = b.Op("ReadVariableOp", {first}, {{"dtype", DType::kFloat}});
  b.AddNode("AssignVariableOp", {b.Op("Identity", {second}), read}, {{"dtype", DType::kFloat}});
  EXPECT_TRUE(b.ok()) << b.status().ToString();
  return f;
}

TEST(ResourceWrites, FollowsHandlesThroughCalls) {
  ir::FunctionLibrary library;
  ASSERT_TRUE(library.Add(Assigns("inner")).ok());
  {
    // Hands its arguments on in the other order.
    ir::Function outer;
    outer.name = "outer";
    ir::GraphBuilder b(&outer.graph);
    const ir::Output x = *outer.AddArg("x", DType::kResource, Shape());
    const ir::Output y = *outer.AddArg("y", DType::kResource, Shape());
    b.AddNode("StatefulPartitionedCall", {y, x}, CallAttrs("inner", 2));
    ASSERT_TRUE(b.ok()) << b.status().ToString();
    ASSERT_TRUE(library.Add(std::move(outer)).ok());
  }
  ir::Function entry;
  entry.name = "entry";
  ir::GraphBuilder b(&entry.graph);
  b.AddNode("StatefulPartitionedCall", {Handle(b, "v"), Handle(b, "w")}, CallAttrs("outer", 2));
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  ResourceWrites writes(&library);
  ASSERT_TRUE(writes.Add(entry).ok());
  EXPECT_TRUE(writes.MayBeWritten("v"));
  EXPECT_FALSE(writes.MayBeWritten("w"));
  EXPECT_FALSE(writes.MayBeWritten("other"));
  EXPECT_TRUE(writes.HasEffects("entry"));
}

TEST(ResourceWrites, ReadingIsNoEffect) {
  ir::Function entry;
  entry.name = "entry";
  ir::GraphBuilder b(&entry.graph);
  b.Op("ReadVariableOp", {Handle(b, "v")}, {{"dtype", DType::kFloat}});
  ASSERT_TRUE(b.ok());
  ir::FunctionLibrary library;
  ResourceWrites writes(&library);
  ASSERT_TRUE(writes.Add(entry).ok());
  EXPECT_FALSE(writes.MayBeWritten("v"));
  EXPECT_FALSE(writes.HasEffects("entry"));
}

TEST(ResourceWrites, TakesEverythingForWrittenWhereItCannotFollow) {
  ir::Function entry;
  entry.name = "entry";
  ir::GraphBuilder b(&entry.graph);
  const ir::Output handle = Handle(b, "v");
  auto opaque = entry.graph.AddOpaqueNode({.op = "Mystery", .name = "m", .inputs = {handle}},
                                          {DType::kResource});
  ASSERT_TRUE(opaque.ok());
  b.AddNode("AssignVariableOp", {{*opaque, 0}, b.Scalar(1.0f)}, {{"dtype", DType::kFloat}});
  ir::FunctionLibrary library;
  ResourceWrites writes(&library);
  ASSERT_TRUE(writes.Add(entry).ok());
  EXPECT_TRUE(writes.MayBeWritten("v"));
  EXPECT_TRUE(writes.MayBeWritten("any other"));
}

ir::Function Caller(const std::string& name, const std::string& callee) {
  ir::Function f;
  f.name = name;
  ir::GraphBuilder b(&f.graph);
  b.AddNode("StatefulPartitionedCall", {}, CallAttrs(callee, 0));
  EXPECT_TRUE(b.ok()) << b.status().ToString();
  return f;
}

// Hands its arguments on to `callee` in the other order.
ir::Function Crosses(const std::string& name, const std::string& callee, bool assigns_first) {
  ir::Function f;
  f.name = name;
  ir::GraphBuilder b(&f.graph);
  const ir::Output x = *f.AddArg("x", DType::kResource, Shape());
  const ir::Output y = *f.AddArg("y", DType::kResource, Shape());
  b.AddNode("StatefulPartitionedCall", {y, x}, CallAttrs(callee, 2));
  if (assigns_first) b.AddNode("AssignVariableOp", {x, b.Scalar(1.0f)}, {{"dtype", DType::kFloat}});
  EXPECT_TRUE(b.ok()) << b.status().ToString();
  return f;
}

// a writes its first argument and calls b, which calls a, each with the arguments crossed: what a
// writes at one depth is its second argument at the next.
TEST(ResourceWrites, FollowsHandlesThroughRecursion) {
  for (const bool odd : {false, true}) {
    ir::FunctionLibrary library;
    ASSERT_TRUE(library.Add(Crosses("a", odd ? "a" : "b", true)).ok());
    ASSERT_TRUE(library.Add(Crosses("b", "a", false)).ok());
    ir::Function entry;
    entry.name = "entry";
    ir::GraphBuilder b(&entry.graph);
    b.AddNode("StatefulPartitionedCall", {Handle(b, "v"), Handle(b, "w")}, CallAttrs("a", 2));
    ASSERT_TRUE(b.ok());
    ResourceWrites writes(&library);
    ASSERT_TRUE(writes.Add(entry).ok());
    EXPECT_TRUE(writes.MayBeWritten("v"));
    EXPECT_EQ(writes.MayBeWritten("w"), odd);
    EXPECT_FALSE(writes.MayBeWritten("other"));
    EXPECT_TRUE(writes.HasEffects("entry"));
  }
}

TEST(ResourceWrites, RecursionWithoutWritesIsNoEffect) {
  ir::FunctionLibrary library;
  ASSERT_TRUE(library.Add(Caller("a", "b")).ok());
  ASSERT_TRUE(library.Add(Caller("b", "a")).ok());
  ResourceWrites writes(&library);
  ASSERT_TRUE(writes.Add(Caller("entry", "a")).ok());
  EXPECT_FALSE(writes.HasEffects("entry"));
}

TEST(ResourceWrites, RefusesEndlessChains) {
  ir::FunctionLibrary library;
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(library.Add(Caller(StrCat("f", i), StrCat("f", i + 1))).ok());
  }
  ResourceWrites writes(&library);
  EXPECT_THAT(writes.Add(Caller("entry", "f0")).message(), HasSubstr("deep"));
  ResourceWrites missing(&library);
  EXPECT_EQ(missing.Add(Caller("entry", "f4990")).code(), Code::kNotFound);
}

}  // namespace
}  // namespace slipway::model
