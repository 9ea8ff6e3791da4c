// SPDX-License-Identifier: Apache-2.0
#include "base/env.h"
#include "base/strings.h"
#include "data/idx.h"
#include "slipway/data.h"

namespace slipway::data {
namespace {

StatusOr<Tensor> ReadEither(const std::string& directory, const std::string& name) {
  const std::string packed = JoinPath(directory, name + ".gz");
  if (Env::Default()->Exists(packed)) return ReadIdx(packed);
  StatusOr<Tensor> plain = ReadIdx(JoinPath(directory, name));
  if (plain.ok() || plain.status().code() != Code::kNotFound) return plain;
  return NotFoundError(StrCat("There is no ", name, ".gz or ", name, " in '", directory,
                              "'; Debian's package dataset-fashion-mnist has it in "
                              "/usr/share/datasets/fashion-mnist"));
}

Tensor Scaled(const Tensor& pixels) {
  Tensor scaled(DType::kFloat, pixels.shape());
  const auto from = pixels.flat<uint8_t>();
  const auto to = scaled.flat<float>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i]) / 255.0f;
  return scaled;
}

Tensor AsInt32(const Tensor& labels) {
  Tensor wide(DType::kInt32, labels.shape());
  const auto from = labels.flat<uint8_t>();
  std::copy(from.begin(), from.end(), wide.flat<int32_t>().begin());
  return wide;
}

struct Examples {
  Tensor images;
  Tensor labels;
};

StatusOr<Examples> ReadExamples(const std::string& directory, const std::string& prefix,
                                bool scale) {
  ASSIGN_OR_RETURN(Tensor images, ReadEither(directory, prefix + "-images-idx3-ubyte"));
  ASSIGN_OR_RETURN(Tensor labels, ReadEither(directory, prefix + "-labels-idx1-ubyte"));
  if (images.dtype() != DType::kUInt8 || images.rank() != 3 || labels.dtype() != DType::kUInt8 ||
      labels.rank() != 1 || images.dim(0) != labels.dim(0)) {
    return DataLossError(StrCat(
        "The ", prefix, " files in '", directory, "' hold ", DTypeName(images.dtype()),
        images.shape().ToString(), " and ", DTypeName(labels.dtype()), labels.shape().ToString(),
        "; wanted uint8 images [n,rows,columns] and as many uint8 labels [n]"));
  }
  return Examples{scale ? Scaled(images) : std::move(images), AsInt32(labels)};
}

}  // namespace

StatusOr<FashionMnistData> FashionMnist(const std::string& directory,
                                        const FashionMnistOptions& options) {
  ASSIGN_OR_RETURN(const Examples train, ReadExamples(directory, "train", options.scale));
  ASSIGN_OR_RETURN(const Examples test, ReadExamples(directory, "t10k", options.scale));
  const int64_t held_out = options.validation_examples;
  const int64_t all = train.images.dim(0);
  if (held_out < 0 || held_out > all) {
    return InvalidArgumentError(
        StrCat("validation_examples is ", held_out, ", the training set has ", all));
  }
  const Tensor train_images = train.images.Slice(held_out, all);
  const Tensor train_labels = train.labels.Slice(held_out, all);
  const Tensor validation_images = train.images.Slice(0, held_out);
  const Tensor validation_labels = train.labels.Slice(0, held_out);
  ASSIGN_OR_RETURN(Dataset train_set, Dataset::FromTensorSlices({train_images, train_labels}));
  ASSIGN_OR_RETURN(Dataset validation_set,
                   Dataset::FromTensorSlices({validation_images, validation_labels}));
  ASSIGN_OR_RETURN(Dataset test_set, Dataset::FromTensorSlices({test.images, test.labels}));
  return FashionMnistData{.train_images = train_images,
                          .train_labels = train_labels,
                          .validation_images = validation_images,
                          .validation_labels = validation_labels,
                          .test_images = test.images,
                          .test_labels = test.labels,
                          .train = train_set,
                          .validation = validation_set,
                          .test = test_set,
                          .class_names = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                          "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"}};
}

}  // namespace slipway::data
