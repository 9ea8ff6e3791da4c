// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "cli/command.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  return slipway::cli::Main(args);
}
