// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "slipway/model.h"
#include "train/callback_classes.h"

namespace slipway {
namespace train {
namespace {

class EarlyStopping final : public ConfiguredCallback {
 public:
  explicit EarlyStopping(callbacks::EarlyStoppingOptions options)
      : monitor_(options.monitor, options.mode, options.min_delta),
        patience_(options.patience),
        baseline_(options.baseline),
        restore_best_weights_(options.restore_best_weights),
        start_from_epoch_(options.start_from_epoch),
        verbose_(options.verbose) {}

  const char* class_name() const override { return "EarlyStopping"; }
  void Fields(nn::FieldVisitor& visit) override {
    monitor_.Fields(visit);
    visit("patience", &patience_);
    visit("baseline", &baseline_);
    visit("restore_best_weights", &restore_best_weights_);
    visit("start_from_epoch", &start_from_epoch_);
    visit("verbose", &verbose_);
  }
  std::optional<Problem> Check() const override {
    for (const auto& [key, value] :
         {std::pair{"patience", patience_}, std::pair{"start_from_epoch", start_from_epoch_}}) {
      if (value < 0) return Problem{key, StrCat("'", key, "' must be at least 0, got ", value)};
    }
    return monitor_.Check();
  }

  Status OnTrainBegin(FitControl&) override {
    wait_ = 0;
    stopped_epoch_ = 0;
    best_epoch_ = 0;
    best_.reset();
    best_weights_.clear();
    return OkStatus();
  }

  Status OnEpochEnd(FitControl& fit, int epoch, Logs& logs) override {
    std::optional<double> current = monitor_.Find(logs, class_name());
    if (!current || epoch < start_from_epoch_) return OkStatus();
    // Before anything improved, the first weights are the best there are.
    if (restore_best_weights_ && best_weights_.empty()) Keep(fit, epoch);
    ++wait_;
    if (monitor_.Improves(*current, best_)) {
      best_ = current;
      best_epoch_ = epoch;
      if (restore_best_weights_) Keep(fit, epoch);
      if (!baseline_ || monitor_.Improves(*current, baseline_)) wait_ = 0;
      return OkStatus();
    }
    if (wait_ >= patience_ && epoch > 0) {
      stopped_epoch_ = epoch;
      fit.StopTraining(verbose_ ? StrCat("Epoch ", epoch + 1, ": early stopping") : "");
    }
    return OkStatus();
  }

  Status OnTrainEnd(FitControl& fit, const Logs&) override {
    if (!restore_best_weights_ || best_weights_.empty()) return OkStatus();
    return fit.model().SetWeights(best_weights_);
  }

  std::vector<Tensor> SaveState() const override {
    std::vector<Tensor> out = {
        Tensor::Vector<int64_t>({wait_, stopped_epoch_, best_epoch_, best_ ? 1 : 0}),
        Tensor::Scalar(best_.value_or(0.0))};
    out.insert(out.end(), best_weights_.begin(), best_weights_.end());
    return out;
  }
  Status RestoreState(const std::vector<Tensor>& kept) override {
    if (kept.size() < 2 || kept[0].dtype() != DType::kInt64 || kept[0].num_elements() != 4 ||
        kept[1].dtype() != DType::kDouble || kept[1].num_elements() != 1) {
      return DataLossError("The checkpoint's state of EarlyStopping is damaged");
    }
    auto numbers = kept[0].flat<int64_t>();
    wait_ = static_cast<int>(numbers[0]);
    stopped_epoch_ = static_cast<int>(numbers[1]);
    best_epoch_ = static_cast<int>(numbers[2]);
    best_.reset();
    if (numbers[3] != 0) best_ = kept[1].scalar<double>();
    best_weights_.assign(kept.begin() + 2, kept.end());
    return OkStatus();
  }

 private:
  void Keep(FitControl& fit, int epoch) {
    best_weights_ = fit.model().GetWeights();
    best_epoch_ = epoch;
  }

  Monitor monitor_;
  int patience_;
  std::optional<double> baseline_;
  bool restore_best_weights_;
  int start_from_epoch_;
  bool verbose_;

  int wait_ = 0;
  int stopped_epoch_ = 0;
  int best_epoch_ = 0;
  std::optional<double> best_;
  std::vector<Tensor> best_weights_;
};

}  // namespace

ConfiguredPtr NewEarlyStopping(callbacks::EarlyStoppingOptions options) {
  return std::make_shared<EarlyStopping>(std::move(options));
}

}  // namespace train

namespace callbacks {
CallbackPtr EarlyStopping(EarlyStoppingOptions options) {
  return train::NewEarlyStopping(std::move(options));
}
}  // namespace callbacks
}  // namespace slipway
