// SPDX-License-Identifier: Apache-2.0
//
// Values from serialized examples, lines and bytes.
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// Dense features are known but for the batch; what is sparse or ragged depends on the examples.
Status ParseExampleShape(ShapeContext& c) {
  const auto& dense = AttrOf<std::vector<PartialShape>>(c, "dense_shapes");
  const auto sparse = static_cast<int>(AttrOf<std::vector<DType>>(c, "sparse_types").size());
  const PartialShape& serialized = c.input(0);
  if (serialized.has_rank() && serialized.rank() > 1) {
    return c.Error("serialized must be a scalar or a vector, but has shape " +
                   serialized.ToString());
  }
  if (!serialized.has_rank() ||
      3 * sparse + static_cast<int>(dense.size()) > c.node().num_outputs()) {
    return OkStatus();
  }
  for (size_t d = 0; d < dense.size(); ++d) {
    if (!dense[d].has_rank()) continue;
    Dims dims = serialized.dims();
    Append(&dims, dense[d], 0, dense[d].rank());
    c.set_output(3 * sparse + static_cast<int>(d), PartialShape(std::move(dims)));
  }
  return OkStatus();
}

// What is dense is known but for the batch and the steps of lists; the rest depends on the
// examples.
Status ParseSequenceShape(ShapeContext& c) {
  const PartialShape& serialized = c.input(0);
  if (serialized.has_rank() && serialized.rank() > 1) {
    return c.Error("serialized must be a scalar or a vector, but has shape " +
                   serialized.ToString());
  }
  if (!serialized.has_rank()) return OkStatus();
  const auto count = [&](std::string_view attr) {
    const auto* value = c.node().FindAttr(attr);
    const auto* types = value == nullptr ? nullptr : value->As<std::vector<DType>>();
    return types == nullptr ? 0 : static_cast<int>(types->size());
  };
  int output = 3 * count("context_sparse_types");
  const auto put = [&](std::string_view attr, bool steps) {
    for (const PartialShape& shape : AttrOf<std::vector<PartialShape>>(c, attr)) {
      if (output >= c.node().num_outputs()) return;
      Dims dims = serialized.dims();
      if (steps) dims.push_back(-1);
      if (shape.has_rank()) {
        Append(&dims, shape, 0, shape.rank());
        c.set_output(output, PartialShape(std::move(dims)));
      }
      ++output;
    }
  };
  put("context_dense_shapes", false);
  output += 2 * count("context_ragged_value_types") + 3 * count("feature_list_sparse_types");
  put("feature_list_dense_shapes", true);
  return OkStatus();
}

Status DecodeCsvShape(ShapeContext& c) {
  for (int i = 0; i + 1 < c.num_inputs(); ++i) c.set_output(i, c.input(0));
  return OkStatus();
}

