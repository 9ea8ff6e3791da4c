// SPDX-License-Identifier: Apache-2.0
#include "serve/model_manager.h"

#include <malloc.h>

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "serve/version_scan.h"

namespace slipway::serve {

struct ModelManager::ModelState {
  const std::string name;
  ModelConfig config;
  bool configured = false;  // false: only what is left of it
  std::map<std::string, int64_t> labels;
  std::unique_ptr<ModelMetrics> metrics;
  ModelLifecycle lifecycle;
  std::map<int64_t, std::string> directories;  // as last seen
  std::map<int64_t, Servable*> available;      // published
  std::string last_complaint;                  // so that one cause is logged once

  ModelState(ModelConfig model, std::unique_ptr<ModelMetrics> cells, LifecycleOptions options)
      : name(model.name), config(std::move(model)), metrics(std::move(cells)), lifecycle(options) {}

  // A model of which no version is wanted has all it wants.
  bool Served() const {
    return lifecycle.AnyAvailable() ||
           (config.policy.kind == VersionPolicy::Kind::kSpecific && config.policy.specific.empty());
  }
};

StatusOr<std::unique_ptr<ModelManager>> ModelManager::Create(std::vector<ModelConfig> models,
                                                             ModelManagerOptions options) {
  RETURN_IF_ERROR(CheckModels(models));
  std::unique_ptr<ModelManager> manager(new ModelManager(std::move(options)));
  manager->Configure(std::move(models));
  manager->scanned_ = manager->configured_;  // the first look is its caller's to ask for
  return manager;
}

ModelManager::ModelManager(ModelManagerOptions options)
    : options_(std::move(options)),
      env_(options_.env != nullptr ? options_.env : Env::Default()),
      clock_(options_.clock != nullptr ? options_.clock : Clock::Default()),
      loaders_(
          std::make_unique<ThreadPool>(options_.load_threads, ThreadPool::Options{"loader", {}})) {}

ModelManager::~ModelManager() { Stop(); }

void ModelManager::Configure(std::vector<ModelConfig> models) {
  std::lock_guard publish(publish_mutex_);
  {
    std::lock_guard lock(mutex_);
    for (auto& [name, state] : models_) {
      state->configured = false;
      state->lifecycle.SetPolicy({.kind = VersionPolicy::Kind::kSpecific});
    }
    for (ModelConfig& model : models) {
      std::unique_ptr<ModelState>& state = models_[model.name];
      if (state == nullptr) {
        state = std::make_unique<ModelState>(model, options_.metrics->ForModel(model.name),
                                             options_.lifecycle);
      }
      state->lifecycle.SetPolicy(model.policy);
      state->config = std::move(model);
      state->configured = true;
    }
    for (auto& [name, state] : models_) {
      if (!state->configured) state->labels.clear();
    }
    ++configured_;
  }
  PublishAll();
  options_.wake();
}

std::vector<ModelManager::ModelState*> ModelManager::Configured() const {
  std::vector<ModelState*> models;
  std::lock_guard lock(mutex_);
  for (const auto& [name, model] : models_) {
    if (model->configured) models.push_back(model.get());
  }
  return models;
}

int64_t ModelManager::Tick(bool scan) {
  std::vector<ModelState*> models;
  int64_t configured;
  {
    std::lock_guard lock(mutex_);
    configured = configured_;
    scan |= scanned_ != configured_;
    for (const auto& [name, model] : models_) models.push_back(model.get());
  }
  int64_t wakeup = INT64_MAX;
  for (ModelState* model : models) {
    if (scan) Scan(model);
    while (Reconcile(model)) {
    }
    std::lock_guard lock(mutex_);
    if (!stopped_) wakeup = std::min(wakeup, model->lifecycle.NextWakeup(clock_->NowNanos()));
  }
  std::lock_guard lock(mutex_);
  scanned_ = configured;
  idle_.notify_all();
  return wakeup;
}

void ModelManager::Scan(ModelState* model) {
  ModelConfig config;
  {
    std::lock_guard lock(mutex_);
    if (!model->configured) return;
    config = model->config;
  }
  const auto versions = ScanVersions(env_, config.base_path);
  std::string complaint;
  if (!versions.ok()) {
    complaint =
        StrCat("Model ", config.name, ": ", versions.status().ToString(), "; what is loaded stays");
  } else if (versions->empty()) {
    complaint = StrCat("Model ", config.name, ": no version directory in ", config.base_path,
                       "; waiting for one");
  }
  std::vector<ModelLifecycle::Seen> seen;
  if (versions.ok()) {
    for (const VersionDirectory& version : *versions) {
      bool wanted;
      {
        std::lock_guard lock(mutex_);
        wanted = model->lifecycle.WantsFingerprint(version.version);
      }
      seen.push_back({version.version, wanted ? VersionFingerprint(env_, version.path) : ""});
      // An empty directory is one that was looked at, too.
      if (wanted && seen.back().fingerprint.empty()) seen.back().fingerprint = "empty";
    }
  }
  std::lock_guard lock(mutex_);
  if (complaint != model->last_complaint && !complaint.empty()) LOG_WARNING(complaint);
  model->last_complaint = complaint;
  if (!versions.ok() || stopped_) return;
  model->directories.clear();
  for (const VersionDirectory& version : *versions)
    model->directories[version.version] = version.path;
  model->lifecycle.Observe(seen, clock_->NowNanos());
}

bool ModelManager::Reconcile(ModelState* model) {
  VersionAction action;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return false;
    action = model->lifecycle.Next(clock_->NowNanos());
    if (action.kind == VersionAction::Kind::kLoad) ++unfreed_;
  }
  if (action.kind == VersionAction::Kind::kNone) return false;
  if (action.kind == VersionAction::Kind::kLoad) {
    BeginLoad(model, action.version);
  } else {
    Unpublish(model, action.version);
  }
  return true;
}

