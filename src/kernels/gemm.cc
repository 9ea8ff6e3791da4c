// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "base/strings.h"
#include "kernels/elementwise.h"
#include "kernels/gemm_kernels.h"

namespace slipway::kernels {
namespace {

constexpr int64_t kBlockK = 256;
constexpr int64_t kBlockM = 12 * kGemmRows;
constexpr int64_t kBlockN = 256;  // a multiple of every target's tile width
// Fewer multiplications than this are not worth a second thread.
constexpr int64_t kWorkPerThread = 1 << 18;

struct PackingBuffers {
  float* a = static_cast<float*>(::operator new (kBlockM* kBlockK * 4, std::align_val_t{64}));
  float* b = static_cast<float*>(::operator new (kBlockN* kBlockK * 4, std::align_val_t{64}));
  ~PackingBuffers() {
    ::operator delete (a, std::align_val_t{64});
    ::operator delete (b, std::align_val_t{64});
  }
};

PackingBuffers& Buffers() {
  thread_local PackingBuffers buffers;
  return buffers;
}

// Panels of `width` lines, each k steps long, the missing lines of the last one 0:
// to[panel][p][line] = from[line * line_stride + p * step_stride].
void Pack(const float* from, int64_t lines, int64_t k, int64_t line_stride, int64_t step_stride,
          int64_t width, float* to) {
  for (int64_t l0 = 0; l0 < lines; l0 += width, to += width * k) {
    const int64_t count = std::min(width, lines - l0);
    const float* base = from + l0 * line_stride;
    if (count < width) std::memset(to, 0, static_cast<size_t>(width * k) * sizeof(float));
    if (line_stride == 1) {
      for (int64_t p = 0; p < k; ++p) {
        std::memcpy(to + p * width, base + p * step_stride,
                    static_cast<size_t>(count) * sizeof(float));
      }
      continue;
    }
    for (int64_t l = 0; l < count; ++l) {
      const float* line = base + l * line_stride;
      for (int64_t p = 0; p < k; ++p) to[p * width + l] = line[p * step_stride];
    }
  }
}

// One tile of which only a part lies within C.
void PartialTile(const GemmTarget& target, const float* a, const float* b, int64_t k, float* c,
                 int64_t ldc, int64_t rows, int64_t cols, bool accumulate) {
  float tile[kGemmRows * kGemmMaxTileWidth];
  target.tile(a, b, k, tile, target.width, false);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < cols; ++j) {
      const float value = tile[r * target.width + j];
      c[r * ldc + j] = accumulate ? c[r * ldc + j] + value : value;
    }
  }
}

// Packed blocks of A (rows x k) and B (k x cols) into C.
void MultiplyBlock(const GemmTarget& target, const float* a, const float* b, int64_t rows,
                   int64_t cols, int64_t k, float* c, int64_t ldc, bool accumulate) {
  for (int64_t j = 0; j < cols; j += target.width) {
    const int64_t tile_cols = std::min(target.width, cols - j);
    for (int64_t i = 0; i < rows; i += kGemmRows) {
      const int64_t tile_rows = std::min(kGemmRows, rows - i);
      float* to = c + i * ldc + j;
      if (tile_rows == kGemmRows && tile_cols == target.width) {
        target.tile(a + i * k, b + j * k, k, to, ldc, accumulate);
      } else {
        PartialTile(target, a + i * k, b + j * k, k, to, ldc, tile_rows, tile_cols, accumulate);
      }
    }
  }
}

struct Range {
  int64_t begin, end;
};

// A block of B: columns [j, j + cols) and steps [p, p + k) of op(B).
struct BlockOfB {
  int64_t j, cols, p, k;
};

void PackBlock(const GemmArgs& g, const BlockOfB& block, float* to) {
  const int64_t line = g.transpose_b ? g.ldb : 1, step = g.transpose_b ? 1 : g.ldb;
  Pack(g.b + block.j * line + block.p * step, block.cols, block.k, line, step,
       BestGemmTarget().width, to);
}

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Where a block lies in the whole of B as PackGemmB writes it: blocks of kBlockN columns one after
// the other, in each the blocks of kBlockK steps, in each the panels. j is a multiple of the tile's
// width.
int64_t PackedOffset(const GemmArgs& g, const BlockOfB& block) {
  const int64_t width = BestGemmTarget().width;
  const int64_t first = block.j / kBlockN * kBlockN;
  const int64_t columns = RoundUp(std::min(kBlockN, g.n - first), width);
  return first * g.k + columns * block.p + (block.j - first) * block.k;
}

// Rows x cols of C by packed blocks. cols.begin is a multiple of the tile's width.
void MultiplyPacked(const GemmArgs& g, Range rows, Range cols) {
  const GemmTarget& target = BestGemmTarget();
  PackingBuffers& buffers = Buffers();
  const int64_t a_line = g.transpose_a ? 1 : g.lda, a_step = g.transpose_a ? g.lda : 1;
  for (int64_t j = cols.begin, nj; j < cols.end; j += nj) {
    nj = std::min(kBlockN - j % kBlockN, cols.end - j);
    for (int64_t p = 0; p < g.k; p += kBlockK) {
      const BlockOfB block = {j, nj, p, std::min(kBlockK, g.k - p)};
      const float* b = buffers.b;
      if (g.packed_b != nullptr) {
        b = g.packed_b + PackedOffset(g, block);
      } else {
        PackBlock(g, block, buffers.b);
      }
      for (int64_t i = rows.begin; i < rows.end; i += kBlockM) {
        const int64_t mi = std::min(kBlockM, rows.end - i);
        Pack(g.a + i * a_line + p * a_step, mi, block.k, a_line, a_step, kGemmRows, buffers.a);
        MultiplyBlock(target, buffers.a, b, mi, nj, block.k, g.c + i * g.ldc + j, g.ldc, p > 0);
      }
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
  } else {
    MultiplyPacked(g, rows, cols);
  }
  BiasActivation(g.c + rows.begin * g.ldc + cols.begin, g.ldc, rows.end - rows.begin,
                 cols.end - cols.begin, g.bias == nullptr ? nullptr : g.bias + cols.begin,
                 g.activation, g.alpha);
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
  for (int64_t j = 0; j < args.n; j += kBlockN) {
    for (int64_t p = 0; p < args.k; p += kBlockK) {
      const BlockOfB block = {j, std::min(kBlockN, args.n - j), p, std::min(kBlockK, args.k - p)};
      PackBlock(args, block, packed + PackedOffset(args, block));
    }
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
  const int64_t part = RoundUp((size + threads - 1) / threads, by_rows ? kGemmRows : width);
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
