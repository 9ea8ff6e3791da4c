// SPDX-License-Identifier: Apache-2.0
#include "exec/gradient_cases.h"

#include "exec/gradient_case_list.h"

namespace slipway::exec {
namespace {

using namespace gradient_cases;  // NOLINT

void AddUnary(Cases& c) {
  const Shape s = {2, 3};
  for (const char* op :
       {"Abs",    "Cosh",      "Erf",       "Erfc",    "Exp",        "Expm1",    "Neg",
        "Relu",   "Elu",       "Selu",      "Sigmoid", "Sign",       "Sin",      "Cos",
        "Sinh",   "Softplus",  "Softsign",  "Square",  "Tan",        "Tanh",     "Atan",
        "Asinh",  "LeakyRelu", "Relu6",     "Inv",     "Reciprocal", "Identity", "Snapshot",
        "L2Loss", "Softmax",   "LogSoftmax"}) {
    c.Plain(op, {Signed(s)});
  }
  for (const char* op : {"Asin", "Acos", "Atanh"}) c.Plain(op, {Unit(s)});
  for (const char* op : {"Log", "Log1p", "Sqrt", "Rsqrt", "Lgamma"}) c.Plain(op, {Positive(s)});
  c.Plain("Acosh", {Values(s, 1.5f, 2.5f)});
  c.Plain("LeakyRelu", {Signed(s)}, {{"alpha", 0.5f}}, "Steep");
  c.Plain("CheckNumerics", {Signed(s)}, {{"message", "x"}});
  c.Plain("EnsureShape", {Signed(s)}, {{"shape", PartialShape({2, 3})}});
  c.Plain("IdentityN", {Signed(s), Positive({2})});
  c.Plain("ClipByValue", {Signed(s), Tensor::Scalar(-0.62f), Tensor::Scalar(0.63f)});
  c.last().tolerance = 5e-3;
  for (const char* op : {"SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"}) {
    c.Plain(op, {Positive(s), Signed(s, 1)});
  }
  for (const char* op : {"TanhGrad", "SigmoidGrad"}) c.Plain(op, {Unit(s), Signed(s, 1)});
  for (const char* op : {"ReluGrad", "Relu6Grad", "LeakyReluGrad"}) {
    c.Plain(op, {Signed(s, 1), Signed(s)});
    c.last().constant = {1};
  }
}

void AddBinary(Cases& c) {
  for (const char* op : {"Add", "AddV2", "Sub", "Mul", "MulNoNan", "SquaredDifference", "Atan2",
                         "RealDiv", "Div", "DivNoNan", "Maximum", "Minimum"}) {
    c.Plain(op, {Signed({2, 3}), Signed({2, 3}, 1)});
    c.Plain(op, {Signed({2, 3}), Signed({3}, 1)}, {}, "Row");
    c.Plain(op, {Signed({2, 1}), Signed({2, 3}, 1)}, {}, "Column");
    c.Plain(op, {Signed({2, 1, 3}), Signed({4, 1}, 1)}, {}, "BothWays");
    c.Plain(op, {Signed({2, 3}), Tensor::Scalar(0.77f)}, {}, "Scalar");
  }
  for (const char* op : {"Pow", "Xlogy", "Xlog1py", "Xdivy"}) {
    c.Plain(op, {Positive({2, 3}), Positive({3}, 1)});
  }
  c.Plain("FloorMod", {Tensor::Vector<float>({2.3f, 5.6f, 1.4f}), Tensor::Scalar(0.83f)});
  c.Plain("AddN", {Signed({2, 3}), Signed({2, 3}, 1), Signed({2, 3}, 2)});
  // The same unknown size on both sides, found by where it comes from.
  c.Add("MulOfOneOrigin", "Mul", {Signed({2, 3})}, [](GraphBuilder& b, const Outputs& x) {
    return b.Ops("Mul", {b.Op("Tanh", {x[0]}), b.Op("Exp", {x[0]})});
  });
}

void AddMatMul(Cases& c) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      const std::string suffix = std::string(ta ? "T" : "N") + (tb ? "T" : "N");
      const Shape a = ta ? Shape({3, 2}) : Shape({2, 3});
      const Shape b = tb ? Shape({4, 3}) : Shape({3, 4});
      c.Plain("MatMul", {Signed(a), Signed(b, 1)}, {{"transpose_a", ta}, {"transpose_b", tb}},
              suffix);
      const Shape batch_a = ta ? Shape({2, 1, 3, 2}) : Shape({2, 1, 2, 3});
      const Shape batch_b = tb ? Shape({2, 4, 3}) : Shape({2, 3, 4});
      c.Plain("BatchMatMulV2", {Signed(batch_a), Signed(batch_b, 1)},
              {{"adj_x", ta}, {"adj_y", tb}}, suffix);
    }
  }
  c.Plain("BatchMatMul", {Signed({2, 2, 3}), Signed({2, 3, 2}, 1)});
}

