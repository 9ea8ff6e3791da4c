// SPDX-License-Identifier: Apache-2.0
#include "nn/loss.h"

#include "base/strings.h"
#include "nn/layer.h"
#include "nn/shapes.h"

namespace slipway {
namespace nn {
namespace {

constexpr float kEpsilon = 1e-7f;  // Keras's backend.epsilon()

// Logits if `predictions` come straight from a softmax: exact where probabilities saturate.
struct Logits {
  ir::Output value;
  bool are_logits;
};
Logits FindLogits(ir::Output predictions, bool from_logits) {
  if (from_logits || predictions.node->op() != "Softmax") return {predictions, from_logits};
  return {predictions.node->input(0), true};
}

ir::Output Clipped(ir::GraphBuilder& b, ir::Output probabilities) {
  ir::Output below_one = b.Op("Minimum", {probabilities, b.Scalar(1.0f - kEpsilon)});
  return b.Op("Maximum", {below_one, b.Scalar(kEpsilon)});
}

// [a, b, classes] as rows, for ops that take matrices.
ir::Output AsRows(ir::GraphBuilder& b, ir::Output x) {
  int rank = x.shape().rank();
  if (rank <= 2) return x;
  return FoldToMatrix(b, x, x.shape().dim(rank - 1));
}

class SparseCategoricalCrossentropy final : public Loss {
 public:
  SparseCategoricalCrossentropy() : Loss("sparse_categorical_crossentropy") {}
  const char* class_name() const override { return "SparseCategoricalCrossentropy"; }
  void Fields(FieldVisitor& visit) override {
    Loss::Fields(visit);
    visit("from_logits", &from_logits_);
    visit.Fixed("ignore_class", "null");
    visit.Fixed("axis", "-1");
  }

  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    if (!y_true.valid() || !y_pred.valid()) return {};
    if (!CheckShapes(b, y_true.shape(), y_pred)) return {};
    Logits found = FindLogits(AsFloat(b, y_pred), from_logits_);
    ir::Output logits = found.are_logits ? found.value : b.Op("Log", {Clipped(b, found.value)});
    ir::Output labels = y_true;
    if (labels.dtype() != DType::kInt64 && labels.dtype() != DType::kInt32) {
      labels = b.Op("Cast", {labels}, {{"DstT", DType::kInt64}});
    }
    bool flat = logits.valid() && logits.shape().rank() == 2 && labels.shape().rank() == 1;
    if (!flat) labels = b.Op("Reshape", {labels, b.Int32Vector({-1})});
    ir::Output values = b.Op("SparseSoftmaxCrossEntropyWithLogits", {AsRows(b, logits), labels});
    return y_pred.shape().rank() <= 2 ? values : ShapedAs(b, values, y_pred);
  }

  bool from_logits_ = false;

 private:
  // Labels are the predictions' shape without the classes, or with 1 in their place.
  bool CheckShapes(ir::GraphBuilder& b, const PartialShape& labels, ir::Output y_pred) const {
    const PartialShape& predictions = y_pred.shape();
    if (!labels.has_rank() || !predictions.has_rank()) return true;
    bool column = labels.rank() == predictions.rank() && labels.dim(labels.rank() - 1) == 1;
    if (column || labels.rank() + 1 == predictions.rank()) return true;
    b.Fail(InvalidArgumentError(StrCat(
        name(), ": SparseSoftmaxCrossEntropyWithLogits of labels ", labels.ToString(),
        " and predictions ", predictions.ToString(), " of '", y_pred.node->name(),
        "': labels must be class numbers, one for each row of predictions (for one-hot labels use "
        "categorical_crossentropy)")));
    return false;
  }

  // Flat values in the shape of `like` without its last axis.
  static ir::Output ShapedAs(ir::GraphBuilder& b, ir::Output values, ir::Output like) {
    ir::Output shape = b.Op("Shape", {like});
    ir::Output wanted =
        b.Op("StridedSlice", {shape, b.Int32Vector({0}), b.Int32Vector({-1}), b.Int32Vector({1})});
    return b.Op("Reshape", {values, wanted});
  }
};

class CategoricalCrossentropy final : public Loss {
 public:
  CategoricalCrossentropy() : Loss("categorical_crossentropy") {}
  const char* class_name() const override { return "CategoricalCrossentropy"; }
  void Fields(FieldVisitor& visit) override {
    Loss::Fields(visit);
    visit("from_logits", &from_logits_);
    visit("label_smoothing", &label_smoothing_);
    visit.Fixed("axis", "-1");
  }
  std::optional<Problem> Check() const override {
    if (label_smoothing_ >= 0 && label_smoothing_ <= 1) return std::nullopt;
    return Problem{"label_smoothing",
                   StrCat("'label_smoothing' must be between 0 and 1, got ", label_smoothing_)};
  }

  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    if (!y_true.valid() || !y_pred.valid()) return {};
    ir::Output predictions = AsFloat(b, y_pred);
    ir::Output labels = Smoothed(b, AsFloat(b, y_true));
    if (!predictions.valid() || !labels.valid()) return {};
    Logits found = FindLogits(predictions, from_logits_);
    if (!found.are_logits) return FromProbabilities(b, labels, predictions);
    ir::Output values =
        b.Op("SoftmaxCrossEntropyWithLogits", {AsRows(b, found.value), AsRows(b, labels)});
    if (predictions.shape().rank() <= 2) return values;
    ir::Output shape = b.Op("Shape", {predictions});
    ir::Output leading =
        b.Op("StridedSlice", {shape, b.Int32Vector({0}), b.Int32Vector({-1}), b.Int32Vector({1})});
    return b.Op("Reshape", {values, leading});
  }

