// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>

#include "base/strings.h"
#include "ir/effect.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewrite.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

template <typename T>
Tensor IntegerTensor(const std::vector<int64_t>& values, bool scalar) {
  Tensor tensor(DTypeOf<T>(), scalar ? Shape() : Shape({static_cast<int64_t>(values.size())}));
  std::transform(values.begin(), values.end(), tensor.flat<T>().begin(),
                 [](int64_t v) { return static_cast<T>(v); });
  return tensor;
}

// Integers as int32 or int64; nothing if one does not fit.
std::optional<Tensor> Integers(const std::vector<int64_t>& values, DType dtype, bool scalar) {
  if (dtype == DType::kInt64) return IntegerTensor<int64_t>(values, scalar);
  if (dtype != DType::kInt32) return std::nullopt;
  for (int64_t v : values) {
    if (v < 0 || v > std::numeric_limits<int32_t>::max()) return std::nullopt;
  }
  return IntegerTensor<int32_t>(values, scalar);
}

class Folder {
 public:
  Folder(Function& function, const PassContext& context)
      : function_(function), context_(context), replacements_(function) {}

  StatusOr<int> Run() {
    ASSIGN_OR_RETURN(std::vector<Node*> order, function_.graph.TopologicalOrder());
    for (Node* node : order) {
      if (!IsPure(*node) || node->IsConst() || node->num_outputs() == 0) continue;
      std::optional<std::vector<Tensor>> values = KnownShape(*node);
      if (!values.has_value()) values = Computed(*node);
      if (!values.has_value()) values = KnownShapeArithmetic(*node);
      if (values.has_value()) RETURN_IF_ERROR(ReplaceByConstants(node, *values));
    }
    const int folded = replacements_.size();
    replacements_.Apply();
    return folded;
  }

 private:
  // Shape, Size and Rank of a value whose shape is known.
  std::optional<std::vector<Tensor>> KnownShape(const Node& node) const {
    const bool rank = node.op() == "Rank";
    if (!rank && node.op() != "Shape" && node.op() != "Size") return std::nullopt;
    const Output value = node.input(0);
    // What has an effect must run, whether or not somebody looks at more than its shape.
    if (value.node->op() != "_Arg" && HasEffect(*value.node)) return std::nullopt;
    const PartialShape& shape = value.shape();
    if (rank ? !shape.has_rank() : !shape.IsFullyDefined()) return std::nullopt;
    std::optional<Tensor> tensor;
    if (rank) {
      tensor = Integers({shape.rank()}, node.dtype(0), true);
    } else if (node.op() == "Size") {
      tensor = Integers({shape.num_elements()}, node.dtype(0), true);
    } else {
      tensor = Integers(shape.dims(), node.dtype(0), false);
    }
    if (!tensor.has_value()) return std::nullopt;
    return std::vector<Tensor>{*std::move(tensor)};
  }

  // Pieces of shapes put together: known although the whole shape is not.
  std::optional<std::vector<Tensor>> KnownShapeArithmetic(const Node& node) const {
    if (node.op() != "Pack" && node.op() != "ConcatV2" && node.op() != "StridedSlice" &&
        node.op() != "Slice") {
      return std::nullopt;
    }
    if (node.shape(0).rank() != 1) return std::nullopt;
    for (const Uses::Use& use : uses_.of({const_cast<Node*>(&node), 0})) {
      std::vector<PartialShape> unused(static_cast<size_t>(use.node->num_outputs()));
      ShapeContext shapes(*use.node, &unused);
      std::optional<std::vector<int64_t>> known = shapes.input_as_shape(use.input);
      if (!known.has_value()) return std::nullopt;
      // -1 may also be a value that stands there: only what is certain.
      if (std::any_of(known->begin(), known->end(), [](int64_t v) { return v < 0; })) {
        return std::nullopt;
      }
      std::optional<Tensor> tensor = Integers(*known, node.dtype(0), false);
      if (!tensor.has_value()) return std::nullopt;
      return std::vector<Tensor>{*std::move(tensor)};
    }
    return std::nullopt;
  }

  bool MayBeComputed(const Node& node) const {
    if (!context_.evaluate || node.inputs().empty()) return false;
    for (const auto& [name, value] : node.attrs()) {
      if (value.As<FunctionRef>() != nullptr || value.As<std::vector<FunctionRef>>() != nullptr) {
        return false;
      }
    }
    for (int i = 0; i < node.num_outputs(); ++i) {
      const DType dtype = node.dtype(i);
      if (dtype == DType::kResource || dtype == DType::kVariant) return false;
      const int64_t elements = node.shape(i).num_elements();
      const auto size = static_cast<int64_t>(DTypeSize(dtype));
      if (elements >= 0 && elements > context_.max_folded_bytes / std::max<int64_t>(size, 1)) {
        return false;
      }
    }
    return true;
  }

  std::optional<std::vector<Tensor>> Computed(const Node& node) const {
    if (!MayBeComputed(node)) return std::nullopt;
    std::vector<Tensor> inputs;
    for (const Output& input : replacements_.ResolvedInputs(node)) {
      if (!input.node->IsConst()) return std::nullopt;
      inputs.push_back(input.node->const_value());
    }
    StatusOr<std::vector<Tensor>> values = context_.evaluate(node, inputs);
    // What fails now fails again when it runs, if it ever does.
    if (!values.ok() || static_cast<int>(values->size()) != node.num_outputs()) {
      return std::nullopt;
    }
    size_t bytes = 0;
    for (const Tensor& value : *values) bytes += value.byte_size();
    if (bytes > static_cast<size_t>(context_.max_folded_bytes)) return std::nullopt;
    return *std::move(values);
  }

  Status ReplaceByConstants(Node* node, const std::vector<Tensor>& values) {
    std::vector<Output> constants;
    for (size_t i = 0; i < values.size(); ++i) {
      NodeSpec spec;
      spec.op = "Const";
      spec.name = StrCat(node->name(), "/folded");
      spec.device = node->device();
      spec.attrs["dtype"] = values[i].dtype();
      spec.attrs["value"] = values[i].Owned();
      ASSIGN_OR_RETURN(Node * constant, function_.graph.AddNode(std::move(spec)));
      constants.push_back({constant, 0});
    }
    replacements_.Replace(node, std::move(constants));
    return OkStatus();
  }

  Function& function_;
  const PassContext& context_;
  Replacements replacements_;
  Uses uses_{function_.graph};
};

}  // namespace

Status FoldConstants(Function& function, const PassContext& context, std::string* note) {
  ASSIGN_OR_RETURN(const int folded, Folder(function, context).Run());
  *note = StrCat(folded, " nodes folded");
  return folded == 0 ? OkStatus() : function.graph.InferShapes();
}

}  // namespace slipway::ir