void AddNn(Cases& c) {
  for (const char* op : {"BiasAdd", "BiasAddV1"}) c.Plain(op, {Signed({2, 3}), Signed({3}, 1)});
  c.Plain("BiasAdd", {Signed({2, 3, 2}), Signed({3}, 1)}, {{"data_format", "NCHW"}},
          "ChannelsFirst");
  c.Plain("BiasAddGrad", {Signed({2, 3})});
  Tensor labels = Tensor::FromValues<float>({0.2f, 0.5f, 0.3f, 0.1f, 0.1f, 0.8f}, {2, 3});
  // The second output is the first one's gradient: its slope is the second derivative. By the
  // labels only the loss is differentiated, as in TensorFlow.
  c.Plain("SoftmaxCrossEntropyWithLogits", {Signed({2, 3}), labels});
  c.last().constant = {1};
  c.Add("SoftmaxCrossEntropyByLabels", "SoftmaxCrossEntropyWithLogits", {Signed({2, 3}), labels},
        [](GraphBuilder& b, const Outputs& x) -> Outputs {
          return {b.Op("SoftmaxCrossEntropyWithLogits", x)};
        });
  c.Plain("SparseSoftmaxCrossEntropyWithLogits", {Signed({2, 3}), Ints({2, 0})});
  c.Add("MeanOfSparseCrossEntropy", "SparseSoftmaxCrossEntropyWithLogits",
        {Signed({2, 3}), Ints({2, 0})}, [](GraphBuilder& b, const Outputs& x) -> Outputs {
          Output loss = b.Op("SparseSoftmaxCrossEntropyWithLogits", x);
          return {b.Op("Mean", {loss, b.Int32Vector({0})})};
        });
}

void AddReductions(Cases& c) {
  for (const char* op : {"Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm"}) {
    for (auto [axes, suffix] :
         {std::pair(std::vector<int32_t>{-1}, "Last"), std::pair(std::vector<int32_t>{0, 2}, "Two"),
          std::pair(std::vector<int32_t>{0, 1, 2}, "All"),
          std::pair(std::vector<int32_t>{}, "None")}) {
      for (bool keep : {false, true}) {
        c.Add(std::string(op) + suffix + (keep ? "Kept" : ""), op, {Signed({2, 3, 2})},
              [op, axes, keep](GraphBuilder& b, const Outputs& x) {
                return b.Ops(op, {x[0], b.Int32Vector(axes)}, {{"keep_dims", keep}});
              });
      }
    }
  }
  // Axes that are known only when they run.
  for (const char* op : {"Sum", "Mean", "Max", "Min", "EuclideanNorm"}) {
    c.Plain(op, {Signed({2, 3, 2}), Ints({1})});
    c.Plain(op, {Signed({2, 3, 2}), Ints({1})}, {{"keep_dims", true}}, "Kept");
  }
  for (const char* op : {"Cumsum", "Cumprod"}) {
    c.Plain(op, {Signed({2, 3}), Tensor::Scalar<int32_t>(1)});
    c.Plain(op, {Signed({2, 3}), Tensor::Scalar<int32_t>(0)},
            {{"exclusive", true}, {"reverse", true}}, "Backwards");
  }
}

