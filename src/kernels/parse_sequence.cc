// SPDX-License-Identifier: Apache-2.0
//
// ParseSequenceExample and its kin: a context of features, as in an example, and lists of features
// as dense, sparse and ragged tensors with one dimension more, the steps.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/feature_columns.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"

namespace slipway::kernels {
namespace {

using Types = std::vector<DType>;
using Keys = std::vector<std::string>;

// The features of one half, context or lists.
struct HalfSpec {
  std::vector<DenseSpec> dense;
  Types sparse, ragged, ragged_splits;
};
struct SequenceSpec {
  HalfSpec context, lists;
  bool lengths = true;  // there are outputs for the lengths of dense lists
};

Status ReadTypes(const ir::Node& node, const std::string& prefix, HalfSpec* half) {
  half->sparse = AttrOr<Types>(node, prefix + "_sparse_types", {});
  half->ragged = AttrOr<Types>(node, prefix + "_ragged_value_types", {});
  half->ragged_splits = AttrOr<Types>(node, prefix + "_ragged_split_types", {});
  for (const DenseSpec& dense : half->dense) {
    if (!dense.variable) continue;
    return InvalidArgumentError(
        StrCat(prefix, "_dense_shapes has ", dense.shape.ToString(), "; every size must be known"));
  }
  if (half->ragged.size() == half->ragged_splits.size()) return OkStatus();
  return InvalidArgumentError(StrCat("len(", prefix, "_ragged_value_types) != len(", prefix,
                                     "_ragged_split_types): ", half->ragged.size(), " vs ",
                                     half->ragged_splits.size()));
}

StatusOr<SequenceSpec> SpecOf(const ir::Node& node) {
  SequenceSpec spec;
  spec.lengths = node.op() != "ParseSingleSequenceExample";
  ASSIGN_OR_RETURN(spec.context.dense, DenseSpecs(node, "Tcontext_dense", "context_dense_shapes"));
  ASSIGN_OR_RETURN(spec.lists.dense,
                   DenseSpecs(node, "feature_list_dense_types", "feature_list_dense_shapes"));
  RETURN_IF_ERROR(ReadTypes(node, "context", &spec.context));
  RETURN_IF_ERROR(ReadTypes(node, "feature_list", &spec.lists));
  return spec;
}

struct HalfKeys {
  Keys sparse, dense, ragged;
};
struct SequenceInputs {
  std::span<const std::string> serialized, names;
  bool single = false;
  HalfKeys context, lists;
  std::vector<bool> may_miss;  // by dense list
  std::vector<const Tensor*> defaults;
};

// A feature list over the examples of a batch: a column whose rows are steps.
struct ListColumn {
  explicit ListColumn(DType dtype) : column(dtype) {}
  FeatureColumn column;
  std::vector<int64_t> ends = {0};  // by example, in steps

  int64_t examples() const { return static_cast<int64_t>(ends.size()) - 1; }
  int64_t steps(int64_t example) const {
    return ends[static_cast<size_t>(example) + 1] - ends[static_cast<size_t>(example)];
  }
  int64_t most_steps() const {
    int64_t most = 0;
    for (int64_t e = 0; e < examples(); ++e) most = std::max(most, steps(e));
    return most;
  }
};

using FeatureMap = std::unordered_map<std::string_view, std::string_view>;

class SequenceParser {
 public:
  SequenceParser(const SequenceSpec& spec, const SequenceInputs& in) : spec_(spec), in_(in) {
    for (DType dtype : spec.context.sparse) sparse_.emplace_back(dtype);
    for (DType dtype : spec.context.ragged) ragged_.emplace_back(dtype);
    for (const DenseSpec& dense : spec.context.dense) dense_.emplace_back(dense.dtype);
    for (DType dtype : spec.lists.sparse) list_sparse_.emplace_back(dtype);
    for (DType dtype : spec.lists.ragged) list_ragged_.emplace_back(dtype);
    for (const DenseSpec& dense : spec.lists.dense) list_dense_.emplace_back(dense.dtype);
  }

