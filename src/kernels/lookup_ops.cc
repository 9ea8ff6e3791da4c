// SPDX-License-Identifier: Apache-2.0
//
// The ops of lookup tables.
#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/lookup_table.h"
#include "kernels/map_strings.h"
#include "kernels/vocabulary_file.h"

namespace slipway::kernels {
namespace {

// INVALID_ARGUMENT if the input holds no table. The input keeps it alive for the call.
StatusOr<LookupTable*> InputTable(const KernelContext& c) {
  const Tensor& handle = c.input(0);
  if (handle.dtype() != DType::kResource || handle.num_elements() != 1) {
    return InvalidArgumentError(StrCat("Input 0 is not a resource handle: ", handle.ToString()));
  }
  const ResourceHandle& resource = handle.flat<ResourceHandle>()[0];
  auto* table = dynamic_cast<LookupTable*>(resource.get());
  if (table == nullptr) {
    return InvalidArgumentError(StrCat("Input 0 is ",
                                       resource ? resource->DebugString() : "an empty handle",
                                       ", a table is wanted"));
  }
  return table;
}

StatusOr<TableOptions> OptionsOf(const ir::Node& node) {
  TableOptions options;
  options.kind = TableKind::kStatic;
  if (node.op().find("Mutable") != std::string::npos) options.kind = TableKind::kMutable;
  if (node.op().find("Dense") != std::string::npos) options.kind = TableKind::kDense;
  ASSIGN_OR_RETURN(options.key_dtype, node.Attr<DType>("key_dtype"));
  ASSIGN_OR_RETURN(options.value_dtype, node.Attr<DType>("value_dtype"));
  const auto shape = AttrOr<PartialShape>(node, "value_shape", PartialShape({}));
  if (!shape.IsFullyDefined()) {
    return InvalidArgumentError(StrCat("value_shape of node '", node.name(), "' is ",
                                       shape.ToString(), "; it must be known"));
  }
  options.value_shape = *shape.ToShape();
  return options;
}

std::string TableName(const ir::Node& node) {
  std::string name = AttrOr<std::string>(node, "shared_name", "");
  if (name.empty()) name = node.name();
  const std::string container = AttrOr<std::string>(node, "container", "");
  return container.empty() ? name : container + "/" + name;
}

// The table of that name in the version's own container. INVALID_ARGUMENT if one of other types
// has it.
StatusOr<std::shared_ptr<LookupTable>> SharedTable(ResourceContainer* resources,
                                                   const std::string& name,
                                                   const TableOptions& options,
                                                   const std::shared_ptr<LookupTable>& made) {
  if (resources == nullptr) {
    return FailedPreconditionError(StrCat("There is no container for table ", name));
  }
  ASSIGN_OR_RETURN(std::shared_ptr<LookupTable> table,
                   resources->FindOrCreate<LookupTable>(name, [&] { return made; }));
  const TableOptions& own = table->options();
  if (own.key_dtype != options.key_dtype || own.value_dtype != options.value_dtype ||
      own.kind != options.kind || !(own.value_shape == options.value_shape)) {
    return InvalidArgumentError(
        StrCat("Conflicting key/value dtypes ", DTypeName(options.key_dtype), "->",
               DTypeName(options.value_dtype), " with ", DTypeName(own.key_dtype), "-",
               DTypeName(own.value_dtype), " for table ", name));
  }
  return table;
}

// The handle is made once, when the kernel is bound; that of an anonymous table at every run.
StatusOr<KernelFn> BindTable(const BindContext& c) {
  ASSIGN_OR_RETURN(const TableOptions options, OptionsOf(*c.node));
  const std::string name = TableName(*c.node);
  ASSIGN_OR_RETURN(auto made, LookupTable::Create(name, options));
  if (c.node->op().starts_with("Anonymous")) {
    return KernelFn([name, options](KernelContext& ctx) -> Status {
      ASSIGN_OR_RETURN(auto table, LookupTable::Create(name, options));
      ctx.SetOutput(0, Tensor::Scalar<ResourceHandle>(std::move(table)));
      return OkStatus();
    });
  }
  ASSIGN_OR_RETURN(auto table, SharedTable(c.resources, name, options, made));
  const Tensor handle = Tensor::Scalar<ResourceHandle>(std::move(table));
  return KernelFn([handle](KernelContext& ctx) {
    ctx.SetOutput(0, handle);
    return OkStatus();
  });
}

Status CheckBuckets(int64_t buckets, float load) {
  if (buckets < 4 || (buckets & (buckets - 1)) != 0) {
    return InvalidArgumentError(
        StrCat("Number of buckets must be at least 4 and a power of 2, got: ", buckets));
  }
  if (!(load > 0 && load < 1)) {
    return InvalidArgumentError(StrCat("max_load_factor must be between 0 and 1, got: ", load));
  }
  return OkStatus();
}

// The shape of the keys and what they may not be are inputs, so the table is made at the first run.
StatusOr<KernelFn> BindDenseTable(const BindContext& c) {
  ASSIGN_OR_RETURN(const TableOptions given, OptionsOf(*c.node));
  RETURN_IF_ERROR(CheckBuckets(IntAttr(*c.node, "initial_num_buckets", 1 << 17),
                               AttrOr<float>(*c.node, "max_load_factor", 0.8f)));
  const std::string name = TableName(*c.node);
  const bool anonymous = c.node->op().starts_with("Anonymous");
  ResourceContainer* resources = c.resources;
  return KernelFn([=](KernelContext& ctx) -> Status {
    TableOptions options = given;
    options.key_shape = ctx.input(0).shape();
    ASSIGN_OR_RETURN(auto table, LookupTable::Create(name, options));
    RETURN_IF_ERROR(table->Reserve(ctx.input(0), ctx.input(1)));
    if (!anonymous) {
      ASSIGN_OR_RETURN(table, SharedTable(resources, name, options, table));
    }
    ctx.SetOutput(0, Tensor::Scalar<ResourceHandle>(std::move(table)));
    return OkStatus();
  });
}

Status RunFind(KernelContext& c) {
  ASSIGN_OR_RETURN(LookupTable * table, InputTable(c));
  ASSIGN_OR_RETURN(const Shape shape, table->ValuesShape(c.input(1)));
  if (c.input(2).dtype() != table->options().value_dtype) {
    return table->Find(c.input(1), c.input(2), nullptr);  // says what does not fit
  }
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(0, shape));
  return table->Find(c.input(1), c.input(2), values);
}

template <Status (LookupTable::*kWrite)(const Tensor&, const Tensor&)>
Status RunWrite(KernelContext& c) {
  ASSIGN_OR_RETURN(LookupTable * table, InputTable(c));
  return (table->*kWrite)(c.input(1), c.input(2));
}

Status RunRemove(KernelContext& c) {
  ASSIGN_OR_RETURN(LookupTable * table, InputTable(c));
  return table->Remove(c.input(1));
}

Status RunSize(KernelContext& c) {
  ASSIGN_OR_RETURN(LookupTable * table, InputTable(c));
  ASSIGN_OR_RETURN(Tensor * size, c.AllocateOutput(0, Shape()));
  size->flat<int64_t>()[0] = table->size();
  return OkStatus();
}

StatusOr<KernelFn> BindExport(const BindContext& c) {
  const DType keys_type = c.node->dtype(0), values_type = c.node->dtype(1);
  return KernelFn([keys_type, values_type](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(LookupTable * table, InputTable(ctx));
    const TableOptions& own = table->options();
    if (own.key_dtype != keys_type || own.value_dtype != values_type) {
      return InvalidArgumentError(StrCat("Table ", table->name(), " is ", DTypeName(own.key_dtype),
                                         "->", DTypeName(own.value_dtype), ", asked for ",
                                         DTypeName(keys_type), "->", DTypeName(values_type)));
    }
    Tensor keys, values;
    RETURN_IF_ERROR(table->Export(&keys, &values));
    ctx.SetOutput(0, std::move(keys));
    ctx.SetOutput(1, std::move(values));
    return OkStatus();
  });
}

StatusOr<KernelFn> BindFromTextFile(const BindContext& c) {
  VocabularyOptions options;
  ASSIGN_OR_RETURN(options.key_index, c.node->Attr<int64_t>("key_index"));
  ASSIGN_OR_RETURN(options.value_index, c.node->Attr<int64_t>("value_index"));
  options.vocab_size = IntAttr(*c.node, "vocab_size", -1);
  options.offset = IntAttr(*c.node, "offset");
  const std::string delimiter = AttrOr<std::string>(*c.node, "delimiter", "\t");
  if (delimiter.size() != 1) return InvalidArgumentError("delimiter should be only 1 char");
  options.delimiter = delimiter[0];
  Env* env = c.env == nullptr ? Env::Default() : c.env;
  return KernelFn([options, env](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(LookupTable * table, InputTable(ctx));
    const Tensor& name = ctx.input(1);
    if (name.num_elements() != 1) {
      return InvalidArgumentError(
          StrCat("filename should be a single string, but got ", name.shape().ToString()));
    }
    const TableOptions& own = table->options();
    ASSIGN_OR_RETURN(
        const Vocabulary vocabulary,
        ReadVocabulary(env, name.flat<std::string>()[0], own.key_dtype, own.value_dtype, options));
    return table->Initialize(vocabulary.keys, vocabulary.values);
  });
}

}  // namespace

std::span<const KernelDef> LookupKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"HashTableV2", BindTable},
      {"MutableHashTableV2", BindTable},
      {"MutableHashTableOfTensorsV2", BindTable},
      {"MutableDenseHashTableV2", BindDenseTable},
      {"AnonymousHashTable", BindTable},
      {"AnonymousMutableHashTable", BindTable},
      {"AnonymousMutableHashTableOfTensors", BindTable},
      {"AnonymousMutableDenseHashTable", BindDenseTable},
      {"LookupTableFindV2", BindRun<RunFind>},
      {"LookupTableInsertV2", BindRun<RunWrite<&LookupTable::Insert>>},
      {"LookupTableImportV2", BindRun<RunWrite<&LookupTable::Import>>},
      {"LookupTableRemoveV2", BindRun<RunRemove>},
      {"LookupTableSizeV2", BindRun<RunSize>},
      {"LookupTableExportV2", BindExport},
      {"InitializeTableV2", BindRun<RunWrite<&LookupTable::Initialize>>},
      {"InitializeTableFromTextFileV2", BindFromTextFile},
  });
  return table;
}

}  // namespace slipway::kernels
