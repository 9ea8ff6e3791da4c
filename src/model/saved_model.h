// SPDX-License-Identifier: Apache-2.0
//
// A SavedModel that runs: loaded, its variables restored, its tables initialised, its signatures
// compiled for the device. It owns its variables and tables: two loaded models share nothing by
// name, and all memory goes when the object does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "exec/executable.h"
#include "formats/saved_model_reader.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway::model {

struct LoadOptions {
  std::vector<std::string> tags = {"serve"};
  exec::Device* device = nullptr;  // the process's CPU if null
  formats::ReadLimits limits;
  bool deterministic = false;
  // Off: graphs run as they are written (for comparing).
  bool run_passes = true;
  // What variables and constants may take together; 0: no limit. RESOURCE_EXHAUSTED before more is
  // read from a checkpoint.
  uint64_t max_model_bytes = 0;
  // Of every run of the model, in place of what RunOptions says.
  int max_call_depth = 128;
  int64_t max_loop_iterations = 0;
  // The signature without which the model is of no use; empty: any.
  std::string required_signature = "serving_default";
  // Off, for models that are not trusted: a signature that reaches an op on files, other machines
  // or foreign code, and a restore or initialiser function that does more than read files, is
  // PERMISSION_DENIED at load; those two may read
  // files below the model's directory only.
  bool allow_file_ops = true;
};

using TensorMap = std::map<std::string, Tensor, std::less<>>;

// One entry point. Thread safety: all methods from any thread; as long-lived as its SavedModel.
class Signature {
 public:
  const std::string& name() const { return name_; }
  const std::string& method_name() const { return def_->method_name; }
  // Specs in the order of Run's tensors (by name); spec.name is the client's name.
  const std::vector<TensorSpec>& inputs() const { return inputs_; }
  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  // Values of inputs that a request may leave out.
  const TensorMap& defaults() const { return def_->defaults; }
  // Index, or -1.
  int FindInput(std::string_view name) const;
  int FindOutput(std::string_view name) const;

  // Runs with all inputs and outputs in the order of inputs() and outputs(). The rules of
  // exec::Executable::Run hold (outputs written in place, no allocation in steady state).
  Status Run(std::span<const Tensor> inputs, std::span<Tensor> outputs,
             const exec::RunOptions& options = {}) const;
  // Only the outputs with these indices, computed by an executable of their own that leaves out
  // what they do not need (compiled at the first call and kept; at most kMaxSubsets of them, their
  // order does not count). Other subsets run while one is compiled.
  Status RunSubset(std::span<const Tensor> inputs, std::span<const int> fetched,
                   std::span<Tensor> outputs, const exec::RunOptions& options = {}) const;
  // By name. `fetched` empty: all outputs. INVALID_ARGUMENT when inputs are missing or too many
  // ("input size does not match signature: … Sent extra: {…}. Missing but required: {…}."), have a
  // dtype that does not fit, or when `fetched` names no output.
  StatusOr<TensorMap> Run(const TensorMap& inputs, std::span<const std::string> fetched = {},
                          const exec::RunOptions& options = {}) const;

  // Compiled at load.
  const exec::Executable& executable() const { return *main_; }

  static constexpr int kMaxSubsets = 16;
  ~Signature();
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

 private:
  friend class Loader;  // fills it in
  struct Subsets;
  Signature();
  // Compiled if it is not there; `key` ascends.
  StatusOr<std::shared_ptr<const exec::Executable>> FindSubset(const std::vector<int>& key) const;

  exec::RunOptions Limited(const exec::RunOptions& options) const;

  std::string name_;
  const formats::SignatureDef* def_ = nullptr;
  const LoadOptions* load_options_ = nullptr;
  std::vector<TensorSpec> inputs_;
  std::vector<TensorSpec> outputs_;
  // The executable for some of the outputs.
  std::function<StatusOr<std::unique_ptr<exec::Executable>>(std::span<const int>)> compile_;
  std::unique_ptr<exec::Executable> main_;
  std::unique_ptr<Subsets> subsets_;
};

class SavedModel {
 public:
  // Reads `dir`, restores, initialises, compiles all signatures.
  // NOT_FOUND: no saved_model.pb, or no MetaGraph with the tags (those there are, are listed), or a
  // file is missing; UNIMPLEMENTED: the initialiser, the restore function, the required signature
  // or all signatures reach ops that have no kernel; one error lists those of everything that is
  // reached, with nodes and counts; otherwise as formats::ReadSavedModel and the checkpoint's
  // reader. Other signatures that reach such ops do not keep the rest from loading (unsupported()).
  static StatusOr<std::unique_ptr<SavedModel>> Load(Env* env, const std::string& dir,
                                                    const LoadOptions& options = {});
  ~SavedModel();
  SavedModel(const SavedModel&) = delete;
  SavedModel& operator=(const SavedModel&) = delete;

  const std::string& directory() const;
  const formats::MetaGraph& meta_graph() const;
  // By name. FAILED_PRECONDITION 'Serving signature key "s" not found.' plus those there are;
  // UNIMPLEMENTED with what is missing for one that cannot be run.
  StatusOr<const Signature*> FindSignature(std::string_view name) const;
  std::vector<const Signature*> signatures() const;  // that can be run, by name
  // The others, with what each of them lacks.
  const std::map<std::string, Status, std::less<>>& unsupported() const;

  // Bytes of variables, and of weights packed for the signatures.
  uint64_t variable_bytes() const;
  uint64_t packed_bytes() const;
  // Variables by their shared name with current values.
  std::map<std::string, Tensor> Variables() const;

  // Runs every signature that leaves no trace once for each batch size, with zeros, so that plans
  // exist and memory is touched before the first request. Signatures with an input whose shape
  // beyond the batch is not known, or of strings, and failures are passed over.
  void Warmup(std::span<const int64_t> batch_sizes = {}) const;

 private:
  friend class Loader;  // fills it in
  struct State;
  explicit SavedModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway::model
