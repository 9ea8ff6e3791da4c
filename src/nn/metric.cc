// SPDX-License-Identifier: Apache-2.0
#include "nn/metric.h"

#include "base/strings.h"
#include "nn/layer.h"
#include "nn/loss.h"
#include "nn/shapes.h"

namespace slipway {
namespace nn {
namespace {

ir::Output Matches(ir::GraphBuilder& b, ir::Output x, ir::Output y) {
  return b.Op("Cast", {b.Op("Equal", {x, y})}, {{"DstT", DType::kFloat}});
}

ir::Output LastArgMax(ir::GraphBuilder& b, ir::Output x) {
  return b.Op("ArgMax", {x, b.Scalar<int32_t>(-1)}, {{"output_type", DType::kInt64}});
}

// Keras's class Accuracy: labels equal predictions, number by number.
class EqualAccuracy final : public Metric {
 public:
  EqualAccuracy() : Metric("accuracy") {}
  const char* class_name() const override { return "Accuracy"; }
  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    auto [labels, predictions] = SameRank(b, AsFloat(b, y_true), AsFloat(b, y_pred));
    return Matches(b, labels, predictions);
  }
};

class BinaryAccuracy final : public Metric {
 public:
  BinaryAccuracy() : Metric("binary_accuracy") {}
  const char* class_name() const override { return "BinaryAccuracy"; }
  void Fields(FieldVisitor& visit) override {
    Metric::Fields(visit);
    visit("threshold", &threshold_);
  }
  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    auto [labels, predictions] = SameRank(b, AsFloat(b, y_true), AsFloat(b, y_pred));
    ir::Output above = b.Op("Greater", {predictions, b.Scalar(static_cast<float>(threshold_))});
    return Matches(b, labels, b.Op("Cast", {above}, {{"DstT", DType::kFloat}}));
  }
  double threshold_ = 0.5;
};

class SparseCategoricalAccuracy final : public Metric {
 public:
  SparseCategoricalAccuracy() : Metric("sparse_categorical_accuracy") {}
  const char* class_name() const override { return "SparseCategoricalAccuracy"; }
  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    if (!y_true.valid() || !y_pred.valid()) return {};
    int rank = y_true.shape().rank();
    if (rank > 0 && rank == y_pred.shape().rank() && y_true.shape().dim(rank - 1) == 1) {
      y_true = b.Op("Squeeze", {y_true}, {{"squeeze_dims", std::vector<int64_t>{-1}}});
    }
    ir::Output labels = b.Op("Cast", {y_true}, {{"DstT", DType::kInt64}});
    return Matches(b, labels, LastArgMax(b, y_pred));
  }
};

class CategoricalAccuracy final : public Metric {
 public:
  CategoricalAccuracy() : Metric("categorical_accuracy") {}
  const char* class_name() const override { return "CategoricalAccuracy"; }
  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    return Matches(b, LastArgMax(b, y_true), LastArgMax(b, y_pred));
  }
};

// What the string "accuracy" stands for.
class AutoAccuracy final : public Metric {
 public:
  AutoAccuracy() : Metric("accuracy") {}
  const char* class_name() const override { return "accuracy"; }
  std::shared_ptr<Metric> Resolve(const PartialShape& labels,
                                  const PartialShape& predictions) const override {
    std::shared_ptr<Metric> metric;
    int64_t last_label = labels.rank() > 0 ? labels.dim(labels.rank() - 1) : -1;
    int64_t last = predictions.rank() > 0 ? predictions.dim(predictions.rank() - 1) : -1;
    if (last == 1) {
      metric = std::make_shared<BinaryAccuracy>();
    } else if (labels.rank() < predictions.rank() || (last_label == 1 && last > 1)) {
      metric = std::make_shared<SparseCategoricalAccuracy>();
    } else {
      metric = std::make_shared<CategoricalAccuracy>();
    }
    metric->set_name(name());
    return metric;
  }
  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    if (!y_true.valid() || !y_pred.valid()) return {};
    return Resolve(y_true.shape(), y_pred.shape())->Values(b, y_true, y_pred);
  }
};

class MeanOfLoss final : public Metric {
 public:
  MeanOfLoss(std::shared_ptr<const Loss> loss, std::string name)
      : Metric(std::move(name)), loss_(std::move(loss)) {}
  const char* class_name() const override { return loss_->class_name(); }
  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    return loss_->Values(b, y_true, y_pred);
  }

 private:
  std::shared_ptr<const Loss> loss_;
};

template <typename T>
slipway::Metric Named(std::string name) {
  auto metric = std::make_shared<T>();
  metric->set_name(std::move(name));
  return slipway::Metric(std::move(metric));
}

