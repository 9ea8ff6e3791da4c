// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "base/strings.h"
#include "kernels/elementwise.h"
#include "kernels/gemm_kernels.h"

namespace slipway::kernels {
namespace {

// Of B, what stays in the first cache while a block of rows passes by.
constexpr int64_t kPanelFloats = 6144;
constexpr int64_t kBlockM = 128;
constexpr int64_t kBlockN = 480;  // a multiple of every target's tile width
// Fewer multiplications than this are not worth a second thread.
constexpr int64_t kWorkPerThread = 1 << 18;
// Rows for which a panel of B in one piece is worth the copy.
constexpr int64_t kRowsToPackB = 48;

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// A thread's room for packed panels of one block of B.
float* PackedB() {
  constexpr std::align_val_t kAlign{64};
  struct Memory {
    float* floats =
        static_cast<float*>(::operator new(kBlockN / 12 * kPanelFloats * sizeof(float), kAlign));
    ~Memory() { ::operator delete(floats, kAlign); }
  };
  thread_local Memory memory;
  return memory.floats;
}

// Rows this far apart fall into few sets of a cache.
bool Collide(int64_t stride) { return stride % 256 == 0; }

// A block of B in panels of the target's width: to[panel][p][j], zeros behind the last column.
void PackB(const GemmArgs& g, const GemmTarget& target, Range cols, Range depth, float* to) {
  const int64_t width = target.width, k = depth.size();
  for (int64_t j = cols.begin; j < cols.end; j += width, to += width * k) {
    const int64_t count = std::min(width, cols.end - j);
    if (g.transpose_b) {
      target.pack_transposed(g.b + j * g.ldb + depth.begin, g.ldb, count, k, width, to);
      continue;
    }
    if (count < width) std::memset(to, 0, static_cast<size_t>(width * k) * sizeof(float));
    const float* from = g.b + depth.begin * g.ldb + j;
    for (int64_t p = 0; p < k; ++p) {
      std::memcpy(to + p * width, from + p * g.ldb, static_cast<size_t>(count) * sizeof(float));
    }
  }
}

// One block of B against all of `rows`. `packed` holds the block, or null.
void MultiplyBlock(const GemmArgs& g, const GemmTarget& target, Range rows, Range cols, Range depth,
                   const float* packed) {
  GemmTile t;
  t.a_row = g.transpose_a ? 1 : g.lda;
  t.a_step = g.transpose_a ? g.lda : 1;
  t.ldc = g.ldc;
  t.k = depth.size();
  t.b_step = packed == nullptr ? g.ldb : target.width;
  t.accumulate = depth.begin > 0;
  const bool last = depth.end == g.k;
  t.relu = last && g.activation == Activation::kRelu;
  // The block of B fits into the first cache: C is written along its rows.
  const int64_t step = t.k * cols.size() <= kPanelFloats ? target.rows : kBlockM;
  for (int64_t i = rows.begin; i < rows.end; i += step) {
    t.a = g.a + i * t.a_row + depth.begin * t.a_step;
    for (int64_t j = cols.begin; j < cols.end; j += target.width) {
      t.cols = std::min(target.width, cols.end - j);
      t.b = packed == nullptr ? g.b + depth.begin * g.ldb + j : packed + (j - cols.begin) * t.k;
      t.c = g.c + i * g.ldc + j;
      t.bias = last && g.bias != nullptr ? g.bias + j : nullptr;
      target.tiles(t, std::min(step, rows.end - i));
    }
  }
}

// Blocks of k of about equal size: the order in which an element is summed depends on k alone.
int64_t DepthStep(int64_t k) {
  const int64_t largest = kPanelFloats / BestGemmTarget().width;
  const int64_t parts = std::max<int64_t>((k + largest - 1) / largest, 1);
  return (k + parts - 1) / parts;
}

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Where a panel lies in the whole of B as PackGemmB writes it: for each block of k all panels of
// all columns.
int64_t PackedOffset(int64_t n, Range depth, int64_t column) {
  return RoundUp(n, BestGemmTarget().width) * depth.begin + column * depth.size();
}

// Rows x cols of C by blocks. cols.begin is a multiple of the tile's width.
void MultiplyBlocks(const GemmArgs& g, Range rows, Range cols) {
  const GemmTarget& target = BestGemmTarget();
  const bool pack = g.transpose_b || rows.size() >= kRowsToPackB || Collide(g.ldb);
  const int64_t step = DepthStep(g.k);
  for (int64_t j = cols.begin; j < cols.end; j += kBlockN) {
    const Range block = {j, std::min(j + kBlockN, cols.end)};
    for (int64_t p = 0; p < g.k; p += step) {
      const Range depth = {p, std::min(p + step, g.k)};
      const float* panels = nullptr;
      if (g.packed_b != nullptr) {
        panels = g.packed_b + PackedOffset(g.n, depth, j);
      } else if (pack) {
        PackB(g, target, block, depth, PackedB());
        panels = PackedB();
      }
      MultiplyBlock(g, target, rows, block, depth, panels);
    }
  }
}

// For few rows packing B costs more than it gives: one pass over B for each row.
void MultiplyRows(const GemmArgs& g, Range cols) {
  const GemmTarget& target = BestGemmTarget();
  for (int64_t i = 0; i < g.m; ++i) {
    const float* x = g.a + i * (g.transpose_a ? 1 : g.lda);
    const int64_t step = g.transpose_a ? g.lda : 1;
    float* y = g.c + i * g.ldc;
    if (!g.transpose_b) {
      target.row(x, step, g.b + cols.begin, g.ldb, g.k, y + cols.begin, cols.end - cols.begin);
      continue;
    }
    for (int64_t j = cols.begin; j < cols.end; ++j) y[j] = target.dot(x, g.b + j * g.ldb, g.k);
  }
}

bool FewRows(const GemmArgs& g) {
  if (g.transpose_b && g.transpose_a && g.lda != 1) return false;
  return g.m <= kGemmFewRows;
}

void MultiplyPart(const GemmArgs& g, Range rows, Range cols) {
  if (FewRows(g)) {
    MultiplyRows(g, cols);
    BiasActivation(g.c + cols.begin, g.ldc, g.m, cols.size(),
                   g.bias == nullptr ? nullptr : g.bias + cols.begin, g.activation, g.alpha);
    return;
  }
  MultiplyBlocks(g, rows, cols);  // adds the bias
  const Activation left = g.activation == Activation::kRelu ? Activation::kNone : g.activation;
  BiasActivation(g.c + rows.begin * g.ldc + cols.begin, g.ldc, rows.size(), cols.size(), nullptr,
                 left, g.alpha);
}

std::optional<FastUnary> LoopOf(Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return std::nullopt;
    case Activation::kRelu:
      return FastUnary::kRelu;
    case Activation::kRelu6:
      return FastUnary::kRelu6;
    case Activation::kLeakyRelu:
      return FastUnary::kLeakyRelu;
    case Activation::kElu:
      return FastUnary::kElu;
    case Activation::kTanh:
      return FastUnary::kTanh;
    case Activation::kSigmoid:
      return FastUnary::kSigmoid;
  }
  return std::nullopt;
}

}  // namespace

