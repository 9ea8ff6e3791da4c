// SPDX-License-Identifier: Apache-2.0
//
// The layers, with Keras's settings. One source file a layer; what each does is said in
// slipway/layers.h.
#pragma once

#include "nn/layer.h"

namespace slipway::nn {

class Flatten final : public Layer {
 public:
  const char* class_name() const override { return "Flatten"; }
  void Fields(FieldVisitor& visit) override;
  std::optional<Problem> Check() const override;
  ir::Output Call(CallContext& context, ir::Output x) const override;

  std::string data_format_ = "channels_last";
};

class Dense final : public Layer {
 public:
  const char* class_name() const override { return "Dense"; }
  void Fields(FieldVisitor& visit) override;
  std::optional<Problem> Check() const override;
  ir::Output Call(CallContext& context, ir::Output x) const override;

  int64_t units_ = 0;
  Activation activation_ = Activation::kLinear;
  bool use_bias_ = true;
  Initializer kernel_initializer_ = initializers::GlorotUniform();
  Initializer bias_initializer_ = initializers::Zeros();

 protected:
  Status MakeVariables(BuildContext& context, const PartialShape& input) override;

 private:
  VariablePtr kernel_;
  VariablePtr bias_;
};

class Dropout final : public Layer {
 public:
  const char* class_name() const override { return "Dropout"; }
  void Fields(FieldVisitor& visit) override;
  std::optional<Problem> Check() const override;
  ir::Output Call(CallContext& context, ir::Output x) const override;

  double rate_ = 0;
  std::optional<int64_t> seed_;

 protected:
  Status MakeVariables(BuildContext& context, const PartialShape& input) override;

 private:
  VariablePtr seed_state_;
};

class ActivationLayer final : public Layer {
 public:
  const char* class_name() const override { return "Activation"; }
  void Fields(FieldVisitor& visit) override;
  ir::Output Call(CallContext& context, ir::Output x) const override;

  Activation activation_ = Activation::kLinear;
};

class Rescaling final : public Layer {
 public:
  const char* class_name() const override { return "Rescaling"; }
  void Fields(FieldVisitor& visit) override;
  ir::Output Call(CallContext& context, ir::Output x) const override;

  double scale_ = 1;
  double offset_ = 0;
};

}  // namespace slipway::nn
