// SPDX-License-Identifier: Apache-2.0
#include "exec/plan.h"

#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "exec/evaluate.h"
#include "ir/effect.h"
#include "ir/pass.h"

namespace slipway::exec {
namespace {

using ir::Node;

// Shapes of files may be of any size. What is larger is left to the step that makes it: it fails
// there, with the node's name, and sums of blocks do not overflow.
constexpr size_t kMaxBlockBytes = size_t{1} << 40;

// Fixes the argument shapes of a clone and folds what follows from them.
StatusOr<ir::Function> Specialise(const ir::Function& function, std::span<const Tensor> inputs,
                                  const kernels::BindContext& bind) {
  ASSIGN_OR_RETURN(ir::Function special, function.Clone());
  for (size_t i = 0; i < special.args.size(); ++i) {
    special.args[i].node->set_shape(0, PartialShape(inputs[i].shape()));
  }
  RETURN_IF_ERROR(special.graph.InferShapes());
  ir::PassContext context;
  context.evaluate = [&bind](const Node& node, std::span<const Tensor> values) {
    return EvaluateNode(node, values, bind);
  };
  RETURN_IF_ERROR(ir::RunPasses(special, context, ir::DefaultPasses()));
  return special;
}

// A handle does not change while the container lives: it is looked up once, not on every step.
// Handles of one resource become one value, so that its reads and writes are seen as such.
Status ResolveHandles(ir::Function* function, const kernels::BindContext& bind) {
  std::unordered_map<const Resource*, Node*> constants;
  for (Node* node : function->graph.nodes()) {
    if (!node->inputs().empty() || node->num_outputs() != 1 || node->dtype(0) != DType::kResource ||
        node->IsConst() || node->op() == "_Arg") {
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<Tensor> handle, EvaluateNode(*node, {}, bind));
    Node*& constant = constants[handle[0].scalar<ResourceHandle>().get()];
    if (constant == nullptr) {
      ASSIGN_OR_RETURN(
          constant,
          function->graph.AddNode({.op = "Const",
                                   .name = node->name() + "/handle",
                                   .attrs = {{"value", handle[0]}, {"dtype", DType::kResource}}}));
    }
    function->graph.ReplaceUses({node, 0}, {constant, 0});
    for (auto& r : function->returns) {
      if (r.value.node == node) r.value = {constant, 0};
    }
  }
  return OkStatus();
}

class PlanBuilder {
 public:
  PlanBuilder(Plan* plan, const PlanEnvironment& environment, const kernels::BindContext& bind)
      : plan_(plan), environment_(environment), bind_(bind) {}

  Status Build() {
    ASSIGN_OR_RETURN(schedule_, MakeSchedule(plan_->function));
    AddArguments();
    for (size_t i = 0; i < schedule_.steps.size(); ++i) {
      RETURN_IF_ERROR(AddStep(static_cast<int>(i)));
    }
    AddDependencies();
    AddResults();
    order_ =
        plan_->concurrent ? StepOrder::Concurrent(schedule_.dependencies) : StepOrder::Sequential();
    AssignBlocks();
    ClaimResultBlocks();
    LayOutArena();
    AddReleases();
    return OkStatus();
  }

 private:
  using ValueKey = std::pair<const Node*, int>;

  void AddArguments() {
    for (size_t i = 0; i < plan_->function.args.size(); ++i) {
      numbers_[{plan_->function.args[i].node, 0}] = static_cast<int>(plan_->values.size());
      PlanValue& value = plan_->values.emplace_back();
      value.source = PlanValue::Source::kArgument;
      value.argument = static_cast<int>(i);
      value.dtype = plan_->function.args[i].dtype;
    }
  }

  int AddValue(PlanValue value) {
    plan_->values.push_back(std::move(value));
    return static_cast<int>(plan_->values.size()) - 1;
  }

  int NumberOf(const ir::Output& output) {
    auto it = numbers_.find({output.node, output.index});
    if (it != numbers_.end()) return it->second;
    PlanValue value;  // only constants are met before a step made them
    value.source = PlanValue::Source::kConstant;
    value.dtype = output.dtype();
    value.constant = output.node->const_value();
    const int number = AddValue(std::move(value));
    numbers_[{output.node, output.index}] = number;
    return number;
  }

