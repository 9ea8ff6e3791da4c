// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// The template has a placeholder for each input.
Status StringFormatShape(ShapeContext& c) {
  const auto& text = AttrOf<std::string>(c, "template");
  const auto& placeholder = AttrOf<std::string>(c, "placeholder");
  if (placeholder.empty()) return c.Error("placeholder is empty; wanted a text such as %s");
  int count = 0;
  for (size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos;) {
    ++count;
    at += placeholder.size();
  }
  if (count != c.num_inputs()) {
    return c.Error(StrCat("num placeholders in template and num inputs must match: ", count,
                          " vs. ", c.num_inputs()));
  }
  return ScalarShape(c);
}

// Scalars join with every element of the others.
Status StringJoinShape(ShapeContext& c) {
  PartialShape out({});
  bool unknown = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& in = c.input(i);
    unknown |= !in.has_rank();
    if (in.rank() <= 0) continue;
    if (out.rank() == 0) {
      out = in;
    } else {
      ASSIGN_OR_RETURN(out, MergeShapes(c, out, in));
    }
  }
  if (!unknown || out.rank() > 0) c.set_output(0, std::move(out));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"StringJoin", "inputs: N * string", "output: string",
     "N: int >= 0, separator: string = ''", kPure, StringJoinShape},
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
     " 3", kPure, StringFormatShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> StringOps() { return kOps; }

}  // namespace slipway::ir
