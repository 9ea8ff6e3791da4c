// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra: parts of matrices, factorisations, solutions, einsum.
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "ir/ops/families.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// The sizes by label of an einsum; an ellipsis is written '.', its dimensions count from the right.
struct EinsumSizes {
  std::map<char, int64_t> named;
  Dims ellipsis;  // the last dimension first
  bool known = true;
};

std::vector<std::string> EinsumTerms(const std::string& equation) {
  std::vector<std::string> terms(1);
  for (size_t i = 0; i < equation.size(); ++i) {
    const char ch = equation[i];
    if (ch == ' ') continue;
    if (ch == ',' || (ch == '-' && i + 1 < equation.size() && equation[i + 1] == '>')) {
      terms.emplace_back();
      if (ch == '-') ++i;
    } else if (equation.compare(i, 3, "...") == 0) {
      terms.back().push_back('.');
      i += 2;
    } else {
      terms.back().push_back(ch);
    }
  }
  return terms;
}

Status AddTerm(const ShapeContext& c, const std::string& term, const PartialShape& shape,
               EinsumSizes* sizes) {
  const size_t dots = term.find('.');
  const bool open = dots != std::string::npos;
  if (!shape.has_rank()) {
    sizes->known = sizes->known && !open;
    return OkStatus();
  }
  const int named = static_cast<int>(term.size()) - (open ? 1 : 0);
  const int extra = shape.rank() - named;
  if (extra < 0 || (!open && extra > 0)) {
    return c.Error(StrCat("einsum term ", Quoted(term), " does not fit shape ", shape.ToString()));
  }
  for (int d = 0; d < shape.rank(); ++d) {
    const bool in_dots = open && d >= static_cast<int>(dots) && d < static_cast<int>(dots) + extra;
    if (!in_dots) {
      const int at = open && d >= static_cast<int>(dots) ? d - extra + 1 : d;
      auto [it, fresh] = sizes->named.emplace(term[static_cast<size_t>(at)], shape.dim(d));
      if (fresh) continue;
      ASSIGN_OR_RETURN(it->second, MergeDims(c, it->second, shape.dim(d)));
      continue;
    }
    const auto place = static_cast<size_t>(static_cast<int>(dots) + extra - 1 - d);
    if (sizes->ellipsis.size() <= place) sizes->ellipsis.resize(place + 1, 1);
    int64_t& size = sizes->ellipsis[place];
    if (shape.dim(d) == 1) continue;
    if (size == 1) {
      size = shape.dim(d);
    } else {
      ASSIGN_OR_RETURN(size, MergeDims(c, size, shape.dim(d)));
    }
  }
  return OkStatus();
}

Status EinsumShape(ShapeContext& c) {
  const auto terms = EinsumTerms(AttrOf<std::string>(c, "equation"));
  if (static_cast<int>(terms.size()) != c.num_inputs() + 1)
    return OkStatus();  // the kernel's error
  EinsumSizes sizes;
  for (int i = 0; i < c.num_inputs(); ++i) {
    RETURN_IF_ERROR(AddTerm(c, terms[static_cast<size_t>(i)], c.input(i), &sizes));
  }
  Dims dims;
  for (const char label : terms.back()) {
    if (label != '.') {
      const auto it = sizes.named.find(label);
      dims.push_back(it == sizes.named.end() ? -1 : it->second);
      continue;
    }
    if (!sizes.known) return OkStatus();
    dims.insert(dims.end(), sizes.ellipsis.rbegin(), sizes.ellipsis.rend());
  }
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status MatrixInput(const ShapeContext& c) { return CheckMinRank(c, 0, 2); }

Status SameMatrixShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  return UnchangedShape(c);
}

