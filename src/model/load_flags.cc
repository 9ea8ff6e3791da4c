// SPDX-License-Identifier: Apache-2.0
#include "model/load_flags.h"

#include "base/strings.h"
#include "kernels/custom_op.h"

namespace slipway::model {
namespace {

// Each call takes some kilobytes of a thread's stack.
constexpr int32_t kMaxCallDepth = 1000;

}  // namespace

std::vector<Flag> LoadFlags::Table() {
  return {{"max_model_bytes", &max_model_bytes,
           "Refuse a model whose variables and constants take more memory; 0 is no limit"},
          {"max_call_depth", &max_call_depth,
           "How deep the functions of a model may call each other while it runs"},
          {"max_loop_iterations", &max_loop_iterations,
           "How often a loop of a model may go round; 0 is no limit"},
          {"custom_op_library", &custom_op_library,
           "A shared library of custom ops that models may use; may be given several times"},
          {"passes", &passes,
           "all, or none: run the graphs as they are written, to tell whether a pass is at fault"}};
}

Status LoadFlags::Apply(LoadOptions* options) const {
  if (max_model_bytes < 0) {
    return InvalidArgumentError(
        StrCat("--max_model_bytes is ", max_model_bytes, "; wanted a number of bytes, or 0"));
  }
  if (max_call_depth < 1 || max_call_depth > kMaxCallDepth) {
    return InvalidArgumentError(
        StrCat("--max_call_depth is ", max_call_depth, "; wanted 1 to ", kMaxCallDepth));
  }
  if (max_loop_iterations < 0) {
    return InvalidArgumentError(
        StrCat("--max_loop_iterations is ", max_loop_iterations, "; wanted 0 or more"));
  }
  if (passes != "all" && passes != "none") {
    return InvalidArgumentError(StrCat("--passes is '", passes, "'; wanted all or none"));
  }
  for (const std::string& library : custom_op_library) {
    RETURN_IF_ERROR(kernels::LoadCustomOpLibrary(library));
  }
  options->max_model_bytes = static_cast<uint64_t>(max_model_bytes);
  options->max_call_depth = max_call_depth;
  options->max_loop_iterations = max_loop_iterations;
  options->run_passes = passes == "all";
  return OkStatus();
}

}  // namespace slipway::model
