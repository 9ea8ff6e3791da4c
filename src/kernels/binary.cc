// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of two tensors with broadcasting, AddN, and the bit and logical ops.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/broadcast.h"
#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/tensor_list.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename T>
T DivFn(T a, T b) {
  return a / b;
}
template <typename T>
T MaximumFn(T a, T b) {
  return b > a || b != b ? b : a;
}
template <typename T>
T MinimumFn(T a, T b) {
  return b < a || b != b ? b : a;
}
template <typename T>
T SquaredDifferenceFn(T a, T b) {
  return WrapMul(WrapSub(a, b), WrapSub(a, b));
}
template <typename T>
T DivNoNanFn(T a, T b) {
  return b == 0 ? T{0} : a / b;
}
template <typename T>
T MulNoNanFn(T a, T b) {
  return b == 0 ? T{0} : a * b;
}
template <typename T>
T XdivyFn(T a, T b) {
  return a == 0 ? T{0} : a / b;
}
template <typename T>
T XlogyFn(T a, T b) {
  return a == 0 ? T{0} : a * std::log(b);
}
template <typename T>
T Xlog1pyFn(T a, T b) {
  return a == 0 ? T{0} : a * std::log1p(b);
}
template <typename T>
T Atan2Fn(T a, T b) {
  return std::atan2(a, b);
}
template <typename T>
T NextAfterFn(T a, T b) {
  return std::nextafter(a, b);
}
template <typename T>
T PowFn(T a, T b) {
  return std::pow(a, b);
}
template <typename T>
T FloorDivFn(T a, T b) {
  return std::floor(a / b);
}
template <typename T>
T FloorModFn(T a, T b) {
  const T rest = std::fmod(a, b);
  return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}
template <typename T>
T TruncateModFn(T a, T b) {
  return std::fmod(a, b);
}

// The smallest integer divided by -1 traps on x86: negation gives what wrapping would.
template <typename T>
T SafeDiv(T a, T b, bool* ok) {
  if (b == 0) {
    *ok = false;
    return 0;
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return WrapSub(T{0}, a);
  }
  return static_cast<T>(a / b);
}
template <typename T>
T SafeMod(T a, T b, bool* ok) {
  if (b == 0) {
    *ok = false;
    return 0;
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
template <typename T>
T SafeFloorDiv(T a, T b, bool* ok) {
  const T quotient = SafeDiv(a, b, ok);
  const T rest = *ok ? SafeMod(a, b, ok) : T{0};
  return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(quotient - 1) : quotient;
}
template <typename T>
T SafeFloorMod(T a, T b, bool* ok) {
  const T rest = SafeMod(a, b, ok);
  return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
}
template <typename T>
T SafePow(T base, T exponent, bool* ok) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      *ok = false;
      return 0;
    }
  }
  T result = 1;
  for (; exponent != 0; exponent = static_cast<T>(exponent >> 1)) {
    if (exponent & 1) result = WrapMul(result, base);
    base = WrapMul(base, base);
  }
  return result;
}