// A square matrix each to one of the same size.
Status SquareMatrixShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  PartialShape shape = c.input(0);
  if (shape.has_rank()) {
    const int last = shape.rank() - 1;
    ASSIGN_OR_RETURN(const int64_t n, MergeDims(c, shape.dim(last - 1), shape.dim(last)));
    shape.set_dim(last, n);
    shape.set_dim(last - 1, n);
  }
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// The batch dimensions of input 0 and these.
PartialShape BatchAnd(const ShapeContext& c, std::initializer_list<int64_t> dims, int taken = 2) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return PartialShape();
  Dims all = SubDims(in, 0, in.rank() - taken);
  all.insert(all.end(), dims);
  return PartialShape(std::move(all));
}

int64_t FromEnd(const PartialShape& shape, int i) {
  return shape.has_rank() ? shape.dim(shape.rank() - i) : -1;
}

int64_t SmallerOf(int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : std::min(a, b); }

Status DeterminantShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  for (int i = 0; i < c.node().num_outputs(); ++i) c.set_output(i, BatchAnd(c, {}));
  return OkStatus();
}

Status QrShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  const int64_t m = FromEnd(c.input(0), 2), n = FromEnd(c.input(0), 1);
  const int64_t k = AttrOf<bool>(c, "full_matrices") ? m : SmallerOf(m, n);
  c.set_output(0, BatchAnd(c, {m, k}));
  c.set_output(1, BatchAnd(c, {k, n}));
  return OkStatus();
}

Status SvdShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  const int64_t m = FromEnd(c.input(0), 2), n = FromEnd(c.input(0), 1), k = SmallerOf(m, n);
  c.set_output(0, BatchAnd(c, {k}));
  if (!AttrOf<bool>(c, "compute_uv")) {
    c.set_output(1, PartialShape(Dims()));
    c.set_output(2, PartialShape(Dims()));
    return OkStatus();
  }
  const bool full = AttrOf<bool>(c, "full_matrices");
  c.set_output(1, BatchAnd(c, {m, full ? m : k}));
  c.set_output(2, BatchAnd(c, {n, full ? n : k}));
  return OkStatus();
}

Status EigShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  const int64_t n = FromEnd(c.input(0), 1);
  c.set_output(0, BatchAnd(c, {n}));
  if (!AttrOf<bool>(c, "compute_v")) {
    c.set_output(1, PartialShape(Dims()));
  } else {
    c.set_output(1, BatchAnd(c, {n, n}));
  }
  return OkStatus();
}

Status LuShape(ShapeContext& c) {
  RETURN_IF_ERROR(SquareMatrixShape(c));
  c.set_output(1, BatchAnd(c, {FromEnd(c.input(0), 1)}));
  return OkStatus();
}

// matrix [..., m, n], rhs [..., m, k] to [..., n, k].
Status SolveShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  RETURN_IF_ERROR(CheckMinRank(c, 1, 2));
  RETURN_IF_ERROR(MergeDims(c, FromEnd(c.input(0), 2), FromEnd(c.input(1), 2)).status());
  c.set_output(0, BatchAnd(c, {FromEnd(c.input(0), 1), FromEnd(c.input(1), 1)}));
  return OkStatus();
}

// The same with batch dimensions that broadcast.
Status TriangularSolveShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  RETURN_IF_ERROR(CheckMinRank(c, 1, 2));
  const PartialShape &a = c.input(0), &b = c.input(1);
  if (!a.has_rank() || !b.has_rank()) return OkStatus();
  RETURN_IF_ERROR(MergeDims(c, FromEnd(a, 1), FromEnd(b, 2)).status());
  ASSIGN_OR_RETURN(PartialShape batch, BroadcastShapes(PartialShape(SubDims(a, 0, a.rank() - 2)),
                                                       PartialShape(SubDims(b, 0, b.rank() - 2))));
  Dims dims = batch.dims();
  dims.push_back(FromEnd(a, 1));
  dims.push_back(FromEnd(b, 1));
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

template <int kInput>
Status ShapeOfInput(ShapeContext& c) {
  c.set_output(0, c.input(kInput));
  return OkStatus();
}

