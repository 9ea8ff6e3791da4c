// SPDX-License-Identifier: Apache-2.0
#include "base/stack.h"

#include <pthread.h>

#include <cstdint>

namespace slipway {
namespace {

uintptr_t LowestAddress() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uintptr_t>(lowest);
}

}  // namespace

size_t StackLeft() {
  thread_local const uintptr_t lowest = LowestAddress();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > lowest ? here - lowest : 0;
}

}  // namespace slipway