  Status Run(KernelContext& c) {
    for (row_ = 0; row_ < in_.serialized.size(); ++row_) RETURN_IF_ERROR(ParseRow());
    RETURN_IF_ERROR(OutputContext(c));
    return OutputLists(c);
  }

 private:
  std::string Name() const {
    return StrCat("Name: ", in_.names.empty() ? "<unknown>" : in_.names[row_], ", ");
  }
  Status ParseRow();
  Status ParseContext();
  Status ParseLists();
  Status AppendValues(std::string_view feature, const std::string& where, FeatureColumn* column);
  Status AppendDense(size_t d);
  Status AppendList(const std::string& key, ListColumn* list);
  Status OutputOuterSplits(KernelContext& c, const std::vector<int64_t>& ends, int output,
                           DType dtype);
  Status OutputContext(KernelContext& c);
  Status OutputLists(KernelContext& c);
  Status OutputSparseList(KernelContext& c, const ListColumn& list, int indices, int values,
                          int shape);
  Status OutputDenseList(KernelContext& c, size_t d, int values, int lengths);

  const SequenceSpec& spec_;
  const SequenceInputs& in_;
  std::vector<FeatureColumn> sparse_, dense_, ragged_;
  std::vector<ListColumn> list_sparse_, list_dense_, list_ragged_;
  std::vector<NamedFeature> features_, feature_lists_;
  std::vector<std::string_view> steps_;
  FeatureMap context_, lists_;
  size_t row_ = 0;
  int output_ = 0;  // the next one
};

Status SequenceParser::ParseRow() {
  features_.clear();
  feature_lists_.clear();
  const std::string& bytes = in_.serialized[row_];
  if (!ReadSequenceExample(bytes, &features_, &feature_lists_).ok()) {
    if (!spec_.lengths) {
      return InvalidArgumentError(
          StrCat("Could not parse example input, value: '", Quoted(bytes), "'"));
    }
    return InvalidArgumentError(StrCat("Invalid protocol message input, example id: ",
                                       in_.names.empty() ? "<unknown>" : in_.names[row_]));
  }
  context_.clear();
  lists_.clear();
  for (const NamedFeature& f : features_) context_.insert_or_assign(f.name, f.bytes);
  for (const NamedFeature& f : feature_lists_) lists_.insert_or_assign(f.name, f.bytes);
  RETURN_IF_ERROR(ParseContext());
  return ParseLists();
}

// Appends the values of a feature; none if it has no list.
Status SequenceParser::AppendValues(std::string_view feature, const std::string& where,
                                    FeatureColumn* column) {
  const auto view = ReadFeature(feature);
  if (!view.ok()) return InvalidArgumentError(StrCat(Name(), where, ".  It cannot be parsed"));
  if (view->dtype != DType::kInvalid) {
    const DType wanted = column->values.dtype();
    if (view->dtype != wanted) {
      return InvalidArgumentError(StrCat(
          Name(), where, ".  Data types don't match. Expected type: ", FeatureTypeName(wanted),
          ", got ", FeatureTypeName(view->dtype)));
    }
    if (!column->values.Append(view->list)) {
      return InvalidArgumentError(StrCat(Name(), where, ".  Its values cannot be parsed"));
    }
  }
  column->EndRow();
  return OkStatus();
}

Status SequenceParser::AppendDense(size_t d) {
  const std::string& key = in_.context.dense[d];
  const DenseSpec& dense = spec_.context.dense[d];
  const Tensor& value = *in_.defaults[d];
  FeatureColumn& column = dense_[d];
  const auto found = context_.find(key);
  const bool given = found != context_.end();
  if (given) {
    RETURN_IF_ERROR(AppendValues(found->second, StrCat("Context feature: ", key), &column));
  } else {
    if (value.num_elements() == 0 && dense.stride > 0) {
      return InvalidArgumentError(
          StrCat(Name(), "Context feature '", key, "' is required but could not be found."));
    }
    column.values.Append(value);
    column.EndRow();
  }
  const int64_t count = column.length(column.rows() - 1);
  if (count == dense.stride) return OkStatus();
  return InvalidArgumentError(StrCat(Name(), "Inconsistent max number of elements for feature ",
                                     key, ": expected ", dense.stride, ", but found ", count));
}

Status SequenceParser::ParseContext() {
  const auto append = [&](const Keys& keys, std::vector<FeatureColumn>* columns) -> Status {
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto found = context_.find(keys[i]);
      const std::string_view feature = found == context_.end() ? "" : found->second;
      RETURN_IF_ERROR(AppendValues(feature, StrCat("Context feature: ", keys[i]), &(*columns)[i]));
    }
    return OkStatus();
  };
  RETURN_IF_ERROR(append(in_.context.sparse, &sparse_));
  RETURN_IF_ERROR(append(in_.context.ragged, &ragged_));
  for (size_t d = 0; d < dense_.size(); ++d) RETURN_IF_ERROR(AppendDense(d));
  return OkStatus();
}

Status SequenceParser::AppendList(const std::string& key, ListColumn* list) {
  const auto found = lists_.find(key);
  if (found != lists_.end()) {
    steps_.clear();
    if (!ReadFeatureList(found->second, &steps_).ok()) {
      return InvalidArgumentError(StrCat(Name(), "Feature list: ", key, ".  It cannot be parsed"));
    }
    for (size_t t = 0; t < steps_.size(); ++t) {
      RETURN_IF_ERROR(AppendValues(
          steps_[t],
          StrCat(spec_.lengths ? "Feature list: " : "Feature List: ", key, ", Index: ", t),
          &list->column));
    }
  }
  list->ends.push_back(list->column.rows());
  return OkStatus();
}

Status SequenceParser::ParseLists() {
  for (size_t i = 0; i < list_sparse_.size(); ++i) {
    RETURN_IF_ERROR(AppendList(in_.lists.sparse[i], &list_sparse_[i]));
  }
  for (size_t i = 0; i < list_ragged_.size(); ++i) {
    RETURN_IF_ERROR(AppendList(in_.lists.ragged[i], &list_ragged_[i]));
  }
  for (size_t d = 0; d < list_dense_.size(); ++d) {
    const std::string& key = in_.lists.dense[d];
    if (!in_.may_miss[d] && !lists_.contains(key)) {
      return InvalidArgumentError(
          StrCat(Name(), "Feature list '", key,
                 "' is required but could not be found.  Did you mean to include it in "
                 "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"));
    }
    ListColumn& list = list_dense_[d];
    RETURN_IF_ERROR(AppendList(key, &list));
    const DenseSpec& dense = spec_.lists.dense[d];
    const int64_t first = list.ends[list.ends.size() - 2];
    for (int64_t t = first; t < list.ends.back(); ++t) {
      const int64_t count = list.column.length(t);
      if (count == dense.stride) continue;
      return InvalidArgumentError(
          StrCat(Name(), "Key: ", key, ", Index: ", t - first, ".  Number of ",
                 spec_.lengths ? "" : StrCat(FeatureTypeName(dense.dtype), " "),
                 "values != expected.  values size: ", count,
                 " but output shape: ", dense.shape.ToString()));
    }
  }
  return OkStatus();
}

void AppendDims(const PartialShape& shape, IntVec* dims) {
  for (int d = 0; d < shape.rank(); ++d) dims->push_back(shape.dim(d));
}

// A single example has no splits but an output for them.
Status SequenceParser::OutputOuterSplits(KernelContext& c, const std::vector<int64_t>& ends,
                                         int output, DType dtype) {
  if (!in_.single) return OutputSplits(c, ends, output, dtype);
  ASSIGN_OR_RETURN(Tensor * none, c.AllocateOutput(output, Shape()));
  std::memset(none->raw_data(), 0, none->byte_size());
  return OkStatus();
}

// Outputs stand in groups: all indices, then all values…
Status SequenceParser::OutputContext(KernelContext& c) {
  const auto sparse = static_cast<int>(sparse_.size());
  for (int i = 0; i < sparse; ++i) {
    RETURN_IF_ERROR(OutputSparse(c, sparse_[static_cast<size_t>(i)], in_.single, i, sparse + i,
                                 2 * sparse + i));
  }
  output_ = 3 * sparse;
  for (size_t d = 0; d < dense_.size(); ++d) {
    IntVec dims;
    if (!in_.single) dims.push_back(dense_[d].rows());
    AppendDims(spec_.context.dense[d].shape, &dims);
    ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims.span()));
    RETURN_IF_ERROR(dense_[d].values.Output(c, output_++, shape));
  }
  const auto ragged = static_cast<int>(ragged_.size());
  for (size_t i = 0; i < ragged_.size(); ++i) {
    const FeatureValues& values = ragged_[i].values;
    RETURN_IF_ERROR(values.Output(c, output_, Shape({values.size()})));
    RETURN_IF_ERROR(
        OutputOuterSplits(c, ragged_[i].ends, output_ + ragged, spec_.context.ragged_splits[i]));
    ++output_;
  }
  output_ += ragged;
  return OkStatus();
}