void ModelManager::BeginLoad(ModelState* model, int64_t version) {
  std::string directory;
  {
    std::lock_guard lock(mutex_);
    directory = model->directories[version];
  }
  LOG_DEBUG("Model ", model->name, ": loading version ", version, " from ", directory);
  loaders_->Schedule([this, model, version, directory] { Load(model, version, directory); });
}

void ModelManager::Load(ModelState* model, int64_t version, const std::string& directory) {
  const ModelConfig config = [&] {
    std::lock_guard lock(mutex_);
    return model->config;
  }();
  const std::string& name = config.name;
  const int64_t start = clock_->NowNanos();
  auto loaded = options_.load(config, version, directory);
  const int64_t now = clock_->NowNanos();
  options_.metrics->load_attempts(name, loaded.ok())->Increment();
  const std::string notice = loaded.ok() ? (*loaded)->Notice() : "";
  std::unique_ptr<Servable> dropped;
  {
    std::lock_guard publish(publish_mutex_);
    bool published = false;
    {
      std::lock_guard lock(mutex_);
      const bool usable = model->lifecycle.LoadDone(version, loaded.status(), now);
      if (loaded.ok()) {
        if (usable && !stopped_) {
          model->available[version] = loaded->release();
          published = true;
        } else {
          dropped = *std::move(loaded);
        }
      }
    }
    if (published) {
      PublishAll();
      options_.metrics->load_latency(name)->Record(static_cast<double>(now - start) / 1000.0);
      LOG_INFO("Model ", name, ": version ", version, " is available after ",
               (now - start) / 1'000'000, " ms");
      if (!notice.empty()) LOG_WARNING("Model ", name, ": version ", version, ": ", notice);
    } else if (!loaded.ok()) {
      LOG_WARNING("Model ", name, ": version ", version,
                  " cannot be loaded: ", loaded.status().ToString());
    }
    if (!published) {
      dropped.reset();
      std::lock_guard lock(mutex_);
      --unfreed_;
      idle_.notify_all();
    }
  }
  options_.wake();
}

void ModelManager::Unpublish(ModelState* model, int64_t version) {
  Servable* servable = nullptr;
  {
    std::lock_guard publish(publish_mutex_);
    {
      std::lock_guard lock(mutex_);
      const auto it = model->available.find(version);
      if (it == model->available.end()) return;
      servable = it->second;
      model->available.erase(it);
    }
    PublishAll();
  }
  LOG_DEBUG("Model ", model->name, ": version ", version, " takes no new requests");
  // The last request may leave on a loop's thread: destroying a model is not its work.
  servable->Retire([this, model, version, servable] {
    loaders_->Schedule([this, model, version, servable] { Freed(model, version, servable); });
  });
}

void ModelManager::Freed(ModelState* model, int64_t version, Servable* servable) {
  delete servable;
  // glibc keeps what was freed; a server that swaps versions for weeks must give it back.
  malloc_trim(0);
  LOG_INFO("Model ", model->name, ": version ", version, " is unloaded");
  {
    std::lock_guard lock(mutex_);
    model->lifecycle.UnloadDone(version, clock_->NowNanos());
    --unfreed_;
    idle_.notify_all();
    if (stopped_) return;
  }
  options_.wake();
}

void ModelManager::PublishAll() {
  Registry::Table table;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, model] : models_) {
      Registry::Model row{name, model->metrics.get(), {}};
      for (auto it = model->available.rbegin(); it != model->available.rend(); ++it)
        row.available.push_back(it->second);
      row.labels.assign(model->labels.begin(), model->labels.end());
      table.push_back(std::move(row));
    }
  }
  registry_.Publish(std::move(table));
}

