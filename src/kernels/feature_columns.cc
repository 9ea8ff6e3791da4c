// SPDX-License-Identifier: Apache-2.0
#include "kernels/feature_columns.h"

#include <algorithm>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/map_strings.h"

namespace slipway::kernels {

int64_t FeatureValues::size() const {
  return static_cast<int64_t>(dtype_ == DType::kFloat   ? floats_.size()
                              : dtype_ == DType::kInt64 ? ints_.size()
                                                        : texts_.size());
}

bool FeatureValues::Append(std::string_view list) {
  if (dtype_ == DType::kFloat) return AppendValues(list, &floats_);
  if (dtype_ == DType::kInt64) return AppendValues(list, &ints_);
  return AppendValues(list, &texts_);
}

void FeatureValues::Append(const Tensor& values) {
  const auto append = [](auto* to, auto from) { to->insert(to->end(), from.begin(), from.end()); };
  if (dtype_ == DType::kFloat) append(&floats_, values.flat<float>());
  if (dtype_ == DType::kInt64) append(&ints_, values.flat<int64_t>());
  if (dtype_ == DType::kString) append(&texts_, values.flat<std::string>());
}

void FeatureValues::Repeat(const Tensor& value, int64_t count) {
  const auto n = static_cast<size_t>(count);
  if (dtype_ == DType::kFloat) floats_.resize(floats_.size() + n, value.flat<float>()[0]);
  if (dtype_ == DType::kInt64) ints_.resize(ints_.size() + n, value.flat<int64_t>()[0]);
  if (dtype_ == DType::kString) texts_.resize(texts_.size() + n, value.flat<std::string>()[0]);
}

void FeatureValues::CopyTo(int64_t from, int64_t count, Tensor* out, int64_t at) const {
  const auto copy = [&](const auto& values, auto to) {
    std::copy_n(values.begin() + from, count, to.begin() + at);
  };
  if (dtype_ == DType::kFloat) copy(floats_, out->flat<float>());
  if (dtype_ == DType::kInt64) copy(ints_, out->flat<int64_t>());
  if (dtype_ == DType::kString) copy(texts_, out->flat<std::string>());
}

Status FeatureValues::Output(KernelContext& c, int i, const Shape& shape) const {
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, shape));
  if (out->dtype() != dtype_ || out->num_elements() != size()) {
    return InternalError(StrCat("Output ", i, " is ", out->ToString(0), " for ", size(),
                                " values of ", DTypeName(dtype_)));
  }
  CopyTo(0, size(), out, 0);
  return OkStatus();
}

int64_t FeatureColumn::widest() const {
  int64_t most = 0;
  for (int64_t row = 0; row < rows(); ++row) most = std::max(most, length(row));
  return most;
}

Status OutputSparse(KernelContext& c, const FeatureColumn& column, bool single, int indices,
                    int values, int shape) {
  const int64_t count = column.values.size();
  const int64_t width = single ? 1 : 2;
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(indices, Shape({count, width})));
  int64_t* index = out->flat<int64_t>().data();
  for (int64_t row = 0; row < column.rows(); ++row) {
    for (int64_t k = 0; k < column.length(row); ++k) {
      if (!single) *index++ = row;
      *index++ = k;
    }
  }
  RETURN_IF_ERROR(column.values.Output(c, values, Shape({count})));
  if (single) return OutputVector<int64_t>(c, shape, {count});
  return OutputVector<int64_t>(c, shape, {column.rows(), column.widest()});
}

Status OutputSplits(KernelContext& c, const std::vector<int64_t>& splits, int output, DType dtype) {
  if (dtype == DType::kInt32 && !splits.empty() && splits.back() > INT32_MAX) {
    return InvalidArgumentError(
        StrCat(splits.back(), " values do not fit int32 row splits; use int64"));
  }
  return OutputIndices(c, output, dtype, splits);
}

namespace {

StatusOr<DenseSpec> MakeDense(DType dtype, const PartialShape& shape) {
  DenseSpec spec{dtype, shape};
  if (!shape.has_rank()) return InvalidArgumentError("A dense shape has no rank");
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) >= 0) {
      ASSIGN_OR_RETURN(spec.stride, CheckedMul(spec.stride, shape.dim(d), "dense shape"));
    } else if (d == 0) {
      spec.variable = true;
    } else {
      return InvalidArgumentError(
          StrCat("Dense shape ", shape.ToString(), " is unknown beyond its first dimension"));
    }
  }
  if (spec.variable && spec.stride == 0) {
    return InvalidArgumentError(StrCat("Dense shape ", shape.ToString(), " has no elements"));
  }
  return spec;
}

}  // namespace

StatusOr<std::vector<DenseSpec>> DenseSpecs(const ir::Node& node, std::string_view types_attr,
                                            std::string_view shapes_attr) {
  const auto types = AttrOr<std::vector<DType>>(node, types_attr, {});
  const auto shapes = AttrOr<std::vector<PartialShape>>(node, shapes_attr, {});
  if (types.size() != shapes.size()) {
    return InvalidArgumentError(StrCat("len(dense_keys) != len(dense_shapes): ", types.size(), " ",
                                       types_attr, " vs ", shapes.size(), " ", shapes_attr));
  }
  std::vector<DenseSpec> specs;
  for (size_t i = 0; i < types.size(); ++i) {
    ASSIGN_OR_RETURN(DenseSpec dense, MakeDense(types[i], shapes[i]));
    specs.push_back(std::move(dense));
  }
  return specs;
}

std::string_view FeatureTypeName(DType dtype) {
  return dtype == DType::kFloat ? "float" : DTypeName(dtype);
}

StatusOr<std::vector<std::string>> ReadKeys(const Tensor& keys, std::string_view what) {
  if (keys.rank() != 1) {
    return InvalidArgumentError(
        StrCat("Expected ", what, " to be a vector, got shape: ", keys.shape().ToString()));
  }
  const auto texts = keys.flat<std::string>();
  return std::vector<std::string>(texts.begin(), texts.end());
}

}  // namespace slipway::kernels
