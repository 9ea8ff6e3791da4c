// SPDX-License-Identifier: Apache-2.0
//
// Optimizer updates of resource variables. Each locks all its variables, writes them in place and
// leaves readers of the old values alone (kernels/resources.h).
#include <cmath>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/simd_rows.h"
#include "kernels/types.h"
#include "kernels/variable_access.h"

namespace slipway::kernels {
namespace {

constexpr int64_t kUpdateGrain = 16384;

Status CheckUpdate(const Variable& variable, const Tensor& value, const Tensor& grad) {
  if (value.dtype() != grad.dtype()) {
    return InvalidArgumentError(StrCat("Variable ", variable.name(), " is of ",
                                       DTypeName(value.dtype()), ", its gradient of ",
                                       DTypeName(grad.dtype())));
  }
  if (value.shape() == grad.shape()) return OkStatus();
  return InvalidArgumentError(StrCat("Variable ", variable.name(),
                                     " and its gradient do not have the same shape: ",
                                     value.shape().ToString(), " vs. ", grad.shape().ToString()));
}

// Looks up N variables (inputs 0…N-1), checks them against `grad` and runs
// update(values, begin, end) over ranges of elements.
template <size_t N, typename Fn>
Status UpdateElements(KernelContext& c, const Tensor& grad, Fn&& update) {
  std::array<Variable*, N> variables;
  for (size_t i = 0; i < N; ++i) {
    ASSIGN_OR_RETURN(variables[i], InputVariable(c, static_cast<int>(i)));
  }
  return UpdateTogether(variables, [&](const std::array<Tensor*, N>& values) -> Status {
    for (size_t i = 0; i < N; ++i) RETURN_IF_ERROR(CheckUpdate(*variables[i], *values[i], grad));
    c.intra_op().ParallelFor(grad.num_elements(), kUpdateGrain,
                             [&](int64_t begin, int64_t end) { update(values, begin, end); });
    return OkStatus();
  });
}

// The scalars at inputs first…first+N-1.
template <size_t N>
StatusOr<std::array<double, N>> Scalars(const KernelContext& c, int first,
                                        const std::array<const char*, N>& names) {
  std::array<double, N> values;
  for (size_t i = 0; i < N; ++i) {
    ASSIGN_OR_RETURN(values[i], ReadFloat(c.input(first + static_cast<int>(i)), names[i]));
  }
  return values;
}

template <typename T>
T* At(Tensor* tensor, int64_t begin) {
  return tensor->flat<T>().data() + begin;
}
template <typename T>
const T* At(const Tensor& tensor, int64_t begin) {
  return tensor.flat<T>().data() + begin;
}

template <typename T>
Status RunGradientDescent(KernelContext& c) {
  ASSIGN_OR_RETURN(auto scalars, Scalars<1>(c, 1, {"alpha"}));
  const T rate = static_cast<T>(scalars[0]);
  const Tensor& grad = c.input(2);
  return UpdateElements<1>(c, grad, [&](const auto& values, int64_t begin, int64_t end) {
    const T* g = At<T>(grad, begin);
    T* var = At<T>(values[0], begin);
    if constexpr (std::is_same_v<T, float>) {
      Rows().add_scaled(g, -rate, var, end - begin);
    } else {
      for (int64_t i = 0; i < end - begin; ++i) var[i] -= g[i] * rate;
    }
  });
}

// TensorFlow's rule, and Keras's, in which the accumulator holds the step itself.
template <typename T, bool kKeras>
void MomentumStep(T* var, T* accum, const T* g, T rate, T mu, bool nesterov, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    (kKeras ? Rows().keras_momentum : Rows().momentum)(var, accum, g, rate, mu, nesterov, n);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kKeras) {
        accum[i] = accum[i] * mu - rate * g[i];
        var[i] += nesterov ? accum[i] * mu - rate * g[i] : accum[i];
      } else {
        accum[i] = accum[i] * mu + g[i];
        var[i] -= (nesterov ? g[i] + accum[i] * mu : accum[i]) * rate;
      }
    }
  }
}

template <typename T, bool kKeras>
Status RunMomentum(KernelContext& c, bool nesterov) {
  ASSIGN_OR_RETURN(double lr, ReadFloat(c.input(2), "lr"));
  ASSIGN_OR_RETURN(double momentum, ReadFloat(c.input(4), "momentum"));
  const T rate = static_cast<T>(lr), mu = static_cast<T>(momentum);
  const Tensor& grad = c.input(3);
  return UpdateElements<2>(c, grad, [&](const auto& values, int64_t begin, int64_t end) {
    MomentumStep<T, kKeras>(At<T>(values[0], begin), At<T>(values[1], begin), At<T>(grad, begin),
                            rate, mu, nesterov, end - begin);
  });
}

