// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

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
    {"ReluGrad", "gradients: T, features: T", "backprops: T", "T: realnumeric", kPure, nullptr},
    {"Relu6Grad", "gradients: T, features: T", "backprops: T", "T: realnumeric", kPure, nullptr},
    {"EluGrad", "gradients: T, outputs: T", "backprops: T", "T: floating", kPure, nullptr},
    {"SeluGrad", "gradients: T, outputs: T", "backprops: T", "T: floating", kPure, nullptr},
    {"LeakyReluGrad", "gradients: T, features: T", "backprops: T",
     "alpha: float = 0.2, T: floating = float32", kPure, nullptr},
    {"SoftplusGrad", "gradients: T, features: T", "backprops: T", "T: floating", kPure, nullptr},
    {"SoftsignGrad", "gradients: T, features: T", "backprops: T", "T: floating", kPure, nullptr},
    {"Softmax", "logits: T", "softmax: T", "T: floating", kPure, nullptr},
    {"LogSoftmax", "logits: T", "logsoftmax: T", "T: floating", kPure, nullptr},
    {"SoftmaxCrossEntropyWithLogits", "features: T, labels: T", "loss: T, backprop: T",
     "T: floating", kPure, nullptr},
    {"SparseSoftmaxCrossEntropyWithLogits", "features: T, labels: Tlabels", "loss: T, backprop: T",
     "T: floating, Tlabels: index = int64", kPure, nullptr},
    {"L2Loss", "t: T", "output: T", "T: floating", kPure, ScalarShape},
    {"InTopK", "predictions: float32, targets: T", "precision: bool",
     "k: int, T: index = int32", kPure, nullptr},
    {"InTopKV2", "predictions: float32, targets: T, k: T", "precision: bool",
     "T: index = int32", kPure, nullptr},
    {"TopK", "input: T", "values: T, indices: int32",
     "k: int >= 0, sorted: bool = true, T: realnumeric", kPure, nullptr},
    {"TopKV2", "input: T, k: Tk", "values: T, indices: index_type",
     "sorted: bool = true, T: realnumeric, Tk: {int16, int32, int64} = int32, index_type:"
     " {int16, int32, int64} = int32", kPure, nullptr},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> NnOps() { return kOps; }

}  // namespace slipway::ir