// One more dimension: the values in each string.
Status DecodeRawShape(ShapeContext& c) {
  if (!c.input(0).has_rank()) return OkStatus();
  Dims dims = c.input(0).dims();
  dims.push_back(-1);
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"ParseExample",
     "serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense *"
     " string, dense_defaults: Tdense",
     "sparse_indices: Nsparse * int64, sparse_values: sparse_types, sparse_shapes: Nsparse *"
     " int64, dense_values: Tdense",
     "Nsparse: int >= 0, Ndense: int >= 0, sparse_types: list({float32, int64, string}) >= 0,"
     " Tdense: list({float32, int64, string}) >= 0, dense_shapes: list(shape) >= 0",
     kPure, ParseExampleShape},
    {"ParseExampleV2",
     "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys:"
     " string, dense_defaults: Tdense",
     "sparse_indices: num_sparse * int64, sparse_values: sparse_types, sparse_shapes: num_sparse"
     " * int64, dense_values: Tdense, ragged_values: ragged_value_types, ragged_row_splits:"
     " ragged_split_types",
     "Tdense: list({float32, int64, string}) >= 0, num_sparse: int >= 0, sparse_types:"
     " list({float32, int64, string}) >= 0, ragged_value_types: list({float32, int64, string})"
     " >= 0, ragged_split_types: list(index) >= 0, dense_shapes: list(shape) >= 0", kPure,
     ParseExampleShape},
    {"ParseSingleExample",
     "serialized: string, dense_defaults: Tdense",
     "sparse_indices: num_sparse * int64, sparse_values: sparse_types, sparse_shapes: num_sparse"
     " * int64, dense_values: Tdense",
     "num_sparse: int >= 0, sparse_keys: list(string) >= 0, dense_keys: list(string) >= 0,"
     " sparse_types: list({float32, int64, string}) >= 0, Tdense: list({float32, int64, string})"
     " >= 0, dense_shapes: list(shape) >= 0", kPure, ParseExampleShape},
    {"ParseSequenceExample",
     "serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense",
     "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values:"
     " context_sparse_types, context_sparse_shapes: Ncontext_sparse * int64,"
     " context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse *"
     " int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes:"
     " Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types,"
     " feature_list_dense_lengths: Nfeature_list_dense * int64",
     "feature_list_dense_missing_assumed_empty: list(string) >= 0, context_sparse_keys:"
     " list(string) >= 0, context_dense_keys: list(string) >= 0, feature_list_sparse_keys:"
     " list(string) >= 0, feature_list_dense_keys: list(string) >= 0, Ncontext_sparse: int >= 0"
     " = 0, Ncontext_dense: int >= 0 = 0, Nfeature_list_sparse: int >= 0 = 0,"
     " Nfeature_list_dense: int >= 0 = 0, context_sparse_types: list({float32, int64, string})"
     " >= 0 = [], Tcontext_dense: list({float32, int64, string}) >= 0 = [],"
     " feature_list_dense_types: list({float32, int64, string}) >= 0 = [], context_dense_shapes:"
     " list(shape) >= 0 = [], feature_list_sparse_types: list({float32, int64, string}) >= 0 ="
     " [], feature_list_dense_shapes: list(shape) >= 0 = []", kPure, ParseSequenceShape},
    {"ParseSequenceExampleV2",
     "serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys:"
     " string, context_ragged_keys: string, feature_list_sparse_keys: string,"
     " feature_list_dense_keys: string, feature_list_ragged_keys: string,"
     " feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: Tcontext_dense",
     "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values:"
     " context_sparse_types, context_sparse_shapes: Ncontext_sparse * int64,"
     " context_dense_values: Tcontext_dense, context_ragged_values: context_ragged_value_types,"
     " context_ragged_row_splits: context_ragged_split_types, feature_list_sparse_indices:"
     " Nfeature_list_sparse * int64, feature_list_sparse_values: feature_list_sparse_types,"
     " feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values:"
     " feature_list_dense_types, feature_list_dense_lengths: Nfeature_list_dense * int64,"
     " feature_list_ragged_values: feature_list_ragged_value_types,"
     " feature_list_ragged_outer_splits: feature_list_ragged_split_types,"
     " feature_list_ragged_inner_splits: feature_list_ragged_split_types",
     "Ncontext_sparse: int >= 0 = 0, Tcontext_dense: list({float32, int64, string}) >= 0 = [],"
     " context_sparse_types: list({float32, int64, string}) >= 0 = [],"
     " context_ragged_value_types: list({float32, int64, string}) >= 0 = [],"
     " context_ragged_split_types: list(index) >= 0 = [], context_dense_shapes: list(shape) >= 0"
     " = [], Nfeature_list_sparse: int >= 0 = 0, Nfeature_list_dense: int >= 0 = 0,"
     " feature_list_dense_types: list({float32, int64, string}) >= 0 = [],"
     " feature_list_sparse_types: list({float32, int64, string}) >= 0 = [],"
     " feature_list_ragged_value_types: list({float32, int64, string}) >= 0 = [],"
     " feature_list_ragged_split_types: list(index) >= 0 = [], feature_list_dense_shapes:"
     " list(shape) >= 0 = []", kPure, ParseSequenceShape},
    {"ParseSingleSequenceExample",
     "serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys:"
     " Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string,"
     " feature_list_sparse_keys: Nfeature_list_sparse * string, feature_list_dense_keys:"
     " Nfeature_list_dense * string, context_dense_defaults: Tcontext_dense, debug_name: string",
     "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values:"
     " context_sparse_types, context_sparse_shapes: Ncontext_sparse * int64,"
     " context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse *"
     " int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes:"
     " Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types",
     "Ncontext_sparse: int >= 0 = 0, Ncontext_dense: int >= 0 = 0, Nfeature_list_sparse: int >="
     " 0 = 0, Nfeature_list_dense: int >= 0 = 0, context_sparse_types: list({float32, int64,"
     " string}) >= 0 = [], Tcontext_dense: list({float32, int64, string}) >= 0 = [],"
     " feature_list_dense_types: list({float32, int64, string}) >= 0 = [], context_dense_shapes:"
     " list(shape) >= 0 = [], feature_list_sparse_types: list({float32, int64, string}) >= 0 ="
     " [], feature_list_dense_shapes: list(shape) >= 0 = []", kPure, ParseSequenceShape},
    {"DecodeCSV", "records: string, record_defaults: OUT_TYPE", "output: OUT_TYPE",
     "OUT_TYPE: list({float32, float64, int32, int64, string}) >= 1, field_delim: string = ',',"
     " use_quote_delim: bool = true, na_value: string = '', select_cols: list(int) = []",
     kPure, DecodeCsvShape},
    {"DecodeRaw", "bytes: string", "output: out_type",
     "out_type: {bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32,"
     " int64, int8, uint16, uint8}, little_endian: bool = true", kPure, DecodeRawShape},
    {"DecodePaddedRaw", "input_bytes: string, fixed_length: int32", "output: out_type",
     "out_type: {bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16, uint8},"
     " little_endian: bool = true", kPure, DecodeRawShape},
    {"DecodeCompressed", "bytes: string", "output: string",
     "compression_type: string = ''", kPure, UnchangedShape},
    {"DecodeJSONExample",
     "json_examples: string", "binary_examples: string", "", kPure, UnchangedShape},
    {"ParseTensor", "serialized: string", "output: out_type", "out_type: type", kPure, nullptr},
    {"SerializeTensor", "tensor: T", "serialized: string", "T: type", kPure, ScalarShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ParsingOps() { return kOps; }

}  // namespace slipway::ir
