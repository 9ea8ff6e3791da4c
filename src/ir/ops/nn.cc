// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status MergeBothShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, MergeShapes(c, c.input(0), c.input(1)));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status SoftmaxShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  return UnchangedShape(c);
}

Status SoftmaxCrossEntropyShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, BroadcastShapes(c.input(0), c.input(1)));
  if (!shape.has_rank()) shape = PartialShape::UnknownOfRank(2);
  if (shape.rank() != 2) {
    return c.Error(StrCat("Shape must be rank 2 but is rank ", shape.rank()));
  }
  c.set_output(0, {shape.dim(0)});
  c.set_output(1, std::move(shape));
  return OkStatus();
}

Status SparseSoftmaxCrossEntropyShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape features, c.InputOfRank(0, 2));
  ASSIGN_OR_RETURN(const PartialShape labels, c.InputOfRank(1, 1));
  ASSIGN_OR_RETURN(const int64_t rows, MergeDims(c, features.dim(0), labels.dim(0)));
  c.set_output(0, {rows});
  c.set_output(1, {rows, features.dim(1)});
  return OkStatus();
}

Status InTopKShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape predictions, c.InputOfRank(0, 2));
  ASSIGN_OR_RETURN(const PartialShape targets, c.InputOfRank(1, 1));
  ASSIGN_OR_RETURN(const int64_t rows, MergeDims(c, predictions.dim(0), targets.dim(0)));
  c.set_output(0, {rows});
  return OkStatus();
}

Status TopKShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  int64_t k = -1;
  if (c.num_inputs() == 1) {
    k = AttrOf<int64_t>(c, "k");
  } else {
    RETURN_IF_ERROR(CheckScalar(c, 1));
    if (const auto value = ConstInteger(c, 1)) {
      if (*value < 0) return c.Error(StrCat("k must be >= 0, but is ", *value));
      k = *value;
    }
  }
  PartialShape shape = c.input(0);
  if (shape.has_rank()) {
    const int last = shape.rank() - 1;
    if (shape.dim(last) >= 0 && shape.dim(last) < k) {
      return c.Error(
          StrCat("input must have last dimension >= k = ", k, " but is ", shape.dim(last)));
    }
    shape.set_dim(last, k);
  }
  c.set_output(0, shape);
  c.set_output(1, std::move(shape));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Relu", "features: T", "activations: T",
     "T: {bfloat16, float16, float32, float64, int16, int32, int64, int8, qint8, uint16, uint32,"
     " uint64, uint8}", kPure, UnchangedShape},
    {"Relu6", "features: T", "activations: T", "T: realnumeric", kPure, UnchangedShape},
    {"Elu", "features: T", "activations: T", "T: floating", kPure, UnchangedShape},
    {"Selu", "features: T", "activations: T", "T: floating", kPure, UnchangedShape},
    {"LeakyRelu", "features: T", "activations: T",
     "alpha: float = 0.2, T: floating = float32", kPure, UnchangedShape},
    {"Softplus", "features: T", "activations: T", "T: floating", kPure, UnchangedShape},
    {"Softsign", "features: T", "activations: T", "T: floating", kPure, UnchangedShape},
    {"ReluGrad", "gradients: T, features: T", "backprops: T",
     "T: realnumeric", kPure, MergeBothShape},
    {"Relu6Grad", "gradients: T, features: T", "backprops: T",
     "T: realnumeric", kPure, MergeBothShape},
    {"EluGrad", "gradients: T, outputs: T", "backprops: T", "T: floating", kPure, MergeBothShape},
    {"SeluGrad", "gradients: T, outputs: T", "backprops: T", "T: floating", kPure, MergeBothShape},
    {"LeakyReluGrad", "gradients: T, features: T", "backprops: T",
     "alpha: float = 0.2, T: floating = float32", kPure, MergeBothShape},
    {"SoftplusGrad", "gradients: T, features: T", "backprops: T",
     "T: floating", kPure, MergeBothShape},
    {"SoftsignGrad", "gradients: T, features: T", "backprops: T",
     "T: floating", kPure, MergeBothShape},
    {"Softmax", "logits: T", "softmax: T", "T: floating", kPure, SoftmaxShape},
    {"LogSoftmax", "logits: T", "logsoftmax: T", "T: floating", kPure, SoftmaxShape},
    {"SoftmaxCrossEntropyWithLogits", "features: T, labels: T", "loss: T, backprop: T",
     "T: floating", kPure, SoftmaxCrossEntropyShape},
    {"SparseSoftmaxCrossEntropyWithLogits", "features: T, labels: Tlabels", "loss: T, backprop: T",
     "T: floating, Tlabels: index = int64", kPure, SparseSoftmaxCrossEntropyShape},
    {"L2Loss", "t: T", "output: T", "T: floating", kPure, ScalarShape},
    {"InTopK", "predictions: float32, targets: T", "precision: bool",
     "k: int, T: index = int32", kPure, InTopKShape},
    {"InTopKV2", "predictions: float32, targets: T, k: T", "precision: bool",
     "T: index = int32", kPure, InTopKShape},
    {"TopK", "input: T", "values: T, indices: int32",
     "k: int >= 0, sorted: bool = true, T: realnumeric", kPure, TopKShape},
    {"TopKV2", "input: T, k: Tk", "values: T, indices: index_type",
     "sorted: bool = true, T: realnumeric, Tk: {int16, int32, int64} = int32, index_type:"
     " {int16, int32, int64} = int32", kPure, TopKShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> NnOps() { return kOps; }

}  // namespace slipway::ir