void ModelManager::Stop() {
  std::vector<std::pair<ModelState*, int64_t>> versions;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    for (const auto& [name, model] : models_) {
      for (const int64_t version : model->lifecycle.UnloadAll())
        versions.emplace_back(model.get(), version);
    }
  }
  for (const auto& [model, version] : versions) Unpublish(model, version);
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return unfreed_ == 0; });
  lock.unlock();
  loaders_.reset();
}

Status ModelManager::WaitUntilSettled(std::chrono::milliseconds timeout,
                                      const std::atomic<bool>& stop) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(mutex_);
  const int64_t mine = configured_;
  const auto settled = [&] {
    return scanned_ >= mine && std::ranges::all_of(models_, [&](const auto& entry) {
             return !entry.second->configured ||
                    entry.second->lifecycle.Settled(clock_->NowNanos());
           });
  };
  while (!settled()) {
    if (stop || stopped_) return CancelledError("The server is stopping");
    if (std::chrono::steady_clock::now() >= end)
      return DeadlineExceededError(
          StrCat("The models were not all loaded within ", timeout.count(), " ms; it goes on"));
    // Failures settle with time, not with an event.
    idle_.wait_for(lock, std::chrono::milliseconds(50));
  }
  std::vector<std::string> failed;
  for (const auto& [name, model] : models_) {
    if (!model->configured || model->Served()) continue;
    const Status why = model->lifecycle.GivenUp(clock_->NowNanos());
    failed.push_back(
        StrCat("{name: ", name, " ", why.ok() ? "has no available version" : why.message(), "}"));
  }
  if (failed.empty()) return OkStatus();
  return UnknownError(
      StrCat(failed.size(), " model(s) did not become available: {", StrJoin(failed, ", "), "}"));
}

Status ModelManager::AssignLabels(bool allow_unavailable) {
  std::lock_guard publish(publish_mutex_);
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, model] : models_) {
      if (!model->configured) continue;
      for (const auto& [label, version] : model->config.labels) {
        if (model->available.contains(version)) continue;
        if (allow_unavailable && !model->labels.contains(label)) continue;
        return FailedPreconditionError(
            StrCat("Request to assign label to version ", version, " of model ", name,
                   ", which is not currently available for inference (label ", label, ")"));
      }
    }
    for (const auto& [name, model] : models_) {
      if (model->configured) model->labels = model->config.labels;
    }
  }
  PublishAll();
  return OkStatus();
}

Status ModelManager::Ready() const {
  std::vector<std::string> missing, failed;
  std::lock_guard lock(mutex_);
  for (const auto& [name, model] : models_) {
    if (!model->configured || model->Served()) continue;
    missing.push_back(name);
    const Status why = model->lifecycle.GivenUp(clock_->NowNanos());
    if (!why.ok()) failed.push_back(StrCat("{name: ", name, " ", why.message(), "}"));
  }
  if (!failed.empty()) {
    return FailedPreconditionError(StrCat(failed.size(), " servable(s) did not become available: {",
                                          StrJoin(failed, ", "), "}"));
  }
  if (missing.empty()) return OkStatus();
  return UnavailableError(StrCat("No version is available yet of: ", StrJoin(missing, ", ")));
}

StatusOr<std::vector<VersionStatus>> ModelManager::Statuses(std::string_view model,
                                                            std::optional<int64_t> version,
                                                            std::string_view label) const {
  std::lock_guard lock(mutex_);
  std::vector<VersionStatus> rows;
  if (const auto it = models_.find(model); it != models_.end()) {
    if (!label.empty()) {
      const auto named = it->second->labels.find(std::string(label));
      if (named == it->second->labels.end())
        return InvalidArgumentError(StrCat("Unrecognized servable version label: ", label));
      version = named->second;
    }
    rows = it->second->lifecycle.Statuses(clock_->NowNanos());
    for (VersionStatus& row : rows) {
      const auto loaded = it->second->available.find(row.version);
      if (loaded != it->second->available.end()) row.notice = loaded->second->Notice();
    }
  }
  if (rows.empty()) return NotFoundError(StrCat("Could not find any versions of model ", model));
  if (!version) return rows;
  for (const VersionStatus& row : rows) {
    if (row.version == *version) return std::vector<VersionStatus>{row};
  }
  return NotFoundError(StrCat("Could not find version ", *version, " of model ", model));
}

std::vector<std::string> ModelManager::ModelNames() const {
  std::vector<std::string> names;
  for (const ModelState* model : Configured()) names.push_back(model->name);
  return names;
}

std::vector<std::string> ModelManager::WatchedDirectories() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> directories;
  for (const auto& [name, model] : models_) {
    if (!model->configured) continue;
    directories.push_back(model->config.base_path);
    for (const auto& [version, directory] : model->directories) {
      if (!model->lifecycle.WantsFingerprint(version)) continue;
      directories.push_back(directory);
      directories.push_back(JoinPath(directory, "variables"));
      directories.push_back(JoinPath(directory, "assets.extra"));
    }
  }
  return directories;
}

}  // namespace slipway::serve
