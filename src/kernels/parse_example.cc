// SPDX-License-Identifier: Apache-2.0
//
// ParseExample and its kin: features of serialized examples as dense, sparse and ragged tensors.
#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/feature_columns.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"

namespace slipway::kernels {
namespace {

// What a node's attributes say; keys and defaults are inputs.
struct ParseSpec {
  std::vector<DenseSpec> dense;
  std::vector<DType> sparse, ragged, ragged_splits;

  int first_values() const { return static_cast<int>(sparse.size()); }
  int first_shapes() const { return 2 * static_cast<int>(sparse.size()); }
  int first_dense() const { return 3 * static_cast<int>(sparse.size()); }
  int first_ragged() const { return first_dense() + static_cast<int>(dense.size()); }
  int first_splits() const { return first_ragged() + static_cast<int>(ragged.size()); }
};

StatusOr<ParseSpec> SpecOf(const ir::Node& node) {
  ParseSpec spec;
  using Types = std::vector<DType>;
  spec.sparse = AttrOr<Types>(node, "sparse_types", {});
  spec.ragged = AttrOr<Types>(node, "ragged_value_types", {});
  spec.ragged_splits = AttrOr<Types>(node, "ragged_split_types", {});
  ASSIGN_OR_RETURN(spec.dense, DenseSpecs(node, "Tdense", "dense_shapes"));
  if (spec.ragged.size() != spec.ragged_splits.size()) {
    return InvalidArgumentError(StrCat("len(ragged_value_types) != len(ragged_split_types): ",
                                       spec.ragged.size(), " vs ", spec.ragged_splits.size()));
  }
  return spec;
}

// The inputs of a run.
struct ParseInputs {
  std::span<const std::string> serialized;
  std::span<const std::string> names;  // empty: none
  bool single = false;                 // a scalar: outputs have no batch dimension
  std::vector<std::string> sparse_keys, dense_keys, ragged_keys;
  std::vector<const Tensor*> defaults;
};

class ExampleParser {
 public:
  ExampleParser(const ParseSpec& spec, const ParseInputs& inputs) : spec_(spec), in_(inputs) {
    for (DType dtype : spec.sparse) sparse_.emplace_back(dtype);
    for (const DenseSpec& dense : spec.dense) dense_.emplace_back(dense.dtype);
    for (DType dtype : spec.ragged) ragged_.emplace_back(dtype);
    for (const auto* keys : {&inputs.sparse_keys, &inputs.dense_keys, &inputs.ragged_keys}) {
      // Equal keys share a place.
      for (const std::string& key : *keys) place_.try_emplace(key, place_.size());
    }
    given_.resize(place_.size());
  }

  Status Run(KernelContext& c) {
    RETURN_IF_ERROR(CheckDefaults());
    for (row_ = 0; row_ < in_.serialized.size(); ++row_) RETURN_IF_ERROR(ParseRow());
    return Output(c);
  }

 private:
  std::string Where(const std::string& key) const;
  Status CheckDefaults() const;
  Status ParseRow();
  Status AppendDense(size_t d);
  Status AppendList(const std::string& key, FeatureColumn* column);
  Status Missing(const std::string& key, DType dtype) const;
  Status Output(KernelContext& c);
  Status OutputDense(KernelContext& c, size_t d);

