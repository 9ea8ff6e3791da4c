// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "kernels/kernel.h"

namespace slipway::kernels {

StatusOr<std::shared_ptr<const Tensor>> WeightCache::Get(
    const Tensor& weights, const std::string& layout,
    const std::function<StatusOr<Tensor>()>& pack) {
  const std::string key = StrCat(reinterpret_cast<uintptr_t>(weights.raw_data()), " ",
                                 weights.shape().ToString(), " ", layout);
  std::lock_guard lock(mutex_);
  if (auto it = entries_.find(key); it != entries_.end()) return it->second.packed;
  ASSIGN_OR_RETURN(Tensor packed, pack());
  auto shared = std::make_shared<const Tensor>(std::move(packed));
  entries_.emplace(key, Entry{weights, shared});
  return shared;
}

size_t WeightCache::bytes() const {
  std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const auto& [key, entry] : entries_) total += entry.packed->byte_size();
  return total;
}

size_t WeightCache::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace slipway::kernels
