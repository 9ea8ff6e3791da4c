// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that change the learning rate, and the one that gives up.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "slipway/model.h"
#include "train/callback_classes.h"

namespace slipway {
namespace train {
namespace {

class LearningRateScheduler final : public Callback {
 public:
  explicit LearningRateScheduler(std::function<double(int, double)> schedule)
      : schedule_(std::move(schedule)) {}
  Status OnEpochBegin(FitControl& fit, int epoch) override {
    ASSIGN_OR_RETURN(double rate, fit.model().learning_rate());
    return fit.model().set_learning_rate(schedule_(epoch, rate));
  }
  Status OnEpochEnd(FitControl& fit, int, Logs& logs) override {
    ASSIGN_OR_RETURN(logs["learning_rate"], fit.model().learning_rate());
    return OkStatus();
  }

 private:
  std::function<double(int, double)> schedule_;
};

class ReduceLrOnPlateau final : public ConfiguredCallback {
 public:
  explicit ReduceLrOnPlateau(callbacks::ReduceLrOnPlateauOptions options)
      : monitor_(options.monitor, options.mode, options.min_delta),
        factor_(options.factor),
        patience_(options.patience),
        cooldown_(options.cooldown),
        min_lr_(options.min_lr) {}

  const char* class_name() const override { return "ReduceLROnPlateau"; }
  void Fields(nn::FieldVisitor& visit) override {
    monitor_.Fields(visit);
    visit("factor", &factor_);
    visit("patience", &patience_);
    visit("cooldown", &cooldown_);
    visit("min_lr", &min_lr_);
  }
  std::optional<Problem> Check() const override {
    if (!(factor_ >= 0 && factor_ < 1)) {
      return Problem{"factor",
                     StrCat("'factor' must be at least 0 and less than 1, got ", factor_)};
    }
    for (const auto& [key, value] :
         {std::pair{"patience", patience_}, std::pair{"cooldown", cooldown_}}) {
      if (value < 0) return Problem{key, StrCat("'", key, "' must be at least 0, got ", value)};
    }
    if (!(min_lr_ >= 0 && std::isfinite(min_lr_))) {
      return Problem{"min_lr",
                     StrCat("'min_lr' must be a finite number, at least 0, got ", min_lr_)};
    }
    return monitor_.Check();
  }

  Status OnTrainBegin(FitControl&) override {
    best_.reset();
    wait_ = 0;
    cooling_ = 0;
    return OkStatus();
  }
  Status OnEpochEnd(FitControl& fit, int, Logs& logs) override {
    ASSIGN_OR_RETURN(double rate, fit.model().learning_rate());
    logs["learning_rate"] = rate;
    std::optional<double> current = monitor_.Find(logs, class_name());
    if (!current) return OkStatus();
    if (cooling_ > 0) {
      --cooling_;
      wait_ = 0;
    }
    if (monitor_.Improves(*current, best_)) {
      best_ = current;
      wait_ = 0;
      return OkStatus();
    }
    if (cooling_ > 0 || ++wait_ < patience_) return OkStatus();
    if (rate <= static_cast<float>(min_lr_)) return OkStatus();
    cooling_ = cooldown_;
    wait_ = 0;
    return fit.model().set_learning_rate(std::max(rate * factor_, min_lr_));
  }

  std::vector<Tensor> SaveState() const override {
    return {Tensor::Vector<double>({best_.value_or(0.0), best_ ? 1.0 : 0.0,
                                    static_cast<double>(wait_), static_cast<double>(cooling_)})};
  }
  Status RestoreState(const std::vector<Tensor>& kept) override {
    if (kept[0].dtype() != DType::kDouble || kept[0].num_elements() != 4) {
      return DataLossError("The checkpoint's state of ReduceLROnPlateau is damaged");
    }
    auto numbers = kept[0].flat<double>();
    best_.reset();
    if (numbers[1] != 0) best_ = numbers[0];
    wait_ = static_cast<int>(numbers[2]);
    cooling_ = static_cast<int>(numbers[3]);
    return OkStatus();
  }

 private:
  Monitor monitor_;
  double factor_;
  int patience_;
  int cooldown_;
  double min_lr_;
  std::optional<double> best_;
  int wait_ = 0;
  int cooling_ = 0;
};

class TerminateOnNan final : public ConfiguredCallback {
 public:
  const char* class_name() const override { return "TerminateOnNaN"; }
  void Fields(nn::FieldVisitor&) override {}
  bool WantsBatchLogs() const override { return true; }
  Status OnTrainBatchEnd(FitControl& fit, int64_t batch, const Logs& logs) override {
    if (!std::isfinite(logs.at("loss"))) {
      fit.StopTraining(StrCat("Batch ", batch, ": Invalid loss, terminating training"));
    }
    return OkStatus();
  }
};

}  // namespace

ConfiguredPtr NewReduceLrOnPlateau(callbacks::ReduceLrOnPlateauOptions options) {
  return std::make_shared<ReduceLrOnPlateau>(std::move(options));
}
ConfiguredPtr NewTerminateOnNan() { return std::make_shared<TerminateOnNan>(); }

}  // namespace train

namespace callbacks {

CallbackPtr LearningRateScheduler(std::function<double(int, double)> schedule) {
  return std::make_shared<train::LearningRateScheduler>(std::move(schedule));
}
CallbackPtr ReduceLrOnPlateau(ReduceLrOnPlateauOptions options) {
  return train::NewReduceLrOnPlateau(std::move(options));
}
CallbackPtr TerminateOnNan() { return train::NewTerminateOnNan(); }

}  // namespace callbacks
}  // namespace slipway