void AddArray(Cases& c) {
  auto ints = [](std::vector<int32_t> values) {
    return [values](GraphBuilder& b) { return b.Int32Vector(values); };
  };
  // ops with one value and one vector of integers
  auto with = [&](const char* op, Tensor x, std::vector<int32_t> values, const char* suffix = "",
                  AttrMap attrs = {}) {
    c.Add(std::string(op) + suffix, op, {std::move(x)},
          [op, attrs, make = ints(std::move(values))](GraphBuilder& b, const Outputs& in) {
            return b.Ops(op, {in[0], make(b)}, attrs);
          });
  };
  with("Reshape", Signed({2, 3}), {3, 2});
  with("Transpose", Signed({2, 3, 2}), {1, 2, 0});
  with("Tile", Signed({2, 3}), {2, 1});
  with("BroadcastTo", Signed({2, 1}), {4, 2, 3});
  with("BroadcastTo", Tensor::Scalar(0.4f), {2, 3}, "FromScalar");
  with("ReverseV2", Signed({2, 3}), {1});
  with("ReverseSequence", Signed({3, 4}), {2, 4, 1}, "", {{"seq_dim", 1}});
  c.Add("Roll", "Roll", {Signed({3, 4})}, [](GraphBuilder& b, const Outputs& x) {
    return b.Ops("Roll", {x[0], b.Int32Vector({1, -2}), b.Int32Vector({0, 1})});
  });
  c.Plain("Transpose", {Signed({2, 3, 2}), Ints({2, 0, 1})}, {}, "Dynamic");
  c.Plain("Tile", {Signed({2, 3}), Ints({1, 3})}, {}, "Dynamic");
  c.Plain("Squeeze", {Signed({2, 1, 3})}, {{"squeeze_dims", std::vector<int64_t>{1}}});
  c.Plain("ExpandDims", {Signed({2, 3}), Tensor::Scalar<int32_t>(1)});
  c.Plain("Pack", {Signed({3}), Signed({3}, 1)}, {{"axis", 1}, {"N", 2}});
  c.Plain("Unpack", {Signed({2, 3})}, {{"axis", 0}, {"num", 2}});
  c.Add("UnpackOfWhichOneIsUsed", "Unpack", {Signed({2, 3})},
        [](GraphBuilder& b, const Outputs& x) -> Outputs {
          Outputs parts = b.Ops("Unpack", x, {{"axis", 0}, {"num", 2}});
          return parts.size() == 2 ? Outputs{parts[1]} : Outputs{};
        });
  c.Add("ConcatV2", "ConcatV2", {Signed({2, 3}), Signed({2, 1}, 1)},
        [](GraphBuilder& b, const Outputs& x) {
          return b.Ops("ConcatV2", {x[0], x[1], b.Scalar<int32_t>(-1)});
        });
  c.Add("Split", "Split", {Signed({2, 4})}, [](GraphBuilder& b, const Outputs& x) {
    return b.Ops("Split", {b.Scalar<int32_t>(1), x[0]}, {{"num_split", 2}});
  });
  c.Add("SplitV", "SplitV", {Signed({2, 4})}, [](GraphBuilder& b, const Outputs& x) {
    return b.Ops("SplitV", {x[0], b.Int32Vector({1, 3}), b.Scalar<int32_t>(1)}, {{"num_split", 2}});
  });
  c.Plain("Slice", {Signed({3, 4}), Ints({1, 0}), Ints({2, -1})});
  c.Add("StridedSlice", "StridedSlice", {Signed({3, 4})}, [](GraphBuilder& b, const Outputs& x) {
    return b.Ops("StridedSlice",
                 {x[0], b.Int32Vector({1, 0}), b.Int32Vector({0, 4}), b.Int32Vector({1, 2})},
                 {{"shrink_axis_mask", 1}});
  });
  Tensor paddings = Tensor::FromValues<int32_t>({1, 0, 0, 2}, {2, 2});
  c.Plain("Pad", {Signed({2, 3}), paddings});
  c.Add("PadOfKnownWidth", "Pad", {Signed({2, 3})}, [paddings](GraphBuilder& b, const Outputs& x) {
    return b.Ops("Pad", {x[0], b.Const(paddings)});
  });
  for (const char* mode : {"REFLECT", "SYMMETRIC"}) {
    Tensor borders = Tensor::FromValues<int32_t>({1, 0, 1, 2}, {2, 2});
    c.Plain("MirrorPad", {Signed({2, 3}), borders}, {{"mode", mode}}, mode);
  }
  c.Plain("PadV2", {Signed({2, 3}), paddings, Tensor::Scalar(0.5f)});
  c.last().constant = {2};
  c.Plain("Fill", {Ints({2, 3}), Tensor::Scalar(0.5f)});
  Tensor condition = Tensor::FromValues<bool>({true, false, true, true, false, false}, {2, 3});
  c.Plain("Select", {condition, Signed({2, 3}), Signed({2, 3}, 1)});
  c.Plain("SelectV2", {condition, Signed({2, 3}), Signed({2, 3}, 1)});
  c.Plain("SelectV2", {condition, Signed({3}), Tensor::Scalar(0.6f)}, {}, "Broadcast");
  c.Add("Cast", "Cast", {Signed({2, 3})}, [](GraphBuilder& b, const Outputs& x) -> Outputs {
    Output twice = b.Op("Cast", {x[0]}, {{"DstT", DType::kDouble}});
    return {b.Op("Cast", {twice}, {{"DstT", DType::kFloat}})};
  });
}