Status SequenceParser::OutputLists(KernelContext& c) {
  const auto sparse = static_cast<int>(list_sparse_.size());
  for (int i = 0; i < sparse; ++i) {
    const int at = output_ + i;
    RETURN_IF_ERROR(OutputSparseList(c, list_sparse_[static_cast<size_t>(i)], at, at + sparse,
                                     at + 2 * sparse));
  }
  output_ += 3 * sparse;
  const auto dense = static_cast<int>(list_dense_.size());
  for (int d = 0; d < dense; ++d) {
    RETURN_IF_ERROR(OutputDenseList(c, static_cast<size_t>(d), output_ + d,
                                    spec_.lengths ? output_ + dense + d : -1));
  }
  output_ += spec_.lengths ? 2 * dense : dense;
  const auto ragged = static_cast<int>(list_ragged_.size());
  for (int i = 0; i < ragged; ++i) {
    const ListColumn& list = list_ragged_[static_cast<size_t>(i)];
    const DType splits = spec_.lists.ragged_splits[static_cast<size_t>(i)];
    const FeatureValues& values = list.column.values;
    const int at = output_ + i;
    RETURN_IF_ERROR(values.Output(c, at, Shape({values.size()})));
    RETURN_IF_ERROR(OutputOuterSplits(c, list.ends, at + ragged, splits));
    RETURN_IF_ERROR(OutputSplits(c, list.column.ends, at + 2 * ragged, splits));
  }
  return OkStatus();
}

