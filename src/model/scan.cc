// SPDX-License-Identifier: Apache-2.0
#include "model/scan.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "model/entry_points.h"
#include "model/file_access.h"
#include "model/op_risks.h"

namespace slipway::model {
namespace {

class Scanner {
 public:
  Scanner(const formats::MetaGraph& meta_graph, MetaGraphScan* scan)
      : mg_(meta_graph), scan_(*scan) {}

  void Run() {
    for (const auto& [name, def] : mg_.signatures) {
      Follow(StrCat("signature '", name, "'"), ExtractSignature(mg_, name, def), FileOps::kNone);
    }
    std::vector<std::string> feeds;
    for (const auto& asset : mg_.assets) feeds.push_back(asset.tensor_name);
    const std::set<std::string> once(feeds.begin(), feeds.end());
    feeds.assign(once.begin(), once.end());
    if (!mg_.init_op.empty()) {
      Follow("the initialiser", ExtractTarget(mg_, "initialiser", mg_.init_op, feeds),
             FileOps::kRead);
    }
    if (!mg_.saver.restore_op.empty()) {
      feeds.push_back(mg_.saver.filename_tensor);
      Follow("the restore function", ExtractTarget(mg_, "restore", mg_.saver.restore_op, feeds),
             FileOps::kRead);
    }
    for (const std::string& op : mg_.ops) {
      if (RiskOf(op) && !reached_.contains(op)) scan_.unreached.push_back(op);
    }
  }

 private:
  void Follow(const std::string& entry, const StatusOr<ir::Function>& function, FileOps allowed) {
    std::map<std::string, ScanFinding> found;
    Status status = function.status();
    if (status.ok()) {
      status = VisitReached(*function, mg_.functions.get(),
                            [&](const ir::Node& node, const ir::Function& f) {
                              Add(entry, node, f, allowed, &found);
                              return OkStatus();
                            });
    }
    for (auto& [op, finding] : found) {
      scan_.served = scan_.served && !finding.refused;
      scan_.findings.push_back(std::move(finding));
    }
    if (status.ok()) return;
    scan_.served = false;
    scan_.findings.push_back({.entry = entry,
                              .what = StrCat("cannot be followed: ", status.message()),
                              .refused = true});
  }

  void Add(const std::string& entry, const ir::Node& node, const ir::Function& function,
           FileOps allowed, std::map<std::string, ScanFinding>* found) {
    const auto risk = RiskOf(node.op());
    if (!risk) return;
    reached_.insert(node.op());
    ScanFinding& finding = (*found)[node.op()];
    if (finding.count++ > 0) return;
    finding.entry = entry;
    finding.op = node.op();
    finding.node = node.name();
    finding.function = function.name;
    finding.what = RiskText(*risk);
    finding.refused = IsRefused(node.op(), allowed);
  }

  const formats::MetaGraph& mg_;
  MetaGraphScan& scan_;
  std::set<std::string> reached_;
};

template <typename Range>
std::string QuotedNames(const Range& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(StrCat("'", name, "'"));
  return StrJoin(quoted, ", ");
}

std::string FindingText(const ScanFinding& f) {
  if (f.op.empty()) return StrCat("  ", f.entry, " ", f.what, "\n");
  return StrCat("  ", f.entry, ": ", f.op, " ", f.what, ", ", f.count,
                f.count == 1 ? " node" : " nodes", " ('", f.node, "' of '", f.function, "')",
                f.refused ? "" : ", allowed below the model's folder", "\n");
}

}  // namespace

MetaGraphScan ScanMetaGraph(const formats::MetaGraph& meta_graph,
                            const std::set<std::string>& denylist) {
  MetaGraphScan scan;
  scan.tags = meta_graph.tags;
  for (const std::string& op : denylist) {
    if (meta_graph.ops.contains(op)) scan.denylisted.push_back(op);
  }
  Scanner(meta_graph, &scan).Run();
  return scan;
}

std::string ScanText(const MetaGraphScan& scan, const std::set<std::string>& denylist) {
  std::string out = StrCat("MetaGraph with tag set [", QuotedNames(scan.tags), "] ");
  if (scan.denylisted.empty()) {
    StrAppend(&out, "does not contain the default denylisted ops: ",
              denylist.empty() ? "set()" : StrCat("{", QuotedNames(denylist), "}"), "\n");
  } else {
    StrAppend(&out, "contains the following denylisted ops: {", QuotedNames(scan.denylisted),
              "}\n");
  }
  for (const ScanFinding& finding : scan.findings) out += FindingText(finding);
  if (!scan.unreached.empty()) {
    StrAppend(&out, "  in the graph, but nothing that is run reaches them: ",
              StrJoin(scan.unreached, ", "), "\n");
  }
  StrAppend(&out, scan.served ? "  `slipway serve` serves it\n"
                              : "  `slipway serve` refuses it without --allow_file_ops\n");
  return out;
}

std::string ScanJson(const std::vector<MetaGraphScan>& scans) {
  using Json = nlohmann::ordered_json;
  Json out;
  Json& meta_graphs = out["meta_graphs"] = Json::array();
  for (const MetaGraphScan& scan : scans) {
    Json findings = Json::array();
    for (const ScanFinding& f : scan.findings) {
      findings.push_back({{"entry", f.entry},
                          {"op", f.op},
                          {"what", f.what},
                          {"nodes", f.count},
                          {"node", f.node},
                          {"function", f.function},
                          {"refused", f.refused}});
    }
    meta_graphs.push_back({{"tags", scan.tags},
                           {"served", scan.served},
                           {"denylisted", scan.denylisted},
                           {"findings", std::move(findings)},
                           {"unreached", scan.unreached}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slipway::model
