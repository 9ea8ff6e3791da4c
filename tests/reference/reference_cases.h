// SPDX-License-Identifier: Apache-2.0
//
// The main function of programs that check reference cases for training. Those lie at
// $SLIPWAY_TRAINING_CASES, at $SLIPWAY_SHARED/training, or beside the project, as
// GROUP/NAME/case.json with the files that it names; their README says what a case holds.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "slipway/status.h"

namespace slipway {

struct ReferenceGroup {
  std::string name;   // the folder of the cases
  std::string kind;   // of those that are meant by "others"; empty: any
  std::string lists;  // where cases.txt and not_yet.txt are, below the source folder
  std::function<Status(const std::string& folder, const nlohmann::ordered_json& c)> check;
};

// [--source=DIR] NAME...; "others" stands for all that the lists do not name. Prints what failed.
// Exit status: 0 all passed, 1 some failed, 77 (skipped) where there are none.
int RunReferenceCases(const ReferenceGroup& group, int argc, char** argv);

}  // namespace slipway
