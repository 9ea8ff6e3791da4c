// SPDX-License-Identifier: Apache-2.0
//
// Callbacks of Model::Fit, with Keras's names, hooks and defaults. Derive from Callback for your
// own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

class Model;

// Name to value, in alphabetical order as Keras shows them: "accuracy", "loss", "val_loss".
using Logs = std::map<std::string, double>;

// The values of each epoch, as Keras's History: history["loss"][3] is that of the fourth epoch run.
struct History {
  std::vector<int> epochs;
  std::map<std::string, std::vector<double>> history;

  const std::vector<double>& operator[](const std::string& name) const;  // empty if unknown
};

// What a callback may see and do while Fit runs.
class FitControl {
 public:
  virtual ~FitControl() = default;
  virtual Model& model() = 0;
  virtual int epochs() const = 0;
  virtual int64_t steps_done() const = 0;  // since the first Fit of this model
  // Batches of an epoch; nothing while the first epoch of a dataset of unknown size runs.
  virtual std::optional<int64_t> steps_per_epoch() const = 0;
  virtual void StopTraining(std::string reason) = 0;
  virtual const History& history() const = 0;
  // Where training stands: all variables, metrics, history, and where in the data it is. Training
  // that is resumed from it goes on as if it had not stopped. In OnEpochEnd for callbacks that
  // RunsLast() only: for others the epoch is not over yet.
  virtual Status SaveState(const std::string& prefix) = 0;
  virtual Status RestoreState(const std::string& prefix) = 0;  // in OnTrainBegin
  // FAILED_PRECONDITION if the loss so far, a weight or a slot is NaN or infinite, naming which:
  // nothing is to be gained by going on from such a state.
  virtual Status CheckFinite() = 0;
};

// Hooks in the order of Keras. An error, of a hook or of training, ends Fit with that error; as in
// Keras, no hook is called then, OnTrainEnd neither: it is for what follows training that is
// complete (BackupAndRestore drops its checkpoints, EarlyStopping restores the best weights). What
// must survive a failure is written when it is known, and OnTrainBegin begins anew.
class Callback {
 public:
  virtual ~Callback() = default;
  // Before anything is built or read: INVALID_ARGUMENT for settings that make no sense, and what a
  // path would give that cannot be written to.
  virtual Status Validate() const { return OkStatus(); }
  virtual Status OnTrainBegin(FitControl&) { return OkStatus(); }
  virtual Status OnTrainEnd(FitControl&, const Logs&) { return OkStatus(); }
  virtual Status OnEpochBegin(FitControl&, int) { return OkStatus(); }
  // May add to the logs, as LearningRateScheduler does.
  virtual Status OnEpochEnd(FitControl&, int, Logs&) { return OkStatus(); }
  // Logs are empty unless WantsBatchLogs(): reading metrics after each step costs time.
  virtual Status OnTrainBatchEnd(FitControl&, int64_t, const Logs&) { return OkStatus(); }
  virtual Status OnTestEnd(FitControl&, const Logs&) { return OkStatus(); }
  virtual bool WantsBatchLogs() const { return false; }
  // Called after the callbacks that do not, and after the epoch has entered the history.
  virtual bool RunsLast() const { return false; }
  // What a resumed run needs to go on as this one; kept in its checkpoints.
  virtual std::vector<Tensor> SaveState() const { return {}; }
  virtual Status RestoreState(const std::vector<Tensor>&) { return OkStatus(); }
};
using CallbackPtr = std::shared_ptr<Callback>;

namespace callbacks {

enum class Mode { kAuto, kMin, kMax };  // kAuto: max for accuracies, else min

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  bool save_best_only = false;
  bool save_weights_only = false;  // a tensor bundle; else a SavedModel
  Mode mode = Mode::kAuto;
  std::optional<double> initial_value_threshold;
  bool verbose = false;
};
// After each epoch saves to `path`, in which "{epoch}", "{epoch:02d}" and "{val_loss:.2f}" are
// replaced (epochs count from 1 there).
CallbackPtr ModelCheckpoint(std::string path, ModelCheckpointOptions options = {});

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int patience = 0;
  Mode mode = Mode::kAuto;
  std::optional<double> baseline;
  bool restore_best_weights = false;  // at the end, also of a run that was not stopped
  int start_from_epoch = 0;
  bool verbose = false;
};
CallbackPtr EarlyStopping(EarlyStoppingOptions options = {});

struct TensorBoardOptions {
  bool write_steps_per_second = false;
};
// Event files in log_dir/train and log_dir/validation, as Keras writes them.
CallbackPtr TensorBoard(std::string log_dir = "logs", TensorBoardOptions options = {});

struct CsvLoggerOptions {
  std::string separator = ",";
  bool append = false;
};
CallbackPtr CsvLogger(std::string filename, CsvLoggerOptions options = {});

// Stops after the first batch that leaves the loss NaN or infinite.
CallbackPtr TerminateOnNan();

// The rate of each epoch: schedule(epoch, current rate).
CallbackPtr LearningRateScheduler(std::function<double(int, double)> schedule);

struct ReduceLrOnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int patience = 10;
  Mode mode = Mode::kAuto;
  double min_delta = 1e-4;
  int cooldown = 0;
  double min_lr = 0;
};
CallbackPtr ReduceLrOnPlateau(ReduceLrOnPlateauOptions options = {});

struct BackupAndRestoreOptions {
  // After each epoch if 0, else also after so many batches.
  int64_t save_freq_batches = 0;
  int max_to_keep = 1;
  bool delete_checkpoint = true;  // once training has ended well
};
// Keeps checkpoints (TensorFlow tensor bundles) of the whole state of training in `directory`; Fit
// goes on from the latest one that it finds there. In deterministic mode, with as many threads, it
// gives bit for bit what an uninterrupted run gives.
//
// A state whose loss or weights are NaN or infinite is not kept, other than in Keras: the last good
// checkpoint stays, with a warning, and is not deleted at the end if training ended so
// (TerminateOnNaN ends it well, which drops the checkpoints in Keras).
CallbackPtr BackupAndRestore(std::string directory, BackupAndRestoreOptions options = {});

// The training curves as a picture (SVG), drawn again after each epoch.
CallbackPtr CurvesSvg(std::string path);

}  // namespace callbacks
}  // namespace slipway
