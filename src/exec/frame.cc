// SPDX-License-Identifier: Apache-2.0
#include "exec/frame.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway::exec {
namespace {

// Memory of a frame, lent to values: who keeps one beyond the run makes a copy.
class LentBuffer : public Buffer {
 public:
  using Buffer::Buffer;
  bool owns_memory() const override { return false; }
};

bool Usable(const Tensor& output, DType dtype, const Shape& shape) {
  return output.valid() && output.dtype() == dtype && output.shape() == shape && !IsObject(dtype) &&
         (output.IsUnique() || !output.owns_memory());
}

// A value that lies elsewhere becomes a result: shared if it may be kept, else copied.
void HandOver(const Tensor& value, Tensor* output) {
  const bool copy = !output->owns_memory() || !value.owns_memory();
  if (copy && Usable(*output, value.dtype(), value.shape())) {
    std::memcpy(output->raw_data(), value.raw_data(), value.byte_size());
  } else {
    *output = value.Owned();
  }
}

}  // namespace

Frame::Frame(const Plan& plan, Device* device)
    : plan_(plan),
      device_(device),
      arena_(DType::kUInt8, Shape({static_cast<int64_t>(plan.arena_bytes)}), device->allocator()),
      values_(plan.values.size()),
      inputs_(plan.input_values.size()),
      waiting_(plan.concurrent ? plan.steps.size() : 0),
      reads_left_(plan.concurrent ? plan.values.size() : 0) {
  if (arena_.valid()) arena_buffer_ = new LentBuffer(arena_.raw_data(), plan.arena_bytes);
  for (size_t i = 0; i < plan.input_values.size(); ++i) {
    const auto v = static_cast<size_t>(plan.input_values[i]);
    const PlanValue& value = plan.values[v];
    switch (value.source) {
      case PlanValue::Source::kArgument:
        argument_places_.emplace_back(static_cast<int>(i), value.argument);
        break;
      case PlanValue::Source::kConstant:
        inputs_[i] = &value.constant;
        break;
      case PlanValue::Source::kStep:
        inputs_[i] = &values_[v];
        break;
    }
  }
  LayOut();
}

Frame::~Frame() {
  values_.clear();
  if (arena_buffer_ != nullptr) arena_buffer_->Unref();
}

void Frame::LayOut() {
  if (arena_buffer_ == nullptr) return;
  for (size_t v = 0; v < plan_.values.size(); ++v) {
    const PlanValue& value = plan_.values[v];
    if (!Planned(value) || plan_.block_is_result[static_cast<size_t>(value.block)]) continue;
    values_[v] = Tensor(value.dtype, *value.shape, arena_buffer_,
                        plan_.block_offsets[static_cast<size_t>(value.block)]);
  }
}

Status Frame::Begin(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  if (arena_buffer_ == nullptr) {
    return ResourceExhaustedError(
        StrCat("Out of memory: no room for ", plan_.arena_bytes, " bytes of intermediate values"));
  }
  for (const auto& [place, argument] : argument_places_) {
    inputs_[static_cast<size_t>(place)] = &inputs[static_cast<size_t>(argument)];
  }
  for (size_t r = 0; r < plan_.results.size(); ++r) {
    if (plan_.results[r].block < 0) continue;
    RETURN_IF_ERROR(PlaceResult(static_cast<int>(r), &outputs[r]));
  }
  if (plan_.concurrent) ResetCounters();
  return OkStatus();
}

Status Frame::PlaceResult(int result, Tensor* output) {
  const PlanResult& r = plan_.results[static_cast<size_t>(result)];
  const auto wanted = static_cast<size_t>(r.value);
  const PlanValue& value = plan_.values[wanted];
  Tensor memory;
  if (Usable(*output, value.dtype, *value.shape)) {
    memory = std::move(*output);
  } else {
    ASSIGN_OR_RETURN(memory, Tensor::Allocate(value.dtype, *value.shape, device_->allocator()));
  }
  const size_t offset = static_cast<size_t>(static_cast<char*>(memory.raw_data()) -
                                            static_cast<char*>(memory.buffer()->data()));
  for (int v : plan_.block_values[static_cast<size_t>(r.block)]) {
    const PlanValue& member = plan_.values[static_cast<size_t>(v)];
    values_[static_cast<size_t>(v)] = Tensor(member.dtype, *member.shape, memory.buffer(), offset);
  }
  // A result that is a view of the block keeps the memory here until its step sets it.
  if (value.shares_input) values_[wanted] = std::move(memory);
  return OkStatus();
}

