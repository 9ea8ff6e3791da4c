// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace slipway::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// A tile is three vectors wide and as many rows high as the registers hold with what else is
// needed.
constexpr int kRows = HWY_TARGET == HWY_AVX3 ? 8 : 4;

// The sums of one row of a tile. Members and calls instead of arrays and loops, so that they stay
// in registers at every optimisation level.
struct RowSums {
  V v0, v1, v2;
};

template <int kVecs>
HWY_INLINE void Step(const float* a, V b0, V b1, V b2, RowSums& s) {
  const auto x = hn::Set(D(), *a);
  s.v0 = hn::MulAdd(x, b0, s.v0);
  if constexpr (kVecs > 1) s.v1 = hn::MulAdd(x, b1, s.v1);
  if constexpr (kVecs > 2) s.v2 = hn::MulAdd(x, b2, s.v2);
}

// The last of a row's vectors, of which a part may lie outside.
template <bool kWhole, class M>
HWY_INLINE V LoadLast(M mask, const float* from) {
  if constexpr (kWhole) return hn::LoadU(D(), from);
  return hn::MaskedLoad(mask, D(), from);
}
template <bool kWhole, class M>
HWY_INLINE void Finish(const GemmTile& t, int64_t row, int64_t column, M mask, V v) {
  float* to = t.c + row * t.ldc + column;
  if (t.accumulate) v = hn::Add(v, LoadLast<kWhole>(mask, to));
  if (t.bias != nullptr) v = hn::Add(v, LoadLast<kWhole>(mask, t.bias + column));
  if (t.relu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(D())), v);  // NaN stays
  if constexpr (kWhole) {
    hn::StoreU(v, D(), to);
  } else {
    hn::BlendedStore(v, mask, D(), to);
  }
}

template <int kVecs, bool kWhole, class M>
HWY_INLINE void StoreRow(const GemmTile& t, int64_t row, M mask, const RowSums& s) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  Finish<kVecs != 1 || kWhole>(t, row, 0, mask, s.v0);
  if constexpr (kVecs > 1) Finish<kVecs != 2 || kWhole>(t, row, lanes, mask, s.v1);
  if constexpr (kVecs > 2) Finish<kWhole>(t, row, 2 * lanes, mask, s.v2);
}

template <int kTileRows, int kVecs, bool kWhole>
void Tile(const GemmTile& t) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::FirstN(d, static_cast<size_t>(t.cols - (kVecs - 1) * lanes));
  const auto zero = hn::Zero(d);
  RowSums s0{zero, zero, zero}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  const int64_t a_row = t.a_row, a_step = t.a_step, b_step = t.b_step;
  const float* a = t.a;
  const float* a3 = a + 3 * a_row;  // a, a3 and a6 reach eight rows by sums of two registers
  const float* a6 = a + 6 * a_row;
  const float* b = t.b;
  for (int64_t p = t.k; p > 0; --p) {
    auto b0 = zero, b1 = zero, b2 = zero;
    b0 = LoadLast < kVecs != 1 || kWhole > (mask, b);
    if constexpr (kVecs > 1) b1 = LoadLast < kVecs != 2 || kWhole > (mask, b + lanes);
    if constexpr (kVecs > 2) b2 = LoadLast<kWhole>(mask, b + 2 * lanes);
    b += b_step;
    Step<kVecs>(a, b0, b1, b2, s0);
    if constexpr (kTileRows > 1) Step<kVecs>(a + a_row, b0, b1, b2, s1);
    if constexpr (kTileRows > 2) {
      Step<kVecs>(a + 2 * a_row, b0, b1, b2, s2);
      Step<kVecs>(a3, b0, b1, b2, s3);
      a3 += a_step;
    }
    if constexpr (kTileRows > 4) {
      Step<kVecs>(a3 - a_step + a_row, b0, b1, b2, s4);
      Step<kVecs>(a3 - a_step + 2 * a_row, b0, b1, b2, s5);
      Step<kVecs>(a6, b0, b1, b2, s6);
      Step<kVecs>(a6 + a_row, b0, b1, b2, s7);
      a6 += a_step;
    }
    a += a_step;
  }
  StoreRow<kVecs, kWhole>(t, 0, mask, s0);
  if constexpr (kTileRows > 1) StoreRow<kVecs, kWhole>(t, 1, mask, s1);
  if constexpr (kTileRows > 2) {
    StoreRow<kVecs, kWhole>(t, 2, mask, s2);
    StoreRow<kVecs, kWhole>(t, 3, mask, s3);
  }
  if constexpr (kTileRows > 4) {
    StoreRow<kVecs, kWhole>(t, 4, mask, s4);
    StoreRow<kVecs, kWhole>(t, 5, mask, s5);
    StoreRow<kVecs, kWhole>(t, 6, mask, s6);
    StoreRow<kVecs, kWhole>(t, 7, mask, s7);
  }
}

template <int kVecs, bool kWhole>
void TilesOf(GemmTile t, int64_t rows) {
  const auto below = [&t, &rows](int64_t done) HWY_ATTR {
    t.a += done * t.a_row;
    t.c += done * t.ldc;
    rows -= done;
  };
  for (; rows >= kRows; below(kRows)) Tile<kRows, kVecs, kWhole>(t);
  if (kRows > 4 && rows >= 4) Tile<4, kVecs, kWhole>(t), below(4);
  if (rows >= 2) Tile<2, kVecs, kWhole>(t), below(2);
  if (rows >= 1) Tile<1, kVecs, kWhole>(t);
}

