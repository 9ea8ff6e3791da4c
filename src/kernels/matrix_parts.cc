// SPDX-License-Identifier: Apache-2.0
//
// Diagonals and bands of matrices, and Diag of tensors: nothing is computed, elements are moved.
#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

struct Wide16 {
  uint64_t low, high;
};

// fn.operator()<U>() with a U of the size of an element.
template <typename Fn>
Status WithElementSize(DType dtype, Fn&& fn) {
  if (IsObject(dtype)) {
    return UnimplementedError(StrCat("Diagonals of tensors of ", DTypeName(dtype)));
  }
  switch (DTypeSize(dtype)) {
    case 1:
      fn.template operator()<uint8_t>();
      break;
    case 2:
      fn.template operator()<uint16_t>();
      break;
    case 4:
      fn.template operator()<uint32_t>();
      break;
    case 8:
      fn.template operator()<uint64_t>();
      break;
    default:
      fn.template operator()<Wide16>();
  }
  return OkStatus();
}

template <typename U>
const U* In(const Tensor& t) {
  return static_cast<const U*>(t.raw_data());
}
template <typename U>
U* Out(Tensor* t) {
  return static_cast<U*>(t->raw_data());
}

// Diagonals lower…upper (0 the main one, positive above it) of matrices of rows x cols, stored as
// rows of `length` elements, the uppermost first; shorter ones lie at the left or right.
struct Band {
  int64_t lower = 0, upper = 0;
  int64_t rows = 0, cols = 0, length = 0;
  bool left_above = true, left_below = true;

  int64_t count() const { return upper - lower + 1; }
  int64_t LengthOf(int64_t d) const {
    return std::min(rows + std::min<int64_t>(0, d), cols - std::max<int64_t>(0, d));
  }
  // Where diagonal d begins in its stored row.
  int64_t OffsetOf(int64_t d) const {
    const bool left = (d >= 0 && left_above) || (d <= 0 && left_below);
    return left ? 0 : length - LengthOf(d);
  }
};

struct Alignment {
  bool left_above = true, left_below = true;
};
Alignment AlignmentOf(const ir::Node& node) {
  const auto align = AttrOr<std::string>(node, "align", "LEFT_LEFT");
  return {align.starts_with("LEFT"), align.ends_with("LEFT")};
}

Status ReadBand(const Tensor& k, Band* band) {
  ASSIGN_OR_RETURN(IntVec values,
                   ReadIntVector(k, "diag_index must be a scalar or vector: k", true));
  if (values.empty() || values.size() > 2) {
    return InvalidArgumentError(StrCat("diag_index must have only one or two elements, received ",
                                       values.size(), " elements."));
  }
  band->lower = values[0];
  band->upper = values[values.size() - 1];
  if (band->lower <= band->upper) return OkStatus();
  return InvalidArgumentError(StrCat("lower_diag_index must not be larger than upper_diag_index: ",
                                     band->lower, " > ", band->upper));
}

Status CheckBandFits(const Band& band) {
  for (const int64_t d : {band.lower, band.upper}) {
    if ((d > -band.rows && d < band.cols) || d == 0) continue;
    return InvalidArgumentError(StrCat(d == band.lower ? "lower" : "upper",
                                       "_diag_index is out of bound: ", d, ". It must be between ",
                                       -band.rows, " and ", band.cols));
  }
  return OkStatus();
}

Status TakeMatrix(const Tensor& matrix, Band* band) {
  if (matrix.rank() < 2) {
    return InvalidArgumentError(
        StrCat("input must be at least 2-dim, received shape: ", matrix.shape().ToString()));
  }
  band->rows = matrix.dim(matrix.rank() - 2);
  band->cols = matrix.dim(matrix.rank() - 1);
  return OkStatus();
}