// The diagonals that k names, if that is known.
std::optional<std::pair<int64_t, int64_t>> DiagonalsOf(const ShapeContext& c, int k) {
  if (c.num_inputs() <= 2) return std::pair<int64_t, int64_t>(0, 0);
  const std::optional<Dims> values = ConstIntegers(c, k);
  if (!values || values->empty() || values->size() > 2) return std::nullopt;
  return std::pair(values->front(), values->back());
}

Status MatrixDiagShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  if (c.num_inputs() == 1) {
    const int64_t n = FromEnd(c.input(0), 1);
    c.set_output(0, BatchAnd(c, {n, n}, 1));
    return OkStatus();
  }
  const auto band = DiagonalsOf(c, 1);
  if (!band || !c.input(0).has_rank()) return OkStatus();
  const int taken = band->first < band->second ? 2 : 1;
  RETURN_IF_ERROR(CheckMinRank(c, 0, taken));
  int64_t rows = ConstInteger(c, 2).value_or(-2), cols = ConstInteger(c, 3).value_or(-2);
  const int64_t length = FromEnd(c.input(0), 1);
  if (length >= 0 && rows >= -1 && cols >= -1) {
    const int64_t least_rows = length - std::min<int64_t>(band->second, 0);
    const int64_t least_cols = length + std::max<int64_t>(band->first, 0);
    const int64_t square = std::max(least_rows, least_cols);
    const bool both = rows == -1 && cols == -1;
    if (rows == -1) rows = both ? square : least_rows;
    if (cols == -1) cols = both ? square : least_cols;
  }
  c.set_output(0, BatchAnd(c, {std::max<int64_t>(rows, -1), std::max<int64_t>(cols, -1)}, taken));
  return OkStatus();
}

Status MatrixDiagPartShape(ShapeContext& c) {
  RETURN_IF_ERROR(MatrixInput(c));
  const auto band = DiagonalsOf(c, 1);
  const int64_t rows = FromEnd(c.input(0), 2), cols = FromEnd(c.input(0), 1);
  if (!band || !c.input(0).has_rank()) return OkStatus();
  int64_t length = -1;
  if (rows >= 0 && cols >= 0) {
    length = std::min(rows + std::min<int64_t>(band->second, 0),
                      cols - std::max<int64_t>(band->first, 0));
    length = std::max<int64_t>(length, -1);
  }
  if (band->first < band->second) {
    c.set_output(0, BatchAnd(c, {band->second - band->first + 1, length}));
  } else {
    c.set_output(0, BatchAnd(c, {length}));
  }
  return OkStatus();
}

