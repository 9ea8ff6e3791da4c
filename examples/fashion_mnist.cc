// SPDX-License-Identifier: Apache-2.0
//
// Trains a classifier of clothes, tests it and saves it for serving.
//   fashion_mnist [directory of the data] [where to save]
#include <slipway/slipway.h>

#include <algorithm>
#include <cstdio>

namespace sw = slipway;

sw::Status Train(const std::string& data_dir, const std::string& save_dir) {
  // 60,000 images for training, of which 5,000 are held out; pixels are scaled to [0, 1].
  ASSIGN_OR_RETURN(auto fashion, sw::data::FashionMnist(data_dir, {.validation_examples = 5'000}));

  sw::Sequential model({sw::layers::Flatten(),
                        sw::layers::Dense(300, {.activation = sw::Activation::kRelu}),
                        sw::layers::Dense(100, {.activation = sw::Activation::kRelu}),
                        sw::layers::Dense(10, {.activation = sw::Activation::kSoftmax})});

  RETURN_IF_ERROR(model.Compile({.optimizer = sw::optimizers::Sgd({.learning_rate = 0.01}),
                                 .loss = sw::losses::SparseCategoricalCrossentropy(),
                                 .metrics = {sw::metrics::Accuracy()}}));

  ASSIGN_OR_RETURN(auto history,
                   model.Fit(fashion.train.Shuffle(55'000).Batch(32),
                             {.epochs = 10, .validation_data = fashion.validation.Batch(256)}));
  std::printf("%s", model.Summary().c_str());
  std::printf("validation accuracy after %zu epochs: %.4f\n", history.epochs.size(),
              history["val_accuracy"].back());

  ASSIGN_OR_RETURN(auto test, model.Evaluate(fashion.test.Batch(256)));
  std::printf("test accuracy: %.4f\n", test["accuracy"]);

  ASSIGN_OR_RETURN(sw::Tensor probabilities, model.Predict(fashion.test_images.Slice(0, 3)));
  for (int64_t i = 0; i < 3; ++i) {
    auto row = probabilities.Slice(i, i + 1).flat<float>();
    auto best = std::max_element(row.begin(), row.end()) - row.begin();
    std::printf("image %d: %s (%.2f)\n", static_cast<int>(i),
                fashion.class_names[static_cast<size_t>(best)].c_str(), row[best]);
  }
  return model.Save(save_dir);
}

int main(int argc, char** argv) {
  sw::Status status = Train(argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist",
                            argc > 2 ? argv[2] : "models/fashion_mnist/1");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
