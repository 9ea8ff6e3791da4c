// SPDX-License-Identifier: Apache-2.0
#include "exec/executable.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/strings.h"
#include "exec/evaluate.h"
#include "exec/frame.h"
#include "exec/plan.h"
#include "exec/plan_cache.h"
#include "exec/runtime_op.h"

namespace slipway::exec {
namespace {

// How steps of one set of shapes run best is found by trying: a hand-off costs more than a small
// network, two products at a time may halve the time of a large one.
constexpr int kTrials = 4;
constexpr int64_t kWorthTryingNs = 100'000;
// Which steps may run at the same time takes a bit for each pair of them.
constexpr size_t kMaxConcurrentSteps = 8192;

struct ShapePlans {
  explicit ShapePlans(std::atomic<size_t>* idle) : idle_bytes(idle) {}
  ~ShapePlans() { FreeFrames(); }

  // Of frames that nobody uses.
  void FreeFrames() {
    Free(inline_plan.get(), &inline_frames);
    // That plan is made before the first mode is left.
    if (mode.load(std::memory_order_acquire) == kTryInline) return;
    Free(concurrent_plan.get(), &concurrent_frames);
  }
  void Free(const Plan* plan, FramePool* pool) {
    while (plan != nullptr && pool->Take() != nullptr) idle_bytes->fetch_sub(plan->arena_bytes);
  }

  std::vector<Shape> shapes;
  std::unique_ptr<Plan> inline_plan;
  FramePool inline_frames;
  std::unique_ptr<Plan> concurrent_plan;  // null until it is to be tried
  FramePool concurrent_frames;

  enum Mode : int { kTryInline, kTryConcurrent, kInline, kConcurrent };
  std::atomic<int> mode{kTryInline};
  std::atomic<int> trials{0};
  std::atomic<int64_t> best_inline_ns{INT64_MAX};
  std::atomic<int64_t> best_concurrent_ns{INT64_MAX};
  std::mutex switching;
  std::atomic<size_t>* idle_bytes;  // of the executable
};

void KeepSmaller(std::atomic<int64_t>* best, int64_t value) {
  int64_t seen = best->load(std::memory_order_relaxed);
  while (value < seen && !best->compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

bool SameShapes(const std::vector<Shape>& shapes, std::span<const Tensor> inputs) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!(shapes[i] == inputs[i].shape())) return false;
  }
  return true;
}

}  // namespace

struct Executable::Impl : public FunctionCompiler {
  Impl(CompileOptions o) : options(std::move(o)), plans(options.max_plans) {}

  StatusOr<const Executable*> Get(std::string_view name) override;
  PlanEnvironment Environment();
  StatusOr<PlanCache<ShapePlans>::Lease> PlansFor(std::span<const Tensor> inputs);
  Status CheckInputs(std::span<const Tensor> inputs) const;
  Status RunPlans(ShapePlans& plans_of_shape, std::span<const Tensor> inputs,
                  std::span<Tensor> outputs, const RunOptions& run);
  void Keep(std::unique_ptr<Frame> frame, const Plan& plan, FramePool* pool, const ShapePlans* now);
  void Learn(ShapePlans& p, std::span<const Tensor> inputs, bool concurrent, int64_t ns);

  CompileOptions options;
  ir::Function function;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<ir::PassReport> reports;
  std::unique_ptr<kernels::ResourceContainer> own_resources;
  std::unique_ptr<kernels::WeightCache> own_weights;
  kernels::WeightCache* weights = nullptr;
  std::atomic<size_t> idle_bytes{0};  // before the plans, which count down when they go
  PlanCache<ShapePlans> plans;

  // Called functions are compiled once; those of a callee are its caller's.
  FunctionCompiler* functions = this;
  std::mutex functions_mutex;
  std::map<std::string, std::unique_ptr<Executable>, std::less<>> compiled;
};

PlanEnvironment Executable::Impl::Environment() {
  return {.device = options.device,
          .resources = options.resources,
          .weights = weights,
          .env = options.env,
          .functions = functions,
          .deterministic = options.deterministic};
}