  Status AddStep(int index) {
    Node* node = schedule_.steps[static_cast<size_t>(index)];
    PlanStep step;
    step.name = node->name();
    step.op = node->op();
    step.first_input = static_cast<int>(plan_->input_values.size());
    step.num_inputs = static_cast<int>(node->inputs().size());
    for (const ir::Output& input : node->inputs()) {
      const int value = NumberOf(input);
      plan_->input_values.push_back(value);
      plan_->values[static_cast<size_t>(value)].readers.push_back(index);
    }
    step.first_output = static_cast<int>(plan_->values.size());
    step.num_outputs = node->num_outputs();
    for (int i = 0; i < node->num_outputs(); ++i) {
      PlanValue value;
      value.dtype = node->dtype(i);
      value.shape = node->shape(i).ToShape();
      if (value.shape && !Fits(*value.shape, value.dtype)) value.shape.reset();
      value.step = index;
      numbers_[{node, i}] = AddValue(std::move(value));
    }
    Status bound = Bind(*node, &step);
    if (!bound.ok())
      return bound.WithContext(StrCat("node '", node->name(), "' (", node->op(), ")"));
    plan_->steps.push_back(std::move(step));
    return OkStatus();
  }

  Status Bind(const Node& node, PlanStep* step) {
    if (const RuntimeOpDef* def = FindRuntimeOp(node.op())) {
      ASSIGN_OR_RETURN(step->runtime, def->bind(node, *environment_.functions));
      step->expensive = true;
      defs_.push_back(nullptr);
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const kernels::KernelDef* def,
                     kernels::FindKernel(node, environment_.device->type()));
    std::vector<PartialShape> shapes;
    std::vector<const Tensor*> constants;
    for (int i = 0; i < step->num_inputs; ++i) {
      const int number = plan_->input_values[static_cast<size_t>(step->first_input + i)];
      const PlanValue& value = plan_->values[static_cast<size_t>(number)];
      shapes.push_back(node.input(i).shape());
      // Not &value.constant: values still move while the plan grows.
      constants.push_back(value.source == PlanValue::Source::kConstant
                              ? &node.input(i).node->const_value()
                              : nullptr);
    }
    kernels::BindContext bind = bind_;
    bind.node = &node;
    bind.input_shapes = shapes;
    bind.constant_inputs = constants;
    ASSIGN_OR_RETURN(step->kernel, def->bind(bind));
    step->expensive = def->expensive;
    plan_->num_expensive += def->expensive ? 1 : 0;
    defs_.push_back(def);
    return OkStatus();
  }

  void AddDependencies() {
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      plan_->steps[i].waits_for = static_cast<int>(schedule_.dependencies[i].size());
      for (int before : schedule_.dependencies[i]) {
        plan_->steps[static_cast<size_t>(before)].next.push_back(static_cast<int>(i));
      }
    }
  }

  void AddResults() {
    for (const auto& r : plan_->function.returns) {
      plan_->results.push_back({.value = NumberOf(r.value)});
    }
  }

  // Steps in order: an output goes where its input is if that is allowed, else into a new block.
  void AssignBlocks() {
    for (size_t s = 0; s < plan_->steps.size(); ++s) {
      if (defs_[s] == nullptr) continue;
      const PlanStep& step = plan_->steps[s];
      for (int i = 0; i < step.num_outputs; ++i) {
        PlanValue& value = plan_->values[static_cast<size_t>(step.first_output + i)];
        if (JoinShared(step, *defs_[s], i, &value)) continue;
        if (!value.shape || IsObject(value.dtype)) continue;
        if (step.op == "ReadVariableOp") continue;  // its memory is the variable's
        if (!JoinInPlace(static_cast<int>(s), *defs_[s], i, &value)) NewBlock(&value);
        MemoryBlock& block = blocks_[static_cast<size_t>(value.block)];
        block.writers.push_back(static_cast<int>(s));
        AddReaders(value, &block);
        plan_->block_values[static_cast<size_t>(value.block)].push_back(step.first_output + i);
      }
    }
  }

