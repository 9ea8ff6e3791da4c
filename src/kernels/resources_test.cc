// SPDX-License-Identifier: Apache-2.0
#include "kernels/resources.h"

#include <gtest/gtest.h>

#include "kernels/testing.h"
#include "kernels/variable_access.h"

namespace slipway::kernels {
namespace {

std::shared_ptr<Variable> FloatVariable(std::string name, std::initializer_list<float> values) {
  auto v = std::make_shared<Variable>(std::move(name), DType::kFloat, PartialShape());
  EXPECT_TRUE(v->Assign(Tensor::Vector<float>(values)).ok());
  return v;
}

Status Double(Tensor& value) {
  for (float& x : value.flat<float>()) x *= 2;
  return OkStatus();
}

TEST(Variable, HasNoValueBeforeTheFirstAssignment) {
  Variable v("dense/kernel", DType::kFloat, PartialShape({2}));
  EXPECT_FALSE(v.IsInitialized());
  EXPECT_EQ(v.Read().status().code(), Code::kFailedPrecondition);
  EXPECT_NE(v.Read().status().message().find("dense/kernel"), std::string_view::npos);
  EXPECT_EQ(v.UpdateWith(Double).code(), Code::kFailedPrecondition);
}

TEST(Variable, RefusesOtherDtypesAndShapes) {
  Variable v("v", DType::kFloat, PartialShape({-1, 2}));
  EXPECT_EQ(v.Assign(Tensor::Scalar<int32_t>(1)).code(), Code::kInvalidArgument);
  EXPECT_EQ(v.Assign(Tensor::Vector<float>({1, 2})).code(), Code::kInvalidArgument);
  EXPECT_TRUE(v.Assign(Tensor::FromValues<float>({1, 2}, {1, 2})).ok());
}

TEST(Variable, UpdatesInPlaceWhenNobodyHoldsTheValue) {
  auto v = FloatVariable("v", {1, 2});
  const void* before = v->Read()->raw_data();
  ASSERT_TRUE(v->UpdateWith(Double).ok());
  EXPECT_EQ(v->Read()->raw_data(), before);
  EXPECT_EQ(v->Read()->flat<float>()[1], 4.0f);
}

TEST(Variable, LeavesWhoReadTheOldValueAlone) {
  auto v = FloatVariable("v", {1, 2});
  const Tensor old = *v->Read();
  ASSERT_TRUE(v->UpdateWith(Double).ok());
  EXPECT_EQ(old.flat<float>()[1], 2.0f);
  EXPECT_EQ(v->Read()->flat<float>()[1], 4.0f);
}

TEST(Variable, KeepsACopyOfMemoryThatIsOnlyLent) {
  float lent[] = {1, 2};
  Variable v("v", DType::kFloat, PartialShape());
  ASSERT_TRUE(v.Assign(Tensor::Borrow(DType::kFloat, {2}, lent)).ok());
  lent[0] = 9;
  EXPECT_EQ(v.Read()->flat<float>()[0], 1.0f);
}

TEST(UpdateTogether, RefusesAVariableGivenTwice) {
  auto v = FloatVariable("twice", {1});
  const Status status = UpdateTogether(std::array<Variable*, 2>{v.get(), v.get()},
                                       [](const auto&) { return OkStatus(); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("twice"), std::string_view::npos);
}

TEST(UpdateTogether, GivesValuesInTheOrderAskedFor) {
  auto a = FloatVariable("a", {1}), b = FloatVariable("b", {2});
  for (const auto& order : {std::array{a.get(), b.get()}, std::array{b.get(), a.get()}}) {
    ASSERT_TRUE(UpdateTogether(order, [&](const auto& values) {
                  EXPECT_EQ(values[0]->template flat<float>()[0], order[0] == a.get() ? 1 : 2);
                  return OkStatus();
                }).ok());
  }
}

class OtherResource : public Resource {
 public:
  std::string DebugString() const override { return "something else"; }
};

TEST(ResourceContainer, KeepsOneResourceAName) {
  ResourceContainer container;
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::make_shared<Variable>("v", DType::kFloat, PartialShape());
  };
  auto first = container.FindOrCreate<Variable>("v", make);
  auto second = container.FindOrCreate<Variable>("v", make);
  EXPECT_EQ(first->get(), second->get());
  EXPECT_EQ(made, 1);
  auto other =
      container.FindOrCreate<OtherResource>("v", [] { return std::make_shared<OtherResource>(); });
  EXPECT_EQ(other.status().code(), Code::kInvalidArgument);
  container.Remove("v");
  EXPECT_EQ(container.Find("v"), nullptr);
  EXPECT_TRUE(container.All().empty());
}

}  // namespace
}  // namespace slipway::kernels
