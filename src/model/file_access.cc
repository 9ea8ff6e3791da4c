// SPDX-License-Identifier: Apache-2.0
#include "model/file_access.h"

#include "base/strings.h"
#include "model/entry_points.h"
#include "model/op_risks.h"

namespace slipway::model {
namespace {

Status Refuse(const ir::Node& node, const ir::Function& function) {
  return PermissionDeniedError(StrCat("Op ", node.op(), " (node '", node.name(), "' of function '",
                                      function.name, "') ", RiskText(*RiskOf(node.op())),
                                      ", which a model that is served may not; export the model "
                                      "without it, or, if you trust it and "
                                      "those who call it, give --allow_file_ops"));
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

bool IsRefused(std::string_view op, FileOps allowed) {
  const auto risk = RiskOf(op);
  return risk && (*risk != OpRisk::kReadsFiles || allowed == FileOps::kNone);
}

Status CheckFileOps(const ir::Function& entry, const ir::FunctionLibrary* library,
                    FileOps allowed) {
  return VisitReached(entry, library, [&](const ir::Node& node, const ir::Function& function) {
    return IsRefused(node.op(), allowed) ? Refuse(node, function) : OkStatus();
  });
}

std::unique_ptr<Env> NewDirectoryEnv(Env* base, std::string directory) {
  return std::make_unique<DirectoryEnv>(base, std::move(directory));
}

}  // namespace slipway::model
