// SPDX-License-Identifier: Apache-2.0
//
// Ragged tensors in variants: what map_fn and datasets pass around.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/ragged.h"
#include "kernels/strided_copy.h"

namespace slipway::kernels {
namespace {

// Immutable. No splits: a dense tensor.
struct RaggedValue : public VariantValue {
  DType splits_dtype = DType::kInt64;
  std::vector<Lengths> splits;
  Tensor values;

  std::string DebugString() const override {
    return StrCat("RaggedTensorVariant of rank ", splits.size(), " over ",
                  values.shape().ToString());
  }
  int64_t rows() const {
    return splits.empty() ? values.dim(0) : static_cast<int64_t>(splits[0].size()) - 1;
  }
};

// Row `row` of a ragged tensor: what its outermost splits leave of the others and of the values.
RaggedValue RowOf(const RaggedValue& whole, int64_t row) {
  RaggedValue part;
  part.splits_dtype = whole.splits_dtype;
  int64_t begin = whole.splits[0][static_cast<size_t>(row)];
  int64_t end = whole.splits[0][static_cast<size_t>(row) + 1];
  for (size_t level = 1; level < whole.splits.size(); ++level) {
    const Lengths& outer = whole.splits[level];
    Lengths inner(outer.begin() + begin, outer.begin() + end + 1);
    begin = inner.front();
    end = inner.back();
    for (int64_t& split : inner) split -= begin;
    part.splits.push_back(std::move(inner));
  }
  part.values = whole.values.Slice(begin, end).Owned();
  return part;
}

Variant DenseRow(const Tensor& values, int64_t row) {
  auto part = std::make_shared<RaggedValue>();
  const auto dims = values.shape().dims();
  part->values = values.Slice(row, row + 1).Owned().Reshaped(Shape({dims.begin() + 1, dims.end()}));
  return part;
}

StatusOr<KernelFn> BindToVariant(const BindContext& bind) {
  const int rank = static_cast<int>(bind.node->inputs().size()) - 1;
  const bool batched = BoolAttr(*bind.node, "batched_input");
  const DType splits_dtype = AttrOr<DType>(*bind.node, "Tsplits", DType::kInt64);
  return KernelFn([=](KernelContext& c) -> Status {
    const Tensor& values = c.input(rank);
    RaggedValue whole;
    whole.splits_dtype = splits_dtype;
    if (rank > 0) {
      ASSIGN_OR_RETURN(whole.splits, NestedSplits(c, 0, rank, values));
    } else if (batched && values.rank() == 0) {
      return InvalidArgumentError(
          "Cannot take the rows of a scalar: values must be a vector or more");
    }
    whole.values = values;
    ASSIGN_OR_RETURN(Tensor * out,
                     c.AllocateOutput(0, batched ? Shape({whole.rows()}) : Shape({})));
    const auto to = out->flat<Variant>();
    if (!batched) {
      whole.values = values.Owned();
      to[0] = std::make_shared<RaggedValue>(std::move(whole));
      return OkStatus();
    }
    for (size_t i = 0; i < to.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      to[i] = rank == 0 ? DenseRow(values, row) : std::make_shared<RaggedValue>(RowOf(whole, row));
    }
    return OkStatus();
  });
}

struct FromVariant {
  int input_rank = 0, output_rank = 0;
  DType dtype = DType::kInvalid, splits_dtype = DType::kInt64;

