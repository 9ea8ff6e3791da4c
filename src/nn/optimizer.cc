// SPDX-License-Identifier: Apache-2.0
#include "nn/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "nn/shapes.h"

namespace slipway {
namespace nn {
namespace {

VariablePtr NewVariable(std::string path, DType dtype, Shape shape, Tensor initial) {
  auto variable = std::make_shared<Variable>();
  variable->path = std::move(path);
  variable->dtype = dtype;
  variable->shape = std::move(shape);
  variable->initial = std::move(initial);
  return variable;
}

class Sgd final : public Optimizer {
 public:
  Sgd() : Optimizer("sgd", 0.01) {}
  const char* class_name() const override { return "SGD"; }
  void Fields(FieldVisitor& visit) override {
    Optimizer::Fields(visit);
    visit("momentum", &momentum_);
    visit("nesterov", &nesterov_);
  }
  std::optional<Problem> Check() const override {
    if (momentum_ < 0 || momentum_ > 1) {
      return Problem{"momentum", StrCat("'momentum' must be between 0 and 1, got ", momentum_)};
    }
    return Optimizer::Check();
  }

  double momentum_ = 0;
  bool nesterov_ = false;

 protected:
  std::vector<const char*> slot_names() const override {
    if (momentum_ == 0) return {};
    return {"momentum"};
  }
  void Update(CallContext& c, const Step& step, std::span<const ir::Output>, const Variable& weight,
              std::span<const VariablePtr> slots, ir::Output gradient) const override {
    ir::GraphBuilder& b = c.builder();
    if (slots.empty()) {
      b.AddNode("ResourceApplyGradientDescent", {c.Handle(weight), step.learning_rate, gradient});
      return;
    }
    b.AddNode("ResourceApplyKerasMomentum",
              {c.Handle(weight), c.Handle(*slots[0]), step.learning_rate, gradient,
               b.Scalar(static_cast<float>(momentum_))},
              {{"use_nesterov", nesterov_}});
  }
};

class Adam final : public Optimizer {
 public:
  Adam() : Optimizer("adam", 0.001) {}
  const char* class_name() const override { return "Adam"; }
  void Fields(FieldVisitor& visit) override {
    Optimizer::Fields(visit);
    visit("beta_1", &beta_1_);
    visit("beta_2", &beta_2_);
    visit("epsilon", &epsilon_);
    visit.Fixed("amsgrad", "false");
  }

  double beta_1_ = 0.9;
  double beta_2_ = 0.999;
  double epsilon_ = 1e-7;

