// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of the last one to three dimensions.
#include <algorithm>
#include <complex>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/fourier.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using Complex = std::complex<double>;

struct FftOp {
  bool inverse = false, real = false;
  int rank = 1;
};

// How many numbers each of the last dimensions has in the time domain.
StatusOr<IntVec> FindLengths(const KernelContext& c, const FftOp& op) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() < op.rank) {
    return InvalidArgumentError(
        StrCat("Input must have rank of at least ", op.rank, " but got: ", shape.ToString()));
  }
  if (!op.real) return IntVec(shape.dims().last(static_cast<size_t>(op.rank)));
  ASSIGN_OR_RETURN(IntVec lengths, ReadIntVector(c.input(1), "fft_length"));
  if (lengths.rank() != op.rank) {
    return InvalidArgumentError(StrCat("fft_length must have shape [", op.rank, "], but has ",
                                       lengths.size(), " elements"));
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] >= 0) continue;
    return InvalidArgumentError(StrCat("fft_length[", i, "] must >= 0, but got: ", lengths[i]));
  }
  return lengths;
}

// The sizes that the transform reads of its input or gives of its output: along the last axis of a
// real one only the half that is not mirrored.
Shape Sized(const Shape& shape, const IntVec& lengths, bool half_last) {
  Shape sized = shape;
  const int first = shape.rank() - lengths.rank();
  for (int i = 0; i < lengths.rank(); ++i) {
    const int64_t n = lengths[static_cast<size_t>(i)];
    const bool half = half_last && i + 1 == lengths.rank() && n > 0;
    sized.set_dim(first + i, half ? n / 2 + 1 : n);
  }
  return sized;
}

Status CheckLongEnough(const Shape& shape, const Shape& wanted) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) == 0 || shape.dim(d) >= wanted.dim(d)) continue;
    return InvalidArgumentError(StrCat("Input dimension ", d, " must have length of at least ",
                                       wanted.dim(d), " but got: ", shape.dim(d)));
  }
  return OkStatus();
}

template <typename T>
void LoadAs(const Tensor& x, std::span<const int64_t> dims, const Shape& to, Complex* out) {
  // Rows of the common part; what is not read stays 0.
  const IntVec from_strides = RowMajorStrides(x.shape()), to_strides = RowMajorStrides(to);
  int64_t rows = 1;
  const size_t last = dims.size() - 1;
  for (size_t d = 0; d < last; ++d) rows *= dims[d];
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r, from = 0, at = 0;
    for (size_t d = last; d-- > 0;) {
      from += rest % dims[d] * from_strides[d];
      at += rest % dims[d] * to_strides[d];
      rest /= dims[d];
    }
    const T* source = x.flat<T>().data() + from;
    for (int64_t i = 0; i < dims[last]; ++i) out[at + i] = Complex(source[i]);
  }
}

void Load(const Tensor& x, const Shape& to, Complex* out) {
  std::fill_n(out, to.num_elements(), Complex(0));
  IntVec dims;
  for (int d = 0; d < to.rank(); ++d) dims.push_back(std::min(x.dim(d), to.dim(d)));
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  SwitchType<int>(TypeList<float, double, std::complex<float>, std::complex<double>>{}, x.dtype(),
                  [&]<typename T>() {
                    LoadAs<T>(x, dims.span(), to, out);
                    return 0;
                  });
}

// Calls fn(first element, distance of neighbours) for every line along `axis`.
template <typename Fn>
void ForEachLine(const Shape& shape, int axis, Fn&& fn) {
  const int64_t outer = ProductOfDims(shape, 0, axis);
  const int64_t inner = ProductOfDims(shape, axis + 1, shape.rank());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) fn(o * shape.dim(axis) * inner + i, inner);
  }
}

Status TransformAxis(KernelContext& c, const Shape& shape, int axis, bool inverse, Complex* data) {
  const int64_t n = shape.dim(axis);
  if (n <= 1) return OkStatus();
  const auto plan = FourierPlan::ForLength(n);
  auto* line = static_cast<Complex*>(
      c.Scratch(static_cast<size_t>(n + plan->scratch_size()) * sizeof(Complex)));
  if (line == nullptr) return ResourceExhaustedError("No memory for a Fourier transform");
  ForEachLine(shape, axis, [&](int64_t first, int64_t step) {
    for (int64_t i = 0; i < n; ++i) line[i] = data[first + i * step];
    if (inverse) {
      plan->Inverse(line, line + n);
    } else {
      plan->Forward(line, line + n);
    }
    for (int64_t i = 0; i < n; ++i) data[first + i * step] = line[i];
  });
  return OkStatus();
}