Status Executable::Impl::CheckInputs(std::span<const Tensor> given) const {
  if (given.size() != inputs.size()) {
    return InvalidArgumentError(
        StrCat("'", function.name, "' takes ", inputs.size(), " inputs, got ", given.size()));
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].dtype() == inputs[i].dtype) continue;
    return InvalidArgumentError(StrCat("Expects arg[", i, "] ('", inputs[i].name, "') to be ",
                                       DTypeName(inputs[i].dtype), " but ",
                                       DTypeName(given[i].dtype()), " is provided"));
  }
  return OkStatus();
}

StatusOr<PlanCache<ShapePlans>::Lease> Executable::Impl::PlansFor(std::span<const Tensor> given) {
  auto matches = [&](const ShapePlans& p) { return SameShapes(p.shapes, given); };
  if (auto found = plans.Find(matches)) return found;
  auto made = std::make_unique<ShapePlans>(&idle_bytes);
  ASSIGN_OR_RETURN(made->inline_plan, BuildPlan(function, given, Environment(), false));
  for (const Tensor& t : given) made->shapes.push_back(t.shape());
  const bool choice = made->inline_plan->num_expensive >= 2 &&
                      options.device->inter_op().size() > 0 &&
                      made->inline_plan->steps.size() <= kMaxConcurrentSteps;
  made->mode = choice ? ShapePlans::kTryInline : ShapePlans::kInline;
  return plans.Insert(std::move(made), matches);
}

Status Executable::Impl::RunPlans(ShapePlans& p, std::span<const Tensor> given,
                                  std::span<Tensor> results, const RunOptions& run) {
  const int mode = p.mode.load(std::memory_order_acquire);
  const bool concurrent = mode == ShapePlans::kTryConcurrent || mode == ShapePlans::kConcurrent;
  const bool trying = mode == ShapePlans::kTryInline || mode == ShapePlans::kTryConcurrent;
  const Plan& plan = concurrent ? *p.concurrent_plan : *p.inline_plan;
  FramePool& pool = concurrent ? p.concurrent_frames : p.inline_frames;

  std::unique_ptr<Frame> frame = pool.Take();
  if (frame == nullptr) {
    frame = std::make_unique<Frame>(plan, options.device);
  } else {
    idle_bytes.fetch_sub(plan.arena_bytes, std::memory_order_relaxed);
  }
  const int64_t start = trying ? Clock::Default()->NowNanos() : 0;
  Status status = frame->Begin(given, results);
  if (status.ok()) {
    status = concurrent ? RunConcurrently(plan, frame.get(), options.device, run)
                        : RunInline(plan, frame.get(), options.device, run);
  }
  frame->End(given, results, status.ok());
  Keep(std::move(frame), plan, &pool, &p);
  if (trying && status.ok()) {
    Learn(p, given, concurrent, Clock::Default()->NowNanos() - start);
  }
  return status;
}