  const ParseSpec& spec_;
  const ParseInputs& in_;
  std::vector<FeatureColumn> sparse_, dense_, ragged_;
  std::unordered_map<std::string_view, size_t> place_;
  std::vector<std::string_view> given_;  // by place: the Feature of this row
  std::vector<NamedFeature> features_;
  size_t row_ = 0;
};

std::string ExampleName(const ParseInputs& in, size_t row) {
  if (in.single) return "";
  return StrCat("Name: ", in.names.empty() ? "<unknown>" : in.names[row], ", ");
}

std::string ExampleParser::Where(const std::string& key) const {
  return in_.single ? StrCat("Key: ", key, ".  ")
                    : StrCat(ExampleName(in_, row_), "Key: ", key, ", Index: ", row_, ".  ");
}

Status ExampleParser::Missing(const std::string& key, DType dtype) const {
  return InvalidArgumentError(StrCat(ExampleName(in_, row_), "Feature: ", key,
                                     " (data type: ", FeatureTypeName(dtype),
                                     ") is required but could not be found."));
}

// A row's default: as many values as the row, or none; one to pad variable rows with.
Status ExampleParser::CheckDefaults() const {
  for (size_t d = 0; d < spec_.dense.size(); ++d) {
    const DenseSpec& dense = spec_.dense[d];
    const Tensor& value = *in_.defaults[d];
    if (dense.variable) {
      if (value.num_elements() == 1) continue;
      return InvalidArgumentError(StrCat("dense_shape[", d,
                                         "] is a variable length shape, but def_value[", d,
                                         "] has ", value.num_elements(), " elements; wanted 1"));
    }
    if (value.num_elements() == 0 || dense.shape.Admits(value.shape())) continue;
    return InvalidArgumentError(StrCat("def_value[", d, "].shape() == ", value.shape().ToString(),
                                       " is not compatible with dense_shapes_[", d,
                                       "] == ", dense.shape.ToString()));
  }
  return OkStatus();
}

Status ExampleParser::ParseRow() {
  features_.clear();
  std::fill(given_.begin(), given_.end(), std::string_view());
  const std::string& bytes = in_.serialized[row_];
  if (!ReadExample(bytes, &features_).ok()) {
    return InvalidArgumentError(
        StrCat("Could not parse example input, value: '", Quoted(bytes), "'"));
  }
  for (const NamedFeature& feature : features_) {
    const auto it = place_.find(feature.name);
    if (it != place_.end()) given_[it->second] = feature.bytes;
  }
  for (size_t d = 0; d < dense_.size(); ++d) RETURN_IF_ERROR(AppendDense(d));
  for (size_t i = 0; i < sparse_.size(); ++i) {
    RETURN_IF_ERROR(AppendList(in_.sparse_keys[i], &sparse_[i]));
  }
  for (size_t i = 0; i < ragged_.size(); ++i) {
    RETURN_IF_ERROR(AppendList(in_.ragged_keys[i], &ragged_[i]));
  }
  return OkStatus();
}

Status ExampleParser::AppendDense(size_t d) {
  const DenseSpec& dense = spec_.dense[d];
  const std::string& key = in_.dense_keys[d];
  FeatureColumn& column = dense_[d];
  auto view = ReadFeature(given_[place_.find(key)->second]);
  if (!view.ok())
    return InvalidArgumentError(StrCat(Where(key), "Can't parse serialized Example."));
  if (view->dtype == DType::kInvalid) {
    const Tensor& value = *in_.defaults[d];
    if (!dense.variable && value.num_elements() == 0 && dense.stride > 0) {
      return Missing(key, dense.dtype);
    }
    if (!dense.variable) column.values.Append(value);
    column.EndRow();
    return OkStatus();
  }
  if (view->dtype != dense.dtype) {
    return InvalidArgumentError(
        StrCat(Where(key), "Data types don't match. Data type: ", FeatureTypeName(view->dtype),
               " but expected type: ", FeatureTypeName(dense.dtype)));
  }
  if (!column.values.Append(view->list)) {
    return InvalidArgumentError(StrCat(Where(key), "Can't parse serialized Example."));
  }
  column.EndRow();
  const int64_t count = column.length(column.rows() - 1);
  if (!dense.variable && count != dense.stride) {
    if (in_.single) {
      return InvalidArgumentError(
          StrCat(Where(key), "Can't parse serialized Example: Some ",
                 FeatureTypeName(dense.dtype) == "string" ? "bytes" : FeatureTypeName(dense.dtype),
                 "_list slice was not parsed. It has ", count, " values, wanted ", dense.stride));
    }
    return InvalidArgumentError(StrCat(Where(key), "Number of ", FeatureTypeName(dense.dtype),
                                       " values != expected.  Values size: ", count,
                                       " but output shape: ", dense.shape.ToString()));
  }
  if (dense.variable && count % dense.stride != 0) {
    return InvalidArgumentError(StrCat(Where(key), "Number of ", FeatureTypeName(dense.dtype),
                                       " values is not a multiple of stride length. Saw ", count,
                                       " values but output shape is: ", dense.shape.ToString()));
  }
  return OkStatus();
}

Status ExampleParser::AppendList(const std::string& key, FeatureColumn* column) {
  auto view = ReadFeature(given_[place_.find(key)->second]);
  if (!view.ok())
    return InvalidArgumentError(StrCat(Where(key), "Can't parse serialized Example."));
  const DType wanted = column->values.dtype();
  if (view->dtype != DType::kInvalid) {
    if (view->dtype != wanted) {
      return InvalidArgumentError(
          StrCat(Where(key), "Data types don't match. Expected type: ", FeatureTypeName(wanted),
                 ", Actual type: ", FeatureTypeName(view->dtype)));
    }
    if (!column->values.Append(view->list)) {
      return InvalidArgumentError(StrCat(Where(key), "Can't parse serialized Example."));
    }
  }
  column->EndRow();
  return OkStatus();
}

Status ExampleParser::OutputDense(KernelContext& c, size_t d) {
  const DenseSpec& dense = spec_.dense[d];
  const FeatureColumn& column = dense_[d];
  const int64_t steps = dense.variable ? column.widest() / dense.stride : 0;
  IntVec dims;
  if (!in_.single) dims.push_back(column.rows());
  for (int i = 0; i < dense.shape.rank(); ++i) {
    dims.push_back(i == 0 && dense.variable ? steps : dense.shape.dim(i));
  }
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims.span()));
  const int output = spec_.first_dense() + static_cast<int>(d);
  if (!dense.variable) return column.values.Output(c, output, shape);
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(output, shape));
  const int64_t width = steps * dense.stride;
  FeatureValues padding(dense.dtype);
  padding.Repeat(*in_.defaults[d], width);
  for (int64_t row = 0; row < column.rows(); ++row) {
    const int64_t length = column.length(row);
    column.values.CopyTo(column.ends[static_cast<size_t>(row)], length, out, row * width);
    padding.CopyTo(0, width - length, out, row * width + length);
  }
  return OkStatus();
}