 protected:
  std::vector<const char*> slot_names() const override { return {"momentum", "velocity"}; }
  // The powers of the betas and the constants, in the order of ResourceApplyAdam's inputs.
  std::vector<ir::Output> Prepare(CallContext& c, const Step& step) const override {
    ir::GraphBuilder& b = c.builder();
    ir::Output beta_1 = b.Scalar(static_cast<float>(beta_1_));
    ir::Output beta_2 = b.Scalar(static_cast<float>(beta_2_));
    return {b.Op("Pow", {beta_1, step.number}),
            b.Op("Pow", {beta_2, step.number}),
            step.learning_rate,
            beta_1,
            beta_2,
            b.Scalar(static_cast<float>(epsilon_))};
  }
  void Update(CallContext& c, const Step&, std::span<const ir::Output> prepared,
              const Variable& weight, std::span<const VariablePtr> slots,
              ir::Output gradient) const override {
    std::vector<ir::Output> inputs = {c.Handle(weight), c.Handle(*slots[0]), c.Handle(*slots[1])};
    inputs.insert(inputs.end(), prepared.begin(), prepared.end());
    inputs.push_back(gradient);
    c.builder().AddNode("ResourceApplyAdam", std::move(inputs));
  }
};

ir::Output NormOf(ir::GraphBuilder& b, std::span<const ir::Output> gradients) {
  ir::Output total;
  for (ir::Output gradient : gradients) {
    if (!gradient.valid()) continue;
    ir::Output sum = Reduce(b, "Sum", b.Op("Square", {gradient}));
    total = total.valid() ? b.Op("AddV2", {total, sum}) : sum;
  }
  return b.Op("Sqrt", {total});
}

}  // namespace

std::vector<VariablePtr> OptimizerState::variables() const {
  std::vector<VariablePtr> out = {iteration, learning_rate};
  for (const auto& of_weight : slots) out.insert(out.end(), of_weight.begin(), of_weight.end());
  return out;
}

void Optimizer::Fields(FieldVisitor& visit) {
  visit("name", &name_);
  visit("learning_rate", &learning_rate_);
  visit("weight_decay", &weight_decay_);
  visit("clipnorm", &clipping_.clipnorm);
  visit("global_clipnorm", &clipping_.global_clipnorm);
  visit("clipvalue", &clipping_.clipvalue);
  visit.Fixed("use_ema", "false");
  visit.Fixed("ema_momentum", "0.99");
  visit.Fixed("ema_overwrite_frequency", "null");
  visit.Fixed("loss_scale_factor", "null");
  visit.Fixed("gradient_accumulation_steps", "null");
}

std::optional<Configurable::Problem> Optimizer::Check() const {
  if (!(learning_rate_ >= 0) || !std::isfinite(static_cast<float>(learning_rate_))) {
    return Problem{"learning_rate", StrCat("'learning_rate' must be a finite float32, at least 0, "
                                           "got ",
                                           learning_rate_)};
  }
  int clips = (clipping_.clipnorm ? 1 : 0) + (clipping_.clipvalue ? 1 : 0) +
              (clipping_.global_clipnorm ? 1 : 0);
  if (clips <= 1) return std::nullopt;
  return Problem{"clipnorm", "only one of clipnorm, clipvalue and global_clipnorm may be given"};
}

void Optimizer::Configure(double learning_rate, std::optional<double> weight_decay,
                          const optimizers::Clipping& clipping) {
  learning_rate_ = learning_rate;
  weight_decay_ = weight_decay;
  clipping_ = clipping;
}

OptimizerState Optimizer::NewState(std::span<const VariablePtr> weights) const {
  OptimizerState state;
  state.weights.assign(weights.begin(), weights.end());
  state.iteration =
      NewVariable(StrCat(name_, "/iteration"), DType::kInt64, Shape(), Tensor::Scalar<int64_t>(0));
  state.learning_rate = NewVariable(StrCat(name_, "/learning_rate"), DType::kFloat, Shape(),
                                    Tensor::Scalar(static_cast<float>(learning_rate_)));
  for (const VariablePtr& weight : weights) {
    std::string flat = weight->path;
    std::replace(flat.begin(), flat.end(), '/', '_');
    std::vector<VariablePtr>& slots = state.slots.emplace_back();
    for (const char* slot : slot_names()) {
      slots.push_back(
          NewVariable(StrCat(name_, "/", flat, "_", slot), DType::kFloat, weight->shape, Tensor()));
    }
  }
  return state;
}

std::vector<ir::Output> Optimizer::Clip(ir::GraphBuilder& b,
                                        std::span<const ir::Output> gradients) const {
  std::vector<ir::Output> out(gradients.begin(), gradients.end());
  auto scaled = [&](ir::Output gradient, ir::Output norm, double limit) {
    ir::Output bound = b.Scalar(static_cast<float>(limit));
    return b.Op("RealDiv", {b.Op("Mul", {gradient, bound}), b.Op("Maximum", {norm, bound})});
  };
  ir::Output global_norm;
  if (clipping_.global_clipnorm) global_norm = NormOf(b, gradients);
  for (ir::Output& gradient : out) {
    if (!gradient.valid()) continue;
    if (clipping_.clipnorm) {
      gradient = scaled(gradient, NormOf(b, {&gradient, 1}), *clipping_.clipnorm);
    } else if (clipping_.global_clipnorm) {
      gradient = scaled(gradient, global_norm, *clipping_.global_clipnorm);
    } else if (clipping_.clipvalue) {
      float limit = static_cast<float>(*clipping_.clipvalue);
      gradient = b.Op("Maximum", {b.Op("Minimum", {gradient, b.Scalar(limit)}), b.Scalar(-limit)});
    }
  }
  return out;
}

void Optimizer::Apply(CallContext& c, const OptimizerState& state,
                      std::span<const ir::Output> gradients) const {
  ir::GraphBuilder& b = c.builder();
  ir::GraphBuilder::Scope scope(&b, name_);
  if (std::none_of(gradients.begin(), gradients.end(), [](auto g) { return g.valid(); })) {
    b.Fail(InvalidArgumentError(StrCat("Optimizer '", name_,
                                       "': no trainable weight has a "
                                       "gradient; does the loss depend on the model's output?")));
    return;
  }
  std::vector<ir::Output> clipped = Clip(b, gradients);
  ir::Output step = b.Op("Cast", {c.Read(*state.iteration)}, {{"DstT", DType::kFloat}});
  Step now = {c.Read(*state.learning_rate), b.Op("AddV2", {step, b.Scalar(1.0f)})};
  std::vector<ir::Output> prepared = Prepare(c, now);
  for (size_t i = 0; i < state.weights.size(); ++i) {
    if (!clipped[i].valid()) continue;
    const Variable& weight = *state.weights[i];
    if (weight_decay_) {
      ir::Output rate =
          b.Op("Mul", {now.learning_rate, b.Scalar(static_cast<float>(*weight_decay_))});
      c.AssignSub(weight, b.Op("Mul", {c.Read(weight), rate}));
    }
    Update(c, now, prepared, weight, state.slots[i], clipped[i]);
    c.Written(weight);
  }
  c.AssignAdd(*state.iteration, b.Scalar<int64_t>(1));
}

const std::vector<ClassEntry<Optimizer>>& OptimizerClasses() {
  static const std::vector<ClassEntry<Optimizer>> classes = {
      {"SGD", {"sgd"}, "learning_rate", [] { return std::make_shared<Sgd>(); }},
      {"Adam", {"adam"}, "learning_rate", [] { return std::make_shared<Adam>(); }},
  };
  return classes;
}

StatusOr<OptimizerPtr> OptimizerFromConfig(std::string_view json, ConfigProblem* problem) {
  return FromConfig(OptimizerClasses(), "optimizer", json, problem);
}

}  // namespace nn

namespace optimizers {

Optimizer Sgd(SgdOptions options) {
  auto optimizer = std::make_shared<nn::Sgd>();
  optimizer->Configure(options.learning_rate, options.weight_decay, options.clipping);
  optimizer->momentum_ = options.momentum;
  optimizer->nesterov_ = options.nesterov;
  return Optimizer(std::move(optimizer));
}

Optimizer Adam(AdamOptions options) {
  auto optimizer = std::make_shared<nn::Adam>();
  optimizer->Configure(options.learning_rate, options.weight_decay, options.clipping);
  optimizer->beta_1_ = options.beta_1;
  optimizer->beta_2_ = options.beta_2;
  optimizer->epsilon_ = options.epsilon;
  return Optimizer(std::move(optimizer));
}

}  // namespace optimizers
}  // namespace slipway
