// SPDX-License-Identifier: Apache-2.0
//
// What elementwise kernels share: an op is a loop over a run of elements of one type, picked when
// the kernel is bound; broadcasting, half types and threads are done once, around it.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernel.h"

namespace slipway::kernels {

// y[i] = f(x[i]); y may be x. `alpha` is the op's own constant, if it has one.
using UnaryLoop = void (*)(const void* x, void* y, int64_t n, float alpha);

// out[i] = f(a[i * sa], b[i * sb]) with sa and sb 0 or 1; out may be an input that moves. False if
// a value was refused (an integer divided by zero).
using BinaryLoop = bool (*)(const void* a, int sa, const void* b, int sb, void* out, int64_t n,
                            float alpha);

struct UnaryKernel {
  UnaryLoop loop = nullptr;  // for half types the loop over floats
  DType dtype = DType::kInvalid;
  DType out_dtype = DType::kInvalid;  // differs from dtype for predicates only
  float alpha = 0;
  Status operator()(KernelContext& c) const;
};

struct BinaryKernel {
  BinaryLoop loop = nullptr;
  DType dtype = DType::kInvalid;
  DType out_dtype = DType::kInvalid;  // dtype or bool
  const char* refused = "";           // the message when the loop returns false
  // Else the inputs have one shape, or for kCounts one number of elements and input 0's shape.
  enum class Shapes : uint8_t { kBroadcast, kSame, kCounts };
  Shapes shapes = Shapes::kBroadcast;
  float alpha = 0;
  Status operator()(KernelContext& c) const;
  // One run of n elements, half types through float; as the loop.
  bool Run(const void* a, int sa, const void* b, int sb, void* out, int64_t n) const;
};

// Runs `loop` over n elements of `dtype` that lie side by side, through float tiles for half types.
void RunUnary(UnaryLoop loop, DType dtype, const void* x, void* y, int64_t n, float alpha);

// Vectorised float loops, for this machine's processor.
enum class FastUnary : uint8_t {
  kAbs,
  kNeg,
  kSquare,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kFloor,
  kCeil,
  kRound,
  kExp,
  kTanh,
  kSigmoid,
  kRelu,
  kRelu6,
  kLeakyRelu,
  kElu,
  kSelu,
  kSoftsign,
};
enum class FastBinary : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kSquaredDifference,
  kReluGrad,
  kRelu6Grad,
  kLeakyReluGrad,
  kEluGrad,
  kTanhGrad,
  kSigmoidGrad,
  kRsqrtGrad,
  kSqrtGrad,
};
UnaryLoop FastUnaryLoop(FastUnary op);
BinaryLoop FastBinaryLoop(FastBinary op);

// Elements that are worth a thread of their own.
inline constexpr int64_t kElementGrain = 32768;

// Scalar loops from a function of one or two values, for what has no vectorised one.
template <typename T, typename R, R (*kFn)(T)>
void UnaryLoopOf(const void* x, void* y, int64_t n, float) {
  const T* in = static_cast<const T*>(x);
  R* out = static_cast<R*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = kFn(in[i]);
}

template <typename T, typename R, R (*kFn)(T, T)>
bool BinaryLoopOf(const void* a, int sa, const void* b, int sb, void* out, int64_t n, float) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  R* to = static_cast<R*>(out);
  if (sa == 1 && sb == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = kFn(x[i], y[i]);
  } else if (sa == 1) {
    const T value = *y;
    for (int64_t i = 0; i < n; ++i) to[i] = kFn(x[i], value);
  } else {
    const T value = *x;
    for (int64_t i = 0; i < n; ++i) to[i] = kFn(value, y[i * sb]);
  }
  return true;
}

// For functions that may refuse: *ok is set to false then.
template <typename T, T (*kFn)(T, T, bool* ok)>
bool CheckedBinaryLoopOf(const void* a, int sa, const void* b, int sb, void* out, int64_t n,
                         float) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* to = static_cast<T*>(out);
  bool ok = true;
  for (int64_t i = 0; i < n; ++i) to[i] = kFn(x[i * sa], y[i * sb], &ok);
  return ok;
}

}  // namespace slipway::kernels
