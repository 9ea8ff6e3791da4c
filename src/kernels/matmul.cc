// SPDX-License-Identifier: Apache-2.0
//
// Matrix products, with and without bias and activation, and batched ones.
#include <algorithm>

#include "kernels/attrs.h"
#include "kernels/broadcast.h"
#include "kernels/checks.h"
#include "kernels/gemm.h"
#include "kernels/kernel_table.h"
#include "kernels/matrix_product.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  bool adjoint = false;  // what is transposed is conjugated too
  // Of the matrices as they are stored.
  int64_t lda() const { return transpose_a ? m : k; }
  int64_t ldb() const { return transpose_b ? k : n; }
};

// For every type but float: rows times columns, the obvious way.
template <typename T>
void SimpleProduct(const Product& p, const T* a, const T* b, T* c) {
  std::fill_n(c, p.m * p.n, T{0});
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t l = 0; l < p.k; ++l) {
      T x = p.transpose_a ? a[l * p.m + i] : a[i * p.k + l];
      if constexpr (kIsComplex<T>) {
        if (p.adjoint && p.transpose_a) x = std::conj(x);
      }
      const T* row = p.transpose_b ? b + l : b + l * p.n;
      const int64_t step = p.transpose_b ? p.k : 1;
      T* to = c + i * p.n;
      if constexpr (kIsComplex<T>) {
        if (p.adjoint && p.transpose_b) {
          for (int64_t j = 0; j < p.n; ++j) to[j] += x * std::conj(row[j * step]);
          continue;
        }
      }
      for (int64_t j = 0; j < p.n; ++j) to[j] = WrapAdd(to[j], WrapMul(x, row[j * step]));
    }
  }
}

// Constant weights, packed once for all plans; and the memory they were packed from.
struct PackedWeights {
  const void* from = nullptr;
  std::shared_ptr<const Tensor> panels;

  const float* For(const Tensor& b) const {
    return panels != nullptr && b.raw_data() == from ? panels->flat<float>().data() : nullptr;
  }
};

StatusOr<PackedWeights> PackConstant(const BindContext& c, bool transpose_b) {
  const Tensor* b = c.constant_inputs.size() > 1 ? c.constant(1) : nullptr;
  if (b == nullptr || c.weights == nullptr || b->dtype() != DType::kFloat || b->rank() != 2 ||
      b->num_elements() == 0) {
    return PackedWeights();
  }
  const PartialShape rows = c.input_shapes.empty() ? PartialShape() : c.input_shapes[0];
  const auto a = rows.ToShape();
  if (a.has_value() && a->rank() == 2 &&
      a->num_elements() / std::max<int64_t>(1, b->dim(transpose_b ? 1 : 0)) <= kGemmFewRows) {
    return PackedWeights();
  }
  GemmArgs args;
  args.transpose_b = transpose_b;
  args.k = b->dim(transpose_b ? 1 : 0);
  args.n = b->dim(transpose_b ? 0 : 1);
  args.b = b->flat<float>().data();
  args.ldb = b->dim(1);
  const auto pack = [&]() -> StatusOr<Tensor> {
    ASSIGN_OR_RETURN(Tensor panels,
                     Tensor::Allocate(DType::kFloat, Shape({PackedGemmBSize(args.n, args.k)})));
    PackGemmB(args, panels.flat<float>().data());
    return panels;
  };
  ASSIGN_OR_RETURN(auto panels, c.weights->Get(*b, PackedGemmBLayout(transpose_b), pack));
  return PackedWeights{b->raw_data(), std::move(panels)};
}

void FloatProduct(const Product& p, const float* a, const float* b, float* c, ThreadPool* pool,
                  const float* packed_b = nullptr) {
  GemmArgs args;
  args.packed_b = packed_b;
  args.m = p.m;
  args.n = p.n;
  args.k = p.k;
  args.a = a;
  args.b = b;
  args.c = c;
  args.transpose_a = p.transpose_a;
  args.transpose_b = p.transpose_b;
  args.lda = p.lda();
  args.ldb = p.ldb();
  args.ldc = p.n;
  args.pool = pool;
  Gemm(args);
}

template <typename H>
Status HalfProduct(const Product& p, const H* a, const H* b, H* c, KernelContext& ctx) {
  const size_t na = static_cast<size_t>(p.m * p.k), nb = static_cast<size_t>(p.k * p.n),
               nc = static_cast<size_t>(p.m * p.n);
  auto* scratch = static_cast<float*>(ctx.Scratch((na + nb + nc) * sizeof(float) + 1));
  if (scratch == nullptr) return ResourceExhaustedError("No memory to widen half values");
  for (size_t i = 0; i < na; ++i) scratch[i] = static_cast<float>(a[i]);
  for (size_t i = 0; i < nb; ++i) scratch[na + i] = static_cast<float>(b[i]);
  float* out = scratch + na + nb;
  FloatProduct(p, scratch, scratch + na, out, &ctx.intra_op());
  for (size_t i = 0; i < nc; ++i) c[i] = H(out[i]);
  return OkStatus();
}