template <typename T>
T AndFn(T a, T b) {
  return static_cast<T>(a & b);
}
template <typename T>
T OrFn(T a, T b) {
  return static_cast<T>(a | b);
}
template <typename T>
T XorFn(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <typename T>
T ClampShift(T by) {
  return std::clamp<T>(by, 0, static_cast<T>(sizeof(T) * 8 - 1));
}
template <typename T>
T LeftShiftFn(T a, T by) {
  return static_cast<T>(static_cast<WrapType<T>>(a) << ClampShift(by));
}
template <typename T>
T RightShiftFn(T a, T by) {
  return static_cast<T>(a >> ClampShift(by));
}

constexpr const char* kDivisionByZero = "Integer division by zero";

// A loop for each element type: floats from the vectorised table where there is one.
#define SLIPWAY_LOOPS(NAME, TYPES, LOOP)                                             \
  BinaryLoop NAME(DType dtype) {                                                     \
    return SwitchType<BinaryLoop>(TYPES{}, dtype,                                    \
                                  []<typename T>() -> BinaryLoop { return &LOOP; }); \
  }
#define SLIPWAY_COMMA ,
SLIPWAY_LOOPS(AddLoop, Numbers, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA WrapAdd<T>>)
SLIPWAY_LOOPS(SubLoop, Numbers, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA WrapSub<T>>)
SLIPWAY_LOOPS(MulLoop, Numbers, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA WrapMul<T>>)
SLIPWAY_LOOPS(MaximumLoop, Numbers, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA MaximumFn<T>>)
SLIPWAY_LOOPS(MinimumLoop, Numbers, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA MinimumFn<T>>)
SLIPWAY_LOOPS(SquaredDifferenceLoop, Numbers,
              BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA SquaredDifferenceFn<T>>)
SLIPWAY_LOOPS(RealDivLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA DivFn<T>>)
SLIPWAY_LOOPS(IntDivLoop, Ints, CheckedBinaryLoopOf<T SLIPWAY_COMMA SafeDiv<T>>)
SLIPWAY_LOOPS(IntModLoop, Ints, CheckedBinaryLoopOf<T SLIPWAY_COMMA SafeMod<T>>)
SLIPWAY_LOOPS(IntFloorDivLoop, Ints, CheckedBinaryLoopOf<T SLIPWAY_COMMA SafeFloorDiv<T>>)
SLIPWAY_LOOPS(IntFloorModLoop, Ints, CheckedBinaryLoopOf<T SLIPWAY_COMMA SafeFloorMod<T>>)
SLIPWAY_LOOPS(IntPowLoop, Ints, CheckedBinaryLoopOf<T SLIPWAY_COMMA SafePow<T>>)
SLIPWAY_LOOPS(FloorDivLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA FloorDivFn<T>>)
SLIPWAY_LOOPS(FloorModLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA FloorModFn<T>>)
SLIPWAY_LOOPS(TruncateModLoop, Reals,
              BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA TruncateModFn<T>>)
SLIPWAY_LOOPS(PowLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA PowFn<T>>)
SLIPWAY_LOOPS(Atan2Loop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA Atan2Fn<T>>)
SLIPWAY_LOOPS(NextAfterLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA NextAfterFn<T>>)
SLIPWAY_LOOPS(DivNoNanLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA DivNoNanFn<T>>)
SLIPWAY_LOOPS(MulNoNanLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA MulNoNanFn<T>>)
SLIPWAY_LOOPS(XdivyLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA XdivyFn<T>>)
SLIPWAY_LOOPS(XlogyLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA XlogyFn<T>>)
SLIPWAY_LOOPS(Xlog1pyLoop, Reals, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA Xlog1pyFn<T>>)
SLIPWAY_LOOPS(AndLoop, Ints, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA AndFn<T>>)
SLIPWAY_LOOPS(OrLoop, Ints, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA OrFn<T>>)
SLIPWAY_LOOPS(XorLoop, Ints, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA XorFn<T>>)
SLIPWAY_LOOPS(LeftShiftLoop, Ints, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA LeftShiftFn<T>>)
SLIPWAY_LOOPS(RightShiftLoop, Ints, BinaryLoopOf<T SLIPWAY_COMMA T SLIPWAY_COMMA RightShiftFn<T>>)
#undef SLIPWAY_LOOPS

using PickLoop = BinaryLoop (*)(DType);

struct BinaryOp {
  PickLoop reals;
  PickLoop ints = nullptr;
  std::optional<FastBinary> fast = {};
  const char* refused = "";
};

const std::unordered_map<std::string_view, BinaryOp>& Ops() {
  constexpr const char* kNegativePower = "Integers to negative integer powers are not allowed";
  static const std::unordered_map<std::string_view, BinaryOp> ops = {
      {"Add", {AddLoop, AddLoop, FastBinary::kAdd}},
      {"AddV2", {AddLoop, AddLoop, FastBinary::kAdd}},
      {"Sub", {SubLoop, SubLoop, FastBinary::kSub}},
      {"Mul", {MulLoop, MulLoop, FastBinary::kMul}},
      {"Maximum", {MaximumLoop, MaximumLoop, FastBinary::kMaximum}},
      {"Minimum", {MinimumLoop, MinimumLoop, FastBinary::kMinimum}},
      {"SquaredDifference",
       {SquaredDifferenceLoop, SquaredDifferenceLoop, FastBinary::kSquaredDifference}},
      {"Div", {RealDivLoop, IntDivLoop, FastBinary::kDiv, kDivisionByZero}},
      {"RealDiv", {RealDivLoop, nullptr, FastBinary::kDiv}},
      {"TruncateDiv", {nullptr, IntDivLoop, {}, kDivisionByZero}},
      {"FloorDiv", {FloorDivLoop, IntFloorDivLoop, {}, kDivisionByZero}},
      {"FloorMod", {FloorModLoop, IntFloorModLoop, {}, kDivisionByZero}},
      {"Mod", {TruncateModLoop, IntModLoop, {}, kDivisionByZero}},
      {"TruncateMod", {TruncateModLoop, IntModLoop, {}, kDivisionByZero}},
      {"Pow", {PowLoop, IntPowLoop, {}, kNegativePower}},
      {"Atan2", {Atan2Loop}},
      {"NextAfter", {NextAfterLoop}},
      {"DivNoNan", {DivNoNanLoop}},
      {"MulNoNan", {MulNoNanLoop}},
      {"Xdivy", {XdivyLoop}},
      {"Xlogy", {XlogyLoop}},
      {"Xlog1py", {Xlog1pyLoop}},
      {"BitwiseAnd", {nullptr, AndLoop}},
      {"BitwiseOr", {nullptr, OrLoop}},
      {"BitwiseXor", {nullptr, XorLoop}},
      {"LeftShift", {nullptr, LeftShiftLoop}},
      {"RightShift", {nullptr, RightShiftLoop}},
  };
  return ops;
}

StatusOr<KernelFn> BindBinary(const BindContext& c) {
  const BinaryOp& op = Ops().at(c.node->op());
  BinaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(0);
  kernel.refused = op.refused;
  const DType compute = IsHalfSize(kernel.dtype) ? DType::kFloat : kernel.dtype;
  if (compute == DType::kFloat && op.fast.has_value()) {
    kernel.loop = FastBinaryLoop(*op.fast);
  } else {
    const PickLoop pick = IsFloating(compute) ? op.reals : op.ints;
    kernel.loop = pick == nullptr ? nullptr : pick(compute);
  }
  if (kernel.loop == nullptr) {
    return UnimplementedError(StrCat(c.node->op(), " of ", DTypeName(kernel.dtype)));
  }
  return KernelFn(kernel);
}

bool LogicalAndFn(bool a, bool b) { return a && b; }
bool LogicalOrFn(bool a, bool b) { return a || b; }

StatusOr<KernelFn> BindLogical(const BindContext& c) {
  BinaryKernel kernel;
  kernel.dtype = kernel.out_dtype = DType::kBool;
  kernel.loop = c.node->op() == "LogicalAnd" ? &BinaryLoopOf<bool, bool, LogicalAndFn>
                                             : &BinaryLoopOf<bool, bool, LogicalOrFn>;
  return KernelFn(kernel);
}

// Sums any number of tensors of one shape: the first two into the output, the others onto it.
Status AddAll(KernelContext& c, const BinaryKernel& add) {
  const Tensor& first = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.input(i).shape() == first.shape()) continue;
    return InvalidArgumentError(
        StrCat("Inputs to operation AddN must have the same size and "
               "shape.  Input 0: ",
               first.shape().ToString(), " != input ", i, ": ", c.input(i).shape().ToString()));
  }
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, first.shape()));
  const size_t size = DTypeSize(add.dtype);
  const int count = c.num_inputs();
  c.intra_op().ParallelFor(first.num_elements(), kElementGrain, [&](int64_t begin, int64_t end) {
    const auto at = [&](const Tensor& t) {
      return static_cast<char*>(t.raw_data()) + begin * static_cast<int64_t>(size);
    };
    if (count == 1) {
      if (at(*out) != at(first)) {
        std::memcpy(at(*out), at(first), static_cast<size_t>(end - begin) * size);
      }
      return;
    }
    add.loop(at(first), 1, at(c.input(1)), 1, at(*out), end - begin, 0);
    for (int i = 2; i < count; ++i) {
      add.loop(at(*out), 1, at(c.input(i)), 1, at(*out), end - begin, 0);
    }
  });
  return OkStatus();
}

using SumTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, Half, BFloat16, std::complex<float>, std::complex<double>>;

BinaryLoop SumLoop(DType dtype) {
  if (dtype == DType::kFloat) return FastBinaryLoop(FastBinary::kAdd);
  return SwitchType<BinaryLoop>(SumTypes{}, dtype, []<typename T>() -> BinaryLoop {
    return &BinaryLoopOf<T, T, WrapAdd<T>>;
  });
}

// Of two elements of lists, which may be lists themselves.
StatusOr<Tensor> AddElements(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::kVariant) return AddLists(a, b, AddElements);
  const BinaryLoop add = SumLoop(a.dtype());
  if (add == nullptr || a.dtype() != b.dtype() || !(a.shape() == b.shape())) {
    return InvalidArgumentError(
        StrCat("Trying to add two tensors that do not fit: ", DTypeName(a.dtype()),
               a.shape().ToString(), " and ", DTypeName(b.dtype()), b.shape().ToString()));
  }
  ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(a.dtype(), a.shape()));
  add(a.raw_data(), 1, b.raw_data(), 1, sum.raw_data(), a.num_elements(), 0);
  return sum;
}

// What a gradient that comes to a list in several ways is summed with.
Status AddAllLists(KernelContext& c) {
  Tensor sum = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(sum, AddLists(sum, c.input(i), AddElements));
  }
  c.SetOutput(0, std::move(sum));
  return OkStatus();
}

