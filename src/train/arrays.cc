// SPDX-License-Identifier: Apache-2.0
#include "train/arrays.h"

#include "base/strings.h"

namespace slipway::train {

Status CheckArrays(const Tensor& x, const Tensor& y, int64_t batch_size) {
  if (x.rank() < 1 || y.rank() < 1 || x.dim(0) != y.dim(0) || x.dim(0) == 0) {
    return InvalidArgumentError(StrCat("x and y must have as many rows, at least one; x is ",
                                       x.shape().ToString(), ", y is ", y.shape().ToString()));
  }
  if (batch_size < 1) {
    return InvalidArgumentError(StrCat("batch_size must be at least 1, got ", batch_size));
  }
  return OkStatus();
}

StatusOr<ArraySplit> SplitArrays(const Tensor& x, const Tensor& y,
                                 const FitArraysOptions& options) {
  RETURN_IF_ERROR(CheckArrays(x, y, options.batch_size));
  ArraySplit out{.train = {x, y}, .validation = {}};
  if (options.sample_weight.valid()) {
    if (options.sample_weight.rank() < 1 || options.sample_weight.dim(0) != x.dim(0)) {
      return InvalidArgumentError(StrCat("sample_weight needs one number a row of x ",
                                         x.shape().ToString(), ", it is ",
                                         options.sample_weight.shape().ToString()));
    }
    out.train.push_back(options.sample_weight);
  }
  double split = options.validation_split;
  if (split == 0 || options.validation_data) return out;
  auto rows = static_cast<int64_t>(static_cast<double>(x.dim(0)) * (1.0 - split));
  if (!(split > 0 && split < 1) || rows == 0 || rows == x.dim(0)) {
    return InvalidArgumentError(
        StrCat("validation_split must leave rows on both sides of ", x.dim(0), ", got ", split));
  }
  for (Tensor& tensor : out.train) {
    out.validation.push_back(tensor.Slice(rows, x.dim(0)));
    tensor = tensor.Slice(0, rows);
  }
  return out;
}

}  // namespace slipway::train