using ProductTypes = TypeList<double, int32_t, int64_t, uint8_t, int8_t, int16_t, uint16_t,
                              uint32_t, uint64_t, std::complex<float>, std::complex<double>>;

// One product of matrices at these element offsets.
Status Multiply(KernelContext& ctx, const Product& p, const Tensor& a, int64_t at_a,
                const Tensor& b, int64_t at_b, Tensor* c, int64_t at_c, ThreadPool* pool) {
  const auto half = [&]<typename H>() {
    return HalfProduct<H>(p, a.flat<H>().data() + at_a, b.flat<H>().data() + at_b,
                          c->flat<H>().data() + at_c, ctx);
  };
  if (a.dtype() == DType::kFloat) {
    FloatProduct(p, a.flat<float>().data() + at_a, b.flat<float>().data() + at_b,
                 c->flat<float>().data() + at_c, pool);
    return OkStatus();
  }
  if (a.dtype() == DType::kHalf) return half.template operator()<Half>();
  if (a.dtype() == DType::kBFloat16) return half.template operator()<BFloat16>();
  SwitchType<int>(ProductTypes{}, a.dtype(), [&]<typename T>() {
    SimpleProduct<T>(p, a.flat<T>().data() + at_a, b.flat<T>().data() + at_b,
                     c->flat<T>().data() + at_c);
    return 0;
  });
  return OkStatus();
}

}  // namespace

Status MultiplyMatrices(KernelContext& ctx, int64_t batch, int64_t m, int64_t n, int64_t k,
                        const Tensor& a, const Tensor& b, Tensor* c) {
  Product p;
  p.m = m;
  p.n = n;
  p.k = k;
  const bool whole = batch > ctx.intra_op().size() && !IsHalfSize(a.dtype());
  const auto some = [&](int64_t begin, int64_t end, ThreadPool* pool) {
    Status status;
    for (int64_t i = begin; i < end && status.ok(); ++i) {
      status = Multiply(ctx, p, a, i * m * k, b, i * k * n, c, i * m * n, pool);
    }
    return status;
  };
  if (!whole) return some(0, batch, &ctx.intra_op());
  ctx.intra_op().ParallelFor(batch, 1, [&](int64_t begin, int64_t end) {
    some(begin, end, nullptr).IgnoreError();  // only half types can fail, and they are not here
  });
  return OkStatus();
}

namespace {

// The sizes of the product of two matrices; rows and columns are those of the stored form.
StatusOr<Product> CheckProduct(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b) {
  Product p;
  p.transpose_a = transpose_a;
  p.transpose_b = transpose_b;
  const int64_t a_rows = a.dim(a.rank() - 2), a_cols = a.dim(a.rank() - 1);
  const int64_t b_rows = b.dim(b.rank() - 2), b_cols = b.dim(b.rank() - 1);
  p.m = transpose_a ? a_cols : a_rows;
  p.k = transpose_a ? a_rows : a_cols;
  p.n = transpose_b ? b_rows : b_cols;
  if (p.k != (transpose_b ? b_cols : b_rows)) {
    return InvalidArgumentError(StrCat("Matrix size-incompatible: In[0]: ", a.ToString(),
                                       ", In[1]: ", b.ToString(), transpose_a ? ", adj_a" : "",
                                       transpose_b ? ", adj_b" : ""));
  }
  return p;
}

Status CheckMatrices(const Tensor& a, const Tensor& b) {
  for (int i = 0; i < 2; ++i) {
    const Tensor& t = i == 0 ? a : b;
    if (t.rank() == 2) continue;
    return InvalidArgumentError(
        StrCat("In[", i, "] is not a matrix. Instead it has shape ", t.shape().ToString()));
  }
  return OkStatus();
}

StatusOr<KernelFn> BindMatMul(const BindContext& c) {
  const bool ta = BoolAttr(*c.node, "transpose_a"), tb = BoolAttr(*c.node, "transpose_b");
  ASSIGN_OR_RETURN(PackedWeights packed, PackConstant(c, tb));
  return KernelFn([ta, tb, packed](KernelContext& ctx) -> Status {
    const Tensor& a = ctx.input(0);
    const Tensor& b = ctx.input(1);
    RETURN_IF_ERROR(CheckMatrices(a, b));
    ASSIGN_OR_RETURN(Product p, CheckProduct(a.shape(), b.shape(), ta, tb));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({p.m, p.n})));
    if (const float* panels = packed.For(b)) {
      FloatProduct(p, a.flat<float>().data(), b.flat<float>().data(), out->flat<float>().data(),
                   &ctx.intra_op(), panels);
      return OkStatus();
    }
    return Multiply(ctx, p, a, 0, b, 0, out, 0, &ctx.intra_op());
  });
}

