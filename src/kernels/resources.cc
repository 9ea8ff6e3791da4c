// SPDX-License-Identifier: Apache-2.0
#include "kernels/resources.h"

#include "base/strings.h"

namespace slipway::kernels {

StatusOr<Tensor> Variable::Read() const {
  std::lock_guard lock(mutex_);
  if (value_.valid()) return value_;
  return FailedPreconditionError(StrCat("Could not find variable ", name_,
                                        ": it has no value yet. Run its initializer or restore it "
                                        "from a checkpoint first"));
}

bool Variable::IsInitialized() const {
  std::lock_guard lock(mutex_);
  return value_.valid();
}

Status Variable::Assign(Tensor value) {
  if (value.dtype() != dtype_) {
    return InvalidArgumentError(StrCat("Trying to assign a value of ", DTypeName(value.dtype()),
                                       " to variable ", name_, " of ", DTypeName(dtype_)));
  }
  if (!shape_.Admits(value.shape())) {
    return InvalidArgumentError(StrCat("Trying to assign a value of shape ",
                                       value.shape().ToString(), " to variable ", name_,
                                       " of shape ", shape_.ToString()));
  }
  Tensor owned = value.Owned();
  if (!owned.valid()) {
    return ResourceExhaustedError(StrCat("No memory for a copy of variable ", name_));
  }
  std::lock_guard lock(mutex_);
  value_.swap(owned);
  return OkStatus();
}

Status Variable::Update(const std::function<Status(Tensor& value)>& update) {
  return UpdateWith(update);
}

Status Variable::MakeUnique() {
  if (!value_.valid()) {
    return FailedPreconditionError(
        StrCat("Could not find variable ", name_, ": it has no value yet to be updated"));
  }
  if (value_.IsUnique()) return OkStatus();
  Tensor copy = value_.Clone();
  if (!copy.valid()) {
    return ResourceExhaustedError(StrCat("No memory for a copy of variable ", name_));
  }
  value_ = std::move(copy);
  return OkStatus();
}

ResourceHandle ResourceContainer::Find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto it = resources_.find(name);
  return it == resources_.end() ? nullptr : it->second;
}

void ResourceContainer::Remove(std::string_view name) {
  ResourceHandle removed;  // destroyed outside the lock
  std::lock_guard lock(mutex_);
  auto it = resources_.find(name);
  if (it == resources_.end()) return;
  removed = std::move(it->second);
  resources_.erase(it);
}

std::map<std::string, ResourceHandle> ResourceContainer::All() const {
  std::lock_guard lock(mutex_);
  return {resources_.begin(), resources_.end()};
}

}  // namespace slipway::kernels