// The inverse along the last axis of what is the half of a mirrored line, to real numbers.
template <typename T>
Status MirroredAxis(KernelContext& c, const Shape& half, int axis, const Complex* data, Tensor* y) {
  const int64_t n = y->dim(axis), m = half.dim(axis);
  const auto plan = FourierPlan::ForLength(n);
  auto* line = static_cast<Complex*>(
      c.Scratch(static_cast<size_t>(n + plan->scratch_size()) * sizeof(Complex)));
  if (line == nullptr) return ResourceExhaustedError("No memory for a Fourier transform");
  T* out = y->flat<T>().data();
  ForEachLine(half, axis, [&](int64_t first, int64_t step) {
    const int64_t outer = first / step / m, inner = first % step;
    for (int64_t i = 0; i < n; ++i) {
      line[i] = i < m ? data[first + i * step] : std::conj(data[first + (n - i) * step]);
    }
    plan->Inverse(line, line + n);
    for (int64_t i = 0; i < n; ++i) {
      out[(outer * n + i) * step + inner] = static_cast<T>(line[i].real());
    }
  });
  return OkStatus();
}

// The output's part of `data`, whose shape is at least as large.
template <typename T>
void Store(const Shape& shape, const Complex* data, Tensor* y) {
  const IntVec strides = RowMajorStrides(shape);
  T* out = y->flat<T>().data();
  const int64_t last = y->dim(y->rank() - 1);
  for (int64_t i = 0; i < y->num_elements(); i += last) {
    int64_t rest = i / last, from = 0;
    for (int d = y->rank() - 2; d >= 0; --d) {
      from += rest % y->dim(d) * strides[static_cast<size_t>(d)];
      rest /= y->dim(d);
    }
    for (int64_t j = 0; j < last; ++j) out[i + j] = T(data[from + j]);
  }
}

StatusOr<Complex*> Workspace(KernelContext& c, const Shape& shape) {
  // Checked here: the sizes may come from a request.
  ASSIGN_OR_RETURN(const Shape checked, Shape::FromDims(shape.dims()));
  ASSIGN_OR_RETURN(const int64_t bytes,
                   CheckedMul(checked.num_elements(), sizeof(Complex), "Fourier transform"));
  void* memory = c.Scratch(static_cast<size_t>(bytes) + 1);
  if (memory == nullptr) return ResourceExhaustedError("No memory for a Fourier transform");
  return static_cast<Complex*>(memory);
}

Status RunFft(KernelContext& c, const FftOp& op) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const IntVec lengths, FindLengths(c, op));
  const bool to_real = op.real && op.inverse;
  const Shape work_shape = Sized(x.shape(), lengths, to_real);
  const Shape out_shape = Sized(x.shape(), lengths, op.real && !op.inverse);
  RETURN_IF_ERROR(CheckLongEnough(x.shape(), work_shape));
  ASSIGN_OR_RETURN(Shape checked, Shape::FromDims(out_shape.dims()));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, checked));
  if (y->num_elements() == 0) return OkStatus();
  ASSIGN_OR_RETURN(Complex * data, Workspace(c, work_shape));
  Load(x, work_shape, data);
  const int last = x.rank() - 1;
  for (int d = x.rank() - op.rank; d < last + (to_real ? 0 : 1); ++d) {
    RETURN_IF_ERROR(TransformAxis(c, work_shape, d, op.inverse, data));
  }
  if (to_real) {
    return y->dtype() == DType::kFloat ? MirroredAxis<float>(c, work_shape, last, data, y)
                                       : MirroredAxis<double>(c, work_shape, last, data, y);
  }
  if (y->dtype() == DType::kComplex64) {
    Store<std::complex<float>>(work_shape, data, y);
  } else {
    Store<std::complex<double>>(work_shape, data, y);
  }
  return OkStatus();
}

StatusOr<KernelFn> BindFft(const BindContext& bind) {
  const std::string& name = bind.node->op();
  FftOp op;
  op.inverse = name.starts_with('I');
  op.real = name.find("RFFT") != std::string::npos;
  op.rank = name.ends_with("2D") ? 2 : name.ends_with("3D") ? 3 : 1;
  return KernelFn([op](KernelContext& c) { return RunFft(c, op); });
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows;
  for (const char* op : {"FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D", "IRFFT", "IRFFT2D",
                         "IRFFT3D", "RFFT", "RFFT2D", "RFFT3D"}) {
    rows.push_back({op, BindFft, {}, "Tcomplex", {}, {}, /*expensive=*/true});
  }
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> FftKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
