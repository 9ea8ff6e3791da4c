// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "base/strings.h"
#include "kernels/custom_op.h"
#include "kernels/families.h"
#include "kernels/kernel_table.h"

namespace slipway::kernels {
namespace {

using Registry = std::unordered_multimap<std::string, const KernelDef*>;

const Registry& AllByOp() {
  static const Registry registry = [] {
    Registry by_op;
    for (std::span<const KernelDef> family : {ActivationKernels(),
                                              AudioKernels(),
                                              BatchNormKernels(),
                                              BiasKernels(),
                                              BinaryKernels(),
                                              CastKernels(),
                                              ColourKernels(),
                                              CompareKernels(),
                                              ComplexKernels(),
                                              ConcatSplitKernels(),
                                              ControlKernels(),
                                              ConvBackpropKernels(),
                                              ConvKernels(),
                                              CountingKernels(),
                                              CropGradientKernels(), CropImageKernels(),
                                              CtcKernels(),
                                              DecodeValueKernels(),
                                              DepthwiseKernels(),
                                              EditDistanceKernels(),
                                              EinsumKernels(),
                                              FakeQuantKernels(),
                                              FftKernels(),
                                              FractionalPoolKernels(),
                                              GatherKernels(),
                                              ImageFileKernels(),
                                              InplaceKernels(),
                                              LinalgQrKernels(),
                                              LinalgSolveKernels(),
                                              LinalgSpectralKernels(),
                                              LinalgSvdKernels(),
                                              LinalgTridiagonalKernels(),
                                              LookupKernels(),
                                              LrnKernels(),
                                              MatMulKernels(),
                                              MatrixPartKernels(),
                                              NonMaxSuppressionKernels(),
                                              OptimizerKernels(),
                                              OptimizersByRowKernels(),
                                              OptionalKernels(),
                                              PadKernels(),
                                              ParseExampleKernels(),
                                              ParseSequenceKernels(),
                                              PartitionKernels(),
                                              PatchKernels(),
                                              PoolingGradKernels(),
                                              PoolingKernels(),
                                              QuantizeKernels(),
                                              QuantizedMathKernels(),
                                              RaggedKernels(),
                                              RaggedRangeKernels(),
                                              RaggedVariantKernels(),
                                              RandomBinomialKernels(),
                                              RandomDistributionKernels(),
                                              RandomKernels(),
                                              ReduceKernels(),
                                              ResizeGradKernels(),
                                              ResizeKernels(),
                                              SaveRestoreKernels(),
                                              ScanKernels(),
                                              ScatterKernels(),
                                              SegmentKernels(),
                                              SetKernels(),
                                              SetOperationKernels(),
                                              ShapeKernels(),
                                              SliceKernels(),
                                              SoftmaxKernels(),
                                              SpaceBatchKernels(),
                                              SparseCrossKernels(),
                                              SparseKernels(),
                                              SparseCountKernels(),
                                              SparseMathKernels(),
                                              SpecialKernels(),
                                              StackKernels(),
                                              StringHashKernels(),
                                              StringJoinKernels(),
                                              StringKernels(),
                                              StringPieceKernels(),
                                              TensorArrayKernels(),
                                              TensorListKernels(),
                                              TensorListTensorKernels(),
                                              UnaryKernels(),
                                              UnicodeKernels(),
                                              UnsortedSegmentKernels(),
                                              VariableKernels()}) {
      for (const KernelDef& def : family) by_op.emplace(def.op, &def);
    }
    return by_op;
  }();
  return registry;
}

// Of custom ops. Definitions do not move: whoever found one keeps the pointer.
class AddedKernels {
 public:
  static AddedKernels& Get() {
    static auto* added = new AddedKernels();
    return *added;
  }
  void Add(KernelDef def) {
    const std::unique_lock lock(mutex_);
    const std::string op = def.op;
    by_op_.emplace(op, std::move(def));
  }
  const KernelDef* Find(const std::string& op) const {
    const std::shared_lock lock(mutex_);
    const auto it = by_op_.find(op);
    return it == by_op_.end() ? nullptr : &it->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, KernelDef> by_op_;
};

DType TypeAttr(const ir::Node& node, const std::string& attr) {
  const ir::AttrValue* value = node.FindAttr(attr);
  const DType* dtype = value == nullptr ? nullptr : value->As<DType>();
  return dtype == nullptr ? DType::kInvalid : *dtype;
}

bool Fits(const KernelDef& def, const ir::Node& node) {
  return std::all_of(def.types.begin(), def.types.end(), [&](const auto& constraint) {
    return std::find(constraint.dtypes.begin(), constraint.dtypes.end(),
                     TypeAttr(node, constraint.attr)) != constraint.dtypes.end();
  });
}

std::string Constraints(const KernelDef& def) {
  std::vector<std::string> parts;
  for (const auto& constraint : def.types) {
    std::vector<std::string_view> names;
    for (DType dtype : constraint.dtypes) names.push_back(DTypeName(dtype));
    parts.push_back(StrCat(constraint.attr, " in {", StrJoin(names, ", "), "}"));
  }
  return StrJoin(parts, ", ");
}

}  // namespace

std::vector<KernelDef> MakeKernels(std::vector<KernelRow> rows) {
  std::vector<KernelDef> defs;
  for (KernelRow& row : rows) {
    KernelDef def;
    def.op = row.op;
    if (!row.types.empty()) def.types.push_back({row.attr, std::move(row.types)});
    def.bind = row.bind;
    def.in_place = std::move(row.in_place);
    def.shares = std::move(row.shares);
    def.expensive = row.expensive;
    defs.push_back(std::move(def));
  }
  return defs;
}

StatusOr<const KernelDef*> FindKernel(const ir::Node& node, const std::string& device_type) {
  auto [begin, end] = AllByOp().equal_range(node.op());
  if (begin == end) {
    const KernelDef* added = AddedKernels::Get().Find(node.op());
    if (added != nullptr && added->device_type == device_type) return added;
  }
  std::vector<std::string> others;
  for (auto it = begin; it != end; ++it) {
    if (it->second->device_type != device_type) continue;
    if (Fits(*it->second, node)) return it->second;
    others.push_back(Constraints(*it->second));
  }
  std::vector<std::string_view> inputs;
  for (const ir::Output& input : node.inputs()) inputs.push_back(DTypeName(input.dtype()));
  std::string message = StrCat("No ", device_type, " kernel for op ", node.op(), " of node '",
                               node.name(), "' with inputs (", StrJoin(inputs, ", "), ")");
  if (!others.empty()) StrAppend(&message, "; there are kernels for ", StrJoin(others, "; "));
  return NotFoundError(std::move(message));
}

bool HasKernel(const std::string& op) {
  return AllByOp().contains(op) || AddedKernels::Get().Find(op) != nullptr;
}

void AddKernel(KernelDef def) { AddedKernels::Get().Add(std::move(def)); }

std::vector<const KernelDef*> AllKernels() {
  std::vector<const KernelDef*> all;
  for (const auto& [op, def] : AllByOp()) all.push_back(def);
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->op < b->op; });
  return all;
}

}  // namespace slipway::kernels
