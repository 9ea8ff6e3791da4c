// SPDX-License-Identifier: Apache-2.0
#include "train/recipe_data.h"

#include "base/strings.h"
#include "slipway/data.h"

namespace slipway::train {
namespace {

template <typename T>
void Divide(const Tensor& from, float divisor, Tensor* to) {
  std::span<const T> in = from.flat<T>();
  std::span<float> out = to->flat<float>();
  for (size_t i = 0; i < in.size(); ++i) out[i] = static_cast<float>(in[i]) / divisor;
}

StatusOr<Tensor> Divided(const Tensor& images, std::optional<double> divide_by) {
  if (!divide_by) return images;
  ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(DType::kFloat, images.shape()));
  auto divisor = static_cast<float>(*divide_by);
  switch (images.dtype()) {
    case DType::kUInt8:
      Divide<uint8_t>(images, divisor, &out);
      break;
    case DType::kInt32:
      Divide<int32_t>(images, divisor, &out);
      break;
    case DType::kFloat:
      Divide<float>(images, divisor, &out);
      break;
    default:
      return UnimplementedError(StrCat("divide_by for images of ", DTypeName(images.dtype()),
                                       "; uint8, int32 and float32 are supported"));
  }
  return out;
}

StatusOr<Examples> ReadExamples(const std::string& images, const std::string& labels,
                                std::optional<double> divide_by) {
  Examples out;
  ASSIGN_OR_RETURN(Tensor pixels, data::ReadIdx(images));
  ASSIGN_OR_RETURN(out.x, Divided(pixels, divide_by));
  ASSIGN_OR_RETURN(out.y, data::ReadIdx(labels));
  if (out.x.rank() < 1 || out.y.rank() < 1 || out.x.dim(0) != out.y.dim(0)) {
    return InvalidArgumentError(StrCat(images, " has shape ", out.x.shape().ToString(), " and ",
                                       labels, " ", out.y.shape().ToString(),
                                       "; there must be one label an image"));
  }
  return out;
}

StatusOr<RecipeData> LoadFashionMnist(const DataSettings& settings) {
  ASSIGN_OR_RETURN(auto fashion, data::FashionMnist(
                                     settings.fashion_mnist,
                                     {.validation_examples = settings.validation, .scale = false}));
  RecipeData out;
  ASSIGN_OR_RETURN(out.train.x, Divided(fashion.train_images, settings.divide_by));
  out.train.y = fashion.train_labels;
  if (settings.validation > 0) {
    ASSIGN_OR_RETURN(out.validation.x, Divided(fashion.validation_images, settings.divide_by));
    out.validation.y = fashion.validation_labels;
  }
  ASSIGN_OR_RETURN(out.test.x, Divided(fashion.test_images, settings.divide_by));
  out.test.y = fashion.test_labels;
  return out;
}

}  // namespace

void DataSettings::Fields(nn::FieldVisitor& visit) {
  visit("fashion_mnist", &fashion_mnist);
  visit("train_images", &train_images);
  visit("train_labels", &train_labels);
  visit("test_images", &test_images);
  visit("test_labels", &test_labels);
  visit("divide_by", &divide_by);
  visit("validation", &validation);
}

std::optional<nn::Configurable::Problem> DataSettings::Check() const {
  bool by_name = !train_images.empty() || !train_labels.empty();
  if (fashion_mnist.empty() == !by_name) {
    return Problem{"fashion_mnist",
                   "give either 'fashion_mnist' (a directory) or 'train_images' and "
                   "'train_labels' (files)"};
  }
  if (by_name && (train_images.empty() || train_labels.empty())) {
    return Problem{"train_images", "'train_images' and 'train_labels' belong together"};
  }
  if (test_images.empty() != test_labels.empty()) {
    return Problem{"test_images", "'test_images' and 'test_labels' belong together"};
  }
  if (divide_by && *divide_by == 0) return Problem{"divide_by", "'divide_by' must not be 0"};
  if (validation < 0) return Problem{"validation", "'validation' must not be negative"};
  return std::nullopt;
}

StatusOr<RecipeData> LoadRecipeData(const DataSettings& settings) {
  if (!settings.fashion_mnist.empty()) return LoadFashionMnist(settings);
  RecipeData out;
  ASSIGN_OR_RETURN(out.train,
                   ReadExamples(settings.train_images, settings.train_labels, settings.divide_by));
  int64_t rows = out.train.x.dim(0);
  if (settings.validation >= rows) {
    return InvalidArgumentError(StrCat("'validation' is ", settings.validation,
                                       ", but there are only ", rows, " training examples"));
  }
  if (settings.validation > 0) {
    out.validation = {out.train.x.Slice(0, settings.validation),
                      out.train.y.Slice(0, settings.validation)};
    out.train = {out.train.x.Slice(settings.validation, rows),
                 out.train.y.Slice(settings.validation, rows)};
  }
  if (!settings.test_images.empty()) {
    ASSIGN_OR_RETURN(out.test,
                     ReadExamples(settings.test_images, settings.test_labels, settings.divide_by));
  }
  return out;
}

}  // namespace slipway::train
