// SPDX-License-Identifier: Apache-2.0
//
// Training without Fit: the step is a function of one's own, with its own loss and update rule.
//   custom_loop [directory of the data]
#include <slipway/slipway.h>

#include <algorithm>
#include <cstdio>

namespace sw = slipway;

// One step of gradient descent with momentum and a penalty on large weights; gives the loss.
sw::StatusOr<sw::Function> MakeStep(const sw::Sequential& model, double rate, double momentum) {
  std::vector<sw::Variable> weights = model.trainable_variables();
  std::vector<sw::Variable> velocities;
  for (const sw::Variable& w : weights) {
    sw::Tensor zeros(w.dtype(), w.shape());
    std::fill(zeros.flat<float>().begin(), zeros.flat<float>().end(), 0.0f);
    velocities.emplace_back(w.name() + "/velocity", zeros, /*trainable=*/false);
  }
  return sw::Function::Compile(
      {{sw::DType::kFloat, {-1, 28, 28}, "images"}, {sw::DType::kInt32, {-1}, "labels"}},
      [&](sw::Graph& g, std::span<const sw::Value> in) -> std::vector<sw::Value> {
        sw::Value logits = model.Call(g, in[0], /*training=*/true);
        sw::Value loss = sw::ops::ReduceMean(sw::ops::SparseSoftmaxCrossEntropy(in[1], logits));
        sw::Value total = loss + 1e-4 * sw::ops::ReduceSum(sw::ops::Square(g.Read(weights[0])));
        std::vector<sw::Value> gradients = g.Gradients(total, weights);
        for (size_t i = 0; i < weights.size(); ++i) {
          sw::Value velocity = momentum * g.Read(velocities[i]) + gradients[i];
          g.Assign(velocities[i], velocity);
          g.AssignSub(weights[i], rate * velocity);
        }
        return {loss};
      });
}

sw::Status Train(const std::string& data_dir) {
  ASSIGN_OR_RETURN(auto fashion, sw::data::FashionMnist(data_dir));
  sw::Sequential model({sw::layers::Flatten(),
                        sw::layers::Dense(100, {.activation = sw::Activation::kRelu}),
                        sw::layers::Dropout(0.2), sw::layers::Dense(10)});
  RETURN_IF_ERROR(model.Build({-1, 28, 28}));
  ASSIGN_OR_RETURN(sw::Function step, MakeStep(model, 0.02, 0.9));

  for (int epoch = 0; epoch < 3; ++epoch) {
    ASSIGN_OR_RETURN(auto batches,
                     fashion.train.Shuffle(55'000).Batch(32).MakeIterator({.epoch = epoch}));
    std::vector<sw::Tensor> batch;
    double sum = 0;
    int64_t steps = 0;
    while (true) {
      ASSIGN_OR_RETURN(bool more, batches->Next(&batch));
      if (!more) break;
      ASSIGN_OR_RETURN(auto results, step.Run(batch));
      sum += static_cast<double>(results[0].scalar<float>());
      ++steps;
    }
    std::printf("epoch %d: loss %.4f\n", epoch + 1, sum / static_cast<double>(steps));
  }
  ASSIGN_OR_RETURN(sw::Tensor logits, model.Predict(fashion.test_images, 256));
  int64_t right = 0;
  for (int64_t i = 0; i < logits.dim(0); ++i) {
    auto row = logits.Slice(i, i + 1).flat<float>();
    auto best = std::max_element(row.begin(), row.end()) - row.begin();
    right += best == fashion.test_labels.flat<int32_t>()[static_cast<size_t>(i)] ? 1 : 0;
  }
  std::printf("test accuracy: %.4f\n", static_cast<double>(right) / double(logits.dim(0)));
  return sw::OkStatus();
}

int main(int argc, char** argv) {
  sw::Status status = Train(argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