void AddIndex(Cases& c) {
  Tensor twice = Tensor::FromValues<int32_t>({2, 0, 2, 1}, {2, 2});
  c.Add("GatherV2", "GatherV2", {Signed({3, 2}), twice}, [](GraphBuilder& b, const Outputs& x) {
    return b.Ops("GatherV2", {x[0], x[1], b.Scalar<int32_t>(0)});
  });
  c.Add("GatherV2Inner", "GatherV2", {Signed({2, 3, 2}), twice},
        [](GraphBuilder& b, const Outputs& x) {
          return b.Ops("GatherV2", {x[0], x[1], b.Scalar<int32_t>(1)});
        });
  c.Plain("Gather", {Signed({3, 2}), twice});
  c.Plain("GatherNd", {Signed({3, 2}), twice.Slice(0, 2)});
  c.last().inputs[1] = Tensor::FromValues<int32_t>({2, 0, 2}, {3, 1});
  Tensor rows = Tensor::FromValues<int32_t>({2, 0}, {2, 1});
  c.Plain("ScatterNd", {rows, Signed({2, 2}), Ints({3, 2})});
  c.Plain("TensorScatterUpdate", {Signed({3, 2}), rows, Signed({2, 2}, 1)});
  c.Add("GatherV2Batch", "GatherV2", {Signed({2, 3, 2}), twice},
        [](GraphBuilder& b, const Outputs& x) {
          return b.Ops("GatherV2", {x[0], x[1], b.Scalar<int32_t>(1)}, {{"batch_dims", 1}});
        });
  c.Add("GatherV2BatchInner", "GatherV2", {Signed({2, 2, 3, 2}), twice},
        [](GraphBuilder& b, const Outputs& x) {
          return b.Ops("GatherV2", {x[0], x[1], b.Scalar<int32_t>(2)}, {{"batch_dims", 1}});
        });
  for (const char* op :
       {"TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"}) {
    c.Plain(op, {Signed({3, 2}), rows, Signed({2, 2}, 1)});
  }
  c.Plain("UnsortedSegmentSum", {Signed({4, 2}), Ints({1, -1, 0, 1}), Tensor::Scalar<int32_t>(2)});
}

}  // namespace

const std::vector<GradientCase>& AllGradientCases() {
  static const auto* const cases = [] {
    Cases c;
    AddReductions(c);
    AddUnary(c);
    AddBinary(c);
    AddMatMul(c);
    AddNn(c);
    AddArray(c);
    AddIndex(c);
    gradient_cases::AddFunctional(c);
    gradient_cases::AddLists(c);
    gradient_cases::AddWindows(c);
    gradient_cases::AddLinalg(c);
    gradient_cases::AddSegments(c);
    gradient_cases::AddSpecial(c);
    return new std::vector<GradientCase>(c.Take());
  }();
  return *cases;
}

}  // namespace slipway::exec