StatusOr<KernelFn> BindAddN(const BindContext& c) {
  if (c.input_dtype(0) == DType::kVariant) return KernelFn(AddAllLists);
  BinaryKernel add;
  add.dtype = add.out_dtype = c.input_dtype(0);
  add.loop = SumLoop(add.dtype);
  return KernelFn([add](KernelContext& ctx) { return AddAll(ctx, add); });
}

std::vector<KernelDef> MakeTable() {
  const std::vector<std::pair<int, int>> either = {{0, 0}, {1, 0}};
  std::vector<KernelRow> rows;
  for (const auto& [name, op] : Ops()) {
    std::vector<DType> types;
    if (op.reals != nullptr) types = FloatTypes();
    if (name == "NextAfter") types = Reals::DTypes();  // a float's neighbour is no half's
    if (op.ints != nullptr) {
      for (DType t : Ints::DTypes()) types.push_back(t);
    }
    rows.push_back({name.data(), BindBinary, types, "T", either});
  }
  rows.push_back({"LogicalAnd", BindLogical, {}, "T", either});
  rows.push_back({"LogicalOr", BindLogical, {}, "T", either});
  rows.push_back({"AccumulateNV2", BindAddN, SumTypes::DTypes(), "T", {{0, 0}}});
  std::vector<DType> sums = SumTypes::DTypes();
  sums.push_back(DType::kVariant);
  rows.push_back({"AddN", BindAddN, sums, "T", {{0, 0}}});
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> BinaryKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
