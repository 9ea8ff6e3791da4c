// SPDX-License-Identifier: Apache-2.0
#include "slipway/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/allocator.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TensorTest, StartsInvalid) {
  const Tensor t{};
  EXPECT_FALSE(t.valid());
  EXPECT_EQ(t.byte_size(), 0u);
  EXPECT_EQ(t.ToString(), "invalid");
  EXPECT_FALSE(t.Clone().valid());
}

TEST(TensorTest, HoldsValuesOfEveryKind) {
  EXPECT_EQ(Tensor::FromValues<float>({1, 2.5, -3}, {3}).ToString(), "float32[3] [1 2.5 -3]");
  EXPECT_EQ(Tensor::Scalar<int64_t>(7).ToString(), "int64[] [7]");
  EXPECT_EQ(Tensor::Scalar("a\n").ToString(), "string[] [\"a\\x0a\"]");
  EXPECT_EQ(Tensor::Vector<uint8_t>({65, 66}).ToString(), "uint8[2] [65 66]");
  EXPECT_EQ(Tensor::Scalar(true).ToString(), "bool[] [true]");
  EXPECT_EQ(Tensor::Scalar(Half(0.5f)).ToString(), "float16[] [0.5]");
  EXPECT_EQ(Tensor::Scalar(BFloat16(2.0f)).ToString(), "bfloat16[] [2]");
  EXPECT_EQ(Tensor::Scalar(std::complex<float>(1, -2)).ToString(), "complex64[] [(1,-2)]");
  EXPECT_EQ(Tensor::Scalar(ResourceHandle()).ToString(), "resource[] [null]");
  EXPECT_EQ(Tensor::Vector<int32_t>({1, 2, 3}).ToString(2), "int32[3] [1 2 ...]");
}

TEST(TensorTest, MemoryIsAligned) {
  for (int64_t n : {0, 1, 17, 1000}) {
    const Tensor t(DType::kFloat, {n});
    EXPECT_TRUE(t.valid());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw_data()) % Tensor::kAlignment, 0u);
    EXPECT_EQ(t.byte_size(), static_cast<size_t>(4 * n));
  }
}

TEST(TensorTest, CopiesShareAndClonesDoNot) {
  Tensor a = Tensor::Vector<int32_t>({1, 2});
  EXPECT_TRUE(a.IsUnique());
  Tensor b = a;
  EXPECT_FALSE(a.IsUnique());
  EXPECT_EQ(a.raw_data(), b.raw_data());
  Tensor c = a.Clone();
  c.flat<int32_t>()[0] = 9;
  EXPECT_EQ(a.flat<int32_t>()[0], 1);
  b = Tensor();
  EXPECT_TRUE(a.IsUnique());
  const Tensor moved = std::move(a);
  EXPECT_FALSE(a.valid());  // NOLINT: what is left is part of the contract
  EXPECT_EQ(a.rank(), 0);
  EXPECT_TRUE(moved.IsUnique());
  Tensor self = moved;
  const Tensor& alias = self;
  self = alias;
  EXPECT_EQ(self.num_elements(), 2);
}

TEST(TensorTest, ViewsShareTheMemory) {
  Tensor t = Tensor::FromValues<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor rows = t.Slice(1, 3);
  EXPECT_EQ(rows.shape(), Shape({2, 2}));
  EXPECT_THAT(rows.flat<float>(), ElementsAre(3, 4, 5, 6));
  EXPECT_EQ(t.Slice(3, 3).num_elements(), 0);
  const Tensor flat = t.Reshaped({6});
  t.flat<float>()[2] = 33;
  EXPECT_EQ(rows.flat<float>()[0], 33);
  EXPECT_EQ(flat.flat<float>()[2], 33);
  EXPECT_EQ(Tensor(DType::kFloat, {0, 4}).Slice(0, 0).shape(), Shape({0, 4}));
}

TEST(TensorTest, ViewKeepsTheMemoryAlive) {
  Tensor row;
  {
    const Tensor t = Tensor::FromValues<std::string>({"first", std::string(100, 'x')}, {2});
    row = t.Slice(1, 2);
  }
  EXPECT_EQ(row.flat<std::string>()[0], std::string(100, 'x'));
}

TEST(TensorTest, BorrowedMemoryIsClonedWhenOwned) {
  float values[] = {1, 2};
  const Tensor t = Tensor::Borrow(DType::kFloat, {2}, values);
  EXPECT_FALSE(t.owns_memory());
  EXPECT_EQ(t.raw_data(), values);
  const Tensor owned = t.Owned();
  EXPECT_TRUE(owned.owns_memory());
  values[0] = 7;
  EXPECT_THAT(owned.flat<float>(), ElementsAre(1, 2));
  EXPECT_EQ(owned.Owned().raw_data(), owned.raw_data());
  EXPECT_TRUE(Tensor::Borrow(DType::kFloat, {0}, nullptr).Owned().valid());
}

