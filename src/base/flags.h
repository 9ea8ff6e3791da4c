// SPDX-License-Identifier: Apache-2.0
//
// Command-line flags from one table, which parses them and prints their help:
//
//   ServeOptions options;
//   FlagSet flags("slipway serve [flags]", "Serves models over REST and gRPC.",
//                 {{"port", &options.port, "TCP port of the gRPC front end; 0 is none"},
//                  {"enable_batching", &options.batching, "Put requests together"}});
//   ASSIGN_OR_RETURN(auto positional, flags.Parse(argc - 1, argv + 1));
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slipway/status.h"

namespace slipway {

// The target's value when the table is made is the default. A vector collects every use of its
// flag; of the others the last use counts.
struct Flag {
  std::string name;  // with '_'; users may write '-' instead
  std::variant<bool*, int32_t*, int64_t*, double*, std::string*, std::vector<std::string>*> target;
  std::string help;  // one sentence without its full stop; what the value means, its unit
};

// Not thread safe. The targets must outlive it.
class FlagSet {
 public:
  FlagSet(std::string usage, std::string description, std::vector<Flag> flags);

  // Takes --flag=value, --flag value, one dash or two; for a bool --flag, --noflag and
  // --flag=true|false|1|0. Everything else, and all behind "--", is positional and returned in
  // order. -h and --help set help_wanted() and end the parsing.
  // INVALID_ARGUMENT for an unknown flag (names the nearest one), a missing or a bad value.
  StatusOr<std::vector<std::string>> Parse(std::span<const std::string> args);
  StatusOr<std::vector<std::string>> Parse(int argc, const char* const* argv);
  bool help_wanted() const { return help_wanted_; }

  // Usage, description and every flag with its type and default, wrapped at 80 columns.
  std::string Help() const;

 private:
  struct Seen;  // one argument that is a flag, taken apart
  const Flag* Find(std::string_view name) const;
  const Flag* FindNegated(std::string_view name) const;
  Status UnknownFlag(const Seen& seen) const;
  // `next` is what follows the argument; *used_next is set if it was the value.
  Status ParseOne(const Seen& seen, const std::string* next, bool* used_next);

  std::string usage_;
  std::string description_;
  std::vector<Flag> flags_;
  std::vector<std::string> defaults_;  // as text, one a flag
  bool help_wanted_ = false;
};

}  // namespace slipway
