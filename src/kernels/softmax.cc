// SPDX-License-Identifier: Apache-2.0
//
// Softmax, its logarithm, and the two cross-entropies with their gradients.
#include <algorithm>
#include <cmath>

#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/simd_rows.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Rows that are worth a thread of their own.
int64_t RowGrain(int64_t cols) { return std::max<int64_t>(1, 8192 / std::max<int64_t>(1, cols)); }

// One row of at least one value; y may be x.
template <typename T>
void SoftmaxRow(const T* x, T* y, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    Rows().softmax(x, y, n);
  } else {
    using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
    A max = static_cast<A>(x[0]), sum{0};
    for (int64_t i = 1; i < n; ++i) max = std::max(max, static_cast<A>(x[i]));
    for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<A>(x[i]) - max);
    for (int64_t i = 0; i < n; ++i) y[i] = T(std::exp(static_cast<A>(x[i]) - max) / sum);
  }
}

// max and log(sum(exp(x - max))) of a row.
template <typename T>
struct RowStats {
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  A max;
  A log_sum;
};
template <typename T>
RowStats<T> StatsOf(const T* x, int64_t n) {
  using A = typename RowStats<T>::A;
  A max = static_cast<A>(x[0]), sum{0};
  for (int64_t i = 1; i < n; ++i) {
    const A v = static_cast<A>(x[i]);
    if (v > max || v != v) max = v;
  }
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<A>(x[i]) - max);
  return {max, std::log(sum)};
}

template <typename T>
void LogSoftmaxRow(const T* x, T* y, int64_t n) {
  using A = typename RowStats<T>::A;
  RowStats<T> stats;
  if constexpr (std::is_same_v<T, float>) {
    stats.max = Rows().max(x, n);
    float tile[256];
    float sum = 0;
    for (int64_t i = 0; i < n; i += 256) {
      sum += Rows().exp_sum(x + i, stats.max, tile, std::min<int64_t>(256, n - i));
    }
    stats.log_sum = std::log(sum);
  } else {
    stats = StatsOf(x, n);
  }
  for (int64_t i = 0; i < n; ++i) y[i] = T(static_cast<A>(x[i]) - stats.max - stats.log_sum);
}

template <typename T>
Status SoftmaxRows(KernelContext& c, const Tensor& x, Tensor* y, bool logarithm) {
  const int64_t cols = x.dim(x.rank() - 1);
  if (x.num_elements() == 0) return OkStatus();
  const T* in = x.flat<T>().data();
  T* out = y->flat<T>().data();
  c.intra_op().ParallelFor(x.num_elements() / cols, RowGrain(cols),
                           [&](int64_t begin, int64_t end) {
                             for (int64_t r = begin; r < end; ++r) {
                               if (logarithm) {
                                 LogSoftmaxRow(in + r * cols, out + r * cols, cols);
                               } else {
                                 SoftmaxRow(in + r * cols, out + r * cols, cols);
                               }
                             }
                           });
  return OkStatus();
}

StatusOr<KernelFn> BindSoftmax(const BindContext& bind) {
  const bool logarithm = bind.node->op() == "LogSoftmax";
  return KernelFn([logarithm](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    if (x.rank() < 1) {
      return InvalidArgumentError("logits must have >= 1 dimension, got " + x.shape().ToString());
    }
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    return SwitchType<Status>(Floats{}, x.dtype(),
                              [&]<typename T>() { return SoftmaxRows<T>(c, x, y, logarithm); });
  });
}

// Rows of logits and labels, either of which may be one row or one column for all (stride 0).
template <typename T>
struct CrossEntropy {
  int64_t rows, cols;
  const T* logits;
  int64_t logits_row, logits_col;
  const T* labels;
  int64_t labels_row, labels_col;
  T* loss;
  T* backprop;

