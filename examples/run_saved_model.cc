// SPDX-License-Identifier: Apache-2.0
//
// Runs a SavedModel on zeros: run_saved_model [directory] [signature]
#include <slipway/slipway.h>

#include <cstdio>

namespace sw = slipway;

sw::Status Run(const std::string& directory, const std::string& signature) {
  ASSIGN_OR_RETURN(const sw::SavedModel model, sw::SavedModel::Load(directory));
  ASSIGN_OR_RETURN(const auto specs, model.inputs(signature));
  std::map<std::string, sw::Tensor> inputs;
  for (const sw::TensorSpec& spec : specs) {
    sw::Shape shape;
    for (const int64_t size : spec.shape.dims()) shape.AddDim(size < 0 ? 2 : size);
    sw::Tensor zeros(spec.dtype, shape);
    if (!sw::IsObject(spec.dtype)) std::memset(zeros.raw_data(), 0, zeros.byte_size());
    inputs.emplace(spec.name, zeros);
  }
  ASSIGN_OR_RETURN(const auto outputs, model.Run(signature, inputs));
  for (const auto& [name, value] : outputs) {
    std::printf("%s = %s\n", name.c_str(), value.ToString().c_str());
  }
  return sw::OkStatus();
}

int main(int argc, char** argv) {
  const sw::Status status =
      Run(argc > 1 ? argv[1] : "models/fashion_mnist/1", argc > 2 ? argv[2] : "serving_default");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
