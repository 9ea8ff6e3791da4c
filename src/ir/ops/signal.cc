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

// Sequences of labels as sparse tensors, and a score for each.
Status GreedyDecoderShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(0, 3).status());
  c.set_output(0, {-1, 2});
  c.set_output(1, {-1});
  c.set_output(2, {2});
  c.set_output(3, {c.input(0).has_rank() ? c.input(0).dim(1) : -1, 1});
  return OkStatus();
}

Status BeamDecoderShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(0, 3).status());
  const auto paths = static_cast<int>(AttrOf<int64_t>(c, "top_paths"));
  for (int i = 0; i < paths; ++i) {
    c.set_output(i, {-1, 2});
    c.set_output(paths + i, {-1});
    c.set_output(2 * paths + i, {2});
  }
  c.set_output(3 * paths, {c.input(0).has_rank() ? c.input(0).dim(1) : -1, paths});
  return OkStatus();
}

Status CtcLossShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(0, 3).status());
  c.set_output(0, {c.input(0).has_rank() ? c.input(0).dim(1) : -1});
  c.set_output(1, c.input(0));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"CTCBeamSearchDecoder",
     "inputs: T, sequence_length: int32",
     "decoded_indices: top_paths * int64, decoded_values: top_paths * int64,"
     " decoded_shape: top_paths * int64, log_probability: T",
     "beam_width: int >= 1, top_paths: int >= 1, merge_repeated: bool = true, T: {float32,"
     " float64} = float32", kPure, BeamDecoderShape},
    {"CTCGreedyDecoder",
     "inputs: T, sequence_length: int32",
     "decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T",
     "merge_repeated: bool = false, blank_index: int = -1, T: {float32, float64} = float32",
     kPure, GreedyDecoderShape},
    {"CTCLoss",
     "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32",
     "loss: T, gradient: T",
     "preprocess_collapse_repeated: bool = false, ctc_merge_repeated: bool = true,"
     " ignore_longer_outputs_than_inputs: bool = false, T: {float32, float64} = float32",
     kPure, CtcLossShape},
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
