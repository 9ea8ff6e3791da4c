// SPDX-License-Identifier: Apache-2.0
//
// The command line of the server: the flags of tensorflow_model_server, and its own.
#pragma once

#include <string>
#include <vector>

#include "base/flags.h"
#include "serve/server.h"
#include "slipway/status.h"

namespace slipway::serve {

// A flag of tensorflow_model_server that has no effect here: accepted, so that command lines keep
// working, and said if it is given another value than its default.
struct UnusedFlag {
  std::string name;
  std::string why;  // half a sentence
  bool is_bool = false;
  bool on = false;
  std::string text;
  bool on_by_default = false;
};
std::vector<UnusedFlag> UnusedFlags();

// The table that fills in *options and *unused, which outlive it and whose elements stay in place.
std::vector<Flag> ServeFlags(ServerOptions* options, std::vector<UnusedFlag>* unused);

// A line for each flag of `unused` that was given.
std::vector<std::string> UnusedFlagNotices(const std::vector<UnusedFlag>& unused);

// Combinations that tensorflow_model_server refuses too, or that would be less safe than asked for.
// INVALID_ARGUMENT: several parallelism flags, a batching file without batching, ALTS.
Status CheckFlags(const std::vector<UnusedFlag>& unused);

}  // namespace slipway::serve