  void Row(int64_t r) const {
    using A = typename RowStats<T>::A;
    const T* x = logits + r * logits_row;
    const T* p = labels + r * labels_row;
    T* dx = backprop + r * cols;
    A max = static_cast<A>(x[0]);
    for (int64_t i = 1; i < cols; ++i) {
      const A v = static_cast<A>(x[i * logits_col]);
      if (v > max || v != v) max = v;
    }
    A sum{0};
    if constexpr (std::is_same_v<T, float>) {
      if (logits_col == 1) {
        sum = Rows().exp_sum(x, max, dx, cols);
      } else {
        sum = std::exp(x[0] - max) * static_cast<float>(cols);
        std::fill_n(dx, cols, std::exp(x[0] - max));
      }
    } else {
      for (int64_t i = 0; i < cols; ++i) sum += std::exp(static_cast<A>(x[i * logits_col]) - max);
    }
    const A log_sum = std::log(sum);
    A total{0};
    for (int64_t i = 0; i < cols; ++i) {
      const A label = static_cast<A>(p[i * labels_col]);
      const A shifted = static_cast<A>(x[i * logits_col]) - max;
      if (label != 0) total += label * (log_sum - shifted);
      if constexpr (std::is_same_v<T, float>) {
        dx[i] = dx[i] / sum - label;
      } else {
        dx[i] = T(std::exp(shifted) / sum - label);
      }
    }
    loss[r] = T(total);
  }
};

// Of a tensor as a matrix: dimensions that it lacks are in front, and 1.
int64_t MatrixDim(const Tensor& t, int d) {
  const int own = d - (2 - t.rank());
  return own < 0 ? 1 : t.dim(own);
}

struct DenseShape {
  int64_t rows, cols;
};
StatusOr<DenseShape> CheckDense(const Tensor& logits, const Tensor& labels) {
  const auto error = [&](std::string_view why) {
    return InvalidArgumentError(StrCat(why, ": logits_size=", logits.shape().ToString(),
                                       " labels_size=", labels.shape().ToString()));
  };
  if (std::max(logits.rank(), labels.rank()) != 2) {
    return error(
        "logits and labels must be either 2-dimensional, or broadcasted to be "
        "2-dimensional");
  }
  int64_t size[2];
  for (int d = 0; d < 2; ++d) {
    const int64_t a = MatrixDim(logits, d), b = MatrixDim(labels, d);
    if (a != b && a != 1 && b != 1) return error("logits and labels must be broadcastable");
    size[d] = a == 1 ? b : a;
  }
  return DenseShape{size[0], size[1]};
}

Status RunCrossEntropy(KernelContext& c) {
  const Tensor& logits = c.input(0);
  const Tensor& labels = c.input(1);
  ASSIGN_OR_RETURN(DenseShape s, CheckDense(logits, labels));
  ASSIGN_OR_RETURN(Tensor * loss, c.AllocateOutput(0, Shape({s.rows})));
  ASSIGN_OR_RETURN(Tensor * backprop, c.AllocateOutput(1, Shape({s.rows, s.cols})));
  return SwitchType<Status>(Floats{}, logits.dtype(), [&]<typename T>() {
    T* losses = loss->flat<T>().data();
    if (s.cols == 0) std::fill_n(losses, s.rows, T(0.0f));
    if (s.cols == 0 || s.rows == 0) return OkStatus();
    const auto row_stride = [](const Tensor& t) {
      return MatrixDim(t, 0) == 1 ? 0 : MatrixDim(t, 1);
    };
    const auto col_stride = [](const Tensor& t) { return MatrixDim(t, 1) == 1 ? int64_t{0} : 1; };
    const CrossEntropy<T> op = {s.rows,
                                s.cols,
                                logits.flat<T>().data(),
                                row_stride(logits),
                                s.cols == 1 ? 1 : col_stride(logits),
                                labels.flat<T>().data(),
                                row_stride(labels),
                                col_stride(labels),
                                losses,
                                backprop->flat<T>().data()};
    c.intra_op().ParallelFor(s.rows, RowGrain(s.cols), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) op.Row(r);
    });
    return OkStatus();
  });
}

