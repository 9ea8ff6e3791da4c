// SPDX-License-Identifier: Apache-2.0
#include "train/programs.h"

#include "base/strings.h"
#include "ir/gradient.h"
#include "nn/shapes.h"

namespace slipway::train {
namespace {

bool SameSpec(const TensorSpec& a, const TensorSpec& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

// Everything with an effect must run although no result depends on it.
void KeepEffects(ir::Function* function) {
  for (ir::Node* node : function->graph.nodes()) {
    if (node->effect() == ir::Effect::kWritesResource) {
      function->control_returns.emplace_back(node->name(), node);
    }
  }
}

// The part that training and testing share: labels, predictions, loss, metrics.
class StepBuilder {
 public:
  StepBuilder(const nn::Network& network, const TrainingSetup& setup, const BatchSpec& batch)
      : network_(network), setup_(setup), batch_(batch) {}

  StatusOr<ir::Function> Build(bool training) {
    ir::Function function;
    function.name = training ? "train_step" : "test_step";
    const TensorSpec& input = *network_.input();
    ASSIGN_OR_RETURN(ir::Output x, function.AddArg("x", input.dtype, input.shape));
    ASSIGN_OR_RETURN(ir::Output y, function.AddArg("y", batch_.labels.dtype, batch_.labels.shape));
    ir::Output weight;
    if (batch_.weights) {
      ASSIGN_OR_RETURN(
          weight, function.AddArg("sample_weight", batch_.weights->dtype, batch_.weights->shape));
    }
    ir::GraphBuilder builder(&function.graph);
    nn::CallContext context(&builder, training, nn::HandlesByPath(&builder));
    ir::Output y_pred = network_.Call(context, x);
    ir::Output loss = setup_.loss->Build(builder, y, y_pred, weight);
    RETURN_IF_ERROR(builder.status().WithContext(StrCat("Model '", network_.name(), "'")));
    if (loss.shape().rank() != 0) {
      return InvalidArgumentError(StrCat("Loss '", setup_.loss->name(), "' gives values of shape ",
                                         loss.shape().ToString(),
                                         "; training needs a reduction to one number"));
    }
    if (training) RETURN_IF_ERROR(Update(context, loss));
    AddMetrics(context, x, y, y_pred, weight, loss);
    RETURN_IF_ERROR(builder.status().WithContext(StrCat("Model '", network_.name(), "'")));
    KeepEffects(&function);
    return function;
  }

 private:
  Status Update(nn::CallContext& context, ir::Output loss) {
    std::vector<ir::Output> weights;
    for (const nn::VariablePtr& weight : setup_.optimizer_state.weights) {
      weights.push_back(context.Read(*weight));
    }
    RETURN_IF_ERROR(context.builder().status());
    if (weights.empty()) {
      return FailedPreconditionError(
          StrCat("Model '", network_.name(), "' has no trainable weights; nothing can be trained"));
    }
    ASSIGN_OR_RETURN(std::vector<ir::Output> gradients,
                     ir::AddGradients(context.builder(), {&loss, 1}, weights));
    setup_.optimizer->Apply(context, setup_.optimizer_state, gradients);
    return context.builder().status();
  }

  void AddMetrics(nn::CallContext& context, ir::Output x, ir::Output y, ir::Output y_pred,
                  ir::Output weight, ir::Output loss) {
    ir::GraphBuilder& b = context.builder();
    // Keras weights a batch's loss by its rows.
    ir::Output rows = b.Op("Cast", {nn::BatchSize(b, x)}, {{"DstT", DType::kFloat}});
    context.AssignAdd(*setup_.loss_state.total, b.Op("Mul", {loss, rows}));
    context.AssignAdd(*setup_.loss_state.count, rows);
    for (const MetricUse& use : setup_.metrics) {
      ir::GraphBuilder::Scope scope(&b, use.name);
      ir::Output values = use.metric->Values(b, y, y_pred);
      nn::AddToMean(context, use.state, values, use.weighted ? weight : ir::Output());
    }
  }

  const nn::Network& network_;
  const TrainingSetup& setup_;
  const BatchSpec& batch_;
};

}  // namespace

PartialShape AnyBatch(const Shape& shape) {
  PartialShape open(shape);
  if (open.rank() > 0) open.set_dim(0, -1);
  return open;
}

std::vector<nn::VariablePtr> TrainingSetup::metric_variables() const {
  std::vector<nn::VariablePtr> out = loss_state.variables();
  for (const MetricUse& use : metrics) {
    for (nn::VariablePtr& variable : use.state.variables()) out.push_back(std::move(variable));
  }
  return out;
}

bool operator==(const BatchSpec& a, const BatchSpec& b) {
  return SameSpec(a.labels, b.labels) && a.weights.has_value() == b.weights.has_value() &&
         (!a.weights || SameSpec(*a.weights, *b.weights));
}

BatchSpec BatchSpecOf(const std::vector<Tensor>& element) {
  auto spec = [](const Tensor& tensor) {
    return TensorSpec{tensor.dtype(), AnyBatch(tensor.shape()), ""};
  };
  BatchSpec batch{.labels = spec(element[1]), .weights = {}};
  if (element.size() > 2) batch.weights = spec(element[2]);
  return batch;
}

StatusOr<ir::Function> BuildTrainStep(const nn::Network& network, const TrainingSetup& setup,
                                      const BatchSpec& batch) {
  return StepBuilder(network, setup, batch).Build(/*training=*/true);
}

StatusOr<ir::Function> BuildTestStep(const nn::Network& network, const TrainingSetup& setup,
                                     const BatchSpec& batch) {
  return StepBuilder(network, setup, batch).Build(/*training=*/false);
}

StatusOr<ir::Function> BuildResults(const TrainingSetup& setup) {
  ir::Function function;
  function.name = "metric_results";
  ir::GraphBuilder builder(&function.graph);
  nn::CallContext context(&builder, false, nn::HandlesByPath(&builder));
  function.returns.push_back({"loss", nn::MeanResult(context, setup.loss_state)});
  for (const MetricUse& use : setup.metrics) {
    function.returns.push_back({use.name, nn::MeanResult(context, use.state)});
  }
  RETURN_IF_ERROR(builder.status());
  return function;
}

StatusOr<ir::Function> BuildPredict(const nn::Network& network) {
  ir::Function function;
  function.name = "predict";
  const TensorSpec& input = *network.input();
  ASSIGN_OR_RETURN(ir::Output x, function.AddArg("x", input.dtype, input.shape));
  ir::GraphBuilder builder(&function.graph);
  nn::CallContext context(&builder, false, nn::HandlesByPath(&builder));
  function.returns.push_back({"outputs", network.Call(context, x)});
  RETURN_IF_ERROR(builder.status().WithContext(StrCat("Model '", network.name(), "'")));
  return function;
}

}  // namespace slipway::train
