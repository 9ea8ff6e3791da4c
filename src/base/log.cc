// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>

namespace slipway {
namespace log_internal {

std::atomic<int> threshold{static_cast<int>(LogLevel::kInfo)};

namespace {
spdlog::logger& Logger() {
  static spdlog::logger* logger = [] {
    auto* made = new spdlog::logger("slipway", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%d %H:%M:%S.%e %L %v");
    made->set_level(spdlog::level::debug);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *logger;
}
}  // namespace

void Write(LogLevel level, const std::string& text) {
  static constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                          spdlog::level::warn, spdlog::level::err};
  std::fflush(stdout);  // what was printed before reads before, where both go to one place
  Logger().log(kLevels[static_cast<int>(level)], spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace log_internal

void SetLogLevel(LogLevel level) { log_internal::threshold.store(static_cast<int>(level)); }

}  // namespace slipway
