// SPDX-License-Identifier: Apache-2.0
#include "model/saved_model.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/strings.h"
#include "checkpoint/bundle.h"
#include "ir/lower_v1.h"
#include "kernels/open_bundle.h"
#include "kernels/resources.h"
#include "model/entry_points.h"
#include "model/file_access.h"
#include "model/memory_limit.h"
#include "model/resource_writes.h"
#include "model/signature_internal.h"

namespace slipway::model {

struct SavedModel::State {
  Env* env = nullptr;
  std::string directory;
  LoadOptions options;
  std::unique_ptr<Env> own_files;  // where the model may reach no others
  formats::MetaGraph meta_graph;
  kernels::ResourceContainer resources;
  // Variables that may be taken for constants, by shared name; filled after initialisation.
  std::map<std::string, Tensor, std::less<>> frozen;
  std::set<std::string> without_effects;  // signatures
  std::map<std::string, std::unique_ptr<Signature>, std::less<>> signatures;
  std::map<std::string, Status, std::less<>> unsupported;  // signatures that cannot be run
};

namespace {

// Of functions that are made when loops and branches of TensorFlow 1 are lowered. No function of a
// file has a name that begins so.
constexpr char kLoweredPrefix[] = "//lowered/";

std::vector<int> AllOutputs(const formats::SignatureDef& def) {
  std::vector<int> all(def.outputs.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return all;
}

}  // namespace

// Does what Load says, step by step, on a State: everything is taken out of the graph and checked
// before anything runs.
class Loader {
 public:
  explicit Loader(SavedModel::State* state)
      : state_(*state),
        mg_(state->meta_graph),
        bytes_(state->options.max_model_bytes, state->meta_graph.graph),
        writes_(mg_.functions.get()) {}

  Status Run() {
    FindAssets();
    RETURN_IF_ERROR(ExtractSetUp());
    RETURN_IF_ERROR(ExtractSignatures());
    RETURN_IF_ERROR(CompileSetUp());
    const exec::RunOptions limits{.max_loop_iterations = state_.options.max_loop_iterations,
                                  .max_call_depth = state_.options.max_call_depth};
    for (const SetUp& step : set_up_) {
      RETURN_IF_ERROR(step.executable->Run(step.inputs, {}, limits)
                          .WithContext(StrCat("While running the ", step.name, " function")));
    }
    kernels::CloseBundles(&state_.resources);
    RETURN_IF_ERROR(bytes_.CheckVariables(state_.resources));
    RETURN_IF_ERROR(Freeze());
    RETURN_IF_ERROR(CompileSignatures());
    return CheckSupported();
  }

 private:
  // What runs once: restoring, initialising.
  struct SetUp {
    std::string name;
    ir::Function function;
    std::vector<Tensor> inputs;
    std::unique_ptr<exec::Executable> executable;
  };
  using Feeds = std::vector<std::pair<std::string, Tensor>>;

  void FindAssets();
  Status ExtractSetUp();
  StatusOr<bool> HasCheckpoint(const std::string& prefix) const;
  Status AddSetUp(const std::string& name, const std::string& target, const Feeds& feeds);
  Status ExtractSignatures();
  StatusOr<ir::Function> Extract(const formats::SignatureDef& def, const std::string& name,
                                 std::span<const int> fetched) const;
  Status Compile(ir::Function function, bool freeze, std::unique_ptr<exec::Executable>* out);
  Status CompileSetUp();
  Status Freeze();
  Status CompileSignatures();
  Status CheckSupported() const;
  Status Missing() const;
  Status Prepare(const std::string& name, const formats::SignatureDef& def, ir::Function function);
  exec::CompileOptions Options(bool freeze) const;

