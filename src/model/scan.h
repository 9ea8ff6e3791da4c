// SPDX-License-Identifier: Apache-2.0
//
// What a SavedModel could do beyond computing: ops that reach files, other machines or code outside
// the graph, and from where they are reached. Nothing is loaded or run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "formats/saved_model_reader.h"
#include "slipway/status.h"

namespace slipway::model {

// Those that saved_model_cli scan looks for if it is told none.
inline constexpr const char* kDefaultDenylist[] = {"PrintV2", "ReadFile", "WriteFile"};

struct ScanFinding {
  std::string entry;     // "signature 'serving_default'", "the restore function"
  std::string op;        // empty: the entry could not be followed, which `what` says
  std::string node;      // the first one
  std::string function;  // that holds it; the entry's name if it is in none
  int count = 0;         // of nodes
  std::string what;      // "reads files"
  bool refused = false;  // `slipway serve` refuses the model for it
};

struct MetaGraphScan {
  std::vector<std::string> tags;
  std::vector<std::string> denylisted;  // ops of the denylist that saved_model_cli would find
  std::vector<ScanFinding> findings;    // by entry
  std::vector<std::string> unreached;   // ops of that kind which nothing that is run reaches
  bool served = true;                   // by `slipway serve` without --allow_file_ops
};

MetaGraphScan ScanMetaGraph(const formats::MetaGraph& meta_graph,
                            const std::set<std::string>& denylist);

// One line in saved_model_cli's words, and what was found beyond.
std::string ScanText(const MetaGraphScan& scan, const std::set<std::string>& denylist);
std::string ScanJson(const std::vector<MetaGraphScan>& scans);

}  // namespace slipway::model
