// SPDX-License-Identifier: Apache-2.0
#include "model/file_access.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/strings.h"

namespace slipway::model {
namespace {

constexpr std::string_view kReaders[] = {"ReadFile", "RestoreV2", "MatchingFiles",
                                         "InitializeTableFromTextFileV2"};
constexpr std::string_view kWriters[] = {"WriteFile", "SaveV2", "MergeV2Checkpoints"};

Status Refuse(const ir::Node& node, const ir::Function& function) {
  return PermissionDeniedError(StrCat(
      "Op ", node.op(), " (node '", node.name(), "' of function '", function.name, "') ",
      WritesFiles(node.op()) ? "writes files" : "reads files outside the model",
      ", which a model that is served may not; export the model without it, or run the model with "
      "`slipway model run` if you trust it"));
}

void AddCallees(const ir::Node& node, std::set<std::string>* seen, std::vector<std::string>* next) {
  const auto add = [&](const ir::FunctionRef& f) {
    if (seen->insert(f.name).second) next->push_back(f.name);
  };
  for (const auto& [key, value] : node.attrs()) {
    if (const auto* f = value.As<ir::FunctionRef>()) add(*f);
    if (const auto* list = value.As<std::vector<ir::FunctionRef>>()) {
      for (const auto& f : *list) add(f);
    }
  }
}

class DirectoryEnv : public Env {
 public:
  DirectoryEnv(Env* base, std::string directory) : base_(base), directory_(std::move(directory)) {
    while (directory_.size() > 1 && directory_.back() == '/') directory_.pop_back();
  }

  StatusOr<std::unique_ptr<RandomAccessFile>> OpenForReading(const std::string& path) override {
    RETURN_IF_ERROR(CheckInside(path));
    return base_->OpenForReading(path);
  }
  StatusOr<FileInfo> Stat(const std::string& path) override {
    RETURN_IF_ERROR(CheckInside(path));
    return base_->Stat(path);
  }
  StatusOr<std::vector<std::string>> ListDirectory(const std::string& path) override {
    RETURN_IF_ERROR(CheckInside(path));
    return base_->ListDirectory(path);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path) override {
    return Written(path);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) override {
    return Written(path);
  }
  Status CreateDirectories(const std::string& path) override { return Written(path); }
  Status RemoveFile(const std::string& path) override { return Written(path); }
  Status RemoveTree(const std::string& path) override { return Written(path); }
  Status Rename(const std::string& from, const std::string&) override { return Written(from); }
  Status SyncDirectory(const std::string& path) override { return Written(path); }

 private:
  Status CheckInside(std::string_view path) const {
    std::string_view rest = path;
    bool inside = rest.starts_with(directory_);
    if (inside) rest.remove_prefix(directory_.size());
    inside = inside && (rest.starts_with('/') || directory_ == "/");
    for (const std::string_view name : StrSplit(rest, '/')) inside = inside && name != "..";
    if (inside) return OkStatus();
    return PermissionDeniedError(StrCat(
        "The model reads ", Quoted(path), ", which is outside its directory ", directory_,
        "; a model that is served may read its own files only: keep the file among its assets"));
  }
  static Status Written(std::string_view path) {
    return PermissionDeniedError(
        StrCat("The model writes ", Quoted(path), "; a model that is served may write no files"));
  }

  Env* const base_;
  std::string directory_;
};

}  // namespace

bool ReadsFiles(std::string_view op) {
  return std::find(std::begin(kReaders), std::end(kReaders), op) != std::end(kReaders);
}

bool WritesFiles(std::string_view op) {
  return std::find(std::begin(kWriters), std::end(kWriters), op) != std::end(kWriters);
}

Status CheckFileOps(const ir::Function& entry, const ir::FunctionLibrary* library,
                    FileOps allowed) {
  std::set<std::string> seen;
  std::vector<std::string> next;
  const ir::Function* function = &entry;
  for (;;) {
    for (const ir::Node* node : function->graph.nodes()) {
      const bool refused =
          WritesFiles(node->op()) || (allowed == FileOps::kNone && ReadsFiles(node->op()));
      if (refused) return Refuse(*node, *function);
      AddCallees(*node, &seen, &next);
    }
    if (next.empty()) return OkStatus();
    const std::string name = std::move(next.back());
    next.pop_back();
    ASSIGN_OR_RETURN(function, library->Find(name));
  }
}

std::unique_ptr<Env> NewDirectoryEnv(Env* base, std::string directory) {
  return std::make_unique<DirectoryEnv>(base, std::move(directory));
}

}  // namespace slipway::model