  bool from_logits_ = false;
  double label_smoothing_ = 0;

 private:
  ir::Output Smoothed(ir::GraphBuilder& b, ir::Output labels) const {
    if (label_smoothing_ == 0 || !labels.valid()) return labels;
    int rank = labels.shape().rank();
    int64_t classes = rank > 0 ? labels.shape().dim(rank - 1) : -1;
    if (classes < 1) {
      b.Fail(
          InvalidArgumentError(StrCat("categorical_crossentropy with label smoothing needs the "
                                      "number of classes, labels are ",
                                      labels.shape().ToString())));
      return {};
    }
    float keep = static_cast<float>(1.0 - label_smoothing_);
    float add = static_cast<float>(label_smoothing_ / static_cast<double>(classes));
    return b.Op("AddV2", {b.Op("Mul", {labels, b.Scalar(keep)}), b.Scalar(add)});
  }

  static ir::Output FromProbabilities(ir::GraphBuilder& b, ir::Output labels,
                                      ir::Output predictions) {
    ir::Output total = Reduce(b, "Sum", predictions, {-1}, /*keep_dims=*/true);
    ir::Output share = Clipped(b, b.Op("RealDiv", {predictions, total}));
    ir::Output weighted = b.Op("Mul", {labels, b.Op("Log", {share})});
    return b.Op("Neg", {Reduce(b, "Sum", weighted, {-1})});
  }
};

class MeanSquaredError final : public Loss {
 public:
  MeanSquaredError() : Loss("mean_squared_error") {}
  const char* class_name() const override { return "MeanSquaredError"; }

  ir::Output Values(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred) const override {
    auto [labels, predictions] = SameRank(b, AsFloat(b, y_true), AsFloat(b, y_pred));
    ir::Output error = b.Op("SquaredDifference", {predictions, labels});
    return Reduce(b, "Mean", error, {-1});
  }
};

template <typename T>
std::shared_ptr<T> WithReduction(Reduction reduction) {
  auto loss = std::make_shared<T>();
  loss->set_reduction(reduction);
  return loss;
}

}  // namespace

void Loss::Fields(FieldVisitor& visit) {
  visit("name", &name_);
  visit("reduction", &reduction_);
  visit.Fixed("dtype", "\"float32\"");
}

ir::Output Loss::Build(ir::GraphBuilder& b, ir::Output y_true, ir::Output y_pred,
                       ir::Output weight) const {
  ir::GraphBuilder::Scope scope(&b, name_);
  ir::Output values = Values(b, y_true, y_pred);
  if (!values.valid()) return {};
  if (weight.valid()) {
    auto [aligned, weights] = SameRank(b, values, AsFloat(b, weight));
    weight = weights;
    values = b.Op("Mul", {aligned, weights});
  }
  if (!values.valid() || reduction_ == Reduction::kNone) return values;
  ir::Output sum = Reduce(b, "Sum", values);
  if (reduction_ == Reduction::kSum || values.shape().rank() == 0) return sum;
  if (reduction_ == Reduction::kMeanWithSampleWeight && weight.valid()) {
    return b.Op("DivNoNan", {sum, Reduce(b, "Sum", weight)});
  }
  return b.Op("DivNoNan", {sum, ElementCount(b, values)});
}

const std::vector<ClassEntry<Loss>>& LossClasses() {
  static const std::vector<ClassEntry<Loss>> classes = {
      {"SparseCategoricalCrossentropy",
       {"sparse_categorical_crossentropy"},
       nullptr,
       [] { return std::make_shared<SparseCategoricalCrossentropy>(); }},
      {"CategoricalCrossentropy",
       {"categorical_crossentropy"},
       nullptr,
       [] { return std::make_shared<CategoricalCrossentropy>(); }},
      {"MeanSquaredError",
       {"mean_squared_error", "mse", "MSE"},
       nullptr,
       [] { return std::make_shared<MeanSquaredError>(); }},
  };
  return classes;
}

StatusOr<LossPtr> LossFromConfig(std::string_view json, ConfigProblem* problem) {
  return FromConfig(LossClasses(), "loss", json, problem);
}

}  // namespace nn

namespace losses {

Loss SparseCategoricalCrossentropy(SparseCategoricalCrossentropyOptions options) {
  auto loss = nn::WithReduction<nn::SparseCategoricalCrossentropy>(options.reduction);
  loss->from_logits_ = options.from_logits;
  return Loss(std::move(loss));
}

Loss CategoricalCrossentropy(CategoricalCrossentropyOptions options) {
  auto loss = nn::WithReduction<nn::CategoricalCrossentropy>(options.reduction);
  loss->from_logits_ = options.from_logits;
  loss->label_smoothing_ = options.label_smoothing;
  return Loss(std::move(loss));
}

Loss MeanSquaredError(MeanSquaredErrorOptions options) {
  return Loss(nn::WithReduction<nn::MeanSquaredError>(options.reduction));
}

}  // namespace losses
}  // namespace slipway
