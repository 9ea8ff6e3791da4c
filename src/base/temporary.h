// SPDX-License-Identifier: Apache-2.0
//
// Names for what is written beside its place and then renamed. Each is used once: writers of one
// path, in this process or another, do not meet. A name says whose it is, so that what a writer
// left that was killed can be told from what one still writes.
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"

namespace slipway {

// In the directory of `path`: ".NAME.partial-HOST-PROCESS-START-NUMBER", where HOST stands for the
// machine and its space of process numbers, START for this run of the process.
std::string TemporaryName(std::string_view path);

// Removes the files and directories of such names in `directory` whose writer is gone: its process
// does not run any more, or, where that cannot be seen (another machine or container, a number that
// is in use again), nothing changed in a day. Best effort: what cannot be removed only takes room.
void RemoveAbandoned(Env* env, const std::string& directory);

}  // namespace slipway