void Tiles(const GemmTile& t, int64_t rows) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const bool whole = t.cols % lanes == 0;
  switch ((t.cols - 1) / lanes) {
    case 0:
      return whole ? TilesOf<1, true>(t, rows) : TilesOf<1, false>(t, rows);
    case 1:
      return whole ? TilesOf<2, true>(t, rows) : TilesOf<2, false>(t, rows);
    default:
      return whole ? TilesOf<3, true>(t, rows) : TilesOf<3, false>(t, rows);
  }
}

// y (+)= eight rows of B, each times its number: B is read once, along its rows, which is how it
// comes fastest from far away.
HWY_INLINE void AddRows8(const float* x, int64_t x_stride, const float* b, int64_t ldb,
                         bool accumulate, float* y, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto x0 = hn::Set(d, x[0]), x1 = hn::Set(d, x[x_stride]);
  const auto x2 = hn::Set(d, x[2 * x_stride]), x3 = hn::Set(d, x[3 * x_stride]);
  const auto x4 = hn::Set(d, x[4 * x_stride]), x5 = hn::Set(d, x[5 * x_stride]);
  const auto x6 = hn::Set(d, x[6 * x_stride]), x7 = hn::Set(d, x[7 * x_stride]);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const float* c = b + j;
    // The next eight rows lie behind these; a product with one row is bound by reading weights.
    const float* next = b + 8 * ldb + 8 * j;
    for (int64_t ahead = 0; ahead < 8 * lanes; ahead += 16) __builtin_prefetch(next + ahead);
    auto s = accumulate ? hn::LoadU(d, y + j) : hn::Zero(d);
    s = hn::MulAdd(x0, hn::LoadU(d, c), s);
    s = hn::MulAdd(x1, hn::LoadU(d, c + ldb), s);
    s = hn::MulAdd(x2, hn::LoadU(d, c + 2 * ldb), s);
    s = hn::MulAdd(x3, hn::LoadU(d, c + 3 * ldb), s);
    s = hn::MulAdd(x4, hn::LoadU(d, c + 4 * ldb), s);
    s = hn::MulAdd(x5, hn::LoadU(d, c + 5 * ldb), s);
    s = hn::MulAdd(x6, hn::LoadU(d, c + 6 * ldb), s);
    s = hn::MulAdd(x7, hn::LoadU(d, c + 7 * ldb), s);
    hn::StoreU(s, d, y + j);
  }
  for (; j < n; ++j) {
    float s = accumulate ? y[j] : 0;
    for (int64_t p = 0; p < 8; ++p) s += x[p * x_stride] * b[p * ldb + j];
    y[j] = s;
  }
}

void Row(const float* x, int64_t x_stride, const float* b, int64_t ldb, int64_t k, float* y,
         int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t p = 0;
  for (; p + 8 <= k; p += 8) AddRows8(x + p * x_stride, x_stride, b + p * ldb, ldb, p > 0, y, n);
  if (p == 0) std::fill_n(y, n, 0.0f);
  for (; p < k; ++p) {
    const auto v = hn::Set(d, x[p * x_stride]);
    const float* row = b + p * ldb;
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      hn::StoreU(hn::MulAdd(v, hn::LoadU(d, row + j), hn::LoadU(d, y + j)), d, y + j);
    }
    for (; j < n; ++j) y[j] += hn::GetLane(v) * row[j];
  }
}

float Dot(const float* x, const float* y, int64_t k) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t p = 0;
  for (; p + 4 * lanes <= k; p += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + p), hn::LoadU(d, y + p), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + p + lanes), hn::LoadU(d, y + p + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, x + p + 2 * lanes), hn::LoadU(d, y + p + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, x + p + 3 * lanes), hn::LoadU(d, y + p + 3 * lanes), s3);
  }
  const auto sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; p < k; ++p) total += x[p] * y[p];
  return total;
}

// Four rows of four numbers become four columns.
HWY_INLINE void Transpose4(const float* from, int64_t ld, float* to, int64_t width) {
  const hn::Full128<float> d;
  const hn::Repartition<double, decltype(d)> dd;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + ld);
  const auto r2 = hn::LoadU(d, from + 2 * ld), r3 = hn::LoadU(d, from + 3 * ld);
  const auto a = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1));
  const auto b = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
  const auto e = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1));
  const auto f = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, a, b)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, a, b)), d, to + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, e, f)), d, to + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, e, f)), d, to + 3 * width);
}

void PackTransposed(const float* from, int64_t ld, int64_t cols, int64_t k, int64_t width,
                    float* to) {
  if (cols < width) std::memset(to, 0, static_cast<size_t>(width * k) * sizeof(float));
  int64_t j = 0;
  for (; j + 4 <= cols; j += 4) {
    const float* lines = from + j * ld;
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) Transpose4(lines + p, ld, to + p * width + j, width);
    for (; p < k; ++p) {
      for (int64_t l = 0; l < 4; ++l) to[p * width + j + l] = lines[l * ld + p];
    }
  }
  for (; j < cols; ++j) {
    for (int64_t p = 0; p < k; ++p) to[p * width + j] = from[j * ld + p];
  }
}

GemmTarget GetGemmTarget() {
  return {static_cast<int64_t>(3 * hn::Lanes(D())), kRows, &Tiles, &Row, &Dot, &PackTransposed};
}

}  // namespace slipway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slipway::kernels {

HWY_EXPORT(GetGemmTarget);

const GemmTarget& BestGemmTarget() {
  static const GemmTarget target = HWY_DYNAMIC_DISPATCH(GetGemmTarget)();
  return target;
}

}  // namespace slipway::kernels
#endif
