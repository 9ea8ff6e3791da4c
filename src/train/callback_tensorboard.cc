// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/env.h"
#include "base/strings.h"
#include "slipway/model.h"
#include "train/callback_classes.h"
#include "wire/events.h"

namespace slipway {
namespace train {
namespace {

class TensorBoard final : public ConfiguredCallback {
 public:
  TensorBoard(std::string log_dir, callbacks::TensorBoardOptions options)
      : log_dir_(std::move(log_dir)), write_steps_per_second_(options.write_steps_per_second) {}

  const char* class_name() const override { return "TensorBoard"; }
  void Fields(nn::FieldVisitor& visit) override {
    visit("log_dir", &log_dir_);
    visit("write_steps_per_second", &write_steps_per_second_);
    visit.Fixed("update_freq", "\"epoch\"");
    visit.Fixed("histogram_freq", "0");
    visit.Fixed("write_images", "false");
    visit.Fixed("profile_batch", "0");
  }

  Status CheckPaths() const override {
    return CheckCreatable(Env::Default(), JoinPath(log_dir_, "train/events"));
  }

  Status OnEpochBegin(FitControl& fit, int) override {
    epoch_start_ns_ = Clock::Default()->NowNanos();
    epoch_start_steps_ = fit.steps_done();
    return OkStatus();
  }

  Status OnTestEnd(FitControl& fit, const Logs& logs) override {
    ASSIGN_OR_RETURN(EventWriter * writer, Writer(&validation_, "validation"));
    for (const auto& [name, value] : logs) {
      RETURN_IF_ERROR(writer->AddScalar(StrCat("evaluation_", name, "_vs_iterations"),
                                        fit.steps_done(), static_cast<float>(value)));
    }
    return writer->Flush();
  }

  Status OnEpochEnd(FitControl& fit, int epoch, Logs& logs) override {
    Logs train;
    Logs validation;
    for (const auto& [name, value] : logs) {
      name.starts_with("val_") ? validation[name.substr(4)] = value : train[name] = value;
    }
    ASSIGN_OR_RETURN(train["learning_rate"], fit.model().learning_rate());
    if (write_steps_per_second_) {
      double seconds = static_cast<double>(Clock::Default()->NowNanos() - epoch_start_ns_) * 1e-9;
      train["steps_per_second"] =
          static_cast<double>(fit.steps_done() - epoch_start_steps_) / seconds;
    }
    RETURN_IF_ERROR(WriteEpoch(&train_, "train", epoch, train));
    return validation.empty() ? OkStatus()
                              : WriteEpoch(&validation_, "validation", epoch, validation);
  }

  Status OnTrainEnd(FitControl&, const Logs&) override {
    for (auto* writer : {&train_, &validation_}) {
      if (*writer != nullptr) RETURN_IF_ERROR((*writer)->Close());
      writer->reset();
    }
    return OkStatus();
  }

 private:
  StatusOr<EventWriter*> Writer(std::unique_ptr<EventWriter>* writer, const char* folder) {
    if (*writer == nullptr) {
      ASSIGN_OR_RETURN(*writer, EventWriter::Create(Env::Default(), JoinPath(log_dir_, folder)));
    }
    return writer->get();
  }
  Status WriteEpoch(std::unique_ptr<EventWriter>* where, const char* folder, int epoch,
                    const Logs& logs) {
    ASSIGN_OR_RETURN(EventWriter * writer, Writer(where, folder));
    for (const auto& [name, value] : logs) {
      RETURN_IF_ERROR(writer->AddScalar(StrCat("epoch_", name), epoch, static_cast<float>(value)));
    }
    return writer->Flush();
  }

  std::string log_dir_;
  bool write_steps_per_second_;
  std::unique_ptr<EventWriter> train_;
  std::unique_ptr<EventWriter> validation_;
  int64_t epoch_start_ns_ = 0;
  int64_t epoch_start_steps_ = 0;
};

}  // namespace

ConfiguredPtr NewTensorBoard(std::string log_dir, callbacks::TensorBoardOptions options) {
  return std::make_shared<TensorBoard>(std::move(log_dir), options);
}

}  // namespace train

namespace callbacks {
CallbackPtr TensorBoard(std::string log_dir, TensorBoardOptions options) {
  return train::NewTensorBoard(std::move(log_dir), options);
}
}  // namespace callbacks
}  // namespace slipway
