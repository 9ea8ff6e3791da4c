// SPDX-License-Identifier: Apache-2.0
//
// Graphs come from files: whatever attributes, shapes and constants a node has, adding it gives a
// node or INVALID_ARGUMENT, and shapes that a tensor can have.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/strings.h"
#include "ir/builder.h"

namespace slipway::ir {
namespace {

class Hostile {
 public:
  explicit Hostile(uint32_t seed) : random_(seed) {}

  void Try(const OpSchema& schema) {
    AttrMap attrs = Attrs(schema);
    Graph graph;
    GraphBuilder b(&graph);
    const StatusOr<Dtypes> dtypes = ResolveDtypes(schema, attrs);
    if (!dtypes.ok() || dtypes->inputs.size() > 8) return;
    std::vector<Output> inputs;
    for (const DType dtype : dtypes->inputs) inputs.push_back(Input(b, dtype));
    ASSERT_TRUE(b.ok()) << b.status().ToString();
    const Node* node = b.AddNode(schema.name, inputs, attrs, "n");
    if (node == nullptr) {
      EXPECT_EQ(b.status().code(), Code::kInvalidArgument) << b.status().ToString();
      return;
    }
    ++added_;
    for (int i = 0; i < node->num_outputs(); ++i) {
      const PartialShape& shape = node->shape(i);
      for (int d = 0; d < shape.rank(); ++d) EXPECT_GE(shape.dim(d), -1);
      EXPECT_LE(shape.rank(), Shape::kMaxRank);
    }
    EXPECT_TRUE(graph.InferShapes().ok());
  }
  int added() const { return added_; }

 private:
  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  int64_t Integer() {
    constexpr int64_t kIntegers[] = {0,  1,  2,  2,  3,         -1,        -2,        7,
                                     63, 64, 31, -7, 1LL << 31, 1LL << 62, INT64_MIN, INT64_MAX};
    return kIntegers[Pick(std::size(kIntegers))];
  }
  PartialShape AnyShape() {
    if (Pick(6) == 0) return PartialShape::Unknown();
    std::vector<int64_t> dims;
    for (int i = Pick(5); i > 0; --i) dims.push_back(Pick(12) == 0 ? 1LL << 40 : Pick(5) - 1);
    int64_t product = 1;
    for (const int64_t dim : dims) {
      if (dim > 0 && __builtin_mul_overflow(product, dim, &product)) return {2, -1};
    }
    return PartialShape(std::move(dims));
  }
  DType Type(const OpSchema::Attr& attr) {
    if (attr.allowed_types.empty()) return Pick(2) == 0 ? DType::kFloat : DType::kInt32;
    return attr
        .allowed_types[static_cast<size_t>(Pick(static_cast<int>(attr.allowed_types.size())))];
  }

  AttrValue Value(const OpSchema::Attr& attr) {
    if (attr.type == "type") return Type(attr);
    if (attr.type == "int") return Pick(3) == 0 ? Integer() : Pick(4);
    if (attr.type == "bool") return Pick(2) == 0;
    if (attr.type == "float") return 0.5f;
    if (attr.type == "shape") return AnyShape();
    if (attr.type == "func") return FunctionRef{"f", {}};
    if (attr.type == "tensor") return Tensor::Scalar(1.0f);
    if (attr.type == "string") {
      return attr.allowed_strings.empty() ? std::string("%s") : attr.allowed_strings.back();
    }
    if (attr.type == "list(type)")
      return std::vector<DType>(static_cast<size_t>(Pick(4)), Type(attr));
    if (attr.type == "list(int)")
      return std::vector<int64_t>(static_cast<size_t>(Pick(3)), Integer());
    if (attr.type == "list(shape)")
      return std::vector<PartialShape>(static_cast<size_t>(Pick(3)), AnyShape());
    return std::vector<int64_t>();
  }

  AttrMap Attrs(const OpSchema& schema) {
    AttrMap attrs;
    for (const OpSchema::Attr& attr : schema.attrs) {
      if (!attr.has_default || Pick(2) == 0) attrs[attr.name] = Value(attr);
    }
    return attrs;
  }

  template <typename T>
  Output Constant(GraphBuilder& b) {
    Shape shape;
    for (int i = Pick(3); i > 0; --i) shape.AddDim(Pick(4));
    Tensor t(DTypeOf<T>(), shape);
    for (T& v : t.flat<T>()) v = Pick(3) == 0 ? static_cast<T>(Integer()) : static_cast<T>(Pick(4));
    return b.Const(std::move(t));
  }

  Output Input(GraphBuilder& b, DType dtype) {
    if (Pick(3) != 0 && dtype == DType::kInt32) return Constant<int32_t>(b);
    if (Pick(3) != 0 && dtype == DType::kInt64) return Constant<int64_t>(b);
    if (Pick(3) != 0 && dtype == DType::kFloat) return Constant<float>(b);
    if (dtype == DType::kResource && Pick(4) != 0) {
      return b.Op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", AnyShape()}});
    }
    return b.Placeholder(dtype, AnyShape(), "x");
  }

  std::mt19937 random_;
  int added_ = 0;
};

TEST(HostileTest, NoNodeOfAFileBreaksItsSchema) {
  int never = 0;
  for (const OpSchema* schema : AllOpSchemas()) {
    SCOPED_TRACE(schema->name);
    Hostile hostile(7);
    for (int i = 0; i < 200; ++i) hostile.Try(*schema);
    never += hostile.added() == 0;
  }
  // Most ops take some of it, so that their shape functions were indeed reached.
  EXPECT_LT(never, static_cast<int>(AllOpSchemas().size()) / 10);
}

}  // namespace
}  // namespace slipway::ir
