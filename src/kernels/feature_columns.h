// SPDX-License-Identifier: Apache-2.0
//
// What the ops that parse examples gather: the values of one feature over many examples, and the
// forms in which they are given out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "wire/example.h"

namespace slipway::kernels {

// Values of one of the three types that examples hold.
class FeatureValues {
 public:
  explicit FeatureValues(DType dtype) : dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  int64_t size() const;
  // Appends the values of an encoded list of this dtype. False: malformed.
  bool Append(std::string_view list);
  // Appends all elements of a tensor of this dtype, or element 0 `count` times.
  void Append(const Tensor& values);
  void Repeat(const Tensor& value, int64_t count);
  // Values [from, from + count) into elements [at, at + count) of a tensor of this dtype.
  void CopyTo(int64_t from, int64_t count, Tensor* out, int64_t at) const;
  // All values as output i, of a shape that holds as many.
  Status Output(KernelContext& c, int i, const Shape& shape) const;

 private:
  DType dtype_;
  std::vector<float> floats_;
  std::vector<int64_t> ints_;
  std::vector<std::string> texts_;
};

// A feature over the rows of a batch.
struct FeatureColumn {
  explicit FeatureColumn(DType dtype) : values(dtype) {}
  FeatureValues values;
  std::vector<int64_t> ends = {0};  // row splits

  void EndRow() { ends.push_back(values.size()); }
  int64_t rows() const { return static_cast<int64_t>(ends.size()) - 1; }
  int64_t length(int64_t row) const {
    return ends[static_cast<size_t>(row) + 1] - ends[static_cast<size_t>(row)];
  }
  int64_t widest() const;
};

// Outputs indices, values and shape of the column as a sparse matrix; a vector, without the row,
// where `single`.
Status OutputSparse(KernelContext& c, const FeatureColumn& column, bool single, int indices,
                    int values, int shape);
// The row splits for a ragged tensor. INVALID_ARGUMENT: more values than int32 splits can count.
Status OutputSplits(KernelContext& c, const std::vector<int64_t>& splits, int output, DType dtype);

// A dense feature: so many values in each row.
struct DenseSpec {
  DType dtype = DType::kInvalid;
  PartialShape shape;     // of one row; its first dimension may be unknown
  bool variable = false;  // it is
  int64_t stride = 1;     // elements of a row, or of one step of a variable one
};
// From two attributes of a node, a list of types and one of shapes.
StatusOr<std::vector<DenseSpec>> DenseSpecs(const ir::Node& node, std::string_view types_attr,
                                            std::string_view shapes_attr);

// The name of a type as TensorFlow's parsing errors say it: "float", "int64", "string".
std::string_view FeatureTypeName(DType dtype);

// The keys in a vector of strings.
StatusOr<std::vector<std::string>> ReadKeys(const Tensor& keys, std::string_view what);

}  // namespace slipway::kernels
