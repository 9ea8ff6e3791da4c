// SPDX-License-Identifier: Apache-2.0
//
// A device: a full TensorFlow name, an allocator with statistics, and the two pools.
#pragma once

#include <memory>
#include <string>

#include "base/thread_pool.h"
#include "slipway/status.h"
#include "tensor/allocator.h"

namespace slipway::exec {

struct DeviceOptions {
  // Threads in all, the caller's included; 0: one per available processor.
  int intra_op_threads = 0;
  int inter_op_threads = 0;
};

// Thread safety: all methods from any thread.
class Device {
 public:
  Device(std::string name, std::string type, const DeviceOptions& options);

  // The process's CPU: "/job:localhost/replica:0/task:0/device:CPU:0"; made at the first call with
  // the options of ConfigureDefaultCpu, lives as long as the program.
  static Device* DefaultCpu();
  // FAILED_PRECONDITION once DefaultCpu() was used (as tf.config.threading).
  static Status ConfigureDefaultCpu(const DeviceOptions& options);

  const std::string& name() const { return name_; }
  const std::string& type() const { return type_; }  // "CPU"
  Allocator* allocator() const { return CpuAllocator(); }
  // A pool has one thread fewer than the option says: the caller works too.
  ThreadPool& intra_op() { return *intra_op_; }
  ThreadPool& inter_op() { return *inter_op_; }
  int intra_op_threads() const { return intra_op_->size() + 1; }

 private:
  std::string name_;
  std::string type_;
  std::unique_ptr<ThreadPool> intra_op_;
  std::unique_ptr<ThreadPool> inter_op_;
};

}  // namespace slipway::exec