void Frame::CopyResult(const PlanResult& result, std::span<const Tensor> inputs,
                       Tensor* output) const {
  const auto v = static_cast<size_t>(result.value);
  const PlanValue& value = plan_.values[v];
  if (value.source == PlanValue::Source::kArgument) {
    HandOver(inputs[static_cast<size_t>(value.argument)], output);
  } else if (value.source == PlanValue::Source::kConstant) {
    HandOver(value.constant, output);
  } else {
    HandOver(values_[v], output);
  }
}

void Frame::End(std::span<const Tensor> inputs, std::span<Tensor> outputs, bool succeeded) {
  // Copies first: they may be of values that lie in another result's memory.
  for (size_t r = 0; r < plan_.results.size(); ++r) {
    const PlanResult& result = plan_.results[r];
    if (succeeded && result.block < 0) CopyResult(result, inputs, &outputs[r]);
  }
  for (size_t r = 0; r < plan_.results.size(); ++r) {
    const PlanResult& result = plan_.results[r];
    if (result.block < 0) continue;
    outputs[r] = std::move(values_[static_cast<size_t>(result.value)]);
    for (int member : plan_.block_values[static_cast<size_t>(result.block)]) Release(member);
  }
  for (size_t v = 0; v < plan_.values.size(); ++v) {
    const PlanValue& value = plan_.values[v];
    if (value.source == PlanValue::Source::kStep && !Planned(value) && values_[v].valid()) {
      values_[v] = Tensor();
    }
  }
  if (moved_.exchange(false, std::memory_order_relaxed)) LayOut();
}

StatusOr<Tensor*> Frame::AllocateOutput(const PlanStep& step, int i, const Shape& shape) {
  const auto v = static_cast<size_t>(step.first_output + i);
  const PlanValue& value = plan_.values[v];
  Tensor& place = values_[v];
  if (Planned(value)) {
    if (place.valid() && place.shape() == shape) return &place;
    moved_.store(true, std::memory_order_relaxed);
  }
  ASSIGN_OR_RETURN(place, Tensor::Allocate(value.dtype, shape, device_->allocator()));
  return &place;
}

void Frame::SetOutput(const PlanStep& step, int i, Tensor tensor) {
  const auto v = static_cast<size_t>(step.first_output + i);
  const PlanValue& value = plan_.values[v];
  if (Planned(value)) moved_.store(true, std::memory_order_relaxed);
  // Only the plan knows how long lent memory stays as it is, and only for declared views.
  values_[v] = value.shares_input ? std::move(tensor) : tensor.Owned();
}

void Frame::ResetCounters() {
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    waiting_[s].store(plan_.steps[s].waits_for, std::memory_order_relaxed);
    for (int v : plan_.steps[s].release) {
      reads_left_[static_cast<size_t>(v)].store(
          static_cast<int>(plan_.values[static_cast<size_t>(v)].readers.size()),
          std::memory_order_relaxed);
    }
  }
}

void Frame::CountReads(const PlanStep& step, int step_index) {
  for (int i = 0; i < step.num_inputs; ++i) {
    const int v = plan_.input_values[static_cast<size_t>(step.first_input + i)];
    std::atomic<int>& left = reads_left_[static_cast<size_t>(v)];
    if (left.load(std::memory_order_relaxed) > 0 &&
        left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Release(v);
    }
  }
  for (int i = 0; i < step.num_outputs; ++i) {  // nobody reads it
    const int v = step.first_output + i;
    const PlanValue& value = plan_.values[static_cast<size_t>(v)];
    const auto& release = plan_.steps[static_cast<size_t>(step_index)].release;
    if (value.readers.empty() && std::find(release.begin(), release.end(), v) != release.end()) {
      Release(v);
    }
  }
}

FramePool::~FramePool() {
  for (auto& place : frames_) delete place.load();
}

std::unique_ptr<Frame> FramePool::Take() {
  for (auto& place : frames_) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    if (Frame* frame = place.exchange(nullptr, std::memory_order_acquire)) {
      return std::unique_ptr<Frame>(frame);
    }
  }
  return nullptr;
}

bool FramePool::Give(std::unique_ptr<Frame> frame) {
  for (auto& place : frames_) {
    Frame* expected = nullptr;
    if (place.compare_exchange_strong(expected, frame.get(), std::memory_order_release,
                                      std::memory_order_relaxed)) {
      frame.release();
      return true;
    }
  }
  return false;
}

}  // namespace slipway::exec