// Number of rows and columns, of which either may be left open (-1).
Status FindSize(Band* band, int64_t rows, int64_t cols) {
  const int64_t min_rows = band->length - std::min<int64_t>(band->upper, 0);
  const int64_t min_cols = band->length + std::max<int64_t>(band->lower, 0);
  if (rows != -1 && rows < min_rows)
    return InvalidArgumentError("The number of rows is too small.");
  if (cols != -1 && cols < min_cols) {
    return InvalidArgumentError("The number of columns is too small.");
  }
  if (rows == -1 && cols == -1) {
    rows = cols = std::max(min_rows, min_cols);
  } else if (rows == -1) {
    rows = min_rows;
  } else if (cols == -1) {
    cols = min_cols;
  }
  if (rows != min_rows && cols != min_cols) {
    return InvalidArgumentError(
        "The number of rows or columns is not consistent with the specified d_lower, d_upper, and "
        "diagonal.");
  }
  band->rows = rows;
  band->cols = cols;
  return OkStatus();
}

// fn(matrix element, diagonal element) for every element of the band of one matrix.
template <typename Fn>
void ForEachOfBand(const Band& band, Fn&& fn) {
  for (int64_t d = band.lower; d <= band.upper; ++d) {
    const int64_t row = (band.upper - d) * band.length + band.OffsetOf(d);
    const int64_t first = d >= 0 ? d : -d * band.cols;
    for (int64_t i = 0; i < band.LengthOf(d); ++i) fn(first + i * (band.cols + 1), row + i);
  }
}

StatusOr<KernelFn> BindMatrixDiag(const BindContext& bind) {
  const Alignment align = AlignmentOf(*bind.node);
  return KernelFn([align](KernelContext& c) -> Status {
    const Tensor& diagonal = c.input(0);
    const bool plain = c.num_inputs() == 1;
    Band band;
    int64_t rows = -1, cols = -1;
    if (!plain) {
      RETURN_IF_ERROR(ReadBand(c.input(1), &band));
      RETURN_IF_ERROR(CheckScalar(c.input(2), "num_rows must be a scalar: num_rows"));
      RETURN_IF_ERROR(CheckScalar(c.input(3), "num_cols must be a scalar: num_cols"));
      ASSIGN_OR_RETURN(rows, ReadInt(c.input(2), "num_rows must be a scalar: num_rows"));
      ASSIGN_OR_RETURN(cols, ReadInt(c.input(3), "num_cols must be a scalar: num_cols"));
      RETURN_IF_ERROR(CheckScalar(c.input(4), "padding_value must be a scalar: padding_value"));
    }
    const int taken = band.count() > 1 ? 2 : 1;
    if (diagonal.rank() < taken) {
      return InvalidArgumentError(StrCat("diagonal must be at least ", taken,
                                         "-dim, received shape: ", diagonal.shape().ToString()));
    }
    const int batch_rank = diagonal.rank() - taken;
    if (taken == 2 && diagonal.dim(batch_rank) != band.count()) {
      return InvalidArgumentError(
          "The number of diagonals provided in the input does not match the lower_diag_index and "
          "upper_diag_index range.");
    }
    band.length = diagonal.dim(diagonal.rank() - 1);
    band.left_above = align.left_above;
    band.left_below = align.left_below;
    RETURN_IF_ERROR(FindSize(&band, rows, cols));
    IntVec dims(diagonal.shape().dims().first(static_cast<size_t>(batch_rank)));
    dims.push_back(band.rows);
    dims.push_back(band.cols);
    ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    return WithElementSize(y->dtype(), [&]<typename U>() {
      const U padding = plain ? U{} : *In<U>(c.input(4));
      std::fill_n(Out<U>(y), y->num_elements(), padding);
      const int64_t matrices = ProductOfDims(shape, 0, batch_rank);
      for (int64_t m = 0; m < matrices; ++m) {
        const U* from = In<U>(diagonal) + m * band.count() * band.length;
        U* to = Out<U>(y) + m * band.rows * band.cols;
        ForEachOfBand(band, [&](int64_t i, int64_t j) { to[i] = from[j]; });
      }
    });
  });
}

