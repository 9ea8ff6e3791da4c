// SPDX-License-Identifier: Apache-2.0
//
// Optimizer updates of the rows that a sparse gradient names, and Ftrl and Adagrad of whole
// variables: one rule an element, for both.
#include <array>
#include <cmath>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"
#include "kernels/variable_access.h"

namespace slipway::kernels {
namespace {

// Where a rule's inputs are: variables first, then these.
struct Inputs {
  int gradient = 0;
  int indices = -1;  // none: the gradient is of the whole variable
  std::vector<int> scalars;
};

Status CheckValue(const Variable& variable, const Tensor& value, const Tensor& grad, bool by_row) {
  bool fits = value.dtype() == grad.dtype() && value.rank() == grad.rank();
  if (by_row && value.rank() < 1) fits = false;
  for (int d = by_row ? 1 : 0; fits && d < value.rank(); ++d) fits = value.dim(d) == grad.dim(d);
  if (fits) return OkStatus();
  return InvalidArgumentError(StrCat("Variable ", variable.name(), " of ", DTypeName(value.dtype()),
                                     value.shape().ToString(), " and its gradient of ",
                                     DTypeName(grad.dtype()), grad.shape().ToString(),
                                     " do not have the same shape"));
}

int64_t IndexAt(const Tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return t.dtype() == DType::kInt32 ? t.flat<int32_t>()[at] : t.flat<int64_t>()[at];
}

Status CheckIndices(const Tensor& indices, const Tensor& grad, int64_t rows) {
  RETURN_IF_ERROR(CheckRank(indices, 1, "indices must be one-dimensional: indices"));
  if (grad.rank() < 1 || grad.dim(0) != indices.dim(0)) {
    return InvalidArgumentError(StrCat(
        "grad must be the same size as indices in the first dimension: ", grad.shape().ToString(),
        " vs. ", indices.shape().ToString()));
  }
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    const int64_t index = IndexAt(indices, i);
    if (index >= 0 && index < rows) continue;
    return InvalidArgumentError(
        StrCat("Index ", index, " at offset ", i, " in indices is out of range [0, ", rows, ")"));
  }
  return OkStatus();
}

// rule(values, gradient, scalars) for each element of the variables that the gradient touches, in
// the gradient's order; half types are computed in float.
template <typename T, size_t N, typename Rule>
Status Apply(KernelContext& c, const Inputs& at, const Rule& rule) {
  using W = WideOf<T>;
  std::array<Variable*, N> variables;
  for (size_t i = 0; i < N; ++i) {
    ASSIGN_OR_RETURN(variables[i], InputVariable(c, static_cast<int>(i)));
  }
  std::vector<W> scalars;
  for (int i : at.scalars) {
    ASSIGN_OR_RETURN(const double value, ReadFloat(c.input(i), "a hyperparameter"));
    scalars.push_back(static_cast<W>(value));
  }
  const Tensor& grad = c.input(at.gradient);
  const Tensor* indices = at.indices < 0 ? nullptr : &c.input(at.indices);
  return UpdateTogether(variables, [&](const std::array<Tensor*, N>& values) -> Status {
    for (size_t i = 0; i < N; ++i) {
      RETURN_IF_ERROR(CheckValue(*variables[i], *values[i], grad, indices != nullptr));
    }
    const int64_t rows = values[0]->rank() == 0 ? 1 : values[0]->dim(0);
    for (size_t i = 1; i < N; ++i) {
      RETURN_IF_ERROR(CheckSameShape(*values[0], *values[i], "a variable", "its slot"));
    }
    if (indices != nullptr) RETURN_IF_ERROR(CheckIndices(*indices, grad, rows));
    const int64_t n = grad.num_elements();
    const int64_t inner = indices == nullptr ? n : ProductOfDims(grad.shape(), 1, grad.rank());
    for (int64_t e = 0; e < n; ++e) {
      const int64_t row = indices == nullptr ? 0 : IndexAt(*indices, e / inner);
      const auto to = static_cast<size_t>(row * inner + e % inner);
      std::array<W, N> now;
      for (size_t i = 0; i < N; ++i) now[i] = Widen(values[i]->template flat<T>()[to]);
      rule(now, Widen(grad.flat<T>()[static_cast<size_t>(e)]), scalars.data());
      for (size_t i = 0; i < N; ++i) values[i]->template flat<T>()[to] = T(now[i]);
    }
    return OkStatus();
  });
}

// Binds a rule over N variables for each float type.
template <size_t N, typename Rule>
KernelFn Bound(const BindContext& bind, Inputs at, Rule rule) {
  const DType dtype = bind.input_dtype(at.gradient);
  return KernelFn([=](KernelContext& c) {
    return SwitchType<Status>(Floats{}, dtype,
                              [&]<typename T>() { return Apply<T, N>(c, at, rule); });
  });
}

struct FtrlOptions {
  bool shrinks = false, linear_times_rate = false;
};

// values: variable, accumulator, linear; s: lr, l1, l2, [l2_shrinkage], lr_power.
template <typename W>
void Ftrl(const FtrlOptions& o, std::array<W, 3>& v, W g, const W* s) {
  const W rate = s[0], l1 = s[1], l2 = s[2];
  const W shrinkage = o.shrinks ? s[3] : W{0}, power = s[o.shrinks ? 4 : 3];
  const auto raised = [power](W x) {
    return power == W(-0.5) ? std::sqrt(x) : std::pow(x, -power);
  };
  const W shrunk = g + 2 * shrinkage * v[0];
  const W next = v[1] + g * g, moved = raised(next) - raised(v[1]);
  if (o.linear_times_rate) {
    v[2] += shrunk * rate - moved * v[0];
    const W bound = l1 * rate, x = std::copysign(bound, v[2]) - v[2];
    v[0] = std::abs(v[2]) > bound ? x / (raised(next) + 2 * l2 * rate) : W{0};
  } else {
    v[2] += shrunk - moved / rate * v[0];
    const W x = std::copysign(l1, v[2]) - v[2];
    v[0] = std::abs(v[2]) > l1 ? x / (raised(next) / rate + 2 * l2) : W{0};
  }
  v[1] = next;
}

StatusOr<KernelFn> BindFtrl(const BindContext& bind) {
  const bool by_row = bind.node->op().find("Sparse") != std::string::npos;
  FtrlOptions o;
  o.shrinks = bind.node->op().ends_with("V2");
  o.linear_times_rate = BoolAttr(*bind.node, "multiply_linear_by_lr");
  Inputs at;
  at.gradient = 3;
  at.indices = by_row ? 4 : -1;
  for (int i = 0; i < (o.shrinks ? 5 : 4); ++i) at.scalars.push_back((by_row ? 5 : 4) + i);
  return Bound<3>(bind, at,
                  [o]<typename W>(std::array<W, 3>& v, W g, const W* s) { Ftrl<W>(o, v, g, s); });
}

// variable, accumulator, lr, [epsilon], gradient, [indices].
StatusOr<KernelFn> BindAdagrad(const BindContext& bind) {
  const bool by_row = bind.node->op().find("Sparse") != std::string::npos;
  const bool has_epsilon = bind.node->op().ends_with("V2");
  const bool update = BoolAttr(*bind.node, "update_slots", true);
  Inputs at;
  at.gradient = has_epsilon ? 4 : 3;
  at.indices = by_row ? at.gradient + 1 : -1;
  at.scalars = has_epsilon ? std::vector<int>{2, 3} : std::vector<int>{2};
  return Bound<2>(bind, at, [=]<typename W>(std::array<W, 2>& v, W g, const W* s) {
    if (update) v[1] += g * g;
    v[0] -= g * s[0] / (std::sqrt(v[1]) + (has_epsilon ? s[1] : W{0}));
  });
}

// variable, accumulator, lr, gradient, indices, momentum.
StatusOr<KernelFn> BindMomentum(const BindContext& bind) {
  const bool nesterov = BoolAttr(*bind.node, "use_nesterov");
  const bool keras = bind.node->op().find("Keras") != std::string::npos;
  Inputs at;
  at.gradient = 3;
  at.indices = 4;
  at.scalars = {2, 5};
  return Bound<2>(bind, at, [=]<typename W>(std::array<W, 2>& v, W g, const W* s) {
    const W step = keras ? -s[0] * g : g;
    v[1] = v[1] * s[1] + step;
    const W along = nesterov ? v[1] * s[1] + step : v[1];
    v[0] += keras ? along : -s[0] * along;
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows;
  for (const char* op : {"ResourceApplyFtrl", "ResourceApplyFtrlV2", "ResourceSparseApplyFtrl",
                         "ResourceSparseApplyFtrlV2"}) {
    rows.push_back({op, BindFtrl, FloatTypes()});
  }
  for (const char* op :
       {"ResourceApplyAdagrad", "ResourceSparseApplyAdagrad", "ResourceSparseApplyAdagradV2"}) {
    rows.push_back({op, BindAdagrad, FloatTypes()});
  }
  for (const char* op : {"ResourceSparseApplyKerasMomentum", "ResourceSparseApplyMomentum"}) {
    rows.push_back({op, BindMomentum, FloatTypes()});
  }
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> OptimizersByRowKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