// Values averaged to the rank of the weight, the weight broadcast to them and applied, both summed.
struct Sums {
  ir::Output total;
  ir::Output count;
};
Sums WeightedSums(ir::GraphBuilder& b, ir::Output values, ir::Output weight) {
  std::tie(values, weight) = SameRank(b, values, weight);
  if (!values.valid() || !weight.valid()) return {};
  int rank = values.shape().rank();
  int weight_rank = weight.shape().rank();
  if (weight_rank < rank) values = Reduce(b, "Mean", values, AxisRange(weight_rank, rank));
  weight = b.Op("BroadcastTo", {weight, b.Op("Shape", {values})});
  values = b.Op("Mul", {values, weight});
  if (weight_rank > 1) {
    values = Reduce(b, "Mean", values, AxisRange(1, weight_rank));
    weight = Reduce(b, "Mean", weight, AxisRange(1, weight_rank));
  }
  return {Reduce(b, "Sum", values), Reduce(b, "Sum", weight)};
}

}  // namespace

MetricState NewMetricState(std::string_view name) {
  MetricState state;
  for (auto [variable, suffix] : {std::pair{&state.total, "total"}, {&state.count, "count"}}) {
    *variable = std::make_shared<Variable>();
    (*variable)->path = StrCat(name, "/", suffix);
    (*variable)->initial = Tensor::Scalar(0.0f);
  }
  return state;
}

void AddToMean(CallContext& c, const MetricState& state, ir::Output values, ir::Output weight) {
  ir::GraphBuilder& b = c.builder();
  values = AsFloat(b, values);
  if (!values.valid()) return;
  Sums sums;
  if (weight.valid()) {
    sums = WeightedSums(b, values, AsFloat(b, weight));
  } else {
    int rank = values.shape().rank();
    if (rank > 1) values = Reduce(b, "Mean", values, AxisRange(1, rank));
    sums = {Reduce(b, "Sum", values), ElementCount(b, values)};
  }
  c.AssignAdd(*state.total, sums.total);
  c.AssignAdd(*state.count, sums.count);
}

ir::Output MeanResult(CallContext& c, const MetricState& state) {
  return c.builder().Op("DivNoNan", {c.Read(*state.total), c.Read(*state.count)});
}

void Metric::Fields(FieldVisitor& visit) {
  visit("name", &name_);
  visit.Fixed("dtype", "\"float32\"");
}

const std::vector<ClassEntry<Metric>>& MetricClasses() {
  static const std::vector<ClassEntry<Metric>> classes = {
      {"accuracy", {"acc"}, nullptr, [] { return std::make_shared<AutoAccuracy>(); }},
      {"Accuracy", {}, nullptr, [] { return std::make_shared<EqualAccuracy>(); }},
      {"BinaryAccuracy",
       {"binary_accuracy"},
       nullptr,
       [] { return std::make_shared<BinaryAccuracy>(); }},
      {"SparseCategoricalAccuracy",
       {"sparse_categorical_accuracy"},
       nullptr,
       [] { return std::make_shared<SparseCategoricalAccuracy>(); }},
      {"CategoricalAccuracy",
       {"categorical_accuracy"},
       nullptr,
       [] { return std::make_shared<CategoricalAccuracy>(); }},
  };
  return classes;
}

StatusOr<MetricPtr> MetricFromConfig(std::string_view json, ConfigProblem* problem) {
  ASSIGN_OR_RETURN(Envelope envelope, ParseEnvelope(json));
  if (FindClass(LossClasses(), "loss", envelope.class_name).ok()) {
    ASSIGN_OR_RETURN(LossPtr loss, LossFromConfig(json, problem));
    std::string name = loss->name();
    return MetricPtr(std::make_shared<MeanOfLoss>(std::move(loss), std::move(name)));
  }
  return FromConfig(MetricClasses(), "metric", json, problem);
}

}  // namespace nn

namespace metrics {

Metric Accuracy(std::string name) { return nn::Named<nn::AutoAccuracy>(std::move(name)); }

Metric BinaryAccuracy(std::string name, double threshold) {
  auto metric = std::make_shared<nn::BinaryAccuracy>();
  metric->set_name(std::move(name));
  metric->threshold_ = threshold;
  return Metric(std::move(metric));
}

Metric SparseCategoricalAccuracy(std::string name) {
  return nn::Named<nn::SparseCategoricalAccuracy>(std::move(name));
}

Metric CategoricalAccuracy(std::string name) {
  return nn::Named<nn::CategoricalAccuracy>(std::move(name));
}

Metric MeanOf(const Loss& loss, std::string name) {
  if (name.empty()) name = loss.impl()->name();
  return Metric(std::make_shared<nn::MeanOfLoss>(loss.impl(), std::move(name)));
}

}  // namespace metrics
}  // namespace slipway