int64_t PackedGemmBSize(int64_t n, int64_t k) { return RoundUp(n, BestGemmTarget().width) * k; }

std::string PackedGemmBLayout(bool transpose_b) {
  return StrCat("gemm panels of ", BestGemmTarget().width, transpose_b ? ", transposed" : "");
}

void PackGemmB(const GemmArgs& args, float* packed) {
  const int64_t step = DepthStep(args.k);
  for (int64_t p = 0; p < args.k; p += step) {
    const Range depth = {p, std::min(p + step, args.k)};
    PackB(args, BestGemmTarget(), {0, args.n}, depth, packed + PackedOffset(args.n, depth, 0));
  }
}

void BiasActivation(float* c, int64_t ldc, int64_t rows, int64_t n, const float* bias,
                    Activation activation, float alpha) {
  const auto op = LoopOf(activation);
  const UnaryLoop activate = op.has_value() ? FastUnaryLoop(*op) : nullptr;
  if (n == 0 || (bias == nullptr && activate == nullptr)) return;
  const BinaryLoop add = FastBinaryLoop(FastBinary::kAdd);
  for (int64_t r = 0; r < rows; ++r) {
    float* row = c + r * ldc;
    if (bias != nullptr) add(row, 1, bias, 1, row, n, 0);
    if (activate != nullptr) activate(row, row, n, alpha);
  }
}

void Gemm(const GemmArgs& g) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) {
    for (int64_t i = 0; i < g.m; ++i) std::fill_n(g.c + i * g.ldc, g.n, 0.0f);
    BiasActivation(g.c, g.ldc, g.m, g.n, g.bias, g.activation, g.alpha);
    return;
  }
  const double work =
      static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const int64_t workers = g.pool == nullptr ? 1 : g.pool->size() + 1;
  const int64_t threads =
      std::clamp<int64_t>(static_cast<int64_t>(work / kWorkPerThread), 1, workers);
  if (threads == 1) return MultiplyPart(g, {0, g.m}, {0, g.n});
  // Along the longer side of C, in whole tiles.
  const int64_t width = BestGemmTarget().width;
  const bool by_rows = !FewRows(g) && g.m >= g.n;
  const int64_t size = by_rows ? g.m : g.n;
  const int64_t part =
      RoundUp((size + threads - 1) / threads, by_rows ? BestGemmTarget().rows : width);
  g.pool->ParallelFor((size + part - 1) / part, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const Range range = {t * part, std::min(size, (t + 1) * part)};
      if (by_rows) {
        MultiplyPart(g, range, {0, g.n});
      } else {
        MultiplyPart(g, {0, g.m}, range);
      }
    }
  });
}

}  // namespace slipway::kernels
