// SPDX-License-Identifier: Apache-2.0
//
// Servable: one loaded version of a model, and the leases that requests take on it. It stays
// whole until the last lease is back, however long ago it was unloaded.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/env.h"
#include "model/saved_model.h"
#include "slipway/status.h"

namespace slipway::serve {

// A signature with what serving knows of it. Thread safety: all methods from any thread.
class ServedSignature {
 public:
  ServedSignature(const model::Signature* signature, bool may_wait, int64_t ns_per_row)
      : signature_(signature), may_wait_(may_wait), ns_per_row_(ns_per_row) {}
  ServedSignature(ServedSignature&& other) noexcept
      : ServedSignature(other.signature_, other.may_wait_, other.ns_per_row_.load()) {}

  const model::Signature& signature() const { return *signature_; }
  // What a run of so many rows will take, from warm-up and from the runs so far; INT64_MAX if that
  // is not known or cannot be (loops: their time lies in the data).
  int64_t EstimateNanos(int64_t rows) const;
  // Takes the time of a run into the estimate.
  void Learn(int64_t rows, int64_t nanos) const;

 private:
  const model::Signature* signature_;
  bool may_wait_;
  mutable std::atomic<int64_t> ns_per_row_;  // 0: not known
};

// Thread safety: const methods from any thread.
class Servable {
 public:
  // `saved_model` may be null in tests of the life cycle; there are no signatures then.
  Servable(int64_t version, std::unique_ptr<model::SavedModel> saved_model);
  Servable(const Servable&) = delete;
  Servable& operator=(const Servable&) = delete;

  int64_t version() const { return version_; }
  const model::SavedModel* saved_model() const { return saved_model_.get(); }
  // Null if there is none. Does not allocate.
  const ServedSignature* FindSignature(std::string_view name) const;
  // Why FindSignature finds none that the model has: UNIMPLEMENTED with the ops that are missing.
  // OK if the model has no such signature.
  Status WhyUnsupported(std::string_view name) const;
  // What clients should know of a version that answers: the signatures that cannot be run, with
  // the ops that they lack. Empty if there is nothing to say.
  std::string Notice() const;

  // Leases. The one who made it holds the first; Retire gives that back and says what is to
  // happen when the last is: `drained` is called once, on whatever thread that was.
  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    // Taken out first: the call may destroy this object.
    const std::function<void()> drained = std::move(drained_);
    drained();
  }
  void Retire(std::function<void()> drained) {
    drained_ = std::move(drained);
    Unref();
  }

 private:
  void MeasureSignatures();

  const int64_t version_;
  std::unique_ptr<model::SavedModel> saved_model_;
  std::vector<ServedSignature> signatures_;  // by name
  std::atomic<int64_t> refs_{1};
  std::function<void()> drained_;
};

// Keeps a servable from being unloaded. Move-only; empty when default-constructed.
class Lease {
 public:
  Lease() = default;
  // Takes over a reference that the caller counted.
  explicit Lease(Servable* servable) : servable_(servable) {}
  Lease(Lease&& other) noexcept : servable_(std::exchange(other.servable_, nullptr)) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(servable_, other.servable_);
    return *this;
  }
  ~Lease() {
    if (servable_ != nullptr) servable_->Unref();
  }
  explicit operator bool() const { return servable_ != nullptr; }
  const Servable& operator*() const { return *servable_; }
  const Servable* operator->() const { return servable_; }

 private:
  Servable* servable_ = nullptr;
};

// Loads a version: checks that it is complete, reads and compiles it, warms it up (each signature
// without effects runs with zeros where its shapes are known) and measures it.
// Errors as CheckVersionComplete and model::SavedModel::Load.
StatusOr<std::unique_ptr<Servable>> LoadServable(Env* env, int64_t version, const std::string& dir,
                                                 const model::LoadOptions& options);

}  // namespace slipway::serve