  void NewBlock(PlanValue* value) {
    value->block = static_cast<int>(blocks_.size());
    blocks_.push_back({.bytes = BytesOf(*value)});
    plan_->block_values.emplace_back();
  }

  static bool Fits(const Shape& shape, DType dtype) {
    size_t bytes = 0;
    return !__builtin_mul_overflow(static_cast<size_t>(shape.num_elements()), DTypeSize(dtype),
                                   &bytes) &&
           bytes <= kMaxBlockBytes;
  }

  static size_t BytesOf(const PlanValue& value) {
    return static_cast<size_t>(value.shape->num_elements()) * DTypeSize(value.dtype);
  }

  static void AddReaders(const PlanValue& value, MemoryBlock* block) {
    block->readers.insert(block->readers.end(), value.readers.begin(), value.readers.end());
  }

  PlanValue& InputOf(const PlanStep& step, int i) {
    return plan_->values[static_cast<size_t>(
        plan_->input_values[static_cast<size_t>(step.first_input + i)])];
  }

  // A view: its readers keep the memory of the input busy.
  bool JoinShared(const PlanStep& step, const kernels::KernelDef& def, int output,
                  PlanValue* value) {
    for (const auto& [from, to] : def.shares) {
      if (to != output || from >= step.num_inputs) continue;
      const PlanValue& input = InputOf(step, from);
      value->shares_input = true;
      value->block = input.block;
      if (value->block >= 0) AddReaders(*value, &blocks_[static_cast<size_t>(value->block)]);
      return true;
    }
    return false;
  }

  // Over the input's memory, if every other reader of it is done with it before this step begins.
  bool JoinInPlace(int s, const kernels::KernelDef& def, int output, PlanValue* value) {
    const PlanStep& step = plan_->steps[static_cast<size_t>(s)];
    for (const auto& [from, to] : def.in_place) {
      if (to != output || from >= step.num_inputs) continue;
      const PlanValue& input = InputOf(step, from);
      if (input.block < 0 || !input.shape || BytesOf(input) != BytesOf(*value) ||
          input.dtype != value->dtype) {
        continue;
      }
      const MemoryBlock& block = blocks_[static_cast<size_t>(input.block)];
      if (block.bytes != BytesOf(*value) || IsReturned(input.block)) continue;
      if (CountInputsIn(step, input.block) != 1 || AlreadyJoined(step, input.block)) continue;
      const bool free = std::all_of(block.readers.begin(), block.readers.end(), [&](int reader) {
        return reader == s || (order_.Before(reader, s) && !MayKeepInputs(reader));
      });
      if (!free) continue;
      value->block = input.block;
      return true;
    }
    return false;
  }

  // A variable, a list or an array keeps the value that it is given, without a copy if that lies in
  // a result's memory.
  bool MayKeepInputs(int step) const {
    const size_t i = static_cast<size_t>(step);
    const Node& node = *schedule_.steps[i];
    if (defs_[i] == nullptr || ir::HasEffect(node) || node.effect() == ir::Effect::kRandom) {
      return true;
    }
    for (int k = 0; k < node.num_outputs(); ++k) {
      if (node.dtype(k) == DType::kVariant) return true;
    }
    return false;
  }

  int CountInputsIn(const PlanStep& step, int block) {
    int count = 0;
    for (int i = 0; i < step.num_inputs; ++i) count += InputOf(step, i).block == block ? 1 : 0;
    return count;
  }

  bool AlreadyJoined(const PlanStep& step, int block) const {
    for (int i = 0; i < step.num_outputs; ++i) {
      if (plan_->values[static_cast<size_t>(step.first_output + i)].block == block) return true;
    }
    return false;
  }

  bool IsReturned(int block) const {
    return std::any_of(plan_->results.begin(), plan_->results.end(), [&](const PlanResult& r) {
      return plan_->values[static_cast<size_t>(r.value)].block == block;
    });
  }

