// SPDX-License-Identifier: Apache-2.0
//
// Ops that are known to pass no gradient: piecewise constant, about shapes and indices, random,
// writes of variables, and the one that exists to stop it.
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

constexpr GradientEntry kEntries[] = {
    {"All", nullptr},
    {"Any", nullptr},
    {"ApproximateEqual", nullptr},
    {"ArgMax", nullptr},
    {"ArgMin", nullptr},
    {"AssignAddVariableOp", nullptr},
    {"AssignSubVariableOp", nullptr},
    {"AssignVariableOp", nullptr},
    {"BroadcastGradientArgs", nullptr},
    {"Ceil", nullptr},
    {"ConcatOffset", nullptr},
    {"Const", nullptr},
    {"Equal", nullptr},
    {"Floor", nullptr},
    {"FloorDiv", nullptr},
    {"Greater", nullptr},
    {"GreaterEqual", nullptr},
    {"InTopKV2", nullptr},
    {"IsFinite", nullptr},
    {"IsInf", nullptr},
    {"IsNan", nullptr},
    {"Less", nullptr},
    {"LessEqual", nullptr},
    {"LinSpace", nullptr},
    {"LogicalAnd", nullptr},
    {"LogicalNot", nullptr},
    {"LogicalOr", nullptr},
    {"NoOp", nullptr},
    {"NotEqual", nullptr},
    {"OneHot", nullptr},
    {"OnesLike", nullptr},
    {"Placeholder", nullptr},
    {"RandomStandardNormal", nullptr},
    {"RandomUniform", nullptr},
    {"RandomUniformInt", nullptr},
    {"Range", nullptr},
    {"Rank", nullptr},
    {"Rint", nullptr},
    {"Round", nullptr},
    {"Shape", nullptr},
    {"ShapeN", nullptr},
    {"Size", nullptr},
    {"StatelessRandomNormal", nullptr},
    {"StatelessRandomNormalV2", nullptr},
    {"StatelessRandomUniform", nullptr},
    {"StatelessRandomUniformV2", nullptr},
    {"StopGradient", nullptr},
    {"TruncateDiv", nullptr},
    {"TruncatedNormal", nullptr},
    {"VarHandleOp", nullptr},
    {"VarIsInitializedOp", nullptr},
    {"VariableShape", nullptr},
    {"Where", nullptr},
    {"ZerosLike", nullptr},
};

}  // namespace

std::span<const GradientEntry> OpsWithoutGradient() { return kEntries; }

}  // namespace slipway::ir::grad
