// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/log.h"
#include "base/strings.h"

namespace slipway::cli {
namespace {

constexpr Command kServingCommands[] = {
    {"serve", "serve models over REST and gRPC", RunServe},
    {"predict", "send one prediction to a server", RunPredict},
    {"load", "send predictions to a server for a while, and count", RunLoad},
    {"model show", "what a SavedModel takes and gives", RunModelShow},
    {"model run", "run a SavedModel on inputs from files", RunModelRun},
    {"model scan", "which ops of a SavedModel reach files or the network", RunModelScan},
    {"model bench", "how fast a SavedModel is, and which ops take the time", RunModelBench},
    {"devices", "what this machine has, and how fast it is", RunDevices},
    {"version", "the version of this program", RunVersion},
};

void PrintHelp(std::FILE* to) {
  const bool trains = !TrainingCommands().empty();
  std::fprintf(to, "slipway %s.\n\nUsage: slipway COMMAND [flags]\n\nCommands:\n",
               trains
                   ? "trains TensorFlow models, saves them in TensorFlow's formats and serves them"
                   : "serves TensorFlow models (built without training)");
  for (const Command& command : Commands()) {
    std::fprintf(to, "  %-12s %s\n", command.name, command.what);
  }
  std::fputs(
      "\n`slipway help COMMAND` and `slipway COMMAND --help` list a command's flags.\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage.\n"
      "The environment's SLIPWAY_LOG_LEVEL says what is logged on standard error: debug, info (if\n"
      "it is not set), warning or error, and what is worse.\n",
      to);
}

// The command that `args` begin with, and how many of them its name takes.
const Command* FindCommand(Args args, size_t* words) {
  for (const Command& command : Commands()) {
    const std::vector<std::string_view> name = StrSplit(command.name, ' ');
    if (args.size() < name.size()) continue;
    bool same = true;
    for (size_t i = 0; i < name.size(); ++i) same = same && args[i] == name[i];
    if (!same) continue;
    *words = name.size();
    return &command;
  }
  return nullptr;
}

// Whether `name` is the first word of commands, as "model" is.
bool IsGroup(std::string_view name) {
  for (const Command& command : Commands()) {
    if (std::string_view(command.name).starts_with(StrCat(name, " "))) return true;
  }
  return false;
}

void PrintGroupHelp(std::FILE* to, const std::string& group) {
  std::fprintf(to, "Usage: slipway %s COMMAND [flags]\n\nCommands:\n", group.c_str());
  for (const Command& command : Commands()) {
    if (!std::string_view(command.name).starts_with(group + " ")) continue;
    std::fprintf(to, "  %-12s %s\n", command.name, command.what);
  }
  std::fprintf(to, "\n`slipway help %s COMMAND` lists a command's flags.\n", group.c_str());
}

int UnknownCommand(Args args) {
  std::fflush(stdout);
  const bool group = IsGroup(args[0]);
  if (group && args.size() == 1) {
    PrintGroupHelp(stderr, args[0]);
    return kWrongUsage;
  }
  if (group && args[1] == "--help") {
    PrintGroupHelp(stdout, args[0]);
    return kDone;
  }
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.emplace_back(command.name);
  const std::string seen = group ? args[0] + " " + args[1] : args[0];
  std::string text = StrCat("INVALID_ARGUMENT: unknown command '", seen, "'");
  if (const auto nearest = NearestWord(seen, names)) {
    StrAppend(&text, "; did you mean '", *nearest, "'?");
  }
  std::fprintf(stderr, "%s\n`slipway help%s%s` lists the commands.\n", text.c_str(),
               group ? " " : "", group ? args[0].c_str() : "");
  return kWrongUsage;
}

// A descriptor that the caller closed would be given to the next file that is opened, a model for
// instance, and what is printed would go into it.
void OpenStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    if (open("/dev/null", O_RDWR) < 0) return;
  }
}

// Output that was lost, to a full disk for instance, must not look like success. A reader that
// went away has seen what it wanted.
int CheckOutput(int exit) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit;
  pollfd out = {STDOUT_FILENO, POLLOUT, 0};
  if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0) return exit;
  const int failed =
      Fail(DataLossError("the output is not complete: standard output took no more"));
  return exit == kDone ? failed : exit;
}

}  // namespace

Status ApplyLogLevel(const char* name) {
  if (name == nullptr || *name == '\0') return OkStatus();
  static constexpr std::pair<std::string_view, LogLevel> kLevels[] = {
      {"debug", LogLevel::kDebug},
      {"info", LogLevel::kInfo},
      {"warning", LogLevel::kWarning},
      {"error", LogLevel::kError},
  };
  for (const auto& [known, level] : kLevels) {
    if (known == name) return SetLogLevel(level), OkStatus();
  }
  return InvalidArgumentError(
      StrCat("SLIPWAY_LOG_LEVEL must be debug, info, warning or error, got ", Quoted(name)));
}

std::span<const Command> Commands() {
  static const std::vector<Command> commands = [] {
    const std::span<const Command> training = TrainingCommands();
    std::vector<Command> all(training.begin(), training.end());
    all.insert(all.end(), std::begin(kServingCommands), std::end(kServingCommands));
    return all;
  }();
  return commands;
}

int Fail(const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return kFailed;
}

int FailUsage(const std::string& command, const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n`slipway %s --help` lists the flags.\n", status.ToString().c_str(),
               command.c_str());
  return kWrongUsage;
}

Parsed ParseFlags(FlagSet* flags, const std::string& command, Args args, size_t max_positional) {
  Parsed parsed;
  StatusOr<std::vector<std::string>> positional = flags->Parse(args);
  if (!positional.ok()) {
    parsed.exit = FailUsage(command, positional.status());
  } else if (flags->help_wanted()) {
    std::fputs(flags->Help().c_str(), stdout);
    parsed.exit = kDone;
  } else if (positional->size() > max_positional) {
    parsed.exit = FailUsage(
        command,
        InvalidArgumentError(StrCat("unexpected argument '", (*positional)[max_positional], "'")));
  } else {
    parsed.positional = *std::move(positional);
  }
  return parsed;
}

int Main(Args args) {
  OpenStandardStreams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of a write, not our end
  if (const Status status = ApplyLogLevel(std::getenv("SLIPWAY_LOG_LEVEL")); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return kWrongUsage;
  }
  if (args.empty()) {
    PrintHelp(stderr);
    return kWrongUsage;
  }
  std::vector<std::string> asked(args.begin(), args.end());
  if (asked[0] == "help" || asked[0] == "--help" || asked[0] == "-h") {
    asked.erase(asked.begin());
    if (asked.empty()) {
      PrintHelp(stdout);
      return CheckOutput(kDone);
    }
    asked.emplace_back("--help");
  } else if (asked[0] == "--version") {
    asked[0] = "version";
  }
  size_t words = 0;
  const Command* command = FindCommand(asked, &words);
  if (command == nullptr) return CheckOutput(UnknownCommand(asked));
  return CheckOutput(command->run(Args(asked).subspan(words)));
}

}  // namespace slipway::cli
