// SPDX-License-Identifier: Apache-2.0
//
// Brings what is served in line with what lies in the base paths: looks, decides (ModelLifecycle),
// loads on threads of its own beside the serving, publishes to the registry, and frees a version
// once its last request has left. It has no thread that watches: someone calls Tick (the server's
// VersionWatcher, or a test).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/env.h"
#include "base/thread_pool.h"
#include "serve/model_config.h"
#include "serve/model_lifecycle.h"
#include "serve/registry.h"

namespace slipway::serve {

struct ModelManagerOptions {
  Env* env = nullptr;      // Env::Default() if null
  Clock* clock = nullptr;  // Clock::Default() if null
  LifecycleOptions lifecycle;
  ServeMetrics* metrics = nullptr;  // outlives the manager; required
  // Loads one version; blocks as long as it takes. Called on a loader thread.
  std::function<StatusOr<std::unique_ptr<Servable>>(const ModelConfig& model, int64_t version,
                                                    const std::string& directory)>
      load;
  // Loads at a time. 0: Tick and unloads do everything on the calling thread (tests).
  int load_threads = 1;
  // Called (from any thread) when Tick has something to do.
  std::function<void()> wake = [] {};
};

// Thread safety: all methods from any thread, Tick from one at a time.
class ModelManager {
 public:
  // INVALID_ARGUMENT: a model without name, a name used twice.
  static StatusOr<std::unique_ptr<ModelManager>> Create(std::vector<ModelConfig> models,
                                                        ModelManagerOptions options);
  // Stop.
  ~ModelManager();
  ModelManager(const ModelManager&) = delete;
  ModelManager& operator=(const ModelManager&) = delete;

  const Registry& registry() const { return registry_; }

  // Looks at the base paths (if `scan`) and begins what there is to do. One base path that cannot
  // be listed keeps its model as it is and does not touch the others. Returns when Tick wants to be
  // called again without any event; INT64_MAX: never.
  int64_t Tick(bool scan);

  // Replaces the models by these, which CheckModels accepts. What is not among them any more is
  // unloaded in the background; of the others base path and policy are taken over. Labels stay as
  // they are until AssignLabels.
  void Configure(std::vector<ModelConfig> models);
  // Waits, after Configure and with Tick called elsewhere, until nothing is under way for the
  // models configured. UNKNOWN "N model(s) did not become available: {…}"; CANCELLED when *stop is
  // set or the manager is stopped; DEADLINE_EXCEEDED.
  Status WaitUntilSettled(std::chrono::milliseconds timeout, const std::atomic<bool>& stop);
  // Gives the models configured the labels of their configs, all or none. FAILED_PRECONDITION: a
  // label for a version that is not available; `allow_unavailable` accepts it if the label is new.
  Status AssignLabels(bool allow_unavailable);

  // Unloads everything and waits for the leases; Tick does nothing afterwards.
  void Stop();

  // OK once each model has an available version. UNAVAILABLE: not yet, names those missing.
  // FAILED_PRECONDITION "1 servable(s) did not become available: {…}" when one never will unless
  // its files change.
  Status Ready() const;
  // Highest version first; only `version`, or the one that `label` stands for, if given.
  // INVALID_ARGUMENT "Unrecognized servable version label: x"; NOT_FOUND "Could not find any
  // versions of model m", "Could not find version 9 of model m".
  StatusOr<std::vector<VersionStatus>> Statuses(std::string_view model,
                                                std::optional<int64_t> version = std::nullopt,
                                                std::string_view label = {}) const;
  std::vector<std::string> ModelNames() const;
  // Directories whose changes matter now: base paths, and the versions in them that are not served
  // yet with their variables.
  std::vector<std::string> WatchedDirectories() const;

 private:
  struct ModelState;
  explicit ModelManager(ModelManagerOptions options);

  std::vector<ModelState*> Configured() const;
  void Scan(ModelState* model);
  bool Reconcile(ModelState* model);  // true if something was begun
  void BeginLoad(ModelState* model, int64_t version);
  void Load(ModelState* model, int64_t version, const std::string& directory);
  void Unpublish(ModelState* model, int64_t version);
  void Freed(ModelState* model, int64_t version, Servable* servable);
  void PublishAll();  // REQUIRES: publish_mutex_

  const ModelManagerOptions options_;
  Env* const env_;
  Clock* const clock_;
  Registry registry_;

  // Held from the decision to change the registry's table until it is changed. Taken before mutex_.
  std::mutex publish_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::map<std::string, std::unique_ptr<ModelState>, std::less<>> models_;  // content: mutex_
  bool stopped_ = false;                                                    // mutex_
  // Counts calls of Configure, and which of them the last scan has seen.
  int64_t configured_ = 0;  // mutex_
  int64_t scanned_ = 0;     // mutex_
  int64_t unfreed_ = 0;     // mutex_: loads under way and servables that exist
  std::unique_ptr<ThreadPool> loaders_;
};

}  // namespace slipway::serve