class CountedResource : public Resource {
 public:
  explicit CountedResource(int* alive) : alive_(alive) { ++*alive_; }
  ~CountedResource() override { --*alive_; }
  std::string DebugString() const override { return "counted"; }

 private:
  int* alive_;
};

TEST(TensorTest, DestroysItsObjects) {
  int alive = 0;
  {
    Tensor t = Tensor::Scalar<ResourceHandle>(std::make_shared<CountedResource>(&alive));
    const Tensor clone = t.Clone();
    EXPECT_EQ(clone.ToString(), "resource[] [counted]");
    t = Tensor();
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(TensorTest, RefusesWhatDoesNotFit) {
  const Status huge = Tensor::Allocate(DType::kDouble, {int64_t{1} << 61}).status();
  EXPECT_EQ(huge.code(), Code::kResourceExhausted);
  EXPECT_THAT(huge.message(), HasSubstr("float64 and shape [2305843009213693952]"));
  EXPECT_EQ(Tensor::Allocate(DType::kFloat, {int64_t{1} << 60}).status().code(),
            Code::kResourceExhausted);
  EXPECT_TRUE(Tensor::Allocate(DType::kDouble, {0, int64_t{1} << 61}).ok());
  EXPECT_FALSE(Tensor(DType::kDouble, {int64_t{1} << 61}).valid());
}

// Gives out at most `limit` bytes at a time.
class LimitedAllocator : public Allocator {
 public:
  explicit LimitedAllocator(int64_t limit) : limit_(limit) {}
  void* Allocate(size_t size) override {
    if (in_use_ + static_cast<int64_t>(size) > limit_) return nullptr;
    in_use_ += static_cast<int64_t>(size);
    return CpuAllocator()->Allocate(size);
  }
  void Deallocate(void* memory, size_t size) override {
    in_use_ -= static_cast<int64_t>(size);
    CpuAllocator()->Deallocate(memory, size);
  }
  AllocatorStats Stats() const override { return {.bytes_in_use = in_use_, .bytes_limit = limit_}; }

 private:
  const int64_t limit_;
  int64_t in_use_ = 0;
};

TEST(TensorTest, UsesAndReturnsToItsAllocator) {
  LimitedAllocator allocator(1000);
  {
    const Tensor t(DType::kFloat, {200}, &allocator);
    EXPECT_EQ(allocator.Stats().bytes_in_use, 800);
    EXPECT_EQ(Tensor::Allocate(DType::kFloat, {100}, &allocator).status().code(),
              Code::kResourceExhausted);
    EXPECT_FALSE(t.Clone(&allocator).valid());
  }
  EXPECT_EQ(allocator.Stats().bytes_in_use, 0);
}

TEST(CpuAllocatorTest, Counts) {
  const AllocatorStats before = CpuAllocator()->Stats();
  {
    const Tensor t(DType::kUInt8, {100'000});
    const AllocatorStats during = CpuAllocator()->Stats();
    EXPECT_EQ(during.allocations, before.allocations + 1);
    EXPECT_GE(during.bytes_in_use, before.bytes_in_use + 100'000);
    EXPECT_GE(during.peak_bytes_in_use, during.bytes_in_use);
  }
  EXPECT_EQ(CpuAllocator()->Stats().bytes_in_use, before.bytes_in_use);
}

TEST(CpuAllocator, GivesNoMoreThanItsLimit) {
  const int64_t before = CpuAllocator()->Stats().bytes_in_use;
  SetCpuMemoryLimit(before + (1 << 20));
  EXPECT_EQ(CpuAllocator()->Stats().bytes_limit, before + (1 << 20));
  EXPECT_TRUE(Tensor::Allocate(DType::kFloat, Shape({1 << 17})).ok());
  const auto large = Tensor::Allocate(DType::kFloat, Shape({1 << 19}));
  EXPECT_EQ(large.status().code(), Code::kResourceExhausted) << large.status().ToString();
  SetCpuMemoryLimit(0);
  EXPECT_EQ(CpuAllocator()->Stats().bytes_in_use, before);
  EXPECT_TRUE(Tensor::Allocate(DType::kFloat, Shape({1 << 19})).ok());
}

}  // namespace
}  // namespace slipway
