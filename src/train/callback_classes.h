// SPDX-License-Identifier: Apache-2.0
//
// One source file a callback (callback_*.cc); what each does is said in slipway/callbacks.h.
#pragma once

#include <memory>
#include <string>

#include "train/callback_config.h"

namespace slipway::train {

using ConfiguredPtr = std::shared_ptr<ConfiguredCallback>;

ConfiguredPtr NewModelCheckpoint(std::string path, callbacks::ModelCheckpointOptions options);
ConfiguredPtr NewEarlyStopping(callbacks::EarlyStoppingOptions options);
ConfiguredPtr NewTensorBoard(std::string log_dir, callbacks::TensorBoardOptions options);
ConfiguredPtr NewCsvLogger(std::string filename, callbacks::CsvLoggerOptions options);
ConfiguredPtr NewTerminateOnNan();
ConfiguredPtr NewReduceLrOnPlateau(callbacks::ReduceLrOnPlateauOptions options);
ConfiguredPtr NewBackupAndRestore(std::string directory,
                                  callbacks::BackupAndRestoreOptions options);
ConfiguredPtr NewCurvesSvg(std::string path);

// "weights-{epoch:02d}-{val_loss:.2f}" with the epoch (from 1) and the logs put in.
// INVALID_ARGUMENT names a key that is not logged or a format that does not fit.
StatusOr<std::string> FormatPath(const std::string& pattern, int epoch, const Logs& logs);

// Whether a file could be written at `path` now: no directory is there, its folder exists or can be
// made.
Status CheckFileTarget(const std::string& path);

// A number as Python prints it: 0.8741818070411682, 1.0, 1e-05, nan.
std::string PythonFloat(double value);

}  // namespace slipway::train
