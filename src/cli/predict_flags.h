// SPDX-License-Identifier: Apache-2.0
//
// Flags that `slipway predict` and `slipway load` share: which server, which model, which inputs.
#pragma once

#include <string>
#include <vector>

#include "base/flags.h"
#include "client/predict.h"
#include "slipway/status.h"

namespace slipway::cli {

struct PredictFlags {
  std::string server = "localhost:8500";
  std::string protocol = "grpc";
  std::string model_name = "default";
  std::string signature_name;
  int64_t version = -1;
  std::vector<std::string> inputs;
  std::string rows;
  double divide_by = 1;

  std::vector<Flag> Table();
  StatusOr<client::PredictTarget> Target() const;
  // All inputs, cut to the rows and scaled.
  StatusOr<client::NamedTensors> Inputs() const;
};

// A tensor from FILE (.npy, or IDX gzipped or not), cut to `rows` ("2:12"; empty: all).
StatusOr<Tensor> ReadTensorFile(const std::string& path, const std::string& rows);

// An IDX file, gzipped or not. INVALID_ARGUMENT in a build without training, which has no reader.
StatusOr<Tensor> ReadIdxFile(const std::string& path);

}  // namespace slipway::cli