Shape DiagonalShape(const Tensor& matrix, const Band& band) {
  Shape shape(matrix.shape().dims().first(static_cast<size_t>(matrix.rank() - 2)));
  if (band.count() > 1) shape.AddDim(band.count());
  shape.AddDim(band.length);
  return shape;
}

int64_t LongestOf(const Band& band) {
  return std::min(band.rows + std::min<int64_t>(band.upper, 0),
                  band.cols - std::max<int64_t>(band.lower, 0));
}

StatusOr<KernelFn> BindMatrixDiagPart(const BindContext& bind) {
  const Alignment align = AlignmentOf(*bind.node);
  return KernelFn([align](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    Band band;
    RETURN_IF_ERROR(TakeMatrix(x, &band));
    if (c.num_inputs() == 3) {
      RETURN_IF_ERROR(ReadBand(c.input(1), &band));
      if (c.input(2).num_elements() != 1) {
        return InvalidArgumentError("padding_value must be a scalar, but has shape " +
                                    c.input(2).shape().ToString());
      }
      RETURN_IF_ERROR(CheckBandFits(band));
    }
    band.left_above = align.left_above;
    band.left_below = align.left_below;
    band.length = LongestOf(band);
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, DiagonalShape(x, band)));
    return WithElementSize(x.dtype(), [&]<typename U>() {
      const U padding = c.num_inputs() == 3 ? *In<U>(c.input(2)) : U{};
      std::fill_n(Out<U>(y), y->num_elements(), padding);
      const int64_t matrices = ProductOfDims(x.shape(), 0, x.rank() - 2);
      for (int64_t m = 0; m < matrices; ++m) {
        const U* from = In<U>(x) + m * band.rows * band.cols;
        U* to = Out<U>(y) + m * band.count() * band.length;
        ForEachOfBand(band, [&](int64_t i, int64_t j) { to[j] = from[i]; });
      }
    });
  });
}

StatusOr<KernelFn> BindMatrixSetDiag(const BindContext& bind) {
  const Alignment align = AlignmentOf(*bind.node);
  return KernelFn([align](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    const Tensor& diagonal = c.input(1);
    Band band;
    RETURN_IF_ERROR(TakeMatrix(x, &band));
    if (c.num_inputs() == 3) {
      RETURN_IF_ERROR(ReadBand(c.input(2), &band));
      RETURN_IF_ERROR(CheckBandFits(band));
    }
    band.left_above = align.left_above;
    band.left_below = align.left_below;
    band.length = LongestOf(band);
    const Shape wanted = DiagonalShape(x, band);
    if (!(diagonal.shape() == wanted)) {
      return InvalidArgumentError(
          StrCat("Either first dimensions of diagonal don't match input.shape[:-2], or "
                 "diagonal.shape[:-1] is not equal to the longests diagonal in range [",
                 band.lower, ":", band.upper, "].\nInput shape: ", x.shape().ToString(),
                 "\nDiagonal shape: ", diagonal.shape().ToString(),
                 "\nExpected diagonal shape: ", wanted.ToString()));
    }
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    return WithElementSize(x.dtype(), [&]<typename U>() {
      if (y->raw_data() != x.raw_data()) std::copy_n(In<U>(x), x.num_elements(), Out<U>(y));
      const int64_t matrices = ProductOfDims(x.shape(), 0, x.rank() - 2);
      for (int64_t m = 0; m < matrices; ++m) {
        const U* from = In<U>(diagonal) + m * band.count() * band.length;
        U* to = Out<U>(y) + m * band.rows * band.cols;
        ForEachOfBand(band, [&](int64_t i, int64_t j) { to[i] = from[j]; });
      }
    });
  });
}