Status SequenceParser::OutputSparseList(KernelContext& c, const ListColumn& list, int indices,
                                        int values, int shape) {
  const int64_t count = list.column.values.size();
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(indices, Shape({count, in_.single ? 2 : 3})));
  int64_t* index = out->flat<int64_t>().data();
  for (int64_t e = 0; e < list.examples(); ++e) {
    const int64_t first = list.ends[static_cast<size_t>(e)];
    for (int64_t t = 0; t < list.steps(e); ++t) {
      for (int64_t k = 0; k < list.column.length(first + t); ++k) {
        if (!in_.single) *index++ = e;
        *index++ = t;
        *index++ = k;
      }
    }
  }
  RETURN_IF_ERROR(list.column.values.Output(c, values, Shape({count})));
  std::vector<int64_t> dims = {list.most_steps(), list.column.widest()};
  if (!in_.single) dims.insert(dims.begin(), list.examples());
  return OutputVector<int64_t>(c, shape, dims);
}

Status SequenceParser::OutputDenseList(KernelContext& c, size_t d, int values, int lengths) {
  const DenseSpec& dense = spec_.lists.dense[d];
  const ListColumn& list = list_dense_[d];
  const int64_t steps = list.most_steps();
  IntVec dims;
  if (!in_.single) dims.push_back(list.examples());
  dims.push_back(steps);
  AppendDims(dense.shape, &dims);
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(values, shape));
  if (out->dtype() != DType::kString) std::memset(out->raw_data(), 0, out->byte_size());
  for (int64_t e = 0; e < list.examples(); ++e) {
    list.column.values.CopyTo(list.ends[static_cast<size_t>(e)] * dense.stride,
                              list.steps(e) * dense.stride, out, e * steps * dense.stride);
  }
  if (lengths < 0) return OkStatus();
  ASSIGN_OR_RETURN(Tensor * counts,
                   c.AllocateOutput(lengths, in_.single ? Shape() : Shape({list.examples()})));
  for (int64_t e = 0; e < list.examples(); ++e) {
    counts->flat<int64_t>()[static_cast<size_t>(e)] = list.steps(e);
  }
  return OkStatus();
}

