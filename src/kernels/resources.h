// SPDX-License-Identifier: Apache-2.0
//
// Resources that ops share by handle, and the container that owns them by name. One container
// belongs to one loaded model version or one training session: two never share by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "slipway/tensor.h"

namespace slipway::kernels {

// A variable behind a resource handle.
//
// Reading shares the memory; an update writes in place only when nobody else holds it and makes a
// copy first otherwise, so whoever read the old value keeps it (tf-traps 13).
// Thread safety: all methods from any thread.
class Variable : public Resource {
 public:
  Variable(std::string name, DType dtype, PartialShape shape)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const PartialShape& shape() const { return shape_; }
  std::string DebugString() const override { return "variable " + name_; }

  // FAILED_PRECONDITION if nothing was assigned yet; the message names the variable.
  StatusOr<Tensor> Read() const;
  bool IsInitialized() const;
  // INVALID_ARGUMENT if dtype or (known) shape differ. Takes a copy of memory that is only lent.
  Status Assign(Tensor value);
  // update(value) with memory of its own to write. The variable is locked meanwhile.
  Status Update(const std::function<Status(Tensor& value)>& update);
  template <typename Fn>
  Status UpdateWith(Fn&& update) {
    std::lock_guard lock(mutex_);
    if (Status s = MakeUnique(); !s.ok()) return s;
    return update(value_);
  }

 private:
  Status MakeUnique();  // REQUIRES: mutex_ held

  const std::string name_;
  const DType dtype_;
  const PartialShape shape_;
  mutable std::mutex mutex_;
  Tensor value_;
};

// Thread safety: all methods from any thread.
class ResourceContainer {
 public:
  // The resource of that name, made by `make` if there is none. INVALID_ARGUMENT if one of another
  // type has the name.
  template <typename T>
  StatusOr<std::shared_ptr<T>> FindOrCreate(std::string_view name,
                                            const std::function<std::shared_ptr<T>()>& make) {
    std::lock_guard lock(mutex_);
    auto it = resources_.find(name);
    if (it == resources_.end()) it = resources_.emplace(std::string(name), make()).first;
    auto typed = std::dynamic_pointer_cast<T>(it->second);
    if (typed == nullptr) {
      return InvalidArgumentError("Resource '" + std::string(name) + "' is " +
                                  it->second->DebugString() + ", another kind was asked for");
    }
    return typed;
  }
  ResourceHandle Find(std::string_view name) const;
  void Remove(std::string_view name);
  std::map<std::string, ResourceHandle> All() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, ResourceHandle, std::less<>> resources_;
};

}  // namespace slipway::kernels
