// SPDX-License-Identifier: Apache-2.0
#include "serve/config_reload.h"

#include <utility>

#include "base/log.h"
#include "serve/model_config_file.h"

namespace slipway::serve {

ConfigReload::ConfigReload(ModelManager* manager, ConfigReloadOptions options)
    : manager_(manager), options_(std::move(options)) {
  if (options_.env == nullptr) options_.env = Env::Default();
  thread_ = std::thread([this] { Run(); });
}

ConfigReload::~ConfigReload() { Stop(); }

void ConfigReload::Submit(std::vector<ModelConfig> models, Done done) {
  {
    std::lock_guard lock(mutex_);
    if (!stop_) {
      jobs_.push_back({std::move(models), std::move(done)});
      changed_.notify_all();
      return;
    }
  }
  done(CancelledError("The server is stopping"));
}

void ConfigReload::Stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  for (Job& job : jobs_) job.done(CancelledError("The server is stopping"));
  jobs_.clear();
}

void ConfigReload::Run() {
  const bool polls = options_.poll_seconds > 0 && !options_.file.empty();
  const std::chrono::duration<double> interval(options_.poll_seconds);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const auto woken = [this] { return stop_ || !jobs_.empty(); };
    if (!polls) {
      changed_.wait(lock, woken);
    } else if (!changed_.wait_for(lock, interval, woken)) {
      lock.unlock();
      Poll();
      lock.lock();
      continue;
    }
    if (stop_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.done(Apply(std::move(job.models)));
    lock.lock();
  }
}

void ConfigReload::Poll() {
  auto text = ReadFile(options_.env, options_.file);
  if (!text.ok()) {
    // Said once for each change of what is there.
    if (!std::exchange(options_.text, "").empty())
      LOG_WARNING("The models stay as they are: ", text.status().ToString());
    return;
  }
  if (*text == options_.text) return;
  options_.text = *std::move(text);
  auto models = ParseModelConfigFile(options_.text);
  if (!models.ok()) {
    LOG_WARNING("The models stay as they are: ", options_.file, ": ", models.status().ToString());
    return;
  }
  if (!*models) return;
  LOG_INFO("The file ", options_.file, " has changed");
  const Status applied = Apply(**std::move(models));
  if (!applied.ok()) LOG_WARNING(options_.file, ": ", applied.ToString());
}

Status ConfigReload::Apply(std::vector<ModelConfig> models) {
  manager_->Configure(std::move(models));
  RETURN_IF_ERROR(manager_->WaitUntilSettled(options_.timeout, stop_));
  return manager_->AssignLabels(options_.allow_labels);
}

}  // namespace slipway::serve
