// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided_copy.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <string>

namespace slipway::kernels {
namespace {

struct Bytes16 {
  uint64_t words[2];
};

// Calls fn with a value of the type whose assignment moves an element of `dtype`.
template <typename Fn>
void SwitchMove(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kString:
      return fn(std::string());
    case DType::kResource:
      return fn(ResourceHandle());
    case DType::kVariant:
      return fn(Variant());
    default:
      break;
  }
  switch (DTypeSize(dtype)) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    default:
      return fn(Bytes16{});
  }
}

template <typename T>
const T* As(const void* p) {
  return static_cast<const T*>(p);
}

struct Loops {
  IntVec dims, from, to;
};

// Leaves out dimensions of size 1 and merges neighbours that are one run on both sides.
Loops Collapse(std::span<const int64_t> dims, std::span<const int64_t> from,
               std::span<const int64_t> to) {
  Loops loops;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    const size_t n = loops.dims.size();
    if (n > 0 && loops.from[n - 1] == from[d] * dims[d] && loops.to[n - 1] == to[d] * dims[d]) {
      loops.dims[n - 1] *= dims[d];
      loops.from[n - 1] = from[d];
      loops.to[n - 1] = to[d];
    } else {
      loops.dims.push_back(dims[d]);
      loops.from.push_back(from[d]);
      loops.to.push_back(to[d]);
    }
  }
  if (loops.dims.empty()) {
    loops.dims.push_back(1);
    loops.from.push_back(1);
    loops.to.push_back(1);
  }
  return loops;
}

template <typename T>
void CopyRun(const T* from, int64_t fs, T* to, int64_t ts, int64_t n) {
  if (fs == 1 && ts == 1) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    } else {
      std::copy(from, from + n, to);
    }
  } else if (fs == 0 && ts == 1) {
    std::fill(to, to + n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * ts] = from[i * fs];
  }
}

// The last two dimensions as a matrix whose source runs down the columns: in square tiles, so that
// every cache line is used whole.
template <typename T>
void CopyTransposed(const T* from, int64_t fs0, int64_t fs1, T* to, int64_t ts0, int64_t ts1,
                    int64_t rows, int64_t cols) {
  constexpr int64_t kTile = 16;
  for (int64_t r = 0; r < rows; r += kTile) {
    const int64_t r_end = std::min(rows, r + kTile);
    for (int64_t c = 0; c < cols; c += kTile) {
      const int64_t c_end = std::min(cols, c + kTile);
      for (int64_t i = r; i < r_end; ++i) {
        for (int64_t j = c; j < c_end; ++j) to[i * ts0 + j * ts1] = from[i * fs0 + j * fs1];
      }
    }
  }
}

template <typename T>
void CopyRange(const Loops& loops, int inner, const T* from, T* to, int64_t begin, int64_t end) {
  const int outer = loops.dims.rank() - inner;
  for (int64_t at = begin; at < end; ++at) {
    int64_t rest = at, f = 0, t = 0;
    for (int d = outer - 1; d >= 0; --d) {
      const auto i = static_cast<size_t>(d);
      const int64_t index = rest % loops.dims[i];
      rest /= loops.dims[i];
      f += index * loops.from[i];
      t += index * loops.to[i];
    }
    const auto a = static_cast<size_t>(outer);
    if (inner == 1) {
      CopyRun(from + f, loops.from[a], to + t, loops.to[a], loops.dims[a]);
    } else {
      CopyTransposed(from + f, loops.from[a], loops.from[a + 1], to + t, loops.to[a],
                     loops.to[a + 1], loops.dims[a], loops.dims[a + 1]);
    }
  }
}

}  // namespace

IntVec RowMajorStrides(const Shape& shape) {
  IntVec strides(static_cast<size_t>(shape.rank()), 1);
  for (int d = shape.rank() - 2; d >= 0; --d) {
    const auto i = static_cast<size_t>(d);
    strides[i] = strides[i + 1] * shape.dim(d + 1);
  }
  return strides;
}

int64_t ProductOfDims(const Shape& shape, int begin, int end) {
  int64_t n = 1;
  for (int d = begin; d < end; ++d) n *= shape.dim(d);
  return n;
}

void CopyElements(DType dtype, const void* from, void* to, int64_t n) {
  if (n == 0) return;
  if (!IsObject(dtype)) {
    std::memcpy(to, from, static_cast<size_t>(n) * DTypeSize(dtype));
    return;
  }
  SwitchMove(dtype, [&]<typename T>(T) { std::copy_n(As<T>(from), n, static_cast<T*>(to)); });
}

void FillElements(DType dtype, const void* value, void* to, int64_t n) {
  SwitchMove(dtype, [&]<typename T>(T) { std::fill_n(static_cast<T*>(to), n, *As<T>(value)); });
}

void StridedCopy(DType dtype, std::span<const int64_t> dims, const void* from,
                 std::span<const int64_t> from_strides, void* to,
                 std::span<const int64_t> to_strides, ThreadPool* pool) {
  for (int64_t d : dims) {
    if (d == 0) return;
  }
  const Loops loops = Collapse(dims, from_strides, to_strides);
  const size_t rank = loops.dims.size();
  const bool transposed =
      rank >= 2 && std::abs(loops.from[rank - 1]) > 1 && std::abs(loops.from[rank - 2]) == 1;
  const int inner = transposed ? 2 : 1;
  int64_t outer = 1;
  int64_t inner_size = 1;
  for (size_t d = 0; d < rank; ++d) {
    (d + static_cast<size_t>(inner) < rank ? outer : inner_size) *= loops.dims[d];
  }
  SwitchMove(dtype, [&]<typename T>(T) {
    auto body = [&](int64_t begin, int64_t end) {
      CopyRange<T>(loops, inner, As<T>(from), static_cast<T*>(to), begin, end);
    };
    if (pool == nullptr) return body(0, outer);
    constexpr int64_t kGrainElements = 65536;
    pool->ParallelFor(outer, std::max<int64_t>(1, kGrainElements / inner_size), body);
  });
}

}  // namespace slipway::kernels
