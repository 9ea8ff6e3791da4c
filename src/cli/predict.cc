// SPDX-License-Identifier: Apache-2.0
#include "client/predict.h"

#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/predict_flags.h"

namespace slipway::cli {
namespace {

struct ShowFlags {
  std::string truth;
  std::string class_names;
};

std::string ClassName(const ShowFlags& show, int64_t index) {
  const auto names = StrSplit(show.class_names, ',');
  if (show.class_names.empty() || index >= static_cast<int64_t>(names.size())) return StrCat(index);
  return std::string(names[static_cast<size_t>(index)]);
}

// Each row of class scores as its best class, beside the truth.
Status PrintClasses(const Tensor& scores, const ShowFlags& show, const std::string& rows) {
  if (scores.dtype() != DType::kFloat || scores.rank() != 2) {
    return InvalidArgumentError(StrCat("--truth wants class scores [n,classes], the model gave ",
                                       DTypeName(scores.dtype()), scores.shape().ToString()));
  }
  ASSIGN_OR_RETURN(const Tensor truth, ReadTensorFile(show.truth, rows));
  if (truth.dtype() != DType::kUInt8 || truth.num_elements() != scores.dim(0)) {
    return InvalidArgumentError(StrCat("'", show.truth, "' holds ", DTypeName(truth.dtype()),
                                       truth.shape().ToString(), ", wanted ", scores.dim(0),
                                       " labels of type uint8"));
  }
  std::printf("  row  %-14s %-6s  %-14s\n", "predicted", "score", "truth");
  int64_t right = 0;
  for (int64_t row = 0; row < scores.dim(0); ++row) {
    const auto all = scores.Slice(row, row + 1);
    const auto best = std::ranges::max_element(all.flat<float>());
    const int64_t predicted = best - all.flat<float>().begin();
    const int64_t wanted = truth.flat<uint8_t>()[static_cast<size_t>(row)];
    right += predicted == wanted ? 1 : 0;
    std::printf("  %3lld  %-14s %5.1f%%  %-14s %s\n", static_cast<long long>(row),
                ClassName(show, predicted).c_str(), 100.0 * static_cast<double>(*best),
                ClassName(show, wanted).c_str(), predicted == wanted ? "" : "<- wrong");
  }
  std::printf("  %lld of %lld right\n", static_cast<long long>(right),
              static_cast<long long>(scores.dim(0)));
  return OkStatus();
}

Status Run(const PredictFlags& flags, const ShowFlags& show) {
  ASSIGN_OR_RETURN(const client::PredictTarget target, flags.Target());
  ASSIGN_OR_RETURN(const client::NamedTensors inputs, flags.Inputs());
  ASSIGN_OR_RETURN(const client::Prediction prediction, client::Predict(target, inputs));
  if (prediction.version) {
    std::printf("version %lld answered\n", static_cast<long long>(*prediction.version));
  }
  for (const auto& [name, tensor] : prediction.outputs) {
    if (!show.truth.empty()) {
      RETURN_IF_ERROR(PrintClasses(tensor, show, flags.rows));
    } else {
      std::printf("%s%s%s\n", name.c_str(), name.empty() ? "" : ": ", tensor.ToString(100).c_str());
    }
  }
  return OkStatus();
}

}  // namespace

int RunPredict(Args args) {
  PredictFlags predict;
  ShowFlags show;
  std::vector<Flag> table = predict.Table();
  table.push_back({"truth", &show.truth, "labels (.npy or IDX) to print beside the best classes"});
  table.push_back({"class_names", &show.class_names, "names of the classes, with ',' between"});
  FlagSet flags("slipway predict --inputs NAME=FILE [flags]",
                "Sends one prediction to a model server and prints what comes back.", table);
  if (const Parsed parsed = ParseFlags(&flags, "predict", args, 0); parsed.exit) {
    return *parsed.exit;
  }
  const Status status = Run(predict, show);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
