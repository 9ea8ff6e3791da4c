// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/env.h"
#include "base/strings.h"
#include "cli/command.h"
#include "formats/saved_model_reader.h"
#include "model/describe.h"
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
};

// What keeps the model, or some of its signatures, from running.
Status ShowUnsupported(const ModelShowFlags& flags) {
  model::LoadOptions options;
  options.required_signature.clear();
  if (!flags.tag_set.empty()) {
    options.tags.clear();
    for (std::string_view tag : StrSplit(flags.tag_set, ',')) options.tags.emplace_back(tag);
  }
  ASSIGN_OR_RETURN(const auto loaded, model::SavedModel::Load(Env::Default(), flags.dir, options));
  for (const auto& [name, status] : loaded->unsupported()) {
    std::printf("%s\n", std::string(status.message()).c_str());
  }
  if (loaded->unsupported().empty()) std::puts("Everything that the model needs is there.");
  return OkStatus();
}

Status Show(const ModelShowFlags& flags) {
  ASSIGN_OR_RETURN(const formats::SavedModelFile file,
                   formats::ReadSavedModel(Env::Default(), flags.dir));
  model::DescribeOptions options;
  options.all = flags.all;
  options.list_ops = flags.list_ops;
  options.signature = flags.signature;
  if (!flags.tag_set.empty()) {
    for (std::string_view tag : StrSplit(flags.tag_set, ',')) options.tags.emplace_back(tag);
  }
  ASSIGN_OR_RETURN(const std::string text, flags.format == "json"
                                               ? model::DescribeJson(file, options)
                                               : model::DescribeText(file, options));
  std::fputs(text.c_str(), stdout);
  return OkStatus();
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
  const Status status = f.unsupported ? ShowUnsupported(f) : Show(f);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