  SavedModel::State& state_;
  formats::MetaGraph& mg_;
  MemoryLimit bytes_;
  Feeds asset_feeds_;
  std::vector<SetUp> set_up_;
  std::map<std::string, ir::Function> signatures_;
  ResourceWrites writes_;               // of all signatures
  exec::MissingOps missing_;            // of all that is reached
  std::vector<std::string> unlowered_;  // what else cannot be run, a sentence each
  bool set_up_complete_ = true;
};

exec::CompileOptions Loader::Options(bool freeze) const {
  exec::CompileOptions options;
  options.resources = &state_.resources;
  options.library = mg_.functions.get();
  options.device = state_.options.device;
  options.env = state_.own_files != nullptr ? state_.own_files.get() : state_.env;
  options.run_passes = state_.options.run_passes;
  options.deterministic = state_.options.deterministic;
  if (!freeze) return options;
  options.frozen_value = [state = &state_](const ir::Node& handle) -> std::optional<Tensor> {
    const auto name = VariableName(handle);
    if (!name.ok()) return std::nullopt;
    const auto it = state->frozen.find(*name);
    if (it == state->frozen.end()) return std::nullopt;
    return it->second;
  };
  return options;
}

// A file that is missing is told by the op that reads it, if there is one.
void Loader::FindAssets() {
  std::set<std::string> fed;
  for (const auto& asset : mg_.assets) {
    if (!fed.insert(asset.tensor_name).second) continue;
    asset_feeds_.emplace_back(
        asset.tensor_name,
        Tensor::Scalar(JoinPath(JoinPath(state_.directory, "assets"), asset.filename)));
  }
}

// What `target` needs and nothing else, to be run once.
Status Loader::AddSetUp(const std::string& name, const std::string& target, const Feeds& feeds) {
  SetUp step;
  step.name = name;
  std::vector<std::string> fed;
  for (const auto& [tensor_name, tensor] : feeds) {
    fed.push_back(tensor_name);
    step.inputs.push_back(tensor);
  }
  ASSIGN_OR_RETURN(step.function, ExtractTarget(mg_, name, target, fed));
  const Status lowered =
      ir::LowerV1(step.function, StrCat(kLoweredPrefix, name), mg_.functions.get());
  if (lowered.code() == Code::kUnimplemented) {
    unlowered_.push_back(StrCat("The ", name, " function: ", lowered.message()));
    set_up_complete_ = false;
    return {};
  }
  RETURN_IF_ERROR(lowered);
  ResourceWrites reached(mg_.functions.get());
  RETURN_IF_ERROR(reached.Add(step.function));
  if (!state_.options.allow_file_ops) {
    RETURN_IF_ERROR(CheckFileOps(step.function, mg_.functions.get(), FileOps::kRead)
                        .WithContext(StrCat("The ", name, " function")));
  }
  set_up_.push_back(std::move(step));
  return {};
}

StatusOr<bool> Loader::HasCheckpoint(const std::string& prefix) const {
  const std::string index = BundleIndexName(prefix);
  if (state_.env->Exists(index)) return true;
  const bool has_variables = mg_.ops.contains("VarHandleOp") || mg_.ops.contains("VariableV2") ||
                             mg_.ops.contains("Variable");
  if (!has_variables) return false;
  return NotFoundError(StrCat(index, " is missing: the model has variables to restore"));
}

Status Loader::ExtractSetUp() {
  const auto& saver = mg_.saver;
  const std::string prefix = JoinPath(state_.directory, "variables/variables");
  if (!saver.restore_op.empty()) {
    ASSIGN_OR_RETURN(const bool restore, HasCheckpoint(prefix));
    if (restore && saver.is_v1) {
      return UnimplementedError("The checkpoint has TensorFlow's format of before 2016 (V1)");
    }
    Feeds feeds = asset_feeds_;
    feeds.emplace_back(saver.filename_tensor, Tensor::Scalar(prefix));
    if (restore) RETURN_IF_ERROR(bytes_.CheckCheckpoint(state_.env, prefix));
    if (restore) RETURN_IF_ERROR(AddSetUp("restore", saver.restore_op, feeds));
  }
  if (mg_.init_op.empty()) return {};
  return AddSetUp("initialiser", mg_.init_op, asset_feeds_);
}

StatusOr<ir::Function> Loader::Extract(const formats::SignatureDef& def, const std::string& name,
                                       std::span<const int> fetched) const {
  ASSIGN_OR_RETURN(ir::Function function, ExtractSignature(mg_, name, def, fetched));
  const std::vector<int> key(fetched.begin(), fetched.end());
  RETURN_IF_ERROR(ir::LowerV1(function,
                              StrCat(kLoweredPrefix, "signature/", name, "/", StrJoin(key, ",")),
                              mg_.functions.get()));
  return function;
}

// Which variables are written is judged over all signatures: what one of them assigns, none may
// take for constant.
Status Loader::ExtractSignatures() {
  for (const auto& [name, def] : mg_.signatures) {
    const std::string where = StrCat("Signature '", name, "'");
    auto function = Extract(def, name, AllOutputs(def));
    if (function.status().code() == Code::kUnimplemented) {
      unlowered_.push_back(StrCat(where, ": ", function.status().message()));
      state_.unsupported.emplace(name, function.status().WithContext(where + " cannot be run"));
      continue;
    }
    if (!function.ok()) return function.status().WithContext(where);
    RETURN_IF_ERROR(writes_.Add(*function).WithContext(where));
    if (!state_.options.allow_file_ops) {
      RETURN_IF_ERROR(
          CheckFileOps(*function, mg_.functions.get(), FileOps::kNone).WithContext(where));
    }
    if (!writes_.HasEffects(function->name)) state_.without_effects.insert(name);
    signatures_.emplace(name, *std::move(function));
  }
  return {};
}

// What is missing goes to `missing_`; UNIMPLEMENTED then, with what this one misses.
Status Loader::Compile(ir::Function function, bool freeze, std::unique_ptr<exec::Executable>* out) {
  ASSIGN_OR_RETURN(*out,
                   exec::Executable::Compile(std::move(function), Options(freeze), &missing_));
  return {};
}

Status Loader::CompileSetUp() {
  for (SetUp& step : set_up_) {
    const Status status = Compile(std::move(step.function), /*freeze=*/false, &step.executable);
    set_up_complete_ = set_up_complete_ && status.ok();
    if (status.ok() || status.code() == Code::kUnimplemented) continue;
    return status.WithContext(StrCat("The ", step.name, " function"));
  }
  if (set_up_complete_) return {};
  // It ends here; what the signatures lack is said in the same error.
  for (auto& [name, function] : signatures_) {
    std::unique_ptr<exec::Executable> unused;
    const Status status = Compile(std::move(function), /*freeze=*/false, &unused);
    if (status.ok() || status.code() == Code::kUnimplemented) continue;
    return status.WithContext(StrCat("Signature '", name, "'"));
  }
  return Missing();
}

Status Loader::Missing() const {
  std::vector<std::string> sentences = unlowered_;
  if (!missing_.empty()) sentences.emplace_back(missing_.AsStatus().message());
  return UnimplementedError(StrJoin(sentences, ". "));
}

// A model of which something works is of use, unless it is not what it was loaded for.
Status Loader::CheckSupported() const {
  if (state_.unsupported.empty()) return {};
  const bool wanted = state_.unsupported.contains(state_.options.required_signature);
  return wanted || state_.signatures.empty() ? Missing() : OkStatus();
}

Status Loader::Freeze() {
  for (const auto& [name, resource] : state_.resources.All()) {
    const auto* variable = dynamic_cast<const kernels::Variable*>(resource.get());
    if (variable == nullptr || !variable->IsInitialized() || writes_.MayBeWritten(name)) {
      continue;
    }
    ASSIGN_OR_RETURN(Tensor value, variable->Read());
    state_.frozen.emplace(name, std::move(value));
  }
  return {};
}

Status Loader::CompileSignatures() {
  for (auto& [name, function] : signatures_) {
    const std::string where = StrCat("Signature '", name, "'");
    const Status status = Prepare(name, mg_.signatures.find(name)->second, std::move(function));
    if (status.code() == Code::kUnimplemented) {
      state_.unsupported.emplace(name, status.WithContext(where + " cannot be run"));
    } else if (!status.ok()) {
      return status.WithContext(where);
    }
  }
  return {};
}

Status Loader::Prepare(const std::string& name, const formats::SignatureDef& def,
                       ir::Function function) {
  std::unique_ptr<Signature> signature(new Signature());
  signature->name_ = name;
  signature->def_ = &def;
  signature->load_options_ = &state_.options;
  // The graph's types are what is checked: a file may declare others.
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    signature->inputs_.push_back({function.args[i].dtype, def.inputs[i].shape, def.inputs[i].name});
  }
  for (size_t i = 0; i < def.outputs.size(); ++i) {
    signature->outputs_.push_back(
        {function.returns[i].value.dtype(), def.outputs[i].shape, def.outputs[i].name});
  }
  signature->compile_ =
      [state = &state_, def = &def,
       name](std::span<const int> fetched) -> StatusOr<std::unique_ptr<exec::Executable>> {
    const Loader loader(state);
    ASSIGN_OR_RETURN(ir::Function subset, loader.Extract(*def, name, fetched));
    return exec::Executable::Compile(std::move(subset), loader.Options(true));
  };
  RETURN_IF_ERROR(Compile(std::move(function), /*freeze=*/true, &signature->main_));
  state_.signatures.emplace(name, std::move(signature));
  return {};
}

SavedModel::SavedModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
SavedModel::~SavedModel() = default;

StatusOr<std::unique_ptr<SavedModel>> SavedModel::Load(Env* env, const std::string& dir,
                                                       const LoadOptions& options) {
  auto state = std::make_unique<State>();
  state->env = env;
  state->directory = dir;
  state->options = options;
  if (!options.allow_file_ops) state->own_files = NewDirectoryEnv(env, dir);
  formats::ReadLimits limits = options.limits;
  if (options.max_model_bytes > 0) {
    limits.max_constant_bytes = std::min(limits.max_constant_bytes, options.max_model_bytes);
  }
  ASSIGN_OR_RETURN(state->meta_graph, formats::ReadMetaGraph(env, dir, options.tags, limits));
  RETURN_IF_ERROR(Loader(state.get()).Run().WithContext(StrCat("Loading ", dir)));
  return std::unique_ptr<SavedModel>(new SavedModel(std::move(state)));
}

const std::string& SavedModel::directory() const { return state_->directory; }
const formats::MetaGraph& SavedModel::meta_graph() const { return state_->meta_graph; }

StatusOr<const Signature*> SavedModel::FindSignature(std::string_view name) const {
  const auto it = state_->signatures.find(name);
  if (it != state_->signatures.end()) return it->second.get();
  const auto lacking = state_->unsupported.find(name);
  if (lacking != state_->unsupported.end()) return lacking->second;
  std::vector<std::string> names;
  for (const auto& [known, signature] : state_->signatures) names.push_back(known);
  return FailedPreconditionError(StrCat(
      "Serving signature key \"", name,
      "\" not found. Signatures of the model: ", names.empty() ? "none" : StrJoin(names, ", ")));
}

std::vector<const Signature*> SavedModel::signatures() const {
  std::vector<const Signature*> all;
  for (const auto& [name, signature] : state_->signatures) all.push_back(signature.get());
  return all;
}

const std::map<std::string, Status, std::less<>>& SavedModel::unsupported() const {
  return state_->unsupported;
}

std::map<std::string, Tensor> SavedModel::Variables() const {
  std::map<std::string, Tensor> values;
  for (const auto& [name, resource] : state_->resources.All()) {
    const auto* variable = dynamic_cast<const kernels::Variable*>(resource.get());
    if (variable == nullptr) continue;
    auto value = variable->Read();
    if (value.ok()) values.emplace(name, *std::move(value));
  }
  return values;
}

uint64_t SavedModel::variable_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, value] : Variables()) bytes += value.byte_size();
  return bytes;
}

