// SPDX-License-Identifier: Apache-2.0
//
// The expected texts are Python's: str() and repr() of what TensorFlow decodes.
#include "formats/python_functions.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "proto/object_graph.pb.h"

namespace slipway::formats {
namespace {

namespace tf = ::tensorflow;

tf::StructuredValue Value(const std::string& text) {
  tf::StructuredValue value;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &value)) << text;
  return value;
}

TEST(PythonFunctions, ValuesArePrintedAsPythonDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"none_value {}", "None"},
      {"bool_value: true", "True"},
      {"int64_value: -7", "-7"},
      {"float64_value: 1", "1.0"},
      {"float64_value: 1e15", "1000000000000000.0"},
      {"float64_value: 1e16", "1e+16"},
      {"float64_value: 1.5e-5", "1.5e-05"},
      {"float64_value: 0.0001", "0.0001"},
      {"float64_value: -0.0", "-0.0"},
      {"float64_value: inf", "inf"},
      {"string_value: 'a\\'b'", "\"a'b\""},
      {"string_value: 'a\\'\"b'", "'a\\'\"b'"},
      {"string_value: '\\n\\x01'", "'\\n\\x01'"},
      {"tensor_shape_value { dim { size: -1 } dim { size: 3 } }", "TensorShape([None, 3])"},
      {"tensor_shape_value { unknown_rank: true }", "TensorShape(None)"},
      {"tensor_dtype_value: DT_BFLOAT16", "tf.bfloat16"},
      {"tensor_spec_value { shape { unknown_rank: true } dtype: DT_STRING }",
       "TensorSpec(shape=<unknown>, dtype=tf.string, name=None)"},
      {"tensor_spec_value { name: 'n' shape { dim { size: 3 } } dtype: DT_FLOAT }",
       "TensorSpec(shape=(3,), dtype=tf.float32, name='n')"},
      {"list_value { values { int64_value: 1 } values { string_value: 'a' } }", "[1, 'a']"},
      {"tuple_value { values { int64_value: 1 } }", "(1,)"},
      {"tuple_value {}", "()"},
      {"dict_value { fields { key: 'b' value { int64_value: 1 } } "
       "fields { key: 'a' value { none_value {} } } }",
       "{'a': None, 'b': 1}"},
      {"named_tuple_value { name: 'Point' values { key: 'x' value { int64_value: 1 } } "
       "values { key: 'y' value { float64_value: 2 } } }",
       "Point(x=1, y=2.0)"},
      {"type_spec_value { type_spec_class: SPARSE_TENSOR_SPEC "
       "type_spec_class_name: 'SparseTensorSpec' type_state { tuple_value { "
       "values { tensor_shape_value { dim { size: -1 } dim { size: 4 } } } "
       "values { tensor_dtype_value: DT_FLOAT } } } }",
       "SparseTensorSpec(TensorShape([None, 4]), tf.float32)"},
      {"type_spec_value { type_spec_class: VARIABLE_SPEC type_spec_class_name: 'VariableSpec' "
       "type_state { tuple_value { values { tensor_shape_value { dim { size: 2 } } } "
       "values { tensor_dtype_value: DT_FLOAT } values { bool_value: true } "
       "values { none_value {} } } } }",
       "VariableSpec(shape=(2,), dtype=tf.float32, trainable=True, alias_id=None)"},
  };
  for (const auto& [text, repr] : cases) EXPECT_EQ(PythonRepr(Value(text)), repr) << text;
  EXPECT_EQ(PythonStr(Value("string_value: 'it'")), "it");
  EXPECT_EQ(PythonStr(Value("tensor_dtype_value: DT_FLOAT")), "<dtype: 'float32'>");
  EXPECT_EQ(PythonStr(Value("tensor_shape_value { dim { size: 3 } }")), "(3,)");
}

TEST(PythonFunctions, WhatLeadsNowhereIsLeftOut) {
  tf::SavedObjectGraph objects;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "nodes { children { node_id: 7 local_name: 'far' } children { node_id: -1 local_name: 'x' } "
      "children { node_id: 1 local_name: 'f' } children { node_id: 2 local_name: 'v' } } "
      "nodes { function { concrete_functions: 'gone' concrete_functions: 'there' } } "
      "nodes { variable {} } "
      "concrete_functions { key: 'there' value {} }",
      &objects));
  const auto functions = ListPythonFunctions(objects);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "f");
  ASSERT_EQ(functions[0].options.size(), 1u);
  EXPECT_TRUE(functions[0].options[0].args.empty());
  EXPECT_TRUE(ListPythonFunctions({}).empty());
}

}  // namespace
}  // namespace slipway::formats
