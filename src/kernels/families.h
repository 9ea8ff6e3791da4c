// SPDX-License-Identifier: Apache-2.0
//
// The op families: each file of kernels gives its table, and registry.cc lists them all. The files
// themselves do not include this: a new family compiles nothing else again.
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace slipway::kernels {

std::span<const KernelDef> ActivationKernels();
std::span<const KernelDef> AudioKernels();
std::span<const KernelDef> BatchNormKernels();
std::span<const KernelDef> BiasKernels();
std::span<const KernelDef> BinaryKernels();
std::span<const KernelDef> CastKernels();
std::span<const KernelDef> ColourKernels();
std::span<const KernelDef> CompareKernels();
std::span<const KernelDef> ComplexKernels();
std::span<const KernelDef> ConcatSplitKernels();
std::span<const KernelDef> ControlKernels();
std::span<const KernelDef> ConvBackpropKernels();
std::span<const KernelDef> ConvKernels();
std::span<const KernelDef> CountingKernels();
std::span<const KernelDef> CropGradientKernels();
std::span<const KernelDef> CropImageKernels();
std::span<const KernelDef> CtcKernels();
std::span<const KernelDef> DecodeValueKernels();
std::span<const KernelDef> DepthwiseKernels();
std::span<const KernelDef> EditDistanceKernels();
std::span<const KernelDef> EinsumKernels();
std::span<const KernelDef> FakeQuantKernels();
std::span<const KernelDef> FftKernels();
std::span<const KernelDef> FractionalPoolKernels();
std::span<const KernelDef> GatherKernels();
std::span<const KernelDef> ImageFileKernels();
std::span<const KernelDef> InplaceKernels();
std::span<const KernelDef> LinalgQrKernels();
std::span<const KernelDef> LinalgSolveKernels();
std::span<const KernelDef> LinalgSpectralKernels();
std::span<const KernelDef> LinalgSvdKernels();
std::span<const KernelDef> LinalgTridiagonalKernels();
std::span<const KernelDef> LookupKernels();
std::span<const KernelDef> LrnKernels();
std::span<const KernelDef> MatMulKernels();
std::span<const KernelDef> MatrixPartKernels();
std::span<const KernelDef> NonMaxSuppressionKernels();
std::span<const KernelDef> OptimizerKernels();
std::span<const KernelDef> OptimizersByRowKernels();
std::span<const KernelDef> OptionalKernels();
std::span<const KernelDef> PadKernels();
std::span<const KernelDef> ParseExampleKernels();
std::span<const KernelDef> ParseSequenceKernels();
std::span<const KernelDef> PartitionKernels();
std::span<const KernelDef> PatchKernels();
std::span<const KernelDef> PoolingGradKernels();
std::span<const KernelDef> PoolingKernels();
std::span<const KernelDef> QuantizeKernels();
std::span<const KernelDef> QuantizedMathKernels();
std::span<const KernelDef> RaggedKernels();
std::span<const KernelDef> RaggedRangeKernels();
std::span<const KernelDef> RaggedVariantKernels();
std::span<const KernelDef> RandomBinomialKernels();
std::span<const KernelDef> RandomDistributionKernels();
std::span<const KernelDef> RandomKernels();
std::span<const KernelDef> ReduceKernels();
std::span<const KernelDef> ResizeGradKernels();
std::span<const KernelDef> ResizeKernels();
std::span<const KernelDef> SaveRestoreKernels();
std::span<const KernelDef> ScanKernels();
std::span<const KernelDef> ScatterKernels();
std::span<const KernelDef> SegmentKernels();
std::span<const KernelDef> SetOperationKernels();
std::span<const KernelDef> SetKernels();
std::span<const KernelDef> ShapeKernels();
std::span<const KernelDef> SliceKernels();
std::span<const KernelDef> SoftmaxKernels();
std::span<const KernelDef> SpaceBatchKernels();
std::span<const KernelDef> SparseCrossKernels();
std::span<const KernelDef> SparseKernels();
std::span<const KernelDef> SparseCountKernels();
std::span<const KernelDef> SparseMathKernels();
std::span<const KernelDef> SpecialKernels();
std::span<const KernelDef> StackKernels();
std::span<const KernelDef> StringHashKernels();
std::span<const KernelDef> StringJoinKernels();
std::span<const KernelDef> StringKernels();
std::span<const KernelDef> StringPieceKernels();
std::span<const KernelDef> TensorArrayKernels();
std::span<const KernelDef> TensorListKernels();
std::span<const KernelDef> TensorListTensorKernels();
std::span<const KernelDef> UnaryKernels();
std::span<const KernelDef> UnicodeKernels();
std::span<const KernelDef> UnsortedSegmentKernels();
std::span<const KernelDef> VariableKernels();

}  // namespace slipway::kernels
