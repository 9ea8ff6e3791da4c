// SPDX-License-Identifier: Apache-2.0
#include "exec/profile.h"

#include <algorithm>
#include <cstdio>

#include "base/strings.h"

namespace slipway::exec {
namespace {

std::string JsonText(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// The format counts in microseconds.
std::string Micros(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", static_cast<double>(ns) / 1e3);
  return text;
}

}  // namespace

void StepProfile::Add(ProfileEvent event) {
  std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

Status WritePerfettoTrace(Env* env, const std::string& path, const StepProfile& profile) {
  int64_t origin = INT64_MAX;
  for (const ProfileEvent& e : profile.events()) origin = std::min(origin, e.ready_ns);
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  bool first = true;
  for (const ProfileEvent& e : profile.events()) {
    if (!first) out += ",\n";
    first = false;
    StrAppend(&out, "{\"ph\":\"X\",\"pid\":1,\"tid\":", e.thread, ",\"name\":", JsonText(e.op),
              ",\"ts\":", Micros(e.start_ns - origin), ",\"dur\":", Micros(e.end_ns - e.start_ns),
              ",\"args\":{\"node\":", JsonText(e.node), ",\"device\":", JsonText(e.device),
              ",\"queued_us\":", Micros(e.start_ns - e.ready_ns), "}}");
  }
  out += "\n]}\n";
  return WriteFile(env, path, out);
}

}  // namespace slipway::exec
