// SPDX-License-Identifier: Apache-2.0
#include "serve/version_scan.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/bundle.h"
#include "wire/coding.h"

namespace slipway::serve {
namespace {

bool IsDigits(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void AppendStat(Env* env, const std::string& path, std::string* out) {
  const auto info = env->Stat(path);
  if (!info.ok()) return;
  StrAppend(out, Basename(path), ":", info->size, ":", info->modified_ns, ";");
}

// A SavedModel message is a number and a few MetaGraphs: a file that was cut ends within a field.
Status CheckGraphFile(Env* env, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(env, path));
  ProtoReader reader(bytes);
  int meta_graphs = 0;
  while (reader.Next()) {
    if (reader.tag() == BytesField(2)) ++meta_graphs;
  }
  if (!reader.ok()) {
    return DataLossError(StrCat(path, " ends within a field or is no SavedModel (", bytes.size(),
                                " bytes): it is still being copied, or damaged"));
  }
  if (meta_graphs == 0) return DataLossError(StrCat(path, " holds no MetaGraph"));
  return OkStatus();
}

}  // namespace

StatusOr<std::vector<VersionDirectory>> ScanVersions(Env* env, const std::string& base_path) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env->ListDirectory(base_path));
  std::vector<VersionDirectory> versions;
  for (const std::string& name : names) {
    if (!IsDigits(name)) continue;
    const std::optional<int64_t> version = ParseInt64(name);
    if (!version) continue;
    std::string path = JoinPath(base_path, name);
    const auto info = env->Stat(path);
    if (info.ok() && info->is_directory) versions.push_back({*version, std::move(path)});
  }
  std::stable_sort(versions.begin(), versions.end(),
                   [](const auto& a, const auto& b) { return a.version < b.version; });
  const auto same = [](const auto& a, const auto& b) {
    if (a.version != b.version) return false;
    LOG_DEBUG(b.path, " is passed over: ", a.path, " is the same version");
    return true;
  };
  versions.erase(std::unique(versions.begin(), versions.end(), same), versions.end());
  return versions;
}

std::string VersionFingerprint(Env* env, const std::string& version_path) {
  std::string print;
  AppendStat(env, JoinPath(version_path, "saved_model.pb"), &print);
  AppendStat(env, JoinPath(version_path, "saved_model.pbtxt"), &print);
  for (const char* folder : {"variables", "assets", "assets.extra"}) {
    const std::string path = JoinPath(version_path, folder);
    const auto names = env->ListDirectory(path);
    if (!names.ok()) continue;
    StrAppend(&print, folder, "/");
    for (const std::string& name : *names) AppendStat(env, JoinPath(path, name), &print);
  }
  return print;
}

Status CheckVersionComplete(Env* env, const std::string& version_path) {
  const std::string graph = JoinPath(version_path, "saved_model.pb");
  if (env->Exists(graph)) {
    RETURN_IF_ERROR(CheckGraphFile(env, graph));
  } else if (!env->Exists(JoinPath(version_path, "saved_model.pbtxt"))) {
    return NotFoundError(StrCat("There is no saved_model.pb in ", version_path));
  }
  const std::string variables = JoinPath(version_path, "variables");
  if (!env->Exists(variables)) return OkStatus();
  return VerifyBundle(env, JoinPath(variables, "variables"), {.checksums = true});
}

}  // namespace slipway::serve
