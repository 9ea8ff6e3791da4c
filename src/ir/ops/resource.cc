// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"VarHandleOp", "", "resource: resource",
     "container: string = '', shared_name: string = '', debug_name: string = '', dtype: type,"
     " shape: shape, allowed_devices: list(string) = []", kReadsResource, ScalarShape},
    {"VarIsInitializedOp", "resource: resource", "is_initialized: bool",
     "", kReadsResource, ScalarShape},
    {"ReadVariableOp", "resource: resource", "value: dtype",
     "dtype: type", kReadsResource, nullptr},
    {"VariableShape", "input: resource", "output: out_type",
     "out_type: index = int32", kReadsResource, nullptr},
    {"ResourceGather", "resource: resource, indices: Tindices", "output: dtype",
     "batch_dims: int = 0, validate_indices: bool = true, dtype: type, Tindices: index",
     kReadsResource, nullptr},
    {"AssignVariableOp", "resource: resource, value: dtype", "",
     "dtype: type, validate_shape: bool = false", kWritesResource, nullptr},
    {"AssignAddVariableOp", "resource: resource, value: dtype", "",
     "dtype: type", kWritesResource, nullptr},
    {"AssignSubVariableOp", "resource: resource, value: dtype", "",
     "dtype: type", kWritesResource, nullptr},
    {"DestroyResourceOp", "resource: resource", "",
     "ignore_lookup_error: bool = true", kWritesResource, NoOutputs},
    {"ResourceScatterAdd", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: numeric, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceScatterUpdate", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: type, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceApplyGradientDescent", "var: resource, alpha: T, delta: T", "",
     "T: numeric, use_locking: bool = false", kWritesResource, nullptr},
    {"ResourceApplyMomentum", "var: resource, accum: resource, lr: T, grad: T, momentum: T", "",
     "T: numeric, use_locking: bool = false, use_nesterov: bool = false", kWritesResource, nullptr},
    {"ResourceApplyKerasMomentum",
     "var: resource, accum: resource, lr: T, grad: T, momentum: T",
     "",
     "T: numeric, use_locking: bool = false, use_nesterov: bool = false", kWritesResource, nullptr},
    {"ResourceApplyAdam",
     "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T,"
     " beta2: T, epsilon: T, grad: T",
     "",
     "T: numeric, use_locking: bool = false, use_nesterov: bool = false", kWritesResource, nullptr},
    {"ResourceApplyAdagradV2", "var: resource, accum: resource, lr: T, epsilon: T, grad: T", "",
     "T: numeric, use_locking: bool = false, update_slots: bool = true", kWritesResource, nullptr},
    {"ResourceApplyRMSProp",
     "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad:"
     " T",
     "",
     "T: numeric, use_locking: bool = false", kWritesResource, nullptr},
    {"VariableV2", "", "ref: dtype",
     "shape: shape, dtype: type, container: string = '', shared_name: string = ''",
     kStateful, nullptr},
    {"Variable", "", "ref: dtype",
     "shape: shape, dtype: type, container: string = '', shared_name: string = ''",
     kStateful, nullptr},
    {"Assign", "ref: T, value: T", "output_ref: T",
     "T: type, validate_shape: bool = true, use_locking: bool = true", kStateful, nullptr},
    {"AssignAdd", "ref: T, value: T", "output_ref: T",
     "T: numeric, use_locking: bool = false", kStateful, nullptr},
    {"AssignSub", "ref: T, value: T", "output_ref: T",
     "T: numeric, use_locking: bool = false", kStateful, nullptr},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ResourceOps() { return kOps; }

}  // namespace slipway::ir
