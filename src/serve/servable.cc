// SPDX-License-Identifier: Apache-2.0
#include "serve/servable.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/strings.h"
#include "serve/version_scan.h"

namespace slipway::serve {
namespace {

// Ops whose time lies in the data and not in the shapes.
bool MayWait(const ir::Graph& graph) {
  static constexpr std::array<std::string_view, 7> kOps = {
      "While", "StatelessWhile", "Enter", "PartitionedCall", "StatefulPartitionedCall", "If",
      "Case"};
  for (const ir::Node* node : graph.nodes()) {
    if (std::find(kOps.begin(), kOps.end(), node->op()) != kOps.end()) return true;
  }
  return false;
}

// One row of zeros each; nothing where a shape is not known or elements are not numbers.
std::optional<std::vector<Tensor>> ZeroRow(const model::Signature& signature) {
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : signature.inputs()) {
    if (!spec.shape.has_rank() || IsObject(spec.dtype)) return std::nullopt;
    Shape shape;
    for (int i = 0; i < spec.shape.rank(); ++i) {
      const int64_t size = spec.shape.dim(i);
      if (size < 0 && i > 0) return std::nullopt;
      shape.AddDim(size < 0 ? 1 : size);
    }
    auto tensor = Tensor::Allocate(spec.dtype, shape);
    if (!tensor.ok()) return std::nullopt;
    std::memset(tensor->raw_data(), 0, tensor->byte_size());
    inputs.push_back(*std::move(tensor));
  }
  return inputs;
}

// The second run of a warm plan, in nanoseconds; 0 if the signature cannot be run for show. That
// it has a plan says that Warmup ran it, so it is one without effects.
int64_t MeasureOneRow(const model::Signature& signature) {
  if (signature.executable().num_plans() == 0) return 0;
  const auto inputs = ZeroRow(signature);
  if (!inputs) return 0;
  std::vector<Tensor> outputs(signature.outputs().size());
  const int64_t start = Clock::Default()->NowNanos();
  if (!signature.Run(*inputs, outputs).ok()) return 0;
  return std::max<int64_t>(1, Clock::Default()->NowNanos() - start);
}

}  // namespace

int64_t ServedSignature::EstimateNanos(int64_t rows) const {
  const int64_t per_row = ns_per_row_.load(std::memory_order_relaxed);
  if (may_wait_ || per_row == 0) return INT64_MAX;
  int64_t total = 0;
  if (__builtin_mul_overflow(per_row, std::max<int64_t>(rows, 1), &total)) return INT64_MAX;
  return total;
}

void ServedSignature::Learn(int64_t rows, int64_t nanos) const {
  const int64_t seen = std::max<int64_t>(1, nanos / std::max<int64_t>(rows, 1));
  const int64_t before = ns_per_row_.load(std::memory_order_relaxed);
  // Two threads may overwrite each other's sample: an estimate can bear that.
  const int64_t after = before == 0 ? seen : before + (seen - before) / 8;
  if (after != before) ns_per_row_.store(after, std::memory_order_relaxed);
}

Servable::Servable(int64_t version, std::unique_ptr<model::SavedModel> saved_model)
    : version_(version), saved_model_(std::move(saved_model)) {
  if (saved_model_ != nullptr) MeasureSignatures();
}

void Servable::MeasureSignatures() {
  saved_model_->Warmup();
  const auto all = saved_model_->signatures();
  signatures_.reserve(all.size());
  for (const model::Signature* signature : all) {
    const bool may_wait = MayWait(signature->executable().function().graph);
    signatures_.emplace_back(signature, may_wait, may_wait ? 0 : MeasureOneRow(*signature));
  }
}

const ServedSignature* Servable::FindSignature(std::string_view name) const {
  const auto it = std::lower_bound(signatures_.begin(), signatures_.end(), name,
                                   [](const ServedSignature& s, std::string_view n) {
                                     return std::string_view(s.signature().name()) < n;
                                   });
  if (it == signatures_.end() || it->signature().name() != name) return nullptr;
  return &*it;
}

Status Servable::WhyUnsupported(std::string_view name) const {
  if (saved_model_ == nullptr) return OkStatus();
  const auto it = saved_model_->unsupported().find(name);
  return it == saved_model_->unsupported().end() ? OkStatus() : it->second;
}

std::string Servable::Notice() const {
  if (saved_model_ == nullptr) return "";
  std::vector<std::string_view> sentences;
  for (const auto& [name, status] : saved_model_->unsupported()) {
    sentences.push_back(status.message());
  }
  return StrJoin(sentences, ". ");
}

StatusOr<std::unique_ptr<Servable>> LoadServable(Env* env, int64_t version, const std::string& dir,
                                                 const model::LoadOptions& options) {
  RETURN_IF_ERROR(CheckVersionComplete(env, dir));
  ASSIGN_OR_RETURN(auto saved_model, model::SavedModel::Load(env, dir, options));
  return std::make_unique<Servable>(version, std::move(saved_model));
}

}  // namespace slipway::serve
