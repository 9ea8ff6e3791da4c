// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/model_inputs.h"
#include "model/scan.h"

namespace slipway::cli {
namespace {

struct ModelScanFlags {
  std::string dir;
  std::string tag_set;
  std::string op_denylist;
  std::string format = "text";
};

Status Scan(const ModelScanFlags& f) {
  std::set<std::string> denylist;
  for (const std::string& op : SplitTags(f.op_denylist)) denylist.insert(op);
  if (denylist.empty()) {
    denylist.insert(std::begin(model::kDefaultDenylist), std::end(model::kDefaultDenylist));
  }
  ASSIGN_OR_RETURN(formats::SavedModelFile file, formats::ReadSavedModel(Env::Default(), f.dir));
  std::vector<model::MetaGraphScan> scans;
  if (f.tag_set.empty()) {
    for (const auto& mg : file.meta_graphs) scans.push_back(model::ScanMetaGraph(mg, denylist));
  } else {
    ASSIGN_OR_RETURN(const formats::MetaGraph* mg, file.Find(SplitTags(f.tag_set)));
    scans.push_back(model::ScanMetaGraph(*mg, denylist));
  }
  if (f.format == "json") {
    std::fputs(model::ScanJson(scans).c_str(), stdout);
    return OkStatus();
  }
  for (const auto& scan : scans) std::fputs(model::ScanText(scan, denylist).c_str(), stdout);
  return OkStatus();
}

}  // namespace

int RunModelScan(Args args) {
  ModelScanFlags f;
  FlagSet flags(
      "slipway model scan --dir DIR [flags]",
      "Lists the ops of a SavedModel that reach files, other machines or code outside the graph, "
      "and whether `slipway serve` refuses the model for them. Nothing is loaded or run.",
      {{"dir", &f.dir, "the SavedModel's directory"},
       {"tag_set", &f.tag_set, "tags of the MetaGraph, with ',' between; all if not given"},
       {"op_denylist", &f.op_denylist,
        "ops to look for by name, with ',' between; WriteFile,ReadFile,PrintV2 if not given"},
       {"format", &f.format, "text or json"}});
  if (const Parsed parsed = ParseFlags(&flags, "model scan", args, 0); parsed.exit) {
    return *parsed.exit;
  }
  if (f.dir.empty()) {
    return FailUsage("model scan",
                     InvalidArgumentError("--dir is missing: the SavedModel's directory"));
  }
  if (f.format != "text" && f.format != "json") {
    return FailUsage("model scan", InvalidArgumentError(StrCat("--format is '", f.format,
                                                               "', wanted text or json")));
  }
  const Status status = Scan(f);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