StatusOr<Activation> ActivationOf(std::string_view op) {
  static constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"Relu", Activation::kRelu},           {"Relu6", Activation::kRelu6},
      {"LeakyRelu", Activation::kLeakyRelu}, {"Elu", Activation::kElu},
      {"Tanh", Activation::kTanh},           {"Sigmoid", Activation::kSigmoid},
  };
  for (const auto& [name, activation] : kNames) {
    if (name == op) return activation;
  }
  return UnimplementedError(StrCat("_FusedMatMul with fused op ", Quoted(op)));
}

// fused_ops: ["BiasAdd"] or ["BiasAdd", an activation].
StatusOr<KernelFn> BindFusedMatMul(const BindContext& c) {
  GemmArgs fixed;
  fixed.transpose_a = BoolAttr(*c.node, "transpose_a");
  fixed.transpose_b = BoolAttr(*c.node, "transpose_b");
  ASSIGN_OR_RETURN(auto fused, c.node->Attr<std::vector<std::string>>("fused_ops"));
  if (fused.empty() || fused.size() > 2 || fused[0] != "BiasAdd") {
    return UnimplementedError(StrCat("_FusedMatMul with fused_ops [", StrJoin(fused, ", "),
                                     "]; wanted [BiasAdd] or "
                                     "[BiasAdd, activation]"));
  }
  if (fused.size() == 2) {
    ASSIGN_OR_RETURN(fixed.activation, ActivationOf(fused[1]));
  }
  fixed.alpha = AttrOr<float>(*c.node, "leakyrelu_alpha", 0.2f);
  ASSIGN_OR_RETURN(PackedWeights packed, PackConstant(c, fixed.transpose_b));
  return KernelFn([fixed, packed](KernelContext& ctx) -> Status {
    if (ctx.num_inputs() != 3) {
      return InvalidArgumentError(StrCat("_FusedMatMul has ", ctx.num_inputs(), " inputs, not 3"));
    }
    const Tensor& a = ctx.input(0);
    const Tensor& b = ctx.input(1);
    const Tensor& bias = ctx.input(2);
    RETURN_IF_ERROR(CheckMatrices(a, b));
    ASSIGN_OR_RETURN(Product p,
                     CheckProduct(a.shape(), b.shape(), fixed.transpose_a, fixed.transpose_b));
    if (bias.rank() != 1 || bias.dim(0) != p.n) {
      return InvalidArgumentError(StrCat("Bias of shape ", bias.shape().ToString(),
                                         " does not fit a product of ", p.n, " columns"));
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({p.m, p.n})));
    GemmArgs args = fixed;
    args.m = p.m;
    args.n = p.n;
    args.k = p.k;
    args.a = a.flat<float>().data();
    args.b = b.flat<float>().data();
    args.c = out->flat<float>().data();
    args.lda = p.lda();
    args.ldb = p.ldb();
    args.ldc = p.n;
    args.packed_b = packed.For(b);
    args.bias = bias.flat<float>().data();
    args.pool = &ctx.intra_op();
    Gemm(args);
    return OkStatus();
  });
}

Shape WithoutMatrix(const Shape& shape) {
  return Shape(shape.dims().subspan(0, static_cast<size_t>(shape.rank() - 2)));
}

struct BatchedProduct {
  Product product;
  Broadcast batch;
};

StatusOr<BatchedProduct> CheckBatched(const Tensor& a, const Tensor& b, bool ta, bool tb,
                                      bool broadcasts) {
  for (int i = 0; i < 2; ++i) {
    const Tensor& t = i == 0 ? a : b;
    if (t.rank() >= 2) continue;
    return InvalidArgumentError(
        StrCat("In[", i, "] ndims must be >= 2: ", t.rank(), " (", t.shape().ToString(), ")"));
  }
  BatchedProduct result;
  ASSIGN_OR_RETURN(result.product, CheckProduct(a.shape(), b.shape(), ta, tb));
  result.product.adjoint = true;
  const Shape batch_a = WithoutMatrix(a.shape()), batch_b = WithoutMatrix(b.shape());
  if (!broadcasts && !(batch_a == batch_b)) {
    return InvalidArgumentError(StrCat("In[0] and In[1] must have the same batch dimensions: ",
                                       a.shape().ToString(), " vs. ", b.shape().ToString()));
  }
  const Shape* shapes[] = {&batch_a, &batch_b};
  RETURN_IF_ERROR(Broadcast::Make(shapes, &result.batch));
  return result;
}

