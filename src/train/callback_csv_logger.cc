// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>

#include "base/env.h"
#include "base/strings.h"
#include "train/callback_classes.h"

namespace slipway {
namespace train {
namespace {

class CsvLogger final : public ConfiguredCallback {
 public:
  CsvLogger(std::string filename, callbacks::CsvLoggerOptions options)
      : filename_(std::move(filename)), separator_(options.separator), append_(options.append) {}

  const char* class_name() const override { return "CSVLogger"; }
  void Fields(nn::FieldVisitor& visit) override {
    visit("filename", &filename_);
    visit("separator", &separator_);
    visit("append", &append_);
  }
  std::optional<Problem> Check() const override {
    if (!filename_.empty()) return std::nullopt;
    return Problem{"filename", "'filename' says where to write; it is missing"};
  }

  Status CheckPaths() const override { return CheckFileTarget(filename_); }

  Status OnTrainBegin(FitControl&) override {
    Env* env = Env::Default();
    RETURN_IF_ERROR(env->CreateDirectories(std::string(Dirname(filename_))));
    auto there = env->Stat(filename_);
    header_done_ = append_ && there.ok() && there->size > 0;
    keys_.clear();
    ASSIGN_OR_RETURN(file_,
                     append_ ? env->OpenForAppending(filename_) : env->OpenForWriting(filename_));
    return OkStatus();
  }

  Status OnEpochEnd(FitControl&, int epoch, Logs& logs) override {
    std::string text;
    if (keys_.empty()) {
      for (const auto& entry : logs) keys_.push_back(entry.first);
      if (!header_done_) {
        text = "epoch";
        for (const std::string& key : keys_) StrAppend(&text, separator_, key);
        text += "\r\n";
      }
    }
    StrAppend(&text, epoch);
    for (const std::string& key : keys_) {
      auto it = logs.find(key);
      StrAppend(&text, separator_, it == logs.end() ? "NA" : PythonFloat(it->second));
    }
    text += "\r\n";
    RETURN_IF_ERROR(file_->Append(text));
    return file_->Flush();
  }

  Status OnTrainEnd(FitControl&, const Logs&) override {
    Status closed = file_->Close();
    file_.reset();
    return closed;
  }

 private:
  std::string filename_;
  std::string separator_;
  bool append_;
  bool header_done_ = false;
  std::vector<std::string> keys_;
  std::unique_ptr<WritableFile> file_;
};

}  // namespace

std::string PythonFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  // Python: the shortest digits; an exponent below 1e-4 and from 1e16 on.
  bool scientific = value != 0 && (std::abs(value) < 1e-4 || std::abs(value) >= 1e16);
  auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  std::string text(buffer, end);
  if (!scientific && text.find('.') == std::string::npos) text += ".0";
  return text;
}

ConfiguredPtr NewCsvLogger(std::string filename, callbacks::CsvLoggerOptions options) {
  return std::make_shared<CsvLogger>(std::move(filename), std::move(options));
}

}  // namespace train

namespace callbacks {
CallbackPtr CsvLogger(std::string filename, CsvLoggerOptions options) {
  return train::NewCsvLogger(std::move(filename), std::move(options));
}
}  // namespace callbacks
}  // namespace slipway
