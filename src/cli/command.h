// SPDX-License-Identifier: Apache-2.0
//
// Subcommands of `slipway`: each is one file that parses its flags, calls a part and prints.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/flags.h"
#include "slipway/status.h"

namespace slipway::cli {

// Exit codes of the program.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

using Args = std::span<const std::string>;

struct Command {
  const char* name;  // "model run": what the user types behind the program's name
  const char* what;  // one line for the list of commands
  int (*run)(Args args);
};

// In the order of the help.
std::span<const Command> Commands();

// Of a build with training (cli/training), or none (cli/no_training): CMake picks one of the two.
std::span<const Command> TrainingCommands();

int RunServe(Args args);
int RunPredict(Args args);
int RunLoad(Args args);
int RunModelShow(Args args);
int RunModelRun(Args args);
int RunModelScan(Args args);
int RunModelBench(Args args);
int RunDevices(Args args);
int RunVersion(Args args);

// "CODE_NAME: message" on standard error, behind what was printed before; kFailed.
int Fail(const Status& status);
// The same for what the user typed, with where help is; kWrongUsage.
int FailUsage(const std::string& command, const Status& status);

// Parses flags that take no more than `max_positional` further arguments. What the program should
// exit with (after help was printed, or on wrong usage), or nothing to go on.
struct Parsed {
  std::vector<std::string> positional;
  std::optional<int> exit;
};
Parsed ParseFlags(FlagSet* flags, const std::string& command, Args args, size_t max_positional);

// Has `name` (of the environment's SLIPWAY_LOG_LEVEL; null or empty: nothing said) and what is
// worse logged. INVALID_ARGUMENT for what is no level.
Status ApplyLogLevel(const char* name);

// "slipway 1.2.3" on standard output.
void PrintVersion();

// Runs the program on arguments without its name. What main does.
int Main(Args args);

}  // namespace slipway::cli
