// SPDX-License-Identifier: Apache-2.0
#include "exec/device.h"

#include <algorithm>
#include <mutex>

namespace slipway::exec {
namespace {

std::unique_ptr<ThreadPool> NewPool(const char* name, int threads) {
  if (threads <= 0) threads = AvailableCpus();
  ThreadPool::Options options;
  options.name = name;
  return std::make_unique<ThreadPool>(threads - 1, std::move(options));
}

struct DefaultCpuState {
  std::mutex mutex;
  DeviceOptions options;
  Device* device = nullptr;
};

DefaultCpuState& DefaultState() {
  static auto* state = new DefaultCpuState;  // pools must outlive tensors in statics
  return *state;
}

}  // namespace

Device::Device(std::string name, std::string type, const DeviceOptions& options)
    : name_(std::move(name)),
      type_(std::move(type)),
      intra_op_(NewPool("intra_op", options.intra_op_threads)),
      inter_op_(NewPool("inter_op", options.inter_op_threads)) {}

Device* Device::DefaultCpu() {
  DefaultCpuState& state = DefaultState();
  std::lock_guard lock(state.mutex);
  if (state.device == nullptr) {
    state.device = new Device("/job:localhost/replica:0/task:0/device:CPU:0", "CPU", state.options);
  }
  return state.device;
}

Status Device::ConfigureDefaultCpu(const DeviceOptions& options) {
  DefaultCpuState& state = DefaultState();
  std::lock_guard lock(state.mutex);
  if (state.device != nullptr) {
    return FailedPreconditionError(
        "Threads of the CPU device cannot be changed after the first model was compiled; set them "
        "before");
  }
  state.options = options;
  return OkStatus();
}

}  // namespace slipway::exec
