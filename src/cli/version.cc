// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/command.h"

namespace slipway::cli {

void PrintVersion() { std::puts("slipway " SLIPWAY_VERSION); }

int RunVersion(Args args) {
  FlagSet flags("slipway version", "Prints the version of this program.", {});
  if (const Parsed parsed = ParseFlags(&flags, "version", args, 0); parsed.exit) {
    return *parsed.exit;
  }
  PrintVersion();
  return kDone;
}

}  // namespace slipway::cli
