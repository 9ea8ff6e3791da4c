// SPDX-License-Identifier: Apache-2.0
//
// Lookup tables. A handle is no effect of its own: as with variables, those who write through it
// are.
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// One value for each key in tables of scalars; of others the shapes are not known here.
Status FindShape(ShapeContext& c) {
  Output handle = c.node().input(0);
  for (int steps = 0; steps < 64 && handle.valid() && handle.node->op() == "Identity"; ++steps) {
    handle = handle.node->input(0);
  }
  const std::string_view op = handle.valid() ? std::string_view(handle.node->op()) : "";
  if (op == "HashTableV2" || op == "MutableHashTableV2") c.set_output(0, c.input(1));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"HashTableV2", "", "table_handle: resource",
     "container: string = '', shared_name: string = '', use_node_name_sharing: bool = false,"
     " key_dtype: type, value_dtype: type", kReadsResource, ScalarShape},
    {"MutableHashTableV2", "", "table_handle: resource",
     "container: string = '', shared_name: string = '', use_node_name_sharing: bool = false,"
     " key_dtype: type, value_dtype: type", kReadsResource, ScalarShape},
    {"MutableHashTableOfTensorsV2", "", "table_handle: resource",
     "container: string = '', shared_name: string = '', use_node_name_sharing: bool = false,"
     " key_dtype: type, value_dtype: type, value_shape: shape = []", kReadsResource, ScalarShape},
    {"MutableDenseHashTableV2",
     "empty_key: key_dtype, deleted_key: key_dtype",
     "table_handle: resource",
     "container: string = '', shared_name: string = '', use_node_name_sharing: bool = false,"
     " key_dtype: type, value_dtype: type, value_shape: shape = [], initial_num_buckets: int ="
     " 131072, max_load_factor: float = 0.8", kReadsResource, ScalarShape},
    {"AnonymousHashTable", "", "table_handle: resource",
     "key_dtype: type, value_dtype: type", kStateful, ScalarShape},
    {"AnonymousMutableHashTable", "", "table_handle: resource",
     "key_dtype: type, value_dtype: type", kStateful, ScalarShape},
    {"AnonymousMutableHashTableOfTensors", "", "table_handle: resource",
     "key_dtype: type, value_dtype: type, value_shape: shape = []", kStateful, ScalarShape},
    {"AnonymousMutableDenseHashTable",
     "empty_key: key_dtype, deleted_key: key_dtype",
     "table_handle: resource",
     "key_dtype: type, value_dtype: type, value_shape: shape = [], initial_num_buckets: int ="
     " 131072, max_load_factor: float = 0.8", kStateful, ScalarShape},
    {"LookupTableFindV2", "table_handle: resource, keys: Tin, default_value: Tout", "values: Tout",
     "Tin: type, Tout: type", kReadsResource, FindShape},
    {"LookupTableSizeV2", "table_handle: resource", "size: int64", "", kReadsResource, ScalarShape},
    {"LookupTableExportV2", "table_handle: resource", "keys: Tkeys, values: Tvalues",
     "Tkeys: type, Tvalues: type", kReadsResource, nullptr},
    {"LookupTableInsertV2", "table_handle: resource, keys: Tin, values: Tout", "",
     "Tin: type, Tout: type", kWritesResource, NoOutputs},
    {"LookupTableRemoveV2", "table_handle: resource, keys: Tin", "",
     "Tin: type", kWritesResource, NoOutputs},
    {"LookupTableImportV2", "table_handle: resource, keys: Tin, values: Tout", "",
     "Tin: type, Tout: type", kWritesResource, NoOutputs},
    {"InitializeTableV2", "table_handle: resource, keys: Tkey, values: Tval", "",
     "Tkey: type, Tval: type", kWritesResource, NoOutputs},
    {"InitializeTableFromTextFileV2", "table_handle: resource, filename: string", "",
     "key_index: int >= -2, value_index: int >= -2, vocab_size: int >= -1 = -1, delimiter:"
     " string = '\t', offset: int = 0", kWritesResource, NoOutputs},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> LookupOps() { return kOps; }

}  // namespace slipway::ir