Status ExampleParser::Output(KernelContext& c) {
  for (size_t i = 0; i < sparse_.size(); ++i) {
    const int k = static_cast<int>(i);
    RETURN_IF_ERROR(OutputSparse(c, sparse_[i], in_.single, k, spec_.first_values() + k,
                                 spec_.first_shapes() + k));
  }
  for (size_t d = 0; d < dense_.size(); ++d) RETURN_IF_ERROR(OutputDense(c, d));
  for (size_t i = 0; i < ragged_.size(); ++i) {
    const int k = static_cast<int>(i);
    const FeatureValues& values = ragged_[i].values;
    RETURN_IF_ERROR(values.Output(c, spec_.first_ragged() + k, Shape({values.size()})));
    RETURN_IF_ERROR(OutputSplits(c, in_.single ? std::vector<int64_t>() : ragged_[i].ends,
                                 spec_.first_splits() + k, spec_.ragged_splits[i]));
  }
  return OkStatus();
}

Status CheckCounts(const ParseSpec& spec, const ParseInputs& in) {
  const auto same = [](std::string_view what, size_t keys, size_t wanted) -> Status {
    if (keys == wanted) return OkStatus();
    return InvalidArgumentError(StrCat("Expected len(", what, ") == ", wanted, ", got ", keys));
  };
  RETURN_IF_ERROR(same("sparse_keys", in.sparse_keys.size(), spec.sparse.size()));
  RETURN_IF_ERROR(same("dense_keys", in.dense_keys.size(), spec.dense.size()));
  RETURN_IF_ERROR(same("ragged_keys", in.ragged_keys.size(), spec.ragged.size()));
  RETURN_IF_ERROR(same("dense_defaults", in.defaults.size(), spec.dense.size()));
  if (!in.names.empty() && in.names.size() != in.serialized.size()) {
    return InvalidArgumentError(
        StrCat("Expected names have the same shape as serialized: name.shape=[", in.names.size(),
               "], serialized.shape=[", in.serialized.size(), "]"));
  }
  return OkStatus();
}