Status RunBatched(KernelContext& ctx, const BatchedProduct& bp, const Tensor& a, const Tensor& b) {
  const Product& p = bp.product;
  Shape shape = bp.batch.output;
  shape.AddDim(p.m);
  shape.AddDim(p.n);
  ASSIGN_OR_RETURN(shape, Shape::FromDims(shape.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const int64_t count = bp.batch.output.num_elements();
  // Many small products: a thread each. Few: each split. Half types share the context's scratch.
  const bool whole = count > ctx.intra_op().size() && !IsHalfSize(a.dtype());
  ThreadPool* inner = whole ? nullptr : &ctx.intra_op();
  const int last = bp.batch.rank - 1;
  auto body = [&](int64_t begin, int64_t end) {
    Status status;
    bp.batch.ForEachRun(begin, end, [&](const int64_t* offsets, int64_t at, int64_t n) {
      for (int64_t i = 0; i < n && status.ok(); ++i) {
        status = Multiply(ctx, p, a, (offsets[0] + i * bp.batch.strides[0][last]) * p.m * p.k, b,
                          (offsets[1] + i * bp.batch.strides[1][last]) * p.k * p.n, out,
                          (at + i) * p.m * p.n, inner);
      }
    });
    return status;
  };
  if (!whole) return body(0, count);
  ctx.intra_op().ParallelFor(count, 1, [&](int64_t begin, int64_t end) {
    body(begin, end).IgnoreError();  // only half types can fail, and they are not here
  });
  return OkStatus();
}

StatusOr<KernelFn> BindBatchMatMul(const BindContext& c) {
  const bool ta = BoolAttr(*c.node, "adj_x"), tb = BoolAttr(*c.node, "adj_y");
  const bool broadcasts = c.node->op() != "BatchMatMul";
  return KernelFn([=](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(BatchedProduct bp,
                     CheckBatched(ctx.input(0), ctx.input(1), ta, tb, broadcasts));
    return RunBatched(ctx, bp, ctx.input(0), ctx.input(1));
  });
}

// `x` as numbers of another type that holds them all.
StatusOr<Tensor> Converted(KernelContext& ctx, const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  void* memory = ctx.Scratch(static_cast<size_t>(x.num_elements()) * DTypeSize(dtype) + 1);
  if (memory == nullptr) return ResourceExhaustedError("No memory to convert a factor");
  Tensor y = Tensor::Borrow(dtype, x.shape(), memory);
  using From = TypeList<int8_t, uint8_t, int16_t, int32_t>;
  using To = TypeList<int16_t, int32_t, int64_t, float, BFloat16>;
  const bool known = SwitchType<bool>(From{}, x.dtype(), [&]<typename F>() {
    return SwitchType<bool>(To{}, dtype, [&]<typename T>() {
      std::transform(x.flat<F>().begin(), x.flat<F>().end(), y.flat<T>().begin(),
                     [](F v) { return T(static_cast<WideOf<T>>(v)); });
      return true;
    });
  });
  if (known) return y;
  return UnimplementedError(
      StrCat("BatchMatMulV3 of ", DTypeName(x.dtype()), " into ", DTypeName(dtype)));
}

// Factors of different types, and a product of a wider one.
StatusOr<KernelFn> BindMixedBatchMatMul(const BindContext& c) {
  const bool ta = BoolAttr(*c.node, "adj_x"), tb = BoolAttr(*c.node, "adj_y");
  const DType dtype = c.node->dtype(0);
  return KernelFn([=](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Tensor a, Converted(ctx, ctx.input(0), dtype));
    ASSIGN_OR_RETURN(Tensor b, Converted(ctx, ctx.input(1), dtype));
    ASSIGN_OR_RETURN(BatchedProduct bp, CheckBatched(a, b, ta, tb, true));
    return RunBatched(ctx, bp, a, b);
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<DType> types = ProductTypes::DTypes();
  for (DType t : {DType::kFloat, DType::kHalf, DType::kBFloat16}) types.push_back(t);
  return MakeKernels({
      {"MatMul", BindMatMul, types, "T", {}, {}, true},
      {"_FusedMatMul", BindFusedMatMul, {DType::kFloat}, "T", {}, {}, true},
      {"BatchMatMul", BindBatchMatMul, types, "T", {}, {}, true},
      {"BatchMatMulV2", BindBatchMatMul, types, "T", {}, {}, true},
      {"BatchMatMulV3", BindMixedBatchMatMul, types, "Tout", {}, {}, true},
  });
}

}  // namespace

std::span<const KernelDef> MatMulKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
