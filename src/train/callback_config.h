// SPDX-License-Identifier: Apache-2.0
//
// Callbacks with settings, so that a recipe can name them as Keras does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/config.h"
#include "slipway/callbacks.h"

namespace slipway::train {

class ConfiguredCallback : public Callback, public nn::Configurable {
 public:
  Status Validate() const final;
  // Whether what it writes to could be written to now; a recipe adds the line.
  virtual Status CheckPaths() const { return OkStatus(); }
};

// ModelCheckpoint, EarlyStopping, TensorBoard, CSVLogger, TerminateOnNaN, ReduceLROnPlateau,
// BackupAndRestore, CurvesSvg. main_key: what a bare value stands for (a path, a name).
const std::vector<nn::ClassEntry<ConfiguredCallback>>& CallbackClasses();

// A logged value that is watched for getting better.
class Monitor {
 public:
  Monitor(std::string name, callbacks::Mode mode, double min_delta);

  void Fields(nn::FieldVisitor& visit);
  std::optional<nn::Configurable::Problem> Check() const;

  const std::string& name() const { return name_; }
  // The value in the logs; nothing (and a warning, once) if it is not there.
  std::optional<double> Find(const Logs& logs, const char* who);
  // Better than `reference` by more than min_delta; anything is better than nothing.
  bool Improves(double value, std::optional<double> reference) const;

 private:
  std::string name_;
  std::string mode_;  // "auto", "min", "max"
  double min_delta_;
  bool warned_ = false;
};

}  // namespace slipway::train