  // The block of a returned value is the caller's memory, so that results need no copy. One result
  // a block; a second one of the same block is copied.
  void ClaimResultBlocks() {
    plan_->block_is_result.assign(blocks_.size(), false);
    for (PlanResult& result : plan_->results) {
      const PlanValue& value = plan_->values[static_cast<size_t>(result.value)];
      if (value.block < 0 || !value.shape ||
          plan_->block_is_result[static_cast<size_t>(value.block)] ||
          blocks_[static_cast<size_t>(value.block)].bytes != BytesOf(value)) {
        continue;
      }
      result.block = value.block;
      plan_->block_is_result[static_cast<size_t>(value.block)] = true;
    }
  }

  void LayOutArena() {
    // A result that is copied out at the end is read after the last step.
    for (const PlanResult& result : plan_->results) {
      const int block = plan_->values[static_cast<size_t>(result.value)].block;
      if (block >= 0 && result.block < 0) {
        pinned_.push_back(block);
      }
    }
    std::vector<MemoryBlock> in_arena;
    std::vector<size_t> which;
    size_t pinned_bytes = 0;
    plan_->block_offsets.assign(blocks_.size(), 0);
    for (size_t b = 0; b < blocks_.size(); ++b) {
      if (plan_->block_is_result[b]) continue;
      if (std::find(pinned_.begin(), pinned_.end(), static_cast<int>(b)) != pinned_.end()) {
        plan_->block_offsets[b] = pinned_bytes;
        pinned_bytes += Rounded(blocks_[b].bytes);
        continue;
      }
      in_arena.push_back(blocks_[b]);
      which.push_back(b);
    }
    const MemoryLayout layout = PlanMemory(in_arena, order_, Tensor::kAlignment);
    for (size_t i = 0; i < which.size(); ++i) {
      plan_->block_offsets[which[i]] = pinned_bytes + layout.offsets[i];
    }
    plan_->arena_bytes = pinned_bytes + layout.arena_bytes;
  }

  static size_t Rounded(size_t bytes) {
    return (bytes + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
  }

  // Memory that is not the plan's (variables' values, strings, sizes known late) is let go after
  // its last reader: an update in place needs to be the only holder.
  void AddReleases() {
    std::vector<bool> is_result(plan_->values.size(), false);
    for (const PlanResult& r : plan_->results) is_result[static_cast<size_t>(r.value)] = true;
    for (size_t v = 0; v < plan_->values.size(); ++v) {
      const PlanValue& value = plan_->values[v];
      if (value.source != PlanValue::Source::kStep || is_result[v]) continue;
      if (value.block >= 0 && !value.shares_input) continue;
      int last = value.step;
      for (int reader : value.readers) last = std::max(last, reader);
      plan_->steps[static_cast<size_t>(last)].release.push_back(static_cast<int>(v));
    }
  }

  struct KeyHash {
    size_t operator()(const ValueKey& key) const {
      return std::hash<const void*>()(key.first) * 31 + static_cast<size_t>(key.second);
    }
  };

  Plan* plan_;
  const PlanEnvironment& environment_;
  const kernels::BindContext& bind_;
  Schedule schedule_;
  StepOrder order_;
  std::vector<const kernels::KernelDef*> defs_;  // of each step; null for runtime ops
  std::unordered_map<ValueKey, int, KeyHash> numbers_;
  std::vector<MemoryBlock> blocks_;
  std::vector<int> pinned_;
};

}  // namespace

StatusOr<std::unique_ptr<Plan>> BuildPlan(const ir::Function& function,
                                          std::span<const Tensor> inputs,
                                          const PlanEnvironment& environment, bool concurrent) {
  kernels::BindContext bind;
  bind.weights = environment.weights;
  bind.resources = environment.resources;
  bind.env = environment.env;
  bind.deterministic = environment.deterministic;
  bind.intra_op_threads = environment.device->intra_op_threads();

  auto plan = std::make_unique<Plan>();
  plan->concurrent = concurrent;
  ASSIGN_OR_RETURN(plan->function, Specialise(function, inputs, bind));
  RETURN_IF_ERROR(ResolveHandles(&plan->function, bind));
  for (const Tensor& input : inputs) plan->input_shapes.push_back(input.shape());
  RETURN_IF_ERROR(PlanBuilder(plan.get(), environment, bind).Build());
  return plan;
}

}  // namespace slipway::exec