Status Parse(KernelContext& c, const ParseSpec& spec, ParseInputs in) {
  const Tensor& serialized = c.input(0);
  if (serialized.rank() > 1) {
    return InvalidArgumentError(StrCat("Expected serialized to be a scalar or vector, got shape: ",
                                       serialized.shape().ToString()));
  }
  in.serialized = serialized.flat<std::string>();
  RETURN_IF_ERROR(CheckCounts(spec, in));
  return ExampleParser(spec, in).Run(c);
}

void AddDefaults(const KernelContext& c, int first, ParseInputs* in) {
  for (int i = first; i < c.num_inputs(); ++i) in->defaults.push_back(&c.input(i));
}

StatusOr<KernelFn> BindV2(const BindContext& c) {
  ASSIGN_OR_RETURN(const ParseSpec spec, SpecOf(*c.node));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    ParseInputs in;
    in.single = ctx.input(0).rank() == 0;
    in.names = ctx.input(1).flat<std::string>();
    ASSIGN_OR_RETURN(in.sparse_keys, ReadKeys(ctx.input(2), "sparse_keys"));
    ASSIGN_OR_RETURN(in.dense_keys, ReadKeys(ctx.input(3), "dense_keys"));
    ASSIGN_OR_RETURN(in.ragged_keys, ReadKeys(ctx.input(4), "ragged_keys"));
    AddDefaults(ctx, 5, &in);
    return Parse(ctx, spec, std::move(in));
  });
}

// Each key is an input of its own.
StatusOr<KernelFn> BindV1(const BindContext& c) {
  ASSIGN_OR_RETURN(const ParseSpec spec, SpecOf(*c.node));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    ParseInputs in;
    if (ctx.input(0).rank() != 1) {
      return InvalidArgumentError(StrCat("Expected serialized to be a vector, got shape: ",
                                         ctx.input(0).shape().ToString()));
    }
    in.names = ctx.input(1).flat<std::string>();
    int at = 2;
    for (auto [keys, count] : {std::pair(&in.sparse_keys, spec.sparse.size()),
                               std::pair(&in.dense_keys, spec.dense.size())}) {
      for (size_t i = 0; i < count; ++i, ++at) {
        RETURN_IF_ERROR(CheckScalar(ctx.input(at), "key"));
        keys->push_back(ctx.input(at).flat<std::string>()[0]);
      }
    }
    AddDefaults(ctx, at, &in);
    return Parse(ctx, spec, std::move(in));
  });
}

// The keys are attributes.
StatusOr<KernelFn> BindSingle(const BindContext& c) {
  ASSIGN_OR_RETURN(const ParseSpec spec, SpecOf(*c.node));
  using Keys = std::vector<std::string>;
  return KernelFn([spec, sparse = AttrOr<Keys>(*c.node, "sparse_keys", {}),
                   dense = AttrOr<Keys>(*c.node, "dense_keys", {})](KernelContext& ctx) -> Status {
    if (ctx.input(0).rank() != 0) {
      return InvalidArgumentError(StrCat("Input serialized must be a scalar, got shape: ",
                                         ctx.input(0).shape().ToString()));
    }
    ParseInputs in;
    in.single = true;
    in.sparse_keys = sparse;
    in.dense_keys = dense;
    AddDefaults(ctx, 1, &in);
    return Parse(ctx, spec, std::move(in));
  });
}

}  // namespace

std::span<const KernelDef> ParseExampleKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"ParseExampleV2", BindV2},
      {"ParseExample", BindV1},
      {"ParseSingleExample", BindSingle},
  });
  return table;
}

}  // namespace slipway::kernels
