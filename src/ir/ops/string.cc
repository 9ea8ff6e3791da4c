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

Status VectorOutput(ShapeContext& c, int output) {
  c.set_output(output, PartialShape({-1}));
  return OkStatus();
}

// A vector of strings as a sparse matrix.
Status SplitShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(0, 1).status());
  c.set_output(0, PartialShape({-1, 2}));
  c.set_output(2, PartialShape({2}));
  return VectorOutput(c, 1);
}

Status SubstrShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape pos, MergeShapes(c, c.input(1), c.input(2)));
  const PartialShape& text = c.input(0);
  if (!pos.has_rank() || !text.has_rank()) return OkStatus();
  auto both = BroadcastShapes(text, pos);
  if (!both.ok()) return c.Error(both.status().message());
  c.set_output(0, *std::move(both));
  return OkStatus();
}

Status NGramsShape(ShapeContext& c) {
  c.set_output(1, c.input(1));
  return VectorOutput(c, 0);
}

// Row splits for all strings, and their characters.
Status UnicodeDecodeShape(ShapeContext& c) {
  const int64_t count = c.input(0).num_elements();
  c.set_output(0, PartialShape({count < 0 ? -1 : DimAdd(count, 1)}));
  if (c.node().num_outputs() == 3) RETURN_IF_ERROR(VectorOutput(c, 2));
  return VectorOutput(c, 1);
}

Status UnicodeEncodeShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape splits, c.InputOfRank(1, 1));
  const int64_t ends = splits.has_rank() ? splits.dim(0) : -1;
  c.set_output(0, PartialShape({ends < 1 ? -1 : ends - 1}));
  return OkStatus();
}

Status SparseCrossShape(ShapeContext& c) {
  c.set_output(0, PartialShape({-1, 2}));
  c.set_output(2, PartialShape({2}));
  return VectorOutput(c, 1);
}

Status FingerprintShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  c.set_output(0, PartialShape({c.input(0).has_rank() ? c.input(0).dim(0) : -1, 8}));
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
    {"StringSplit",
     "input: string, delimiter: string",
     "indices: int64, values: string, shape: int64",
     "skip_empty: bool = true", kPure, SplitShape},
    {"StringSplitV2", "input: string, sep: string", "indices: int64, values: string, shape: int64",
     "maxsplit: int = -1", kPure, SplitShape},
    {"RegexReplace", "input: string, pattern: string, rewrite: string", "output: string",
     "replace_global: bool = true", kPure, UnchangedShape},
    {"Substr", "input: string, pos: T, len: T", "output: string",
     "T: index, unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'", kPure, SubstrShape},
    {"StringToNumber", "string_tensor: string", "output: out_type",
     "out_type: {float32, float64, int32, int64, uint32, uint64} = float32", kPure, UnchangedShape},
    {"ReduceJoin", "inputs: string, reduction_indices: int32", "output: string",
     "keep_dims: bool = false, separator: string = ''", kPure, nullptr},
    {"UnsortedSegmentJoin",
     "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: string",
     "separator: string = '', Tindices: index, Tnumsegments: index = int32", kPure, nullptr},
    {"StringNGrams", "data: string, data_splits: Tsplits", "ngrams: string, ngrams_splits: Tsplits",
     "separator: string, ngram_widths: list(int) >= 0, left_pad: string, right_pad: string,"
     " pad_width: int, preserve_short_sequences: bool, Tsplits: index = int64", kPure, NGramsShape},
    {"DecodeBase64", "input: string", "output: string", "", kPure, UnchangedShape},
    {"EncodeBase64", "input: string", "output: string", "pad: bool = false", kPure, UnchangedShape},
    {"UnicodeDecode", "input: string", "row_splits: Tsplits, char_values: int32",
     "input_encoding: string, errors: {'ignore', 'replace', 'strict'} = 'replace',"
     " replacement_char: int = 65533, replace_control_characters: bool = false, Tsplits: index ="
     " int64", kPure, UnicodeDecodeShape},
    {"UnicodeDecodeWithOffsets",
     "input: string",
     "row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
     "input_encoding: string, errors: {'ignore', 'replace', 'strict'} = 'replace',"
     " replacement_char: int = 65533, replace_control_characters: bool = false, Tsplits: index ="
     " int64", kPure, UnicodeDecodeShape},
    {"UnicodeEncode", "input_values: int32, input_splits: Tsplits", "output: string",
     "errors: {'ignore', 'replace', 'strict'} = 'replace', output_encoding: {'UTF-16-BE',"
     " 'UTF-32-BE', 'UTF-8'}, replacement_char: int = 65533, Tsplits: index = int64",
     kPure, UnicodeEncodeShape},
    {"UnicodeTranscode", "input: string", "output: string",
     "input_encoding: string, output_encoding: {'UTF-16-BE', 'UTF-32-BE', 'UTF-8'}, errors:"
     " {'ignore', 'replace', 'strict'} = 'replace', replacement_char: int = 65533,"
     " replace_control_characters: bool = false", kPure, UnchangedShape},
    {"UnicodeScript", "input: int32", "output: int32", "", kPure, UnchangedShape},
    {"EditDistance",
     "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices:"
     " int64, truth_values: T, truth_shape: int64",
     "output: float32",
     "normalize: bool = true, T: type", kPure, nullptr},
    {"StringToHashBucketFast", "input: string", "output: int64",
     "num_buckets: int >= 1", kPure, UnchangedShape},
    {"StringToHashBucketStrong", "input: string", "output: int64",
     "num_buckets: int >= 1, key: list(int)", kPure, UnchangedShape},
    {"StringToHashBucket", "string_tensor: string", "output: int64",
     "num_buckets: int >= 1", kPure, UnchangedShape},
    {"Fingerprint",
     "data: T, method: string", "fingerprint: uint8", "T: type", kPure, FingerprintShape},
    {"SparseCross",
     "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types",
     "output_indices: int64, output_values: out_type, output_shape: int64",
     "N: int >= 0, hashed_output: bool, num_buckets: int >= 0, hash_key: int, sparse_types:"
     " list({int64, string}) >= 0, dense_types: list({int64, string}) >= 0, out_type: {int64,"
     " string}, internal_type: {int64, string}", kPure, SparseCrossShape},
    {"SparseCrossV2",
     "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types,"
     " sep: string",
     "output_indices: int64, output_values: string, output_shape: int64",
     "N: int >= 0, sparse_types: list({int64, string}) >= 0, dense_types: list({int64, string})"
     " >= 0", kPure, SparseCrossShape},
    {"SparseCrossHashed",
     "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types,"
     " num_buckets: int64, strong_hash: bool, salt: int64",
     "output_indices: int64, output_values: int64, output_shape: int64",
     "N: int >= 0, sparse_types: list({int64, string}) >= 0, dense_types: list({int64, string})"
     " >= 0", kPure, SparseCrossShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> StringOps() { return kOps; }

}  // namespace slipway::ir
