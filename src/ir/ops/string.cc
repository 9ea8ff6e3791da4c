// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"StringJoin", "inputs: N * string", "output: string",
     "N: int >= 0, separator: string = ''", kPure, nullptr},
    {"StaticRegexFullMatch", "input: string", "output: bool",
     "pattern: string", kPure, UnchangedShape},
    {"StaticRegexReplace", "input: string", "output: string",
     "pattern: string, rewrite: string, replace_global: bool = true", kPure, UnchangedShape},
    {"RegexFullMatch", "input: string, pattern: string", "output: bool", "", kPure, UnchangedShape},
    {"AsString", "input: T", "output: string",
     "T: {bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " int8, string, uint16, uint32, uint64, uint8, variant}, precision: int = -1, scientific:"
     " bool = false, shortest: bool = false, width: int = -1, fill: string = ''",
     kPure, UnchangedShape},
    {"StringLength", "input: string", "output: int32",
     "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'", kPure, UnchangedShape},
    {"StringLower", "input: string", "output: string",
     "encoding: string = ''", kPure, UnchangedShape},
    {"StringUpper", "input: string", "output: string",
     "encoding: string = ''", kPure, UnchangedShape},
    {"StringStrip", "input: string", "output: string", "", kPure, UnchangedShape},
    {"StringFormat", "inputs: T", "output: string",
     "T: list(type) >= 0, template: string = '%s', placeholder: string = '%s', summarize: int ="
     " 3", kPure, ScalarShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> StringOps() { return kOps; }

}  // namespace slipway::ir
