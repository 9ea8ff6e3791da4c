// SPDX-License-Identifier: Apache-2.0
#include "train/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/strings.h"

namespace slipway::train {
namespace {

constexpr int64_t kRedrawNanos = 100'000'000;
constexpr int kBarWidth = 20;

bool UseBar(Verbose verbose) {
  return verbose == Verbose::kBar || (verbose == Verbose::kAuto && isatty(STDOUT_FILENO) == 1);
}

std::string Bar(int64_t step, int64_t steps) {
  int filled = steps > 0 ? static_cast<int>(kBarWidth * std::min(step, steps) / steps) : kBarWidth;
  std::string out = "\x1b[32m";
  for (int i = 0; i < filled; ++i) out += "━";
  out += "\x1b[0m\x1b[37m";
  for (int i = filled; i < kBarWidth; ++i) out += "━";
  return out + "\x1b[0m";
}

}  // namespace

std::string FormatLogs(const Logs& logs) {
  std::string out;
  for (const auto& [name, value] : logs) {
    if (std::isnan(value)) {  // without the sign that it may have
      StrAppend(&out, out.empty() ? "" : " - ", name, ": nan");
      continue;
    }
    bool plain = value == 0 || std::abs(value) > 1e-3 || !std::isfinite(value);
    StrAppend(&out, out.empty() ? "" : " - ", name, ": ",
              plain ? fmt::format("{:.4f}", value) : fmt::format("{:.4e}", value));
  }
  return out;
}

std::string FormatDuration(double seconds) {
  auto whole = static_cast<int64_t>(seconds);
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  if (whole >= 60) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}s", whole);
}

std::string FormatPerStep(double seconds) {
  if (seconds >= 1) return fmt::format("{:.0f}s/step", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.0f}ms/step", seconds * 1e3);
  return fmt::format("{:.0f}us/step", seconds * 1e6);
}

Progress::Progress(Verbose verbose, Clock* clock, Write write)
    : silent_(verbose == Verbose::kSilent),
      bar_(UseBar(verbose)),
      clock_(clock),
      write_(std::move(write)) {}

Progress::Progress(Verbose verbose, Clock* clock)
    : Progress(verbose, clock, [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
      }) {}

void Progress::Begin(std::string title, std::optional<int64_t> steps) {
  title_ = std::move(title);
  steps_ = steps;
  start_ns_ = clock_->NowNanos();
  next_draw_ns_ = start_ns_ + kRedrawNanos;
  if (!silent_ && bar_ && !title_.empty()) write_(StrCat(title_, "\n"));
}

bool Progress::Due() {
  if (silent_ || !bar_) return false;
  int64_t now = clock_->NowNanos();
  if (now < next_draw_ns_) return false;
  next_draw_ns_ = now + kRedrawNanos;
  return true;
}

std::string Progress::Line(int64_t step, const Logs& logs, bool done) const {
  double elapsed = static_cast<double>(clock_->NowNanos() - start_ns_) * 1e-9;
  double per_step = step > 0 ? elapsed / static_cast<double>(step) : 0;
  std::string total = done ? StrCat(step) : steps_ ? StrCat(*steps_) : "Unknown";
  std::string out = fmt::format("\x1b[1m{:>{}}/{}\x1b[0m ", step, total.size(), total);
  out += Bar(step, done ? step : steps_.value_or(step));
  double shown = done || !steps_ ? elapsed : per_step * static_cast<double>(*steps_ - step);
  StrAppend(&out, " \x1b[1m", FormatDuration(shown), "\x1b[0m ", FormatPerStep(per_step));
  if (!logs.empty()) StrAppend(&out, " - ", FormatLogs(logs));
  return out;
}

void Progress::Draw(int64_t step, const Logs& logs) {
  if (silent_ || !bar_) return;
  write_(StrCat("\r\x1b[K", Line(step, logs, /*done=*/false)));
  line_open_ = true;
}

void Progress::End(int64_t steps, const Logs& logs) {
  if (silent_) return;
  if (bar_) {
    write_(StrCat("\r\x1b[K", Line(steps, logs, /*done=*/true), "\n"));
    line_open_ = false;
    return;
  }
  double elapsed = static_cast<double>(clock_->NowNanos() - start_ns_) * 1e-9;
  double per_step = steps > 0 ? elapsed / static_cast<double>(steps) : 0;
  write_(StrCat(title_, title_.empty() ? "" : " - ", steps, "/", steps, " - ",
                FormatDuration(elapsed), " - ", FormatPerStep(per_step), " - ", FormatLogs(logs),
                "\n"));
}

void Progress::Say(std::string_view text) {
  if (silent_) return;
  write_(StrCat(line_open_ ? "\r\x1b[K" : "", text, "\n"));
  line_open_ = false;
}

}  // namespace slipway::train
