// SPDX-License-Identifier: Apache-2.0
//
// The ops of kernels/special_functions.h, element by element.
#include <cmath>
#include <unordered_map>

#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/special_functions.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using Function1 = double (*)(double);
using Function2 = double (*)(double, double);

struct RealLoops {
  UnaryLoop of_float, of_double;
};
struct RealBinaryLoops {
  BinaryLoop of_float, of_double;
};

template <typename T, Function1 kFn>
T In1(T x) {
  return static_cast<T>(kFn(static_cast<double>(x)));
}
template <Function1 kFn>
constexpr RealLoops Loops1() {
  return {&UnaryLoopOf<float, float, In1<float, kFn>>,
          &UnaryLoopOf<double, double, In1<double, kFn>>};
}
template <typename T, Function2 kFn>
T In2(T x, T y) {
  return static_cast<T>(kFn(static_cast<double>(x), static_cast<double>(y)));
}
template <Function2 kFn>
constexpr RealBinaryLoops Loops2() {
  return {&BinaryLoopOf<float, float, In2<float, kFn>>,
          &BinaryLoopOf<double, double, In2<double, kFn>>};
}

const std::unordered_map<std::string_view, RealLoops>& UnaryOps() {
  static const std::unordered_map<std::string_view, RealLoops> ops = {
      {"BesselI0", Loops1<BesselI0>()},
      {"BesselI0e", Loops1<BesselI0e>()},
      {"BesselI1", Loops1<BesselI1>()},
      {"BesselI1e", Loops1<BesselI1e>()},
      {"BesselJ0", Loops1<BesselJ0>()},
      {"BesselJ1", Loops1<BesselJ1>()},
      {"BesselK0", Loops1<BesselK0>()},
      {"BesselK0e", Loops1<BesselK0e>()},
      {"BesselK1", Loops1<BesselK1>()},
      {"BesselK1e", Loops1<BesselK1e>()},
      {"BesselY0", Loops1<BesselY0>()},
      {"BesselY1", Loops1<BesselY1>()},
      {"Dawsn", Loops1<Dawson>()},
      {"Expint", Loops1<ExponentialIntegral>()},
      {"FresnelCos", Loops1<FresnelCosine>()},
      {"FresnelSin", Loops1<FresnelSine>()},
      {"Spence", Loops1<Spence>()},
  };
  return ops;
}

const std::unordered_map<std::string_view, RealBinaryLoops>& BinaryOps() {
  static const std::unordered_map<std::string_view, RealBinaryLoops> ops = {
      {"Igamma", Loops2<IncompleteGammaP>()},  {"IgammaGradA", Loops2<IncompleteGammaPByA>()},
      {"Igammac", Loops2<IncompleteGammaQ>()}, {"Polygamma", Loops2<Polygamma>()},
      {"Zeta", Loops2<HurwitzZeta>()},
  };
  return ops;
}

StatusOr<KernelFn> BindUnary(const BindContext& c) {
  const RealLoops& loops = UnaryOps().at(c.node->op());
  UnaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(0);
  kernel.loop = kernel.dtype == DType::kDouble ? loops.of_double : loops.of_float;
  return KernelFn(kernel);
}

StatusOr<KernelFn> BindBinary(const BindContext& c) {
  const RealBinaryLoops& loops = BinaryOps().at(c.node->op());
  BinaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(0);
  kernel.loop = kernel.dtype == DType::kDouble ? loops.of_double : loops.of_float;
  return KernelFn(kernel);
}

// a, b and x have one shape; each may be a scalar instead.
Status RunBetainc(KernelContext& c) {
  Shape shape;
  for (int i = 0; i < 3; ++i) {
    const Shape& own = c.input(i).shape();
    if (own.rank() == 0) continue;
    if (shape.rank() != 0 && !(own == shape)) {
      return InvalidArgumentError(StrCat(
          "Shapes of a, b and x are inconsistent: ", shape.ToString(), " vs. ", own.ToString()));
    }
    shape = own;
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  return SwitchType<Status>(Reals{}, y->dtype(), [&]<typename T>() {
    const auto at = [&](int i, int64_t j) {
      const Tensor& t = c.input(i);
      return static_cast<double>(t.flat<T>()[t.rank() == 0 ? 0 : static_cast<size_t>(j)]);
    };
    T* out = y->flat<T>().data();
    c.intra_op().ParallelFor(y->num_elements(), 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = static_cast<T>(IncompleteBeta(at(0, i), at(1, i), at(2, i)));
      }
    });
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows;
  for (const auto& [name, loops] : UnaryOps()) {
    rows.push_back({name.data(), BindUnary, FloatTypes(), "T", {{0, 0}}});
  }
  for (const auto& [name, loops] : BinaryOps()) {
    const bool halves = name == "Igamma" || name == "Igammac";
    rows.push_back(
        {name.data(), BindBinary, halves ? FloatTypes() : Reals::DTypes(), "T", {{0, 0}, {1, 0}}});
  }
  rows.push_back({"Betainc",
                  [](const BindContext&) -> StatusOr<KernelFn> { return KernelFn(RunBetainc); },
                  Reals::DTypes()});
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> SpecialKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
