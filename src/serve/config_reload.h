// SPDX-License-Identifier: Apache-2.0
//
// The thread that changes which models are served: on a reload call, and when the config file has
// changed (--model_config_file_poll_wait_seconds). One change at a time; a call is answered when
// the new models are available or have failed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/env.h"
#include "serve/model_manager.h"

namespace slipway::serve {

struct ConfigReloadOptions {
  Env* env = nullptr;         // Env::Default() if null
  std::string file;           // of the models; empty: none
  std::string text;           // what was last read from it
  double poll_seconds = 0;    // 0: not looked at again
  bool allow_labels = false;  // for versions that are not available
  std::chrono::milliseconds timeout{600'000};
};

// Thread safety: Submit from any thread, Stop from one.
class ConfigReload {
 public:
  using Done = std::function<void(Status)>;

  // The manager is ticked by somebody else and outlives this.
  ConfigReload(ModelManager* manager, ConfigReloadOptions options);
  // Stop.
  ~ConfigReload();
  ConfigReload(const ConfigReload&) = delete;
  ConfigReload& operator=(const ConfigReload&) = delete;

  // `done` is called on the thread, with CANCELLED if it is stopped before.
  void Submit(std::vector<ModelConfig> models, Done done);
  void Stop();

 private:
  struct Job {
    std::vector<ModelConfig> models;
    Done done;
  };
  void Run();
  void Poll();
  Status Apply(std::vector<ModelConfig> models);

  ModelManager* const manager_;
  ConfigReloadOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;           // mutex_
  std::atomic<bool> stop_{false};  // set under mutex_
  std::thread thread_;
};

}  // namespace slipway::serve