// Names the label that TensorFlow names: the least if it is negative, else the largest.
template <typename L>
Status CheckLabels(std::span<const L> labels, int64_t classes) {
  if (labels.empty()) return OkStatus();
  const auto [least, most] = std::minmax_element(labels.begin(), labels.end());
  if (*least >= 0 && *most < classes) return OkStatus();
  constexpr size_t kShown = 100;
  std::string values;
  for (L label : labels.first(std::min(labels.size(), kShown))) StrAppend(&values, " ", label);
  if (labels.size() > kShown) values += "...";
  return InvalidArgumentError(StrCat("Received a label value of ", *least < 0 ? *least : *most,
                                     " which is outside the valid range of [0, ", classes,
                                     ").  Label values:", values));
}

template <typename T>
void SparseRow(const T* x, int64_t label, int64_t cols, T* loss, T* dx) {
  using A = typename RowStats<T>::A;
  if constexpr (std::is_same_v<T, float>) {
    const float logit = x[label];  // dx may lie over x
    const SoftmaxStats stats = Rows().softmax(x, dx, cols);
    *loss = std::log(stats.sum) - (logit - stats.max);
    dx[label] -= 1.0f;
  } else {
    const RowStats<T> stats = StatsOf(x, cols);
    *loss = T(stats.log_sum - (static_cast<A>(x[label]) - stats.max));
    for (int64_t i = 0; i < cols; ++i) {
      const A p = std::exp(static_cast<A>(x[i]) - stats.max - stats.log_sum);
      dx[i] = T(i == label ? p - 1 : p);
    }
  }
}

template <typename L>
Status RunSparse(KernelContext& c) {
  const Tensor& logits = c.input(0);
  const auto labels = c.input(1).flat<L>();
  const int64_t rows = logits.dim(0), cols = logits.dim(1);
  RETURN_IF_ERROR(CheckLabels<L>(labels, cols));
  ASSIGN_OR_RETURN(Tensor * loss, c.AllocateOutput(0, Shape({rows})));
  ASSIGN_OR_RETURN(Tensor * backprop, c.AllocateOutput(1, logits.shape()));
  return SwitchType<Status>(Floats{}, logits.dtype(), [&]<typename T>() {
    const T* x = logits.flat<T>().data();
    T* losses = loss->flat<T>().data();
    T* dx = backprop->flat<T>().data();
    c.intra_op().ParallelFor(rows, RowGrain(cols), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t label = static_cast<int64_t>(labels[static_cast<size_t>(r)]);
        SparseRow<T>(x + r * cols, label, cols, losses + r, dx + r * cols);
      }
    });
    return OkStatus();
  });
}

Status RunSparseCrossEntropy(KernelContext& c) {
  const Tensor& logits = c.input(0);
  const Tensor& labels = c.input(1);
  if (logits.rank() != 2) {
    return InvalidArgumentError("logits must be 2-D, but got shape " + logits.shape().ToString());
  }
  if (labels.rank() != 1) {
    return InvalidArgumentError("labels must be 1-D, but got shape " + labels.shape().ToString());
  }
  if (logits.dim(0) != labels.dim(0)) {
    return InvalidArgumentError(
        StrCat("logits and labels must have the same first dimension, got logits shape ",
               logits.shape().ToString(), " and labels shape ", labels.shape().ToString()));
  }
  if (logits.dim(1) == 0) {
    return InvalidArgumentError("Must have at least one class, but got logits shape " +
                                logits.shape().ToString());
  }
  return labels.dtype() == DType::kInt32 ? RunSparse<int32_t>(c) : RunSparse<int64_t>(c);
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"Softmax", BindSoftmax, FloatTypes(), "T", {{0, 0}}},
      {"LogSoftmax", BindSoftmax, FloatTypes(), "T", {{0, 0}}},
      {"SoftmaxCrossEntropyWithLogits",
       [](const BindContext&) -> StatusOr<KernelFn> { return KernelFn(RunCrossEntropy); },
       FloatTypes()},
      {"SparseSoftmaxCrossEntropyWithLogits",
       [](const BindContext&) -> StatusOr<KernelFn> { return KernelFn(RunSparseCrossEntropy); },
       FloatTypes()},
  });
}

}  // namespace

std::span<const KernelDef> SoftmaxKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
