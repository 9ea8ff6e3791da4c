// SPDX-License-Identifier: Apache-2.0
#include "ir/op_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include "base/strings.h"
#include "ir/op_schema_text.h"

namespace slipway::ir {
namespace {

using testing::HasSubstr;

std::string ValueText(const AttrValue& value);

template <typename T>
std::string ListText(const std::vector<T>& list) {
  std::vector<std::string> texts;
  for (const T& v : list) texts.push_back(ValueText(AttrValue(v)));
  return StrCat("[", StrJoin(texts, ", "), "]");
}

std::string ValueText(const AttrValue& value) {
  if (const auto* v = value.As<std::string>()) return *v == "\n" ? "'\\n'" : StrCat("'", *v, "'");
  if (const auto* v = value.As<int64_t>()) return StrCat(*v);
  if (const auto* v = value.As<float>()) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", static_cast<double>(*v));
    return text;
  }
  if (const auto* v = value.As<bool>()) return StrCat(*v);
  if (const auto* v = value.As<DType>()) return std::string(DTypeName(*v));
  if (const auto* v = value.As<PartialShape>()) {
    return v->has_rank() ? StrCat("[", StrJoin(v->dims(), ", "), "]") : "unknown";
  }
  if (const auto* v = value.As<std::vector<int64_t>>()) return ListText(*v);
  if (const auto* v = value.As<std::vector<std::string>>()) return ListText(*v);
  if (const auto* v = value.As<std::vector<DType>>()) return ListText(*v);
  if (const auto* v = value.As<std::vector<PartialShape>>()) return ListText(*v);
  return StrCat("? ", value.ToString());
}

std::string AttrText(const OpSchema::Attr& attr) {
  std::vector<std::string> allowed;
  for (const DType dtype : attr.allowed_types) allowed.emplace_back(DTypeName(dtype));
  for (const std::string& text : attr.allowed_strings) allowed.push_back(StrCat("'", text, "'"));
  std::ranges::sort(allowed);
  const bool list = attr.type.starts_with("list(");
  std::string type = attr.type;
  if (!allowed.empty()) type = StrCat("{", StrJoin(allowed, ", "), "}");
  std::string out =
      StrCat(attr.name, ": ", list && !allowed.empty() ? StrCat("list(", type, ")") : type);
  if (attr.minimum) StrAppend(&out, " >= ", *attr.minimum);
  if (attr.has_default) StrAppend(&out, " = ", ValueText(attr.default_value));
  return out;
}

std::string ArgText(const OpSchema::Arg& arg) {
  std::string type = arg.type_attr + arg.type_list_attr;
  if (type.empty()) type = DTypeName(arg.dtype);
  return StrCat(arg.name, ": ",
                arg.number_attr.empty() ? type : StrCat(arg.number_attr, " * ", type));
}

template <typename T, typename Text>
std::string Joined(const std::vector<T>& list, Text text) {
  std::vector<std::string> texts;
  for (const T& v : list) texts.push_back(text(v));
  return StrJoin(texts, ", ");
}

std::string SchemaText(const OpSchema& schema) {
  return StrCat(schema.name, " | ", Joined(schema.inputs, ArgText), " | ",
                Joined(schema.outputs, ArgText), " | ", Joined(schema.attrs, AttrText));
}

TEST(OpSchemaTest, EveryTableRowIsAsTensorFlowHasIt) {
  std::ifstream golden("tests/golden/ir/op_schemas.txt");
  ASSERT_TRUE(golden.good());
  std::map<std::string, std::string> lines;
  for (std::string line; std::getline(golden, line);) {
    if (!line.starts_with("#")) lines[line.substr(0, line.find(" | "))] = line;
  }
  for (const OpSchema* schema : AllOpSchemas()) {
    ASSERT_TRUE(lines.contains(schema->name))
        << "add it with: tools/make_op_schemas.py --golden " << schema->name;
    EXPECT_EQ(SchemaText(*schema), lines[schema->name]);
    lines.erase(schema->name);
  }
  for (const auto& [op, line] : lines) ADD_FAILURE() << "no schema for " << op;
}

TEST(OpSchemaTest, FindsByNameOnly) {
  ASSERT_NE(FindOpSchema("MatMul"), nullptr);
  EXPECT_EQ(FindOpSchema("MatMul")->name, "MatMul");
  EXPECT_EQ(FindOpSchema("matmul"), nullptr);
  EXPECT_EQ(FindOpSchema(""), nullptr);
}

TEST(OpSchemaTest, ResolvesTypeNumberAndListAttributes) {
  const auto pack = ResolveDtypes(*FindOpSchema("Pack"), {{"N", 3}, {"T", DType::kInt64}});
  ASSERT_TRUE(pack.ok()) << pack.status().ToString();
  EXPECT_EQ(pack->inputs, std::vector<DType>(3, DType::kInt64));
  EXPECT_EQ(pack->outputs, std::vector<DType>{DType::kInt64});
  const std::vector<DType> list = {DType::kFloat, DType::kBool};
  const auto identity = ResolveDtypes(*FindOpSchema("IdentityN"), {{"T", list}});
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity->inputs, list);
  EXPECT_EQ(identity->outputs, list);
}

TEST(OpSchemaTest, ResolveNamesWhatIsMissingOrWrong) {
  const auto missing = ResolveDtypes(*FindOpSchema("MatMul"), {});
  EXPECT_EQ(missing.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("lacks attribute 'T'"));
  const auto wrong = ResolveDtypes(*FindOpSchema("MatMul"), {{"T", 3}});
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("is int 3; wanted type"));
  const auto huge = ResolveDtypes(*FindOpSchema("Split"),
                                  {{"num_split", int64_t{1} << 40}, {"T", DType::kFloat}});
  EXPECT_THAT(std::string(huge.status().message()), HasSubstr("1099511627776"));
}

TEST(OpSchemaTest, FlatOutputIndexCountsThroughLists) {
  const OpSchema& split = *FindOpSchema("Split");
  const AttrMap attrs = {{"num_split", 3}, {"T", DType::kFloat}};
  EXPECT_EQ(*FlatOutputIndex(split, attrs, "output", 2), 2);
  EXPECT_FALSE(FlatOutputIndex(split, attrs, "output", 3).ok());
  EXPECT_FALSE(FlatOutputIndex(split, attrs, "output", -1).ok());
  const auto unknown = FlatOutputIndex(split, attrs, "product", 0);
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("no output 'product'"));
  const OpSchema& xent = *FindOpSchema("SoftmaxCrossEntropyWithLogits");
  EXPECT_EQ(*FlatOutputIndex(xent, {{"T", DType::kFloat}}, "backprop", 0), 1);
}

TEST(OpSchemaTest, TextFormErrorsNameOpAndPlace) {
  for (const char* attrs : {"T", "T:", "T: numbers", "T: {float32", "N: int >= x", "b: bool = 1",
                            "s: string = 'x", "T: type, ", "t: tensor = 3"}) {
    const auto schema = ParseOpSchema({"Bad", "", "", attrs, Effect::kPure, nullptr});
    ASSERT_FALSE(schema.ok()) << attrs;
    EXPECT_THAT(std::string(schema.status().message()), HasSubstr("Schema of op Bad")) << attrs;
  }
  for (const char* inputs : {"x", "x: U", "x: N * T", "x: T * T", "x: T y: T"}) {
    EXPECT_FALSE(ParseOpSchema({"Bad", inputs, "", "T: type", Effect::kPure, nullptr}).ok())
        << inputs;
  }
}

}  // namespace
}  // namespace slipway::ir
