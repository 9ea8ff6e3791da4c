// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra, segments and special functions.
#include "exec/gradient_case_list.h"

namespace slipway::exec::gradient_cases {
namespace {

// Two matrices of 3 x 3 with heavy diagonals.
Tensor Matrices(int phase = 0) {
  Tensor t = Signed({2, 3, 3}, phase);
  for (size_t i = 0; i < 18; i += (i % 9 == 8 ? 1 : 4))
    t.flat<float>()[i] = 3 + 0.1f * static_cast<float>(i);
  return t;
}

}  // namespace

void AddLinalg(Cases& c) {
  for (const bool adjoint : {false, true}) {
    const char* suffix = adjoint ? "Adjoint" : "";
    c.Plain("MatrixInverse", {Matrices()}, {{"adjoint", adjoint}}, suffix);
    c.Plain("MatrixSolve", {Matrices(), Signed({2, 3, 2}, 1)}, {{"adjoint", adjoint}}, suffix);
    for (const bool lower : {false, true}) {
      c.Plain("MatrixTriangularSolve", {Matrices(), Signed({2, 3, 2}, 1)},
              {{"adjoint", adjoint}, {"lower", lower}},
              std::string(suffix) + (lower ? "Lower" : ""));
    }
  }
  c.Plain("MatrixDeterminant", {Matrices()});
  c.last().tolerance = 5e-3;
  // Of x x' + 3: symmetric however an element of x moves.
  c.Add("Cholesky", "Cholesky", {Signed({2, 3, 3})}, [](GraphBuilder& b, const Outputs& x) {
    Output square = b.Op("BatchMatMulV2", {x[0], x[0]}, {{"adj_y", true}});
    Output three = b.Const(Tensor::FromValues<float>({3, 0, 0, 0, 3, 0, 0, 0, 3}, {3, 3}));
    return b.Ops("Cholesky", {b.Op("AddV2", {square, three})});
  });
  c.Plain("MatrixBandPart",
          {Signed({2, 3, 4}), Tensor::Scalar<int32_t>(1), Tensor::Scalar<int32_t>(0)});
  c.Plain("MatrixDiag", {Signed({2, 3})});
  c.Plain("MatrixDiagPart", {Signed({2, 3, 4})});
  c.Plain("MatrixSetDiag", {Signed({2, 3, 4}), Signed({2, 3}, 1)});
  const Tensor band = Ints({-1, 0}), zero = Tensor::Scalar(0.0f);
  const Tensor size = Tensor::Scalar<int32_t>(3);
  c.Plain("MatrixDiagV3", {Signed({2, 2, 3}), band, size, size, zero});
  c.last().constant = {4};
  c.Plain("MatrixDiagPartV3", {Signed({2, 3, 3}), band, zero});
  c.last().constant = {2};
  c.Plain("MatrixSetDiagV3", {Signed({2, 3, 3}), Signed({2, 2, 3}, 1), band});
  for (const auto& [equation, suffix] :
       {std::pair("ij,jk->ik", "Product"), {"ij->j", "Sum"}, {"ij,kj->", "All"}}) {
    std::vector<Tensor> operands = {Signed({2, 3}), equation[2] == '-'   ? Signed({2, 3})
                                                    : equation[3] == 'j' ? Signed({3, 2}, 1)
                                                                         : Signed({4, 3}, 1)};
    if (equation[2] == '-') operands.pop_back();
    c.Plain("Einsum", std::move(operands),
            {{"equation", equation}, {"N", equation[2] == '-' ? 1 : 2}}, suffix);
  }
  c.Plain("Einsum", {Signed({1, 2, 3}), Signed({4, 3, 2}, 1)},
          {{"equation", "...ij,...jk->...ik"}, {"N", 2}}, "Ellipsis");
}

void AddSegments(Cases& c) {
  for (const char* op : {"SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin"}) {
    c.Plain(op, {Signed({4, 2}), Ints({0, 0, 1, 3})});
  }
  for (const char* op : {"UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"}) {
    // Every segment has elements: the extreme of none has no finite weight.
    c.Plain(op, {Signed({4, 2}), Ints({1, -1, 0, 1}), Tensor::Scalar<int32_t>(2)});
  }
  for (const char* op : {"TopK", "TopKV2"}) {
    c.Add(op, op, {Signed({2, 5})}, [op](GraphBuilder& b, const Outputs& x) {
      if (op == std::string("TopK")) return b.Ops(op, {x[0]}, {{"k", 3}});
      return b.Ops(op, {x[0], b.Scalar<int32_t>(3)});
    });
  }
  c.Plain("DynamicPartition", {Signed({4, 2}), Ints({1, 0, 1, 1})}, {{"num_partitions", 2}});
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"}) {
    c.Plain(op, {Ints({0, 2}), Ints({1, 3}), Signed({2, 2}), Signed({2, 2}, 1)}, {{"N", 2}});
  }
}

void AddSpecial(Cases& c) {
  for (const char* op : {"Digamma", "BesselI0", "BesselI0e", "BesselI1", "BesselI1e"})
    c.Plain(op, {Positive({2, 3})});
  c.Plain("Erfinv", {Unit({2, 3})});
  c.Plain("Ndtri", {Values({2, 3}, 0.2f, 0.8f)});
  c.Plain("Polygamma", {Tensor::Scalar(1.0f), Positive({2, 3})});
  c.last().constant = {0};
  c.Plain("Zeta", {Tensor::Scalar(2.5f), Positive({2, 3})});
  c.last().constant = {0};
  for (const char* op : {"Igamma", "Igammac"}) c.Plain(op, {Positive({2, 3}), Positive({3}, 1)});
  for (const char* op : {"Digamma", "Polygamma", "Zeta"}) {
    for (GradientCase& added : c.all()) {
      if (added.op == op) added.tolerance = 2e-2;  // they bend sharply
    }
  }
}

}  // namespace slipway::exec::gradient_cases
