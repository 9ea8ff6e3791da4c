// SPDX-License-Identifier: Apache-2.0
#include "train/fit_state.h"

#include "base/strings.h"
#include "checkpoint/bundle.h"

namespace slipway::train {
namespace {

constexpr std::string_view kHistory = "fit/history/";

template <typename T>
Tensor VectorOf(const std::vector<T>& values) {
  return Tensor::FromValues<T>(std::span<const T>(values),
                               Shape({static_cast<int64_t>(values.size())}));
}

Status WriteVariables(BundleWriter& writer, ModelState& state,
                      const std::vector<nn::VariablePtr>& variables) {
  for (const nn::VariablePtr& variable : variables) {
    ASSIGN_OR_RETURN(Tensor value, state.variables().Read(variable->path));
    RETURN_IF_ERROR(writer.Add(variable->path, value));
  }
  return OkStatus();
}

Status ReadVariables(const BundleReader& reader, ModelState& state,
                     const std::vector<nn::VariablePtr>& variables) {
  for (const nn::VariablePtr& variable : variables) {
    ASSIGN_OR_RETURN(Tensor value, reader.Read(variable->path));
    RETURN_IF_ERROR(state.variables().Write(variable->path, value));
  }
  return OkStatus();
}

Status WriteHistory(BundleWriter& writer, const History& history) {
  std::vector<int64_t> epochs(history.epochs.begin(), history.epochs.end());
  RETURN_IF_ERROR(writer.Add("fit/epochs", VectorOf(epochs)));
  for (const auto& [name, values] : history.history) {
    RETURN_IF_ERROR(writer.Add(StrCat(kHistory, name), VectorOf(values)));
  }
  return OkStatus();
}

// The tensor of a key, checked to be of the dtype and rank that was written.
StatusOr<Tensor> ReadTyped(const BundleReader& reader, const std::string& key, DType dtype,
                           int rank) {
  ASSIGN_OR_RETURN(Tensor value, reader.Read(key));
  if (value.dtype() != dtype || value.rank() != rank) {
    return DataLossError(StrCat("Checkpoint key '", key, "' is ", DTypeName(value.dtype()),
                                value.shape().ToString(), ", a ", DTypeName(dtype), " of rank ",
                                rank, " was expected"));
  }
  return value;
}

StatusOr<History> ReadHistory(const BundleReader& reader) {
  History history;
  ASSIGN_OR_RETURN(Tensor epochs, ReadTyped(reader, "fit/epochs", DType::kInt64, 1));
  for (int64_t epoch : epochs.flat<int64_t>()) history.epochs.push_back(static_cast<int>(epoch));
  for (const auto& [key, entry] : reader.entries()) {
    if (!key.starts_with(kHistory)) continue;
    ASSIGN_OR_RETURN(Tensor values, ReadTyped(reader, key, DType::kDouble, 1));
    auto numbers = values.flat<double>();
    history.history[key.substr(kHistory.size())].assign(numbers.begin(), numbers.end());
  }
  return history;
}

Status RestoreCallbacks(const BundleReader& reader, const std::vector<CallbackPtr>& callbacks) {
  for (size_t i = 0; i < callbacks.size(); ++i) {
    std::vector<Tensor> kept;
    while (true) {
      std::string key = StrCat("callbacks/", i, "/", kept.size());
      if (!reader.entries().contains(key)) break;
      ASSIGN_OR_RETURN(Tensor value, reader.Read(key));
      kept.push_back(std::move(value));
    }
    if (!kept.empty()) RETURN_IF_ERROR(callbacks[i]->RestoreState(kept));
  }
  return OkStatus();
}

}  // namespace

Status WriteFitState(const std::string& prefix, ModelState& state, const FitPosition& position,
                     const std::vector<CallbackPtr>& callbacks) {
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(Env::Default(), prefix));
  RETURN_IF_ERROR(WriteVariables(*writer, state, state.AllVariables()));
  RETURN_IF_ERROR(writer->Add("fit/epoch", Tensor::Scalar(static_cast<int64_t>(position.epoch))));
  RETURN_IF_ERROR(writer->Add("fit/batch", Tensor::Scalar(position.batches_done)));
  RETURN_IF_ERROR(writer->Add("fit/data", Tensor::Scalar(position.data)));
  RETURN_IF_ERROR(WriteHistory(*writer, position.history));
  for (size_t i = 0; i < callbacks.size(); ++i) {
    std::vector<Tensor> kept = callbacks[i]->SaveState();
    for (size_t j = 0; j < kept.size(); ++j) {
      RETURN_IF_ERROR(writer->Add(StrCat("callbacks/", i, "/", j), kept[j]));
    }
  }
  return writer->Finish();
}

StatusOr<FitPosition> ReadFitState(const std::string& prefix, ModelState& state,
                                   const std::vector<CallbackPtr>& callbacks) {
  ASSIGN_OR_RETURN(auto reader, BundleReader::Open(Env::Default(), prefix));
  RETURN_IF_ERROR(ReadVariables(*reader, state, state.AllVariables()));
  FitPosition position;
  ASSIGN_OR_RETURN(Tensor epoch, ReadTyped(*reader, "fit/epoch", DType::kInt64, 0));
  ASSIGN_OR_RETURN(Tensor batch, ReadTyped(*reader, "fit/batch", DType::kInt64, 0));
  ASSIGN_OR_RETURN(Tensor data, ReadTyped(*reader, "fit/data", DType::kString, 0));
  position.epoch = static_cast<int>(epoch.scalar<int64_t>());
  position.batches_done = batch.scalar<int64_t>();
  position.data = data.scalar<std::string>();
  ASSIGN_OR_RETURN(position.history, ReadHistory(*reader));
  RETURN_IF_ERROR(RestoreCallbacks(*reader, callbacks));
  return position;
}

Status WriteWeights(const std::string& prefix, ModelState& state) {
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(Env::Default(), prefix));
  RETURN_IF_ERROR(WriteVariables(*writer, state, state.network().variables()));
  return writer->Finish();
}

Status ReadWeights(const std::string& prefix, ModelState& state) {
  ASSIGN_OR_RETURN(auto reader, BundleReader::Open(Env::Default(), prefix));
  return ReadVariables(*reader, state, state.network().variables());
}

}  // namespace slipway::train
