// SPDX-License-Identifier: Apache-2.0
//
// Shape functions against TensorFlow's: tests/golden/ir/shape_cases.txt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/strings.h"
#include "ir/builder.h"
#include "ir/op_schema_text.h"

namespace slipway::ir {
namespace {

using testing::HasSubstr;

std::vector<std::string> SplitAt(std::string_view text, std::string_view separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const size_t at = text.find(separator);
    pieces.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + separator.size());
    if (text.empty()) pieces.emplace_back();
  }
  return pieces;
}

// "[?,3]"
PartialShape ShapeOf(std::string_view text) {
  if (text == "<unknown>") return PartialShape::Unknown();
  std::vector<int64_t> dims;
  for (const std::string& dim : SplitAt(text.substr(1, text.size() - 2), ",")) {
    dims.push_back(dim == "?" ? -1 : *ParseInt64(dim));
  }
  return PartialShape(std::move(dims));
}

Tensor ConstOf(DType dtype, const PartialShape& shape, std::string_view values) {
  std::vector<double> numbers;
  for (const std::string& v : SplitAt(values, ",")) numbers.push_back(*ParseDouble(v));
  Tensor t(dtype, *shape.ToShape());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (dtype == DType::kInt32) t.flat<int32_t>()[i] = static_cast<int32_t>(numbers[i]);
    if (dtype == DType::kFloat) t.flat<float>()[i] = static_cast<float>(numbers[i]);
  }
  return t;
}

// "float32[?,3]" or "int32[2]={1,2}"
Output InputOf(GraphBuilder& b, std::string_view text) {
  const size_t type_end = text.find_first_of("[<");
  const DType dtype = *ParseDType(text.substr(0, type_end));
  const size_t equals = text.find('=');
  const PartialShape shape = ShapeOf(text.substr(type_end, equals - type_end));
  if (equals == std::string_view::npos) return b.Placeholder(dtype, shape, "x");
  return b.Const(ConstOf(dtype, shape, text.substr(equals + 2, text.size() - equals - 3)));
}

AttrMap AttrsOf(const std::string& text) {
  const auto schema = ParseOpSchema({"Case", "", "", text.c_str(), Effect::kPure, nullptr});
  EXPECT_TRUE(schema.ok()) << schema.status().ToString();
  AttrMap attrs;
  for (const OpSchema::Attr& attr : schema->attrs) attrs[attr.name] = attr.default_value;
  return attrs;
}

void RunCase(const std::string& line) {
  const std::vector<std::string> fields = SplitAt(line, " | ");
  ASSERT_EQ(fields.size(), 4u);
  Graph graph;
  GraphBuilder b(&graph);
  std::vector<Output> inputs;
  for (const std::string& input : SplitAt(fields[1], "; ")) inputs.push_back(InputOf(b, input));
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  const Node* node = b.AddNode(fields[0], inputs, AttrsOf(fields[2]), "n");
  if (fields[3].starts_with("error: ")) {
    EXPECT_EQ(b.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(std::string(b.status().message()), HasSubstr(StrCat(fields[0], " 'n': ")));
    return;
  }
  ASSERT_NE(node, nullptr) << b.status().ToString();
  std::vector<std::string> shapes;
  for (int i = 0; i < node->num_outputs(); ++i) shapes.push_back(node->shape(i).ToString());
  EXPECT_EQ(StrJoin(shapes, "; "), fields[3]);
}

TEST(ShapesTest, AreTensorFlows) {
  std::ifstream cases("tests/golden/ir/shape_cases.txt");
  ASSERT_TRUE(cases.good());
  int n = 0;
  for (std::string line; std::getline(cases, line);) {
    if (line.starts_with("#")) continue;
    SCOPED_TRACE(line);
    RunCase(line);
    ++n;
  }
  EXPECT_GT(n, 200);
}

std::string ErrorOf(std::string_view op, std::vector<const char*> inputs, AttrMap attrs = {}) {
  Graph graph;
  GraphBuilder b(&graph);
  std::vector<Output> values;
  for (const char* input : inputs) values.push_back(InputOf(b, input));
  b.Op(op, values, std::move(attrs), "dense/n");
  return std::string(b.status().message());
}

TEST(ShapesTest, MessagesNameNodeOpAndBothShapes) {
  EXPECT_EQ(ErrorOf("MatMul", {"float32[?,784]", "float32[10,300]"}),
            "MatMul 'dense/n': Matrix size-incompatible: Dimensions must be equal, but are 784 and "
            "10 (with input shapes: "
            "[?,784], [10,300])");
  EXPECT_EQ(ErrorOf("AddV2", {"float32[2,3]", "float32[4]"}),
            "AddV2 'dense/n': Incompatible shapes: [2,3] vs. [4] (with input shapes: [2,3], [4])");
  EXPECT_THAT(ErrorOf("MatMul", {"float32[784]", "float32[784,10]"}),
              HasSubstr("Shape must be rank 2 but is rank 1 for input 0 of shape [784]"));
  EXPECT_THAT(ErrorOf("Reshape", {"float32[2,3]", "int32[1]={4}"}),
              HasSubstr("Cannot reshape a tensor with 6 elements to shape [4] (4 elements)"));
}

TEST(ShapesTest, AbsurdSizesAreRefusedNotComputed) {
  const char* huge = "int32[4]={2147483647,2147483647,2147483647,2147483647}";
  EXPECT_THAT(ErrorOf("Fill", {huge, "float32[]"}), HasSubstr("too many elements"));
  const char* most = "float32[4611686018427387904]";
  EXPECT_THAT(ErrorOf("Tile", {most, "int32[1]={2147483647}"}), HasSubstr("too many elements"));
  EXPECT_THAT(ErrorOf("ConcatV2", {most, most, "int32[]={0}"}), HasSubstr("too many elements"));
  EXPECT_THAT(ErrorOf("BatchMatMulV2", {"float32[4611686018427387904,4,1]", "float32[1,4]"}),
              HasSubstr("too many elements"));
}

TEST(ShapesTest, VariablesTellTheShapesOfTheirReads) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output v =
      b.Op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape({784, 300})}}, "v");
  const Output again = b.Op("Identity", {v});
  const AttrMap type = {{"dtype", DType::kFloat}};
  EXPECT_EQ(b.Op("ReadVariableOp", {again}, type).shape(), PartialShape({784, 300}));
  EXPECT_EQ(b.Op("VariableShape", {v}).shape(), PartialShape({2}));
  const Output rows = b.Placeholder(DType::kInt32, {-1, 5}, "rows");
  EXPECT_EQ(b.Op("ResourceGather", {v, rows}, type).shape(), PartialShape({-1, 5, 300}));
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  b.AddNode("AssignVariableOp", {v, b.Placeholder(DType::kFloat, {784, 10}, "w")});
  EXPECT_THAT(std::string(b.status().message()),
              HasSubstr("Dimension 1 in both shapes must be equal, but are 300 and 10"));
}

