// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <atomic>

#include "base/strings.h"
#include "kernels/broadcast.h"
#include "kernels/checks.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

constexpr int64_t kTile = 512;  // floats that half types are widened to at a time

template <typename H>
void Widen(const void* from, int64_t offset, int64_t n, float* to) {
  const H* in = static_cast<const H*>(from) + offset;
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(in[i]);
}

template <typename H>
void Narrow(const float* from, int64_t n, void* to, int64_t offset) {
  H* out = static_cast<H*>(to) + offset;
  for (int64_t i = 0; i < n; ++i) out[i] = H(from[i]);
}

template <typename H>
void UnaryThroughFloat(const UnaryKernel& k, const void* x, void* y, int64_t n) {
  float in[kTile], out[kTile];
  for (int64_t at = 0; at < n; at += kTile) {
    const int64_t m = std::min(kTile, n - at);
    Widen<H>(x, at, m, in);
    if (k.out_dtype == DType::kBool) {
      k.loop(in, static_cast<bool*>(y) + at, m, k.alpha);
      continue;
    }
    k.loop(in, out, m, k.alpha);
    Narrow<H>(out, m, y, at);
  }
}

template <typename H>
bool BinaryThroughFloat(const BinaryKernel& k, const void* a, int sa, const void* b, int sb,
                        void* out, int64_t n) {
  float x[kTile], y[kTile], z[kTile];
  bool ok = true;
  for (int64_t at = 0; at < n; at += kTile) {
    const int64_t m = std::min(kTile, n - at);
    Widen<H>(a, at * sa, sa ? m : 1, x);
    Widen<H>(b, at * sb, sb ? m : 1, y);
    if (k.out_dtype == DType::kBool) {
      ok &= k.loop(x, sa, y, sb, static_cast<bool*>(out) + at, m, k.alpha);
      continue;
    }
    ok &= k.loop(x, sa, y, sb, z, m, k.alpha);
    Narrow<H>(z, m, out, at);
  }
  return ok;
}

void RunUnaryKernel(const UnaryKernel& k, const void* x, void* y, int64_t n) {
  if (k.dtype == DType::kHalf) return UnaryThroughFloat<Half>(k, x, y, n);
  if (k.dtype == DType::kBFloat16) return UnaryThroughFloat<BFloat16>(k, x, y, n);
  k.loop(x, y, n, k.alpha);
}

char* At(void* base, int64_t index, size_t size) {
  return static_cast<char*>(base) + index * static_cast<int64_t>(size);
}

}  // namespace

void RunUnary(UnaryLoop loop, DType dtype, const void* x, void* y, int64_t n, float alpha) {
  RunUnaryKernel({loop, dtype, dtype, alpha}, x, y, n);
}

Status UnaryKernel::operator()(KernelContext& c) const {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  const size_t in_size = DTypeSize(dtype), out_size = DTypeSize(out_dtype);
  c.intra_op().ParallelFor(x.num_elements(), kElementGrain, [&](int64_t begin, int64_t end) {
    RunUnaryKernel(*this, At(x.raw_data(), begin, in_size), At(y->raw_data(), begin, out_size),
                   end - begin);
  });
  return OkStatus();
}

bool BinaryKernel::Run(const void* a, int sa, const void* b, int sb, void* out, int64_t n) const {
  if (dtype == DType::kHalf) return BinaryThroughFloat<Half>(*this, a, sa, b, sb, out, n);
  if (dtype == DType::kBFloat16) return BinaryThroughFloat<BFloat16>(*this, a, sa, b, sb, out, n);
  return loop(a, sa, b, sb, out, n, alpha);
}

Status BinaryKernel::operator()(KernelContext& c) const {
  const Tensor& a = c.input(0);
  const Tensor& b = c.input(1);
  if (shapes == Shapes::kSame) RETURN_IF_ERROR(CheckSameShape(a, b, "inputs 0", "1"));
  if (shapes == Shapes::kCounts && a.num_elements() != b.num_elements()) {
    return InvalidArgumentError(
        StrCat("The two arguments to a cwise op must have same number of elements, got ",
               a.num_elements(), " and ", b.num_elements()));
  }
  const Shape* both[] = {&a.shape(), shapes == Shapes::kCounts ? &a.shape() : &b.shape()};
  Broadcast plan;
  RETURN_IF_ERROR(Broadcast::Make(both, &plan));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, plan.output));
  const size_t size = DTypeSize(dtype), out_size = DTypeSize(out_dtype);
  const int last = plan.rank - 1;
  const int sa = static_cast<int>(plan.strides[0][last]);
  const int sb = static_cast<int>(plan.strides[1][last]);
  std::atomic<bool> ok = true;
  auto body = [&](int64_t begin, int64_t end) {
    plan.ForEachRun(begin, end, [&](const int64_t* offsets, int64_t at, int64_t n) {
      if (!Run(At(a.raw_data(), offsets[0], size), sa, At(b.raw_data(), offsets[1], size), sb,
               At(out->raw_data(), at, out_size), n)) {
        ok.store(false, std::memory_order_relaxed);
      }
    });
  };
  c.intra_op().ParallelFor(plan.output.num_elements(), kElementGrain, body);
  return ok ? OkStatus() : InvalidArgumentError(refused);
}

}  // namespace slipway::kernels
