// SPDX-License-Identifier: Apache-2.0
//
// Counts what a path must not cost: every operator new and every pthread_mutex_lock of the calling
// thread. For tests; it replaces both for the whole program, so one source file of a test binary
// includes it. Sanitizers replace them too: there SLIPWAY_SANITIZED is 1 and nothing is counted.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLIPWAY_SANITIZED 1
#else
#define SLIPWAY_SANITIZED 0
#endif

namespace {
thread_local int allocations = 0;
thread_local int locks = 0;
}  // namespace

#if !SLIPWAY_SANITIZED
// The compiler takes the pair below for a new that meets a free.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Not inlined: GCC would see free() of what operator new gave, and warn.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return real(mutex);
}
#endif
