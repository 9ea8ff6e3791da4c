// SPDX-License-Identifier: Apache-2.0
//
// Executables for some of a signature's outputs; inside `model` only.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "model/saved_model.h"

namespace slipway::model {

struct Signature::Subsets {
  std::mutex mutex;
  std::map<std::vector<int>, std::shared_ptr<const exec::Executable>> executables;
  std::deque<std::vector<int>> order;  // oldest first
};

}  // namespace slipway::model
