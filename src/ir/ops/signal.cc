// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "ir/ops/families.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

template <int kRank>
Status FftShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, kRank));
  return UnchangedShape(c);
}

// The last kRank sizes follow from fft_length; the last of a real transform's output is its half.
template <int kRank, bool kHalf>
Status RealFftShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, kRank));
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  const std::optional<Dims> lengths = ConstIntegers(c, 1);
  Dims dims = SubDims(in, 0, in.rank() - kRank);
  for (int i = 0; i < kRank; ++i) {
    int64_t n = -1;
    if (lengths && lengths->size() == static_cast<size_t>(kRank)) {
      n = std::max<int64_t>((*lengths)[static_cast<size_t>(i)], -1);
    }
    dims.push_back(kHalf && i == kRank - 1 && n > 0 ? n / 2 + 1 : n);
  }
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"FFT", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex128, complex64} = complex64", kPure, FftShape<1>},
    {"FFT2D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex128, complex64} = complex64", kPure, FftShape<2>},
    {"FFT3D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex128, complex64} = complex64", kPure, FftShape<3>},
    {"IFFT", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex128, complex64} = complex64", kPure, FftShape<1>},
    {"IFFT2D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex128, complex64} = complex64", kPure, FftShape<2>},
    {"IFFT3D", "input: Tcomplex", "output: Tcomplex",
     "Tcomplex: {complex128, complex64} = complex64", kPure, FftShape<3>},
    {"IRFFT", "input: Tcomplex, fft_length: int32", "output: Treal",
     "Treal: {float32, float64} = float32, Tcomplex: {complex128, complex64} = complex64",
     kPure, RealFftShape<1, false>},
    {"IRFFT2D", "input: Tcomplex, fft_length: int32", "output: Treal",
     "Treal: {float32, float64} = float32, Tcomplex: {complex128, complex64} = complex64",
     kPure, RealFftShape<2, false>},
    {"IRFFT3D", "input: Tcomplex, fft_length: int32", "output: Treal",
     "Treal: {float32, float64} = float32, Tcomplex: {complex128, complex64} = complex64",
     kPure, RealFftShape<3, false>},
    {"RFFT", "input: Treal, fft_length: int32", "output: Tcomplex",
     "Treal: {float32, float64} = float32, Tcomplex: {complex128, complex64} = complex64",
     kPure, RealFftShape<1, true>},
    {"RFFT2D", "input: Treal, fft_length: int32", "output: Tcomplex",
     "Treal: {float32, float64} = float32, Tcomplex: {complex128, complex64} = complex64",
     kPure, RealFftShape<2, true>},
    {"RFFT3D", "input: Treal, fft_length: int32", "output: Tcomplex",
     "Treal: {float32, float64} = float32, Tcomplex: {complex128, complex64} = complex64",
     kPure, RealFftShape<3, true>},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> SignalOps() { return kOps; }

}  // namespace slipway::ir
