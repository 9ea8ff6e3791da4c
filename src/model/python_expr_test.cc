// SPDX-License-Identifier: Apache-2.0
//
// Expected values are NumPy's.
#include "model/python_expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/example.h"

namespace slipway::model {
namespace {

using ::testing::HasSubstr;

std::string Array(const std::string& text) {
  const auto value = ParsePython(text);
  if (!value.ok()) return value.status().ToString();
  const auto array = ArrayFromPython(*value);
  return array.ok() ? array->ToString(100) : array.status().ToString();
}

TEST(PythonExpr, Literals) {
  EXPECT_EQ(Array("3"), "int64[] [3]");
  EXPECT_EQ(Array(" -1.5e1 "), "float64[] [-15]");
  EXPECT_EQ(Array("[1, 2.5]"), "float64[2] [1 2.5]");
  EXPECT_EQ(Array("[[1, 2], (3, 4,)]"), "int64[2,2] [1 2 3 4]");
  EXPECT_EQ(Array("[True, False]"), "bool[2] [true false]");
  EXPECT_EQ(Array("[]"), "float64[0] []");
  EXPECT_EQ(Array("[[], []]"), "float64[2,0] []");
  EXPECT_EQ(Array("(7)"), "int64[] [7]");
  EXPECT_EQ(Array("(7,)"), "int64[1] [7]");
  EXPECT_EQ(Array("[1_000, +2]"), "int64[2] [1000 2]");
  const auto complex = ArrayFromPython(*ParsePython("[-1+2j, -3j, 4 - 1.5j, 5]"));
  ASSERT_TRUE(complex.ok()) << complex.status().ToString();
  using C = std::complex<double>;
  EXPECT_THAT(complex->flat<C>(), testing::ElementsAre(C(-1, 2), C(0, -3), C(4, -1.5), C(5, 0)));
  const auto texts =
      ArrayFromPython(*ParsePython(R"(['a\n\'', "\x41", b'\xff\0', r'\n', '\u00e9'])"));
  ASSERT_TRUE(texts.ok()) << texts.status().ToString();
  EXPECT_THAT(texts->flat<std::string>(),
              testing::ElementsAre("a\n'", "A", std::string("\xff\0", 2), "\\n", "\xc3\xa9"));
}

TEST(PythonExpr, NumPyFunctions) {
  EXPECT_EQ(Array("np.ones((2, 3))"), "float64[2,3] [1 1 1 1 1 1]");
  EXPECT_EQ(Array("np.zeros(2, dtype=np.int32)"), "int32[2] [0 0]");
  EXPECT_EQ(Array("numpy.full([2], 7, 'uint8')"), "uint8[2] [7 7]");
  EXPECT_EQ(Array("np.array([[1.7, -1.7]], dtype=np.int64)"), "int64[1,2] [1 -1]");
  EXPECT_EQ(Array("np.arange(3)"), "int64[3] [0 1 2]");
  EXPECT_EQ(Array("np.arange(1, 2, 0.25)"), "float64[4] [1 1.25 1.5 1.75]");
  EXPECT_EQ(Array("np.arange(3, 0, -1)"), "int64[3] [3 2 1]");
  EXPECT_EQ(Array("np.linspace(0, 1, 5)"), "float64[5] [0 0.25 0.5 0.75 1]");
  EXPECT_EQ(Array("np.eye(2)"), "float64[2,2] [1 0 0 1]");
  EXPECT_EQ(Array("np.arange(6).reshape(2, -1)"), "int64[2,3] [0 1 2 3 4 5]");
  EXPECT_EQ(Array("np.arange(4).reshape((2, 2)).astype(np.float32)"), "float32[2,2] [0 1 2 3]");
  EXPECT_EQ(Array("[np.float32(1.5), 2]"), "float64[2] [1.5 2]");
  EXPECT_EQ(Array("[np.inf, -np.pi]").substr(0, 16), "float64[2] [inf ");
}

TEST(PythonExpr, WhatIsRefusedIsSaid) {
  EXPECT_THAT(Array("1 + 2"), HasSubstr("operators are not evaluated"));
  EXPECT_THAT(Array("np.ones(2) * 3"), HasSubstr("operators and names are not evaluated"));
  EXPECT_THAT(Array("x"), HasSubstr("at \"x\": this name is not known"));
  EXPECT_THAT(Array("__import__('os')"), HasSubstr("this name is not known"));
  EXPECT_THAT(Array("np.random.rand(2)"), HasSubstr("np.random is not evaluated"));
  EXPECT_THAT(Array("np.load('f')"), HasSubstr("--inputs"));
  EXPECT_THAT(Array("np.ones((2, 3), order='C')"), HasSubstr("'order' is not known"));
  EXPECT_THAT(Array("np.ones((100000, 100000))"), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(Array("np.ones(-1)"), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(Array("[[1], [2, 3]]"), HasSubstr("unequal length"));
  EXPECT_THAT(Array("[1, 'a']"), HasSubstr("mixed"));
  EXPECT_THAT(Array("[None]"), HasSubstr("None"));
  EXPECT_THAT(Array("[1"), HasSubstr("at its end"));
  EXPECT_THAT(Array("'a"), HasSubstr("no end"));
  EXPECT_THAT(Array(std::string(1000, '[')), HasSubstr("nested too deep"));
  EXPECT_THAT(Array("99999999999999999999"), HasSubstr("64 bits"));
  EXPECT_FALSE(ParsePython("np.ones(2)", {.numpy = false}).ok());
}

TEST(PythonExpr, Examples) {
  const auto value = ParsePython("{'f': [1.5, 2], 'i': [3], 's': ['x', 'y']}", {.numpy = false});
  ASSERT_TRUE(value.ok()) << value.status().ToString();
  const auto example = ExampleFromPython(*value);
  ASSERT_TRUE(example.ok()) << example.status().ToString();
  std::vector<NamedFeature> features;
  ASSERT_TRUE(ReadExample(*example, &features).ok());
  ASSERT_EQ(features.size(), 3u);
  const auto of = [&](size_t i) { return *ReadFeature(features[i].bytes); };
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> texts;
  EXPECT_TRUE(AppendValues(of(0).list, &floats) && AppendValues(of(1).list, &ints) &&
              AppendValues(of(2).list, &texts));
  EXPECT_THAT(floats, testing::ElementsAre(1.5f, 2.0f));
  EXPECT_THAT(ints, testing::ElementsAre(3));
  EXPECT_THAT(texts, testing::ElementsAre("x", "y"));
  for (const char* wrong : {"[1]", "{'f': 1}", "{'f': []}", "{'f': ['x', 1]}", "{1: [1]}"}) {
    EXPECT_FALSE(ExampleFromPython(*ParsePython(wrong)).ok()) << wrong;
  }
}

}  // namespace
}  // namespace slipway::model
