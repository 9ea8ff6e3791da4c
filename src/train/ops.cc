// SPDX-License-Identifier: Apache-2.0
#include "slipway/ops.h"

namespace slipway {
namespace {

Value Unary(const char* op, const Value& x) {
  return x.graph() == nullptr ? Value() : x.graph()->Op(op, {x});
}

Value Binary(const char* op, const Value& a, const Value& b, const Graph::Attrs& attrs = {}) {
  Graph* graph = a.graph() != nullptr ? a.graph() : b.graph();
  return graph == nullptr ? Value() : graph->Op(op, {a, b}, attrs);
}

Value ScalarLike(double value, const Value& like) {
  return like.graph() == nullptr ? Value() : like.graph()->Constant(value, like);
}

Value IntVector(const Value& like, const std::vector<int64_t>& values) {
  Tensor tensor = Tensor::FromValues<int64_t>(std::span<const int64_t>(values),
                                              Shape({static_cast<int64_t>(values.size())}));
  return like.graph()->Constant(tensor);
}

Value Reduce(const char* op, const Value& x, std::vector<int64_t> axes, bool keep_dims) {
  if (!x.valid()) return {};
  if (axes.empty()) {
    if (!x.shape().has_rank()) {
      x.graph()->Fail(InvalidArgumentError(
          std::string(op) + " over all axes needs a value of known rank; name the axes"));
      return {};
    }
    for (int i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  }
  return x.graph()->Op(op, {x, IntVector(x, axes)}, {{"keep_dims", keep_dims}});
}

}  // namespace

Value operator+(const Value& a, const Value& b) { return Binary("AddV2", a, b); }
Value operator-(const Value& a, const Value& b) { return Binary("Sub", a, b); }
Value operator*(const Value& a, const Value& b) { return Binary("Mul", a, b); }
Value operator/(const Value& a, const Value& b) { return Binary("RealDiv", a, b); }
Value operator+(const Value& a, double b) { return a + ScalarLike(b, a); }
Value operator-(const Value& a, double b) { return a - ScalarLike(b, a); }
Value operator*(const Value& a, double b) { return a * ScalarLike(b, a); }
Value operator/(const Value& a, double b) { return a / ScalarLike(b, a); }
Value operator+(double a, const Value& b) { return ScalarLike(a, b) + b; }
Value operator-(double a, const Value& b) { return ScalarLike(a, b) - b; }
Value operator*(double a, const Value& b) { return ScalarLike(a, b) * b; }
Value operator-(const Value& a) { return Unary("Neg", a); }

namespace ops {

Value MatMul(const Value& a, const Value& b) { return Binary("MatMul", a, b); }
Value Relu(const Value& x) { return Unary("Relu", x); }
Value Sigmoid(const Value& x) { return Unary("Sigmoid", x); }
Value Tanh(const Value& x) { return Unary("Tanh", x); }
Value Softmax(const Value& x) { return Unary("Softmax", x); }
Value Exp(const Value& x) { return Unary("Exp", x); }
Value Log(const Value& x) { return Unary("Log", x); }
Value Sqrt(const Value& x) { return Unary("Sqrt", x); }
Value Square(const Value& x) { return Unary("Square", x); }

Value ReduceMean(const Value& x, std::vector<int64_t> axes, bool keep_dims) {
  return Reduce("Mean", x, std::move(axes), keep_dims);
}
Value ReduceSum(const Value& x, std::vector<int64_t> axes, bool keep_dims) {
  return Reduce("Sum", x, std::move(axes), keep_dims);
}
Value ReduceMax(const Value& x, std::vector<int64_t> axes, bool keep_dims) {
  return Reduce("Max", x, std::move(axes), keep_dims);
}

Value Reshape(const Value& x, const std::vector<int64_t>& shape) {
  return x.valid() ? Binary("Reshape", x, IntVector(x, shape)) : Value();
}

Value Cast(const Value& x, DType dtype) {
  return x.valid() ? x.graph()->Op("Cast", {x}, {{"DstT", dtype}}) : Value();
}

Value ArgMax(const Value& x, int64_t axis) {
  if (!x.valid()) return {};
  Value dimension = x.graph()->Constant(Tensor::Scalar(static_cast<int32_t>(axis)));
  return Binary("ArgMax", x, dimension, {{"output_type", DType::kInt64}});
}

Value Equal(const Value& a, const Value& b) { return Binary("Equal", a, b); }

Value SparseSoftmaxCrossEntropy(const Value& labels, const Value& logits) {
  return Binary("SparseSoftmaxCrossEntropyWithLogits", logits, labels);
}

}  // namespace ops
}  // namespace slipway
