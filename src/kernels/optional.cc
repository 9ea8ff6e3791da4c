// SPDX-License-Identifier: Apache-2.0
//
// Optionals: several tensors, or none, in one variant.
#include "kernels/checks.h"
#include "kernels/kernel_table.h"

namespace slipway::kernels {
namespace {

struct OptionalValue : public VariantValue {
  bool has_value = false;
  std::vector<Tensor> components;
  std::string DebugString() const override {
    return has_value ? StrCat("Optional of ", components.size(), " tensors") : "empty Optional";
  }
};

StatusOr<const OptionalValue*> OptionalOf(const Tensor& handle) {
  const OptionalValue* optional = nullptr;
  if (handle.num_elements() == 1) {
    optional = dynamic_cast<const OptionalValue*>(handle.scalar<Variant>().get());
  }
  if (optional != nullptr) return optional;
  return InvalidArgumentError("Input to an Optional op must be a scalar variant with an Optional");
}

Status RunFromValue(KernelContext& c) {
  auto optional = std::make_shared<OptionalValue>();
  optional->has_value = true;
  for (int i = 0; i < c.num_inputs(); ++i) optional->components.push_back(c.input(i).Owned());
  c.SetOutput(0, Tensor::Scalar<Variant>(std::move(optional)));
  return OkStatus();
}

Status RunNone(KernelContext& c) {
  c.SetOutput(0, Tensor::Scalar<Variant>(std::make_shared<OptionalValue>()));
  return OkStatus();
}

Status RunHasValue(KernelContext& c) {
  ASSIGN_OR_RETURN(const OptionalValue* optional, OptionalOf(c.input(0)));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape()));
  out->flat<bool>()[0] = optional->has_value;
  return OkStatus();
}

StatusOr<KernelFn> BindGetValue(const BindContext& c) {
  ASSIGN_OR_RETURN(const auto shapes, c.node->Attr<std::vector<PartialShape>>("output_shapes"));
  std::vector<DType> dtypes;
  for (int i = 0; i < c.node->num_outputs(); ++i) dtypes.push_back(c.node->dtype(i));
  if (shapes.size() != dtypes.size()) {
    return InvalidArgumentError(
        StrCat("output_types and output_shapes must be the same length, "
               "got ",
               dtypes.size(), " and ", shapes.size()));
  }
  return KernelFn([dtypes, shapes](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const OptionalValue* optional, OptionalOf(ctx.input(0)));
    if (!optional->has_value) {
      return InvalidArgumentError("The given optional does not have a value.");
    }
    const auto& values = optional->components;
    if (values.size() != dtypes.size()) {
      return InvalidArgumentError(StrCat("The given optional has ", values.size(),
                                         " components, expected ", dtypes.size()));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].dtype() != dtypes[i] || !shapes[i].Admits(values[i].shape())) {
        return InvalidArgumentError(
            StrCat("The given optional does not match the expected types and shapes: component ", i,
                   " is ", DTypeName(values[i].dtype()), values[i].shape().ToString(),
                   ", expected ", DTypeName(dtypes[i]), shapes[i].ToString()));
      }
      ctx.SetOutput(static_cast<int>(i), values[i]);
    }
    return OkStatus();
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

}  // namespace

std::span<const KernelDef> OptionalKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"OptionalFromValue", BindPlain<RunFromValue>},
      {"OptionalNone", BindPlain<RunNone>},
      {"OptionalHasValue", BindPlain<RunHasValue>},
      {"OptionalGetValue", BindGetValue},
  });
  return table;
}

}  // namespace slipway::kernels