Status CheckKeys(const char* what, const HalfKeys& keys, const HalfSpec& spec) {
  for (const auto& [kind, given, wanted] :
       {std::tuple("sparse", keys.sparse.size(), spec.sparse.size()),
        std::tuple("dense", keys.dense.size(), spec.dense.size()),
        std::tuple("ragged", keys.ragged.size(), spec.ragged.size())}) {
    if (given == wanted) continue;
    return InvalidArgumentError(
        StrCat("Expected len(", what, "_", kind, "_keys) == ", wanted, ", got ", given));
  }
  return OkStatus();
}

Status CheckDefaults(const SequenceSpec& spec, const SequenceInputs& in) {
  if (in.defaults.size() != spec.context.dense.size()) {
    return InvalidArgumentError(StrCat("Expected len(context_dense_defaults) == ",
                                       spec.context.dense.size(), ", got ", in.defaults.size()));
  }
  for (size_t d = 0; d < in.defaults.size(); ++d) {
    const DenseSpec& dense = spec.context.dense[d];
    const Shape& given = in.defaults[d]->shape();
    if (in.defaults[d]->num_elements() == 0 || dense.shape.Admits(given)) continue;
    return InvalidArgumentError(StrCat("default_value[", d, "].shape() == ", given.ToString(),
                                       " != context_dense_shapes[", d,
                                       "] == ", dense.shape.ToString()));
  }
  return OkStatus();
}

Status Parse(KernelContext& c, const SequenceSpec& spec, SequenceInputs in) {
  const Tensor& serialized = c.input(0);
  if (serialized.rank() > 1) {
    return InvalidArgumentError(StrCat("Expected serialized to be a scalar or vector, got shape: ",
                                       serialized.shape().ToString()));
  }
  in.single = serialized.rank() == 0;
  in.serialized = serialized.flat<std::string>();
  RETURN_IF_ERROR(CheckKeys("context", in.context, spec.context));
  RETURN_IF_ERROR(CheckKeys("feature_list", in.lists, spec.lists));
  RETURN_IF_ERROR(CheckDefaults(spec, in));
  if (in.may_miss.size() != spec.lists.dense.size()) {
    return InvalidArgumentError(
        StrCat("Expected len(feature_list_dense_missing_assumed_empty to match "
               "Nfeature_list_dense: ",
               in.may_miss.size(), " vs ", spec.lists.dense.size()));
  }
  if (!in.names.empty() && in.names.size() != in.serialized.size()) {
    return InvalidArgumentError(StrCat(
        "example_names must be empty or have the correct number of elements: ", in.names.size(),
        " vs ", in.serialized.size()));
  }
  return SequenceParser(spec, in).Run(c);
}

void AddDefaults(const KernelContext& c, int first, size_t count, SequenceInputs* in) {
  for (int i = first; i < c.num_inputs() && in->defaults.size() < count; ++i) {
    in->defaults.push_back(&c.input(i));
  }
}

std::vector<bool> Listed(const Keys& keys, std::span<const std::string> listed) {
  std::vector<bool> result;
  for (const std::string& key : keys) result.push_back(std::ranges::count(listed, key) > 0);
  return result;
}

