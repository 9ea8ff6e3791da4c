// SPDX-License-Identifier: Apache-2.0
//
// Log lines on standard error: "2026-11-30 12:00:00.123 I text". Callers build the text
// (StrCat); the level is tested first by the macro, so that a line nobody wants costs a load.
#pragma once

#include <atomic>
#include <string>

#include "base/strings.h"

namespace slipway {

enum class LogLevel : int { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kOff = 4 };

namespace log_internal {
extern std::atomic<int> threshold;
void Write(LogLevel level, const std::string& text);
}  // namespace log_internal

void SetLogLevel(LogLevel level);
inline bool LogEnabled(LogLevel level) {
  return static_cast<int>(level) >= log_internal::threshold.load(std::memory_order_relaxed);
}

}  // namespace slipway

#define SLIPWAY_LOG(level, ...)                                              \
  do {                                                                       \
    if (::slipway::LogEnabled(level))                                        \
      ::slipway::log_internal::Write(level, ::slipway::StrCat(__VA_ARGS__)); \
  } while (false)
#define LOG_DEBUG(...) SLIPWAY_LOG(::slipway::LogLevel::kDebug, __VA_ARGS__)
#define LOG_INFO(...) SLIPWAY_LOG(::slipway::LogLevel::kInfo, __VA_ARGS__)
#define LOG_WARNING(...) SLIPWAY_LOG(::slipway::LogLevel::kWarning, __VA_ARGS__)
#define LOG_ERROR(...) SLIPWAY_LOG(::slipway::LogLevel::kError, __VA_ARGS__)
