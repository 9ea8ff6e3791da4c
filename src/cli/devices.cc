// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "base/strings.h"
#include "cli/command.h"
#include "exec/device.h"
#include "kernels/machine_probe.h"

namespace slipway::cli {

int RunDevices(Args args) {
  std::string format = "text";
  FlagSet flags(
      "slipway devices [--format=text|json]",
      "Shows the devices of this machine, its memory, and what it can do at most, measured "
      "now: multiply-adds of one core and bandwidth of its memory.",
      {{"format", &format, "text or json"}});
  if (const Parsed parsed = ParseFlags(&flags, "devices", args, 0); parsed.exit) {
    return *parsed.exit;
  }
  if (format != "text" && format != "json") {
    return FailUsage(
        "devices", InvalidArgumentError(StrCat("--format is '", format, "', wanted text or json")));
  }
  exec::Device* cpu = exec::Device::DefaultCpu();
  const kernels::MachineLimits limits = kernels::ProbeMachine();
  const double memory_gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<double>(sysconf(_SC_PAGE_SIZE)) / (1 << 30);
  const char* text =
      "%s\n  processors   %d (that this process may use)\n  memory       %.1f GiB\n"
      "  vectors      %s\n  peak         %.0f GFLOP/s a core (float32 multiply-adds)\n"
      "  bandwidth    %.1f GB/s a core (reading memory)\n";
  const char* json =
      "{\"devices\": [{\"name\": \"%s\", \"processors\": %d, \"memory_gib\": %.2f, "
      "\"vectors\": \"%s\", \"peak_gflops\": %.1f, \"bandwidth_gb_per_s\": %.2f}]}\n";
  std::printf(format == "json" ? json : text, cpu->name().c_str(), cpu->intra_op_threads(),
              memory_gib, limits.vector_target.c_str(), limits.gflops, limits.gb_per_second);
  return kDone;
}

}  // namespace slipway::cli