StatusOr<KernelFn> BindV2(const BindContext& bind) {
  ASSIGN_OR_RETURN(const SequenceSpec spec, SpecOf(*bind.node));
  return KernelFn([spec](KernelContext& c) -> Status {
    SequenceInputs in;
    in.names = c.input(1).flat<std::string>();
    ASSIGN_OR_RETURN(in.context.sparse, ReadKeys(c.input(2), "context_sparse_keys"));
    ASSIGN_OR_RETURN(in.context.dense, ReadKeys(c.input(3), "context_dense_keys"));
    ASSIGN_OR_RETURN(in.context.ragged, ReadKeys(c.input(4), "context_ragged_keys"));
    ASSIGN_OR_RETURN(in.lists.sparse, ReadKeys(c.input(5), "feature_list_sparse_keys"));
    ASSIGN_OR_RETURN(in.lists.dense, ReadKeys(c.input(6), "feature_list_dense_keys"));
    ASSIGN_OR_RETURN(in.lists.ragged, ReadKeys(c.input(7), "feature_list_ragged_keys"));
    for (bool may : c.input(8).flat<bool>()) in.may_miss.push_back(may);
    AddDefaults(c, 9, spec.context.dense.size(), &in);
    return Parse(c, spec, std::move(in));
  });
}

// The keys are attributes.
StatusOr<KernelFn> BindV1(const BindContext& bind) {
  ASSIGN_OR_RETURN(const SequenceSpec spec, SpecOf(*bind.node));
  const auto keys = [&](const char* attr) { return AttrOr<Keys>(*bind.node, attr, {}); };
  const HalfKeys context{keys("context_sparse_keys"), keys("context_dense_keys"), {}};
  const HalfKeys lists{keys("feature_list_sparse_keys"), keys("feature_list_dense_keys"), {}};
  const std::vector<bool> may_miss =
      Listed(lists.dense, keys("feature_list_dense_missing_assumed_empty"));
  return KernelFn([spec, context, lists, may_miss](KernelContext& c) -> Status {
    SequenceInputs in;
    in.names = c.input(1).flat<std::string>();
    in.context = context;
    in.lists = lists;
    in.may_miss = may_miss;
    AddDefaults(c, 2, spec.context.dense.size(), &in);
    return Parse(c, spec, std::move(in));
  });
}

// Each key is an input of its own; one example, whose name is the last input.
StatusOr<KernelFn> BindSingle(const BindContext& bind) {
  ASSIGN_OR_RETURN(const SequenceSpec spec, SpecOf(*bind.node));
  return KernelFn([spec](KernelContext& c) -> Status {
    RETURN_IF_ERROR(CheckScalar(c.input(0), "serialized"));
    SequenceInputs in;
    int at = 2;
    for (auto [keys, count] : {std::pair(&in.context.sparse, spec.context.sparse.size()),
                               std::pair(&in.context.dense, spec.context.dense.size()),
                               std::pair(&in.lists.sparse, spec.lists.sparse.size()),
                               std::pair(&in.lists.dense, spec.lists.dense.size())}) {
      for (size_t i = 0; i < count; ++i, ++at) {
        RETURN_IF_ERROR(CheckScalar(c.input(at), "key"));
        keys->push_back(c.input(at).flat<std::string>()[0]);
      }
    }
    AddDefaults(c, at, spec.context.dense.size(), &in);
    in.may_miss = Listed(in.lists.dense, c.input(1).flat<std::string>());
    const Tensor& name = c.input(c.num_inputs() - 1);
    RETURN_IF_ERROR(CheckScalar(name, "debug_name"));
    in.names = name.flat<std::string>();
    return Parse(c, spec, std::move(in));
  });
}

}  // namespace

std::span<const KernelDef> ParseSequenceKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"ParseSequenceExample", BindV1},
      {"ParseSequenceExampleV2", BindV2},
      {"ParseSingleSequenceExample", BindSingle},
  });
  return table;
}

}  // namespace slipway::kernels
