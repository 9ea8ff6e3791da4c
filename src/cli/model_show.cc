// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/env.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/model_inputs.h"
#include "formats/saved_model_reader.h"
#include "model/describe.h"
#include "model/entry_points.h"
#include "model/graph_picture.h"
#include "model/saved_model.h"

namespace slipway::cli {
namespace {

struct ModelShowFlags {
  std::string dir;
  std::string tag_set;
  std::string signature;
  std::string format = "text";
  bool all = false;
  bool list_ops = false;
  bool unsupported = false;
  bool passes = false;
  std::string svg;
};

// What keeps the model, or some of its signatures, from running.
Status ShowUnsupported(const ModelShowFlags& flags) {
  model::LoadOptions options;
  options.required_signature.clear();
  if (!flags.tag_set.empty()) {
    options.tags = SplitTags(flags.tag_set);
  }
  ASSIGN_OR_RETURN(const auto loaded, model::SavedModel::Load(Env::Default(), flags.dir, options));
  for (const auto& [name, status] : loaded->unsupported()) {
    std::printf("%s\n", std::string(status.message()).c_str());
  }
  if (loaded->unsupported().empty()) std::puts("Everything that the model needs is there.");
  return OkStatus();
}

std::string DrawnSignature(const ModelShowFlags& flags) {
  return flags.signature.empty() ? "serving_default" : flags.signature;
}

Status Show(const ModelShowFlags& flags) {
  ASSIGN_OR_RETURN(const formats::SavedModelFile file,
                   formats::ReadSavedModel(Env::Default(), flags.dir));
  model::DescribeOptions options;
  options.all = flags.all;
  options.list_ops = flags.list_ops;
  options.signature = flags.signature;
  if (!flags.tag_set.empty()) {
    options.tags = SplitTags(flags.tag_set);
  }
  ASSIGN_OR_RETURN(const std::string text, flags.format == "json"
                                               ? model::DescribeJson(file, options)
                                               : model::DescribeText(file, options));
  std::fputs(text.c_str(), stdout);
  return OkStatus();
}

Status WriteSvg(const std::string& path, const ir::Function& function,
                const formats::MetaGraph& meta_graph) {
  ASSIGN_OR_RETURN(const std::string svg,
                   model::DrawFunction(function, meta_graph.functions.get()));
  RETURN_IF_ERROR(WriteFile(Env::Default(), path, svg));
  std::printf("The graph of '%s' is drawn in %s\n", function.name.c_str(), path.c_str());
  return OkStatus();
}

// As it stands in the file.
Status DrawFile(const ModelShowFlags& flags) {
  const std::vector<std::string> tags =
      flags.tag_set.empty() ? std::vector<std::string>{"serve"} : SplitTags(flags.tag_set);
  ASSIGN_OR_RETURN(const formats::MetaGraph meta_graph,
                   formats::ReadMetaGraph(Env::Default(), flags.dir, tags));
  const auto it = meta_graph.signatures.find(DrawnSignature(flags));
  if (it == meta_graph.signatures.end()) {
    std::vector<std::string> names;
    for (const auto& [name, def] : meta_graph.signatures) names.push_back(name);
    return InvalidArgumentError(StrCat("Could not find signature \"", DrawnSignature(flags),
                                       "\". Please choose from: ", StrJoin(names, ", ")));
  }
  ASSIGN_OR_RETURN(const ir::Function function,
                   model::ExtractSignature(meta_graph, it->first, it->second));
  return WriteSvg(flags.svg, function, meta_graph);
}

// The model is loaded for this: which variables are constants is known then only.
Status ShowPasses(const ModelShowFlags& flags) {
  model::LoadOptions options;
  options.required_signature = flags.signature;
  if (!flags.tag_set.empty()) options.tags = SplitTags(flags.tag_set);
  ASSIGN_OR_RETURN(const auto loaded, model::SavedModel::Load(Env::Default(), flags.dir, options));
  std::vector<const model::Signature*> signatures = loaded->signatures();
  if (!flags.signature.empty()) {
    ASSIGN_OR_RETURN(const model::Signature* one, loaded->FindSignature(flags.signature));
    signatures = {one};
  }
  for (const model::Signature* signature : signatures) {
    std::printf("signature '%s'\n  %-24s %8s %8s  %s\n", signature->name().c_str(), "pass",
                "before", "after", "nodes; what it did");
    for (const ir::PassReport& report : signature->executable().pass_reports()) {
      std::printf("  %-24s %8d %8d  %s\n", report.pass.c_str(), report.nodes_before,
                  report.nodes_after, report.note.c_str());
    }
  }
  if (flags.svg.empty()) return OkStatus();
  ASSIGN_OR_RETURN(const model::Signature* drawn, loaded->FindSignature(DrawnSignature(flags)));
  return WriteSvg(flags.svg, drawn->executable().function(), loaded->meta_graph());
}

}  // namespace

int RunModelShow(Args args) {
  ModelShowFlags f;
  FlagSet flags(
      "slipway model show --dir DIR [--all] [flags]",
      "Shows what a SavedModel holds, in the words of saved_model_cli show: its tag sets, "
      "the signatures of one, or what a signature takes and gives.",
      {{"dir", &f.dir, "the SavedModel's directory"},
       {"all", &f.all, "show everything"},
       {"tag_set", &f.tag_set, "tags of the MetaGraph, with ',' between"},
       {"signature_def", &f.signature, "the signature to show"},
       {"list_ops", &f.list_ops, "show the ops of the MetaGraph with these tags"},
       {"unsupported", &f.unsupported, "load the model and say which signatures cannot be run"},
       {"passes", &f.passes,
        "load the model, and show what each pass changed in the graphs of its signatures"},
       {"svg", &f.svg,
        "a file for a picture of the signature's graph (serving_default if none is given); with "
        "--passes as the passes left it"},
       {"format", &f.format, "text or json"}});
  if (const Parsed parsed = ParseFlags(&flags, "model show", args, 0); parsed.exit) {
    return *parsed.exit;
  }
  if (f.dir.empty()) {
    return FailUsage("model show",
                     InvalidArgumentError("--dir is missing: the SavedModel's directory"));
  }
  if (f.format != "text" && f.format != "json") {
    return FailUsage("model show", InvalidArgumentError(StrCat("--format is '", f.format,
                                                               "', wanted text or json")));
  }
  const Status status = f.unsupported   ? ShowUnsupported(f)
                        : f.passes      ? ShowPasses(f)
                        : f.svg.empty() ? Show(f)
                                        : DrawFile(f);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