Status DiagShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  Dims dims = in.dims();
  Append(&dims, in, 0, in.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status DiagPartShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  const int half = in.rank() / 2;
  if (in.rank() == 0 || in.rank() % 2 != 0) {
    return c.Error(StrCat("Input must have even and non-zero rank, input rank is ", in.rank()));
  }
  ASSIGN_OR_RETURN(PartialShape shape, MergeShapes(c, PartialShape(SubDims(in, 0, half)),
                                                   PartialShape(SubDims(in, half, in.rank()))));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Cholesky", "input: T", "output: T",
     "T: {complex128, complex64, float16, float32, float64}", kPure, SquareMatrixShape},
    {"Diag", "diagonal: T", "output: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int32, int64}",
     kPure, DiagShape},
    {"DiagPart", "input: T", "diagonal: T",
     "T: {bfloat16, complex128, complex64, float16, float32, float64, int32, int64}",
     kPure, DiagPartShape},
    {"Eig", "input: T", "e: Tout, v: Tout",
     "compute_v: bool = true, T: {complex128, complex64, float32, float64}, Tout: {complex128,"
     " complex64}", kPure, EigShape},
    {"Einsum", "inputs: N * T", "output: T",
     "equation: string, N: int >= 1, T: type", kPure, EinsumShape},
    {"LogMatrixDeterminant", "input: T", "sign: T, log_abs_determinant: T",
     "T: {complex128, complex64, float16, float32, float64}", kPure, DeterminantShape},
    {"Lu", "input: T", "lu: T, p: output_idx_type",
     "T: {complex128, complex64, float16, float32, float64}, output_idx_type: index = int32",
     kPure, LuShape},
    {"MatrixBandPart", "input: T, num_lower: Tindex, num_upper: Tindex", "band: T",
     "T: type, Tindex: index = int64", kPure, SameMatrixShape},
    {"MatrixDeterminant", "input: T", "output: T",
     "T: {complex128, complex64, float16, float32, float64}", kPure, DeterminantShape},
    {"MatrixDiag", "diagonal: T", "output: T", "T: type", kPure, MatrixDiagShape},
    {"MatrixDiagPart", "input: T", "diagonal: T", "T: type", kPure, MatrixDiagPartShape},
    {"MatrixDiagPartV2", "input: T, k: int32, padding_value: T", "diagonal: T",
     "T: type", kPure, MatrixDiagPartShape},
    {"MatrixDiagPartV3", "input: T, k: int32, padding_value: T", "diagonal: T",
     "T: type, align: {'LEFT_LEFT', 'LEFT_RIGHT', 'RIGHT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'",
     kPure, MatrixDiagPartShape},
    {"MatrixDiagV2",
     "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T",
     "output: T",
     "T: type", kPure, MatrixDiagShape},
    {"MatrixDiagV3",
     "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T",
     "output: T",
     "T: type, align: {'LEFT_LEFT', 'LEFT_RIGHT', 'RIGHT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'",
     kPure, MatrixDiagShape},
    {"MatrixInverse", "input: T", "output: T",
     "adjoint: bool = false, T: {complex128, complex64, float16, float32, float64}",
     kPure, SquareMatrixShape},
    {"MatrixSetDiag", "input: T, diagonal: T", "output: T", "T: type", kPure, SameMatrixShape},
    {"MatrixSetDiagV2", "input: T, diagonal: T, k: int32", "output: T", "T: type",
     kPure, SameMatrixShape},
    {"MatrixSetDiagV3", "input: T, diagonal: T, k: int32", "output: T",
     "T: type, align: {'LEFT_LEFT', 'LEFT_RIGHT', 'RIGHT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'",
     kPure, SameMatrixShape},
    {"MatrixSolve", "matrix: T, rhs: T", "output: T",
     "adjoint: bool = false, T: {complex128, complex64, float16, float32, float64}",
     kPure, SolveShape},
    {"MatrixSolveLs", "matrix: T, rhs: T, l2_regularizer: float64", "output: T",
     "T: {complex128, complex64, float16, float32, float64}, fast: bool = true", kPure, SolveShape},
    {"MatrixTriangularSolve", "matrix: T, rhs: T", "output: T",
     "lower: bool = true, adjoint: bool = false, T: {bfloat16, complex128, complex64, float16,"
     " float32, float64}", kPure, TriangularSolveShape},
    {"Qr", "input: T", "q: T, r: T",
     "full_matrices: bool = false, T: {complex128, complex64, float16, float32, float64}",
     kPure, QrShape},
    {"SelfAdjointEigV2", "input: T", "e: T, v: T",
     "compute_v: bool = true, T: {complex128, complex64, float16, float32, float64}",
     kPure, EigShape},
    {"Svd", "input: T", "s: T, u: T, v: T",
     "compute_uv: bool = true, full_matrices: bool = false, T: {complex128, complex64, float16,"
     " float32, float64}", kPure, SvdShape},
    {"TridiagonalMatMul", "superdiag: T, maindiag: T, subdiag: T, rhs: T", "output: T",
     "T: {complex128, complex64, float32, float64}", kPure, ShapeOfInput<3>},
    {"TridiagonalSolve", "diagonals: T, rhs: T", "output: T",
     "partial_pivoting: bool = true, perturb_singular: bool = false, T: {complex128, complex64,"
     " float32, float64}", kPure, ShapeOfInput<1>},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> MatrixOps() { return kOps; }

}  // namespace slipway::ir
