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
  struct Entry {
    std::mutex mutex;  // held while compiling
    std::shared_ptr<const exec::Executable> executable;
  };
  std::mutex mutex;
  // By the outputs' indices, ascending.
  std::map<std::vector<int>, std::shared_ptr<Entry>> entries;
  std::deque<std::vector<int>> order;  // oldest first
};

}  // namespace slipway::model