template <typename T>
Status RunAdam(KernelContext& c, bool nesterov) {
  ASSIGN_OR_RETURN(
      auto s, Scalars<6>(c, 3, {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"}));
  const T beta1_power = static_cast<T>(s[0]), beta2_power = static_cast<T>(s[1]);
  const T rate = static_cast<T>(s[2]) * std::sqrt(T{1} - beta2_power) / (T{1} - beta1_power);
  const T beta1 = static_cast<T>(s[3]), beta2 = static_cast<T>(s[4]),
          epsilon = static_cast<T>(s[5]);
  const Tensor& grad = c.input(9);
  return UpdateElements<3>(c, grad, [&](const auto& values, int64_t begin, int64_t end) {
    const T* g = At<T>(grad, begin);
    T* var = At<T>(values[0], begin);
    T* m = At<T>(values[1], begin);
    T* v = At<T>(values[2], begin);
    if constexpr (std::is_same_v<T, float>) {
      const AdamStep step = {rate, beta1, beta2, epsilon, nesterov};
      Rows().adam(var, m, v, g, step, end - begin);
    } else {
      for (int64_t i = 0; i < end - begin; ++i) {
        m[i] += (g[i] - m[i]) * (T{1} - beta1);
        v[i] += (g[i] * g[i] - v[i]) * (T{1} - beta2);
        const T along = nesterov ? g[i] * (T{1} - beta1) + beta1 * m[i] : m[i];
        var[i] -= along * rate / (std::sqrt(v[i]) + epsilon);
      }
    }
  });
}

template <typename T>
Status RunAdagrad(KernelContext& c, bool update_slots) {
  ASSIGN_OR_RETURN(auto s, Scalars<2>(c, 2, {"lr", "epsilon"}));
  const T rate = static_cast<T>(s[0]), epsilon = static_cast<T>(s[1]);
  const Tensor& grad = c.input(4);
  return UpdateElements<2>(c, grad, [&](const auto& values, int64_t begin, int64_t end) {
    const T* g = At<T>(grad, begin);
    T* var = At<T>(values[0], begin);
    T* accum = At<T>(values[1], begin);
    for (int64_t i = 0; i < end - begin; ++i) {
      if (update_slots) accum[i] += g[i] * g[i];
      var[i] -= g[i] * rate / (std::sqrt(accum[i]) + epsilon);
    }
  });
}

template <typename T>
Status RunRmsProp(KernelContext& c) {
  ASSIGN_OR_RETURN(auto s, Scalars<4>(c, 3, {"lr", "rho", "momentum", "epsilon"}));
  const T rate = static_cast<T>(s[0]), rho = static_cast<T>(s[1]), mu = static_cast<T>(s[2]),
          epsilon = static_cast<T>(s[3]);
  const Tensor& grad = c.input(7);
  return UpdateElements<3>(c, grad, [&](const auto& values, int64_t begin, int64_t end) {
    const T* g = At<T>(grad, begin);
    T* var = At<T>(values[0], begin);
    T* ms = At<T>(values[1], begin);
    T* mom = At<T>(values[2], begin);
    for (int64_t i = 0; i < end - begin; ++i) {
      ms[i] += (g[i] * g[i] - ms[i]) * (T{1} - rho);
      mom[i] = mom[i] * mu + g[i] * rate / std::sqrt(ms[i] + epsilon);
      var[i] -= mom[i];
    }
  });
}

using PlainRun = Status (*)(KernelContext&);
using FlagRun = Status (*)(KernelContext&, bool);

template <PlainRun kFloat, PlainRun kDouble>
StatusOr<KernelFn> BindPlain(const BindContext& c) {
  const auto dtype = AttrOr<DType>(*c.node, "T", DType::kInvalid);
  return KernelFn(dtype == DType::kFloat ? kFloat : kDouble);
}

template <FlagRun kFloat, FlagRun kDouble>
StatusOr<KernelFn> BindFlag(const BindContext& c) {
  const bool adagrad = c.node->op() == "ResourceApplyAdagradV2";
  const bool flag = BoolAttr(*c.node, adagrad ? "update_slots" : "use_nesterov", adagrad);
  const auto dtype = AttrOr<DType>(*c.node, "T", DType::kInvalid);
  const FlagRun run = dtype == DType::kFloat ? kFloat : kDouble;
  return KernelFn([run, flag](KernelContext& ctx) { return run(ctx, flag); });
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> types = Reals::DTypes();
  return MakeKernels({
      {"ResourceApplyGradientDescent",
       BindPlain<RunGradientDescent<float>, RunGradientDescent<double>>, types},
      {"ResourceApplyMomentum", BindFlag<RunMomentum<float, false>, RunMomentum<double, false>>,
       types},
      {"ResourceApplyKerasMomentum", BindFlag<RunMomentum<float, true>, RunMomentum<double, true>>,
       types},
      {"ResourceApplyAdam", BindFlag<RunAdam<float>, RunAdam<double>>, types},
      {"ResourceApplyAdagradV2", BindFlag<RunAdagrad<float>, RunAdagrad<double>>, types},
      {"ResourceApplyRMSProp", BindPlain<RunRmsProp<float>, RunRmsProp<double>>, types},
  });
}

}  // namespace

std::span<const KernelDef> OptimizerKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
