// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "base/strings.h"
#include "formats/saved_model_writer.h"
#include "slipway/model.h"
#include "train/callback_classes.h"

namespace slipway {
namespace train {
namespace {

class ModelCheckpoint final : public ConfiguredCallback {
 public:
  ModelCheckpoint(std::string path, callbacks::ModelCheckpointOptions options)
      : path_(std::move(path)),
        monitor_(options.monitor, options.mode, 0),
        save_best_only_(options.save_best_only),
        save_weights_only_(options.save_weights_only),
        initial_value_threshold_(options.initial_value_threshold),
        verbose_(options.verbose),
        best_(options.initial_value_threshold) {}

  const char* class_name() const override { return "ModelCheckpoint"; }
  void Fields(nn::FieldVisitor& visit) override {
    visit("filepath", &path_);
    monitor_.Fields(visit);
    visit("save_best_only", &save_best_only_);
    visit("save_weights_only", &save_weights_only_);
    visit("initial_value_threshold", &initial_value_threshold_);
    visit("verbose", &verbose_);
    visit.Fixed("save_freq", "\"epoch\"");
    best_ = initial_value_threshold_;
  }
  std::optional<Problem> Check() const override {
    if (path_.empty()) return Problem{"filepath", "'filepath' says where to save; it is missing"};
    return monitor_.Check();
  }
  Status CheckPaths() const override {
    // What is replaced in a path is known after an epoch only.
    const bool final_path = path_.find('{') == std::string::npos;
    if (final_path && !save_weights_only_) {
      return formats::CheckSavedModelTarget(Env::Default(), path_);
    }
    return CheckCreatable(Env::Default(), path_);
  }

  Status OnEpochEnd(FitControl& fit, int epoch, Logs& logs) override {
    if (save_best_only_) {
      std::optional<double> current = monitor_.Find(logs, class_name());
      if (!current || !monitor_.Improves(*current, best_)) return OkStatus();
      best_ = current;
    }
    ASSIGN_OR_RETURN(std::string path, FormatPath(path_, epoch, logs));
    Status saved = save_weights_only_ ? fit.model().SaveWeights(path) : fit.model().Save(path);
    RETURN_IF_ERROR(saved.WithContext("ModelCheckpoint"));
    if (verbose_) fmt::print("Epoch {}: saved the model to {}\n", epoch + 1, path);
    return OkStatus();
  }

  std::vector<Tensor> SaveState() const override {
    if (!best_) return {};
    return {Tensor::Scalar(*best_)};
  }
  Status RestoreState(const std::vector<Tensor>& kept) override {
    if (kept[0].dtype() != DType::kDouble || kept[0].num_elements() != 1) {
      return DataLossError("The checkpoint's state of ModelCheckpoint is damaged");
    }
    best_ = kept[0].scalar<double>();
    return OkStatus();
  }

 private:
  std::string path_;
  Monitor monitor_;
  bool save_best_only_;
  bool save_weights_only_;
  std::optional<double> initial_value_threshold_;
  bool verbose_;
  std::optional<double> best_;
};

// Widths and precisions of a path make sense up to a few digits; more would fill the memory.
bool HasLongNumber(std::string_view format) {
  constexpr int kMaxDigits = 2;
  int digits = 0;
  for (char c : format) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > kMaxDigits) return true;
  }
  return false;
}

// One "name" or "name:format" as text.
StatusOr<std::string> FormatField(std::string_view field, int epoch, const Logs& logs) {
  size_t colon = field.find(':');
  std::string name(field.substr(0, colon));
  std::string format = "{";
  if (colon != std::string_view::npos) format += field.substr(colon);
  format += "}";
  auto it = logs.find(name);
  if (name != "epoch" && it == logs.end()) {
    return InvalidArgumentError(StrCat("'{", field, "}' in the path of ModelCheckpoint: '", name,
                                       "' is neither 'epoch' nor a logged value"));
  }
  if (HasLongNumber(format)) {
    return InvalidArgumentError(
        StrCat("'{", field,
               "}' in the path of ModelCheckpoint: a width or precision must be at "
               "most 99"));
  }
  try {
    return name == "epoch"
               ? fmt::format(fmt::runtime(format), epoch + 1)
               : fmt::format(fmt::runtime(format),
                             std::isnan(it->second) ? std::abs(it->second) : it->second);
  } catch (const fmt::format_error& error) {
    return InvalidArgumentError(
        StrCat("'{", field, "}' in the path of ModelCheckpoint: ", error.what()));
  }
}

}  // namespace

StatusOr<std::string> FormatPath(const std::string& pattern, int epoch, const Logs& logs) {
  std::string out;
  size_t at = 0;
  while (at < pattern.size()) {
    size_t open = pattern.find('{', at);
    size_t close = open == std::string::npos ? open : pattern.find('}', open);
    if (close == std::string::npos) break;
    out += pattern.substr(at, open - at);
    std::string_view field = std::string_view(pattern).substr(open + 1, close - open - 1);
    ASSIGN_OR_RETURN(std::string text, FormatField(field, epoch, logs));
    out += text;
    at = close + 1;
  }
  return out + pattern.substr(at);
}

ConfiguredPtr NewModelCheckpoint(std::string path, callbacks::ModelCheckpointOptions options) {
  return std::make_shared<ModelCheckpoint>(std::move(path), std::move(options));
}

}  // namespace train

namespace callbacks {
CallbackPtr ModelCheckpoint(std::string path, ModelCheckpointOptions options) {
  return train::NewModelCheckpoint(std::move(path), std::move(options));
}
}  // namespace callbacks
}  // namespace slipway