uint64_t SavedModel::packed_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, signature] : state_->signatures) {
    bytes += signature->executable().packed_weight_bytes();
  }
  return bytes;
}

namespace {

// Zeros that a signature takes, if its shapes say enough.
std::optional<std::vector<Tensor>> ZeroInputs(const Signature& signature, int64_t batch) {
  constexpr int64_t kMaxElements = int64_t{1} << 24;
  std::vector<Tensor> inputs;
  for (const auto& spec : signature.inputs()) {
    if (IsObject(spec.dtype) || !spec.shape.has_rank()) return std::nullopt;
    Shape shape;
    int64_t elements = 1;
    for (int i = 0; i < spec.shape.rank(); ++i) {
      int64_t dim = spec.shape.dim(i);
      if (dim < 0 && i > 0) return std::nullopt;
      if (dim < 0) dim = batch;
      if (dim > kMaxElements || (elements *= std::max<int64_t>(dim, 1)) > kMaxElements) {
        return std::nullopt;
      }
      shape.AddDim(dim);
    }
    auto tensor = Tensor::Allocate(spec.dtype, shape);
    if (!tensor.ok()) return std::nullopt;
    std::memset(tensor->raw_data(), 0, tensor->byte_size());
    inputs.push_back(*std::move(tensor));
  }
  return inputs;
}

}  // namespace

void SavedModel::Warmup(std::span<const int64_t> batch_sizes) const {
  static constexpr int64_t kOne[] = {1};
  if (batch_sizes.empty()) batch_sizes = kOne;
  for (const auto& [name, signature] : state_->signatures) {
    if (!state_->without_effects.contains(name)) continue;
    for (const int64_t batch : batch_sizes) {
      const auto inputs = ZeroInputs(*signature, batch);
      if (!inputs) break;
      std::vector<Tensor> outputs(signature->outputs().size());
      // Zeros may be no valid input; the first request will tell then.
      signature->Run(*inputs, outputs).IgnoreError();
    }
  }
}

}  // namespace slipway::model