// Many shapes with many callers would keep a frame for each pair otherwise.
void Executable::Impl::Keep(std::unique_ptr<Frame> frame, const Plan& plan, FramePool* pool,
                            const ShapePlans* now) {
  const size_t bytes = plan.arena_bytes;
  if (idle_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes > options.max_idle_bytes) {
    plans.Find([&](ShapePlans& other) {
      if (&other != now) other.FreeFrames();
      return false;
    });
  }
  const bool alone = idle_bytes.load(std::memory_order_relaxed) == bytes;
  const bool fits = idle_bytes.load(std::memory_order_relaxed) <= options.max_idle_bytes;
  if ((alone || fits) && pool->Give(std::move(frame))) return;
  idle_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

void Executable::Impl::Learn(ShapePlans& p, std::span<const Tensor> given, bool concurrent,
                             int64_t ns) {
  KeepSmaller(concurrent ? &p.best_concurrent_ns : &p.best_inline_ns, ns);
  if (p.trials.fetch_add(1) + 1 < kTrials) return;
  std::lock_guard lock(p.switching);
  const int mode = p.mode.load();
  if (mode == ShapePlans::kTryInline && !concurrent) {
    int next = ShapePlans::kInline;
    if (p.best_inline_ns.load() >= kWorthTryingNs) {
      auto plan = BuildPlan(function, given, Environment(), true);
      if (plan.ok()) {
        p.concurrent_plan = *std::move(plan);
        next = ShapePlans::kTryConcurrent;
      }
    }
    p.trials.store(0);
    p.mode.store(next, std::memory_order_release);
  } else if (mode == ShapePlans::kTryConcurrent && concurrent) {
    const bool faster = p.best_concurrent_ns.load() < p.best_inline_ns.load();
    p.mode.store(faster ? ShapePlans::kConcurrent : ShapePlans::kInline, std::memory_order_release);
  }
}

StatusOr<const Executable*> Executable::Impl::Get(std::string_view name) {
  std::lock_guard lock(functions_mutex);
  if (auto it = compiled.find(name); it != compiled.end()) return it->second.get();
  if (options.library == nullptr) {
    return NotFoundError(StrCat("There is no function library to find '", name, "' in"));
  }
  ASSIGN_OR_RETURN(const ir::Function* callee, options.library->Find(name));
  ASSIGN_OR_RETURN(ir::Function copy, callee->Clone());
  ASSIGN_OR_RETURN(std::unique_ptr<Executable> made, Compile(std::move(copy), options));
  made->impl_->weights = weights;
  made->impl_->functions = functions;
  return compiled.emplace(std::string(name), std::move(made)).first->second.get();
}

Executable::Executable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executable::~Executable() = default;

StatusOr<std::unique_ptr<Executable>> Executable::Compile(ir::Function function,
                                                          CompileOptions options,
                                                          MissingOps* all_missing) {
  auto impl = std::make_unique<Impl>(std::move(options));
  CompileOptions& o = impl->options;
  if (o.device == nullptr) o.device = Device::DefaultCpu();
  if (o.env == nullptr) o.env = Env::Default();
  if (o.resources == nullptr) {
    impl->own_resources = std::make_unique<kernels::ResourceContainer>();
    o.resources = impl->own_resources.get();
  }
  impl->own_weights = std::make_unique<kernels::WeightCache>();
  impl->weights = impl->own_weights.get();
  for (const auto& arg : function.args) {
    impl->inputs.push_back({.dtype = arg.dtype, .shape = arg.shape, .name = arg.name});
    // Declared shapes are promises that nobody checks: only shapes that came count.
    arg.node->set_shape(0, PartialShape::Unknown());
  }
  RETURN_IF_ERROR(function.graph.InferShapes());
  for (const auto& r : function.returns) {
    impl->outputs.push_back({.dtype = r.value.dtype(), .shape = r.value.shape(), .name = r.name});
  }

  ir::PassContext context;
  context.library = o.library;
  context.frozen_value = o.frozen_value;
  kernels::BindContext bind;
  bind.resources = o.resources;
  bind.env = o.env;
  context.evaluate = [&bind](const ir::Node& node, std::span<const Tensor> values) {
    return EvaluateNode(node, values, bind);
  };
  RETURN_IF_ERROR(ir::RunPasses(function, context, ir::RequiredPasses()));
  if (o.run_passes) {
    RETURN_IF_ERROR(ir::RunPasses(function, context, ir::DefaultPasses(), &impl->reports));
  }
  MissingOps missing;
  RETURN_IF_ERROR(missing.Collect(function, o.library, StrCat("'", function.name, "'")));
  if (all_missing != nullptr) all_missing->Merge(missing);
  RETURN_IF_ERROR(missing.AsStatus());
  impl->function = std::move(function);
  return std::unique_ptr<Executable>(new Executable(std::move(impl)));
}

const std::vector<TensorSpec>& Executable::inputs() const { return impl_->inputs; }
const std::vector<TensorSpec>& Executable::outputs() const { return impl_->outputs; }
const std::vector<ir::PassReport>& Executable::pass_reports() const { return impl_->reports; }
const ir::Function& Executable::function() const { return impl_->function; }
size_t Executable::packed_weight_bytes() const { return impl_->weights->bytes(); }
int Executable::num_plans() const { return impl_->plans.size(); }
size_t Executable::idle_bytes() const { return impl_->idle_bytes.load(); }

Status Executable::Run(std::span<const Tensor> inputs, std::span<Tensor> outputs,
                       const RunOptions& options) const {
  RETURN_IF_ERROR(impl_->CheckInputs(inputs));
  if (outputs.size() != impl_->outputs.size()) {
    return InvalidArgumentError(StrCat("'", impl_->function.name, "' gives ", impl_->outputs.size(),
                                       " outputs, got room for ", outputs.size()));
  }
  ASSIGN_OR_RETURN(auto plans, impl_->PlansFor(inputs));
  return impl_->RunPlans(*plans, inputs, outputs, options);
}

}  // namespace slipway::exec
