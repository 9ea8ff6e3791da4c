// SPDX-License-Identifier: Apache-2.0
#include "train/callback_config.h"

#include <cmath>

#include "base/env.h"
#include "base/log.h"
#include "base/strings.h"
#include "train/callback_classes.h"

namespace slipway {

const std::vector<double>& History::operator[](const std::string& name) const {
  static const std::vector<double> none;
  auto it = history.find(name);
  return it == history.end() ? none : it->second;
}

namespace train {
namespace {

// Keras asks the metric; by name it comes to the same.
bool GrowsWhenBetter(std::string_view name) {
  for (std::string_view part : {"acc", "auc", "precision", "recall", "f1", "iou"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<std::string> NamesOf(const Logs& logs) {
  std::vector<std::string> names;
  for (const auto& entry : logs) names.push_back(entry.first);
  return names;
}

}  // namespace

Status ConfiguredCallback::Validate() const {
  const auto problem = Check();
  const Status status = problem ? InvalidArgumentError(problem->what) : CheckPaths();
  return status.ok() ? status : status.WithContext(class_name());
}

Monitor::Monitor(std::string name, callbacks::Mode mode, double min_delta)
    : name_(std::move(name)),
      mode_(mode == callbacks::Mode::kMin   ? "min"
            : mode == callbacks::Mode::kMax ? "max"
                                            : "auto"),
      min_delta_(std::abs(min_delta)) {}

void Monitor::Fields(nn::FieldVisitor& visit) {
  visit("monitor", &name_);
  visit("mode", &mode_);
  visit("min_delta", &min_delta_);
}

std::optional<nn::Configurable::Problem> Monitor::Check() const {
  if (!std::isfinite(min_delta_)) {
    return nn::Configurable::Problem{
        "min_delta", StrCat("'min_delta' must be a finite number, got ", min_delta_)};
  }
  if (mode_ == "auto" || mode_ == "min" || mode_ == "max") return std::nullopt;
  return nn::Configurable::Problem{"mode",
                                   StrCat("'mode' must be auto, min or max, got '", mode_, "'")};
}

std::optional<double> Monitor::Find(const Logs& logs, const char* who) {
  auto it = logs.find(name_);
  if (it != logs.end()) return it->second;
  if (!warned_) {
    LOG_WARNING(who, " watches '", name_,
                "', which is not logged. There are: ", StrJoin(NamesOf(logs), ", "));
  }
  warned_ = true;
  return std::nullopt;
}

bool Monitor::Improves(double value, std::optional<double> reference) const {
  if (!reference) return true;
  bool max = mode_ == "max" || (mode_ == "auto" && GrowsWhenBetter(name_));
  return max ? value - min_delta_ > *reference : value + min_delta_ < *reference;
}

Status CheckFileTarget(const std::string& path) {
  const auto there = Env::Default()->Stat(path);
  if (there.ok() && there->is_special) return OkStatus();
  if (there.ok() && there->is_directory) {
    return InvalidArgumentError(
        StrCat("'", path, "' is a directory, the name of a file is wanted"));
  }
  return CheckCreatable(Env::Default(), path);
}

const std::vector<nn::ClassEntry<ConfiguredCallback>>& CallbackClasses() {
  static const std::vector<nn::ClassEntry<ConfiguredCallback>> classes = {
      {"ModelCheckpoint", {}, "filepath", [] { return NewModelCheckpoint("", {}); }},
      {"EarlyStopping", {}, "monitor", [] { return NewEarlyStopping({}); }},
      {"TensorBoard", {}, "log_dir", [] { return NewTensorBoard("logs", {}); }},
      {"CSVLogger", {}, "filename", [] { return NewCsvLogger("", {}); }},
      {"TerminateOnNaN", {}, nullptr, [] { return NewTerminateOnNan(); }},
      {"ReduceLROnPlateau", {}, "monitor", [] { return NewReduceLrOnPlateau({}); }},
      {"BackupAndRestore", {}, "backup_dir", [] { return NewBackupAndRestore("", {}); }},
      {"CurvesSvg", {}, "path", [] { return NewCurvesSvg(""); }},
  };
  return classes;
}

}  // namespace train
}  // namespace slipway