Status RunMatrixBandPart(KernelContext& c) {
  const Tensor& x = c.input(0);
  Band band;
  RETURN_IF_ERROR(TakeMatrix(x, &band));
  ASSIGN_OR_RETURN(const int64_t below, ReadInt(c.input(1), "num_lower must be scalar: num_lower"));
  ASSIGN_OR_RETURN(const int64_t above, ReadInt(c.input(2), "num_upper must be scalar: num_upper"));
  if (below > band.rows) {
    return InvalidArgumentError(
        StrCat("num_lower must be negative or less or equal to number of rows (", band.rows,
               ") got: ", below));
  }
  if (above > band.cols) {
    return InvalidArgumentError(
        StrCat("num_upper must be negative or less or equal to number of columns (", band.cols,
               ") got: ", above));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  return WithElementSize(x.dtype(), [&]<typename U>() {
    const U* from = In<U>(x);
    U* to = Out<U>(y);
    const int64_t all_rows = ProductOfDims(x.shape(), 0, x.rank() - 1);
    for (int64_t r = 0; r < all_rows; ++r, from += band.cols, to += band.cols) {
      const int64_t i = r % band.rows;
      const int64_t begin = below < 0 ? 0 : std::clamp<int64_t>(i - below, 0, band.cols);
      const int64_t end = above < 0 ? band.cols : std::clamp<int64_t>(i + above + 1, 0, band.cols);
      for (int64_t j = 0; j < band.cols; ++j) to[j] = j >= begin && j < end ? from[j] : U{};
    }
  });
}

// [d…] to [d…, d…] with the elements where both halves of the index are the same.
Status RunDiag(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() < 1) return InvalidArgumentError("Input must be at least rank 1, got 0");
  IntVec dims(x.shape().dims());
  for (int64_t d : x.shape().dims()) dims.push_back(d);
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  return WithElementSize(x.dtype(), [&]<typename U>() {
    std::fill_n(Out<U>(y), y->num_elements(), U{});
    const int64_t n = x.num_elements();
    for (int64_t i = 0; i < n; ++i) Out<U>(y)[i * (n + 1)] = In<U>(x)[i];
  });
}

Status RunDiagPart(KernelContext& c) {
  const Tensor& x = c.input(0);
  const int half = x.rank() / 2;
  if (x.rank() == 0 || x.rank() % 2 != 0) {
    return InvalidArgumentError(StrCat(
        "The rank of the tensor should be even and positive, got shape ", x.shape().ToString()));
  }
  for (int d = 0; d < half; ++d) {
    if (x.dim(d) == x.dim(half + d)) continue;
    return InvalidArgumentError(StrCat("Invalid shape ", x.shape().ToString(), ": dimensions ", d,
                                       " and ", half + d, " do not match."));
  }
  const Shape shape(x.shape().dims().first(static_cast<size_t>(half)));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  return WithElementSize(x.dtype(), [&]<typename U>() {
    const int64_t n = y->num_elements();
    for (int64_t i = 0; i < n; ++i) Out<U>(y)[i] = In<U>(x)[i * (n + 1)];
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"Diag", BindPlain<RunDiag>},
      {"DiagPart", BindPlain<RunDiagPart>},
      {"MatrixBandPart", BindPlain<RunMatrixBandPart>, {}, "T", {{0, 0}}},
      {"MatrixDiag", BindMatrixDiag},
      {"MatrixDiagPart", BindMatrixDiagPart},
      {"MatrixDiagPartV2", BindMatrixDiagPart},
      {"MatrixDiagPartV3", BindMatrixDiagPart},
      {"MatrixDiagV2", BindMatrixDiag},
      {"MatrixDiagV3", BindMatrixDiag},
      {"MatrixSetDiag", BindMatrixSetDiag, {}, "T", {{0, 0}}},
      {"MatrixSetDiagV2", BindMatrixSetDiag, {}, "T", {{0, 0}}},
      {"MatrixSetDiagV3", BindMatrixSetDiag, {}, "T", {{0, 0}}},
  });
}

}  // namespace

std::span<const KernelDef> MatrixPartKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