  StatusOr<std::vector<const RaggedValue*>> Components(const Tensor& encoded, int rank) const;
  // Splits of the dimensions that the variants themselves lie in, then those inside them.
  std::vector<Lengths> StackedSplits(const Tensor& encoded,
                                     std::span<const RaggedValue* const> components,
                                     int rank) const;
  Status OutputValues(KernelContext& c, std::span<const RaggedValue* const> components,
                      bool stacked) const;
  Status Run(KernelContext& c) const;
};

StatusOr<std::vector<const RaggedValue*>> FromVariant::Components(const Tensor& encoded,
                                                                  int rank) const {
  std::vector<const RaggedValue*> components;
  for (const Variant& variant : encoded.flat<Variant>()) {
    const auto* value = dynamic_cast<const RaggedValue*>(variant.get());
    if (value == nullptr) {
      return InvalidArgumentError(
          StrCat("Input Variant element does not hold a RaggedTensorVariant: ",
                 variant == nullptr ? "it is empty" : variant->DebugString()));
    }
    if (static_cast<int>(value->splits.size()) != rank) {
      return InvalidArgumentError(
          StrCat("Encoded input RaggedTensorVariant has ragged_rank=", value->splits.size(),
                 ".  Expected ragged_rank=", rank, "."));
    }
    if (value->values.dtype() != dtype) {
      return InvalidArgumentError(StrCat("Expected values Tensor dtype: ", DTypeName(dtype),
                                         ", found: ", DTypeName(value->values.dtype())));
    }
    if (rank > 0 && value->splits_dtype != splits_dtype) {
      return InvalidArgumentError(
          StrCat("Expected row_splits Tensor dtype: ", DTypeName(splits_dtype),
                 ", found: ", DTypeName(value->splits_dtype)));
    }
    components.push_back(value);
  }
  return components;
}

std::vector<Lengths> FromVariant::StackedSplits(const Tensor& encoded,
                                                std::span<const RaggedValue* const> components,
                                                int rank) const {
  std::vector<Lengths> all;
  int64_t rows = encoded.rank() == 0 ? 0 : encoded.dim(0);
  for (int d = 1; d < encoded.rank(); ++d) {
    Lengths splits = {0};
    for (int64_t i = 0; i < rows; ++i) splits.push_back(splits.back() + encoded.dim(d));
    rows = splits.back();
    all.push_back(std::move(splits));
  }
  Lengths outer = {0};
  for (const RaggedValue* part : components) outer.push_back(outer.back() + part->rows());
  all.push_back(std::move(outer));
  for (size_t level = 0; level < static_cast<size_t>(rank); ++level) {
    Lengths joined = {0};
    for (const RaggedValue* part : components) {
      const int64_t shift = joined.back();
      for (size_t k = 1; k < part->splits[level].size(); ++k) {
        joined.push_back(shift + part->splits[level][k]);
      }
    }
    all.push_back(std::move(joined));
  }
  return all;
}

Status FromVariant::OutputValues(KernelContext& c, std::span<const RaggedValue* const> components,
                                 bool stacked) const {
  if (!stacked) {
    c.SetOutput(output_rank, components[0]->values);
    return OkStatus();
  }
  std::vector<int64_t> dims = {0};
  if (!components.empty()) {
    const auto first = components[0]->values.shape().dims();
    dims.assign(first.begin(), first.end());
    dims[0] = 0;
  }
  for (const RaggedValue* part : components) {
    const auto these = part->values.shape().dims();
    if (!std::ranges::equal(these.subspan(1), std::span(dims).subspan(1))) {
      return InvalidArgumentError(StrCat("Rows of values must have one shape, got ",
                                         part->values.shape().ToString(), " and ",
                                         components[0]->values.shape().ToString()));
    }
    dims[0] += these[0];
  }
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(output_rank, shape));
  int64_t at = 0;
  for (const RaggedValue* part : components) {
    const int64_t n = part->values.num_elements();
    CopyElements(dtype, part->values.raw_data(), ElementAt(*out, at), n);
    at += n;
  }
  return OkStatus();
}

Status FromVariant::Run(KernelContext& c) const {
  const Tensor& encoded = c.input(0);
  const int rank = input_rank < 0 ? output_rank - encoded.rank() : input_rank;
  if (rank < 0) {
    return InvalidArgumentError(
        StrCat("Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be "
               ">= 0, found output_ragged_rank: ",
               output_rank, ", encoded_variant.dims(): ", encoded.rank()));
  }
  if (output_rank != rank + encoded.rank()) {
    return InvalidArgumentError(StrCat(
        "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(). "
        "Found output_ragged_rank: ",
        output_rank, ", input_ragged_rank: ", rank, ", encoded_ragged.dims(): ", encoded.rank()));
  }
  ASSIGN_OR_RETURN(const auto components, Components(encoded, rank));
  const bool stacked = encoded.rank() > 0;
  if (stacked) {
    for (const RaggedValue* part : components) {
      if (part->values.rank() > 0) continue;
      return InvalidArgumentError("Values of ragged tensors that are stacked must not be scalars");
    }
  }
  const std::vector<Lengths> splits =
      stacked ? StackedSplits(encoded, components, rank) : components[0]->splits;
  for (size_t i = 0; i < splits.size(); ++i) {
    if (splits_dtype == DType::kInt32 && splits[i].back() > INT32_MAX) {
      return InvalidArgumentError("The row splits do not fit int32");
    }
    RETURN_IF_ERROR(OutputIndices(c, static_cast<int>(i), splits_dtype, splits[i]));
  }
  return OutputValues(c, components, stacked);
}

StatusOr<KernelFn> BindFromVariant(const BindContext& bind) {
  FromVariant op;
  op.input_rank = static_cast<int>(IntAttr(*bind.node, "input_ragged_rank", -1));
  op.output_rank = bind.node->num_outputs() - 1;
  op.dtype = bind.node->dtype(op.output_rank);
  op.splits_dtype = AttrOr<DType>(*bind.node, "Tsplits", DType::kInt64);
  return KernelFn([op](KernelContext& c) { return op.Run(c); });
}

}  // namespace

std::span<const KernelDef> RaggedVariantKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"RaggedTensorFromVariant", BindFromVariant},
      {"RaggedTensorToVariant", BindToVariant},
  });
  return table;
}

}  // namespace slipway::kernels
