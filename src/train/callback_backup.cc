// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that keep something outside: checkpoints to go on from, a picture of the curves.
#include "base/log.h"
#include "base/strings.h"
#include "train/callback_classes.h"
#include "train/checkpoint_manager.h"
#include "train/curves.h"

namespace slipway {
namespace train {
namespace {

class BackupAndRestore final : public ConfiguredCallback {
 public:
  BackupAndRestore(std::string directory, callbacks::BackupAndRestoreOptions options)
      : directory_(std::move(directory)),
        save_freq_(options.save_freq_batches),
        max_to_keep_(options.max_to_keep),
        delete_checkpoint_(options.delete_checkpoint) {}

  const char* class_name() const override { return "BackupAndRestore"; }
  void Fields(nn::FieldVisitor& visit) override {
    visit("backup_dir", &directory_);
    visit("save_freq", &save_freq_);
    visit("max_to_keep", &max_to_keep_);
    visit("delete_checkpoint", &delete_checkpoint_);
  }
  std::optional<Problem> Check() const override {
    if (directory_.empty()) return Problem{"backup_dir", "'backup_dir' is missing"};
    if (save_freq_ < 0) return Problem{"save_freq", "'save_freq' must not be negative"};
    if (max_to_keep_ < 1) return Problem{"max_to_keep", "'max_to_keep' must be at least 1"};
    return std::nullopt;
  }
  Status CheckPaths() const override {
    return CheckCreatable(Env::Default(), JoinPath(directory_, "checkpoint"));
  }
  bool RunsLast() const override { return true; }

  Status OnTrainBegin(FitControl& fit) override {
    kept_because_.clear();
    ASSIGN_OR_RETURN(std::optional<std::string> latest, Manager().Latest());
    if (!latest) return OkStatus();
    return fit.RestoreState(*latest).WithContext(
        StrCat("Going on from the checkpoint ", *latest, " (remove its directory to begin anew)"));
  }
  Status OnTrainBatchEnd(FitControl& fit, int64_t batch, const Logs&) override {
    return save_freq_ > 0 && (batch + 1) % save_freq_ == 0 ? Save(fit) : OkStatus();
  }
  Status OnEpochEnd(FitControl& fit, int, Logs&) override { return Save(fit); }
  Status OnTrainEnd(FitControl&, const Logs&) override {
    if (!delete_checkpoint_ || !kept_because_.empty()) return OkStatus();
    return Manager().DeleteAll();
  }

 private:
  CheckpointManager Manager() const {
    return CheckpointManager(Env::Default(), directory_, max_to_keep_);
  }
  Status Save(FitControl& fit) {
    if (const Status finite = fit.CheckFinite(); !finite.ok()) return Keep(finite.message());
    kept_because_.clear();
    auto write = [&](const std::string& prefix) { return fit.SaveState(prefix); };
    return Manager().Save(fit.steps_done(), write).WithContext("BackupAndRestore");
  }

  Status Keep(std::string_view why) {
    if (kept_because_.empty()) {
      ASSIGN_OR_RETURN(const std::optional<std::string> latest, Manager().Latest());
      LOG_WARNING("BackupAndRestore: ", why, ", so this state is not saved; ",
                  latest ? StrCat(*latest, " stays, and the next run goes on from it")
                         : StrCat("there is no checkpoint before it in ", directory_));
    }
    kept_because_ = why;
    return OkStatus();
  }

  std::string kept_because_;  // why the state of now was not saved; empty if it was
  std::string directory_;
  int64_t save_freq_;
  int max_to_keep_;
  bool delete_checkpoint_;
};

class CurvesSvgCallback final : public ConfiguredCallback {
 public:
  explicit CurvesSvgCallback(std::string path) : path_(std::move(path)) {}
  const char* class_name() const override { return "CurvesSvg"; }
  void Fields(nn::FieldVisitor& visit) override { visit("path", &path_); }
  std::optional<Problem> Check() const override {
    if (!path_.empty()) return std::nullopt;
    return Problem{"path", "'path' says where to draw; it is missing"};
  }
  Status CheckPaths() const override { return CheckFileTarget(path_); }
  bool RunsLast() const override { return true; }
  Status OnEpochEnd(FitControl& fit, int, Logs&) override {
    RETURN_IF_ERROR(Env::Default()->CreateDirectories(std::string(Dirname(path_))));
    return WriteFileAtomically(Env::Default(), path_, CurvesSvg(fit.history()));
  }

 private:
  std::string path_;
};

}  // namespace

ConfiguredPtr NewBackupAndRestore(std::string directory,
                                  callbacks::BackupAndRestoreOptions options) {
  return std::make_shared<BackupAndRestore>(std::move(directory), options);
}
ConfiguredPtr NewCurvesSvg(std::string path) {
  return std::make_shared<CurvesSvgCallback>(std::move(path));
}

}  // namespace train

namespace callbacks {

CallbackPtr BackupAndRestore(std::string directory, BackupAndRestoreOptions options) {
  return train::NewBackupAndRestore(std::move(directory), options);
}
CallbackPtr CurvesSvg(std::string path) { return train::NewCurvesSvg(std::move(path)); }

}  // namespace callbacks
}  // namespace slipway
