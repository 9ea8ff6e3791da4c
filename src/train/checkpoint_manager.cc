// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint_manager.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/bundle.h"
#include "checkpoint/checkpoint_state.h"

namespace slipway::train {

std::string CheckpointManager::PathOf(const std::string& name) const {
  return name.starts_with('/') ? name : JoinPath(directory_, name);
}

Status CheckpointManager::Save(int64_t number,
                               const std::function<Status(const std::string& prefix)>& write) {
  constexpr int kTries = 5;
  RETURN_IF_ERROR(env_->CreateDirectories(directory_));
  const std::string name = StrCat("ckpt-", number);
  for (int i = 0; i < kTries; ++i) {
    RETURN_IF_ERROR(write(PathOf(name)));
    ASSIGN_OR_RETURN(const auto lock, env_->LockDirectory(directory_));
    // Another program that saves here may have removed it as surplus just now.
    if (env_->Exists(BundleIndexName(PathOf(name)))) return MakeLatest(name);
  }
  return UnavailableError(
      StrCat("Another program removes the checkpoints of ", directory_,
             " as they are written; give each training a directory of its own"));
}

Status CheckpointManager::MakeLatest(const std::string& name) {
  CheckpointState state;
  auto existing = ReadCheckpointState(env_, directory_);
  if (existing.ok()) {
    state = *std::move(existing);
  } else if (existing.status().code() != Code::kNotFound) {
    LOG_WARNING(existing.status().ToString(), "; it will be written anew");
  }
  std::vector<std::string>& all = state.all_model_checkpoint_paths;
  std::erase(all, name);
  all.push_back(name);
  state.model_checkpoint_path = name;
  state.all_model_checkpoint_timestamps.clear();
  std::vector<std::string> surplus;
  while (max_to_keep_ > 0 && static_cast<int>(all.size()) > max_to_keep_) {
    surplus.push_back(all.front());
    all.erase(all.begin());
  }
  RETURN_IF_ERROR(WriteCheckpointState(env_, directory_, state));
  for (const std::string& old : surplus) RETURN_IF_ERROR(Delete(old));
  return OkStatus();
}

StatusOr<std::optional<std::string>> CheckpointManager::Latest() {
  auto state = ReadCheckpointState(env_, directory_);
  if (!state.ok()) {
    if (state.status().code() == Code::kNotFound) return std::optional<std::string>();
    return state.status();
  }
  std::vector<std::string> names = state->all_model_checkpoint_paths;
  std::erase(names, state->model_checkpoint_path);
  names.push_back(state->model_checkpoint_path);
  for (auto it = names.rbegin(); it != names.rend(); ++it) {
    Status whole = VerifyBundle(env_, PathOf(*it), {.checksums = true});
    if (whole.ok()) return std::optional<std::string>(PathOf(*it));
    LOG_WARNING("Checkpoint ", PathOf(*it), " is passed over: ", whole.ToString());
  }
  return std::optional<std::string>();
}

Status CheckpointManager::Delete(const std::string& name) {
  std::string prefix = PathOf(name);
  std::string folder(Dirname(prefix));
  ASSIGN_OR_RETURN(std::vector<std::string> files, env_->ListDirectory(folder));
  // The index first: without it nothing of the rest is a checkpoint.
  std::string index(Basename(BundleIndexName(prefix)));
  std::stable_partition(files.begin(), files.end(), [&](const auto& f) { return f == index; });
  std::string data = StrCat(Basename(prefix), ".data-");
  for (const std::string& file : files) {
    if (file != index && !file.starts_with(data)) continue;
    RETURN_IF_ERROR(env_->RemoveFile(JoinPath(folder, file)));
  }
  return OkStatus();
}

Status CheckpointManager::DeleteAll() {
  if (!env_->Exists(directory_)) return OkStatus();
  ASSIGN_OR_RETURN(const auto lock, env_->LockDirectory(directory_));
  auto state = ReadCheckpointState(env_, directory_);
  if (!state.ok()) {
    return state.status().code() == Code::kNotFound ? OkStatus() : state.status();
  }
  // The state first: it never names what is gone.
  RETURN_IF_ERROR(env_->RemoveFile(JoinPath(directory_, "checkpoint")));
  for (const std::string& name : state->all_model_checkpoint_paths) RETURN_IF_ERROR(Delete(name));
  return OkStatus();
}

}  // namespace slipway::train