TEST(ShapesTest, AVariableIsReadInItsOwnType) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output v =
      b.Op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape({2})}});
  b.Op("ReadVariableOp", {v}, {{"dtype", DType::kInt32}});
  EXPECT_THAT(std::string(b.status().message()),
              HasSubstr("the variable is of type float32, but dtype is int32"));
}

TEST(ShapesTest, UpdatesCheckGradientAgainstVariableAndSlots) {
  for (const int64_t rows : {3, 4}) {
    Graph graph;
    GraphBuilder b(&graph);
    const auto variable = [&](const char* name) {
      return b.Op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape({3, 2})}},
                  name);
    };
    const Output one = b.Scalar(1.0f), g = b.Placeholder(DType::kFloat, {rows, 2}, "g");
    b.AddNode("ResourceApplyAdam",
              {variable("v"), variable("m"), variable("u"), one, one, one, one, one, one, g});
    EXPECT_EQ(b.ok(), rows == 3) << b.status().ToString();
  }
}

TEST(ShapesTest, ShapesComputedFromShapesAreFollowed) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = b.Placeholder(DType::kFloat, {-1, 28, 28}, "x");
  const Output shape = b.Op("Shape", {x});
  const auto element = [&](int i) {
    return b.Op("StridedSlice",
                {shape, b.Int32Vector({i}), b.Int32Vector({i + 1}), b.Int32Vector({1})},
                {{"shrink_axis_mask", 1}});
  };
  // Flatten as Keras writes it.
  const Output flat = b.Op("Pack", {element(0), b.Scalar(784)});
  EXPECT_EQ(b.Op("Reshape", {x, flat}).shape(), PartialShape({-1, 784}));
  const Output product = b.Op("Mul", {element(1), element(2)});
  EXPECT_EQ(b.Op("Reshape", {x, b.Op("Pack", {b.Scalar(-1), product})}).shape(),
            PartialShape({-1, 784}));
  const Output tail =
      b.Op("StridedSlice", {shape, b.Int32Vector({1}), b.Int32Vector({0}), b.Int32Vector({1})},
           {{"end_mask", 1}});
  const Output all = b.Op("ConcatV2", {b.Int32Vector({7}), tail, b.Scalar(0)});
  EXPECT_EQ(b.Op("Fill", {all, b.Scalar(0.0f)}).shape(), PartialShape({7, 28, 28}));
  const Output prod = b.Op("Prod", {tail, b.Int32Vector({0})});
  EXPECT_EQ(b.Op("Fill", {b.Op("Pack", {prod}), b.Scalar(0.0f)}).shape(), PartialShape({784}));
  ASSERT_TRUE(b.ok()) << b.status().ToString();
}

TEST(ShapesTest, AFanOfShapesCostsNoMoreThanItsBudget) {
  Graph graph;
  GraphBuilder b(&graph);
  Output value = b.Op("Size", {b.Placeholder(DType::kFloat, {2, 3}, "x")});
  for (int i = 0; i < 40; ++i) value = b.Op("AddV2", {value, value});
  const Output filled = b.Op("Fill", {b.Op("Pack", {value}), b.Scalar(0.0f)});
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  EXPECT_EQ(filled.shape(), PartialShape({-1}));
}

TEST(ShapesTest, CallsTakeTheShapesTheyAreTold) {
  Graph graph;
  GraphBuilder b(&graph);
  const Output x = b.Placeholder(DType::kFloat, {2, 3}, "x");
  const std::vector<DType> types = {DType::kFloat};
  AttrMap attrs = {{"cond", FunctionRef{"c", {}}}, {"body", FunctionRef{"b", {}}}};
  EXPECT_EQ(b.Op("StatelessWhile", {x}, attrs).shape(), PartialShape::Unknown());
  attrs["output_shapes"] = std::vector<PartialShape>{{-1, 3}};
  EXPECT_EQ(b.Op("StatelessWhile", {x}, attrs).shape(), PartialShape({-1, 3}));
  const Output call = b.Op("PartitionedCall", {x}, {{"Tout", types}, {"f", FunctionRef{"f", {}}}});
  EXPECT_EQ(call.shape(), PartialShape::Unknown());
  call.node->set_shape(0, {5});
  ASSERT_TRUE(graph.InferShapes().ok());
  EXPECT_EQ(call.shape(), PartialShape({5}));
  ASSERT_TRUE(b.ok()) << b.status().ToString();
}

}  // namespace
}  // namespace slipway::ir
