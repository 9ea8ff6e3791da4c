// SPDX-License-Identifier: Apache-2.0
//
// What is expected is what TensorFlow does with the same calls.
#include "kernels/lookup_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/env.h"
#include "kernels/vocabulary_file.h"

namespace slipway::kernels {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

Tensor Words(std::initializer_list<std::string> words) {
  return Tensor::Vector<std::string>(words);
}
Tensor Numbers(std::initializer_list<int64_t> numbers) { return Tensor::Vector<int64_t>(numbers); }
const Tensor kNone = Tensor::Scalar<int64_t>(-1);

std::shared_ptr<LookupTable> Make(TableKind kind, Shape value_shape = {}, Shape key_shape = {},
                                  DType key = DType::kString) {
  TableOptions options;
  options.kind = kind;
  options.key_dtype = key;
  options.value_dtype = DType::kInt64;
  options.value_shape = std::move(value_shape);
  options.key_shape = std::move(key_shape);
  return *LookupTable::Create("t", options);
}

StatusOr<Ints> Find(const LookupTable& table, const Tensor& keys, const Tensor& otherwise) {
  ASSIGN_OR_RETURN(const Shape shape, table.ValuesShape(keys));
  Tensor values(DType::kInt64, shape);
  RETURN_IF_ERROR(table.Find(keys, otherwise, &values));
  return Ints(values.flat<int64_t>().begin(), values.flat<int64_t>().end());
}
std::string FindError(const LookupTable& table, const Tensor& keys, const Tensor& otherwise) {
  return std::string(Find(table, keys, otherwise).status().message());
}

TEST(StaticTable, IsFilledOnce) {
  const auto table = Make(TableKind::kStatic);
  EXPECT_EQ(Find(*table, Words({"a"}), kNone).status().code(), Code::kFailedPrecondition);
  const Status conflict = table->Initialize(Words({"a", "a"}), Numbers({1, 2}));
  EXPECT_EQ(conflict.code(), Code::kFailedPrecondition);
  EXPECT_THAT(conflict.message(), HasSubstr("Key a has 1 and trying to add value 2"));
  EXPECT_FALSE(table->initialized());
  ASSERT_TRUE(table->Initialize(Words({"a", "a"}), Numbers({1, 1})).ok());
  EXPECT_EQ(table->size(), 1);
  EXPECT_TRUE(table->Initialize(Words({"b"}), Numbers({5})).ok());  // as many: taken for the same
  EXPECT_EQ(table->Initialize(Words({"b", "c"}), Numbers({5, 6})).code(),
            Code::kFailedPrecondition);
  EXPECT_THAT(*Find(*table, Words({"a", "b"}), Numbers({7, 8})), ElementsAre(1, 7));
  EXPECT_EQ(table->Insert(Words({"z"}), Numbers({1})).code(), Code::kUnimplemented);
  EXPECT_EQ(table->Remove(Words({"z"})).code(), Code::kUnimplemented);
}

TEST(StaticTable, RefusesOtherTypesAndShapes) {
  const auto table = Make(TableKind::kStatic);
  EXPECT_THAT(table->Initialize(Words({"a", "b"}), Numbers({1})).message(),
              HasSubstr("Keys and values must have the same size 2 vs 1"));
  EXPECT_THAT(table->Initialize(Words({"a"}), Tensor::Vector<float>({1})).message(),
              HasSubstr("Signature mismatch"));
  EXPECT_THAT(table->Initialize(Tensor::Scalar("a"), kNone).message(),
              HasSubstr("Keys must be a vector"));
}

TEST(MutableTable, InsertsRemovesAndImports) {
  const auto table = Make(TableKind::kMutable);
  ASSERT_TRUE(table->Insert(Words({"a", "b", "a"}), Numbers({1, 2, 3})).ok());
  const Tensor asked = Words({"a", "b", "c"});
  EXPECT_THAT(*Find(*table, asked, kNone), ElementsAre(3, 2, -1));
  EXPECT_THAT(*Find(*table, asked, Numbers({7, 8, 9})), ElementsAre(3, 2, 9));
  EXPECT_THAT(FindError(*table, asked, Numbers({7, 8})),
              HasSubstr("Expected shape [] or [3] for default value, got [2]"));
  EXPECT_THAT(table->Insert(Words({"a"}), Numbers({1, 2})).message(),
              HasSubstr("Expected shape [1] for value, got [2]"));
  ASSERT_TRUE(table->Remove(Words({"a", "zz"})).ok());
  ASSERT_TRUE(table->Insert(Words({"d", "e"}), Numbers({4, 5})).ok());
  EXPECT_THAT(*Find(*table, Words({"a", "b", "d", "e"}), kNone), ElementsAre(-1, 2, 4, 5));
  ASSERT_TRUE(table->Import(Words({"n"}), Numbers({1})).ok());
  EXPECT_EQ(table->size(), 1);
  EXPECT_THAT(table->Initialize(Words({"n"}), Numbers({1})).message(),
              HasSubstr("is not initializable"));
}

TEST(MutableTable, OfTensors) {
  const auto table = Make(TableKind::kMutable, Shape({2}));
  const Tensor rows = Tensor::FromValues<int64_t>({1, 2, 3, 4}, Shape({2, 2}));
  ASSERT_TRUE(table->Insert(Words({"a", "b"}), rows).ok());
  EXPECT_THAT(*Find(*table, Words({"b", "z"}), Numbers({8, 9})), ElementsAre(3, 4, 8, 9));
  EXPECT_THAT(FindError(*table, Words({"b", "z"}), Numbers({8})),
              HasSubstr("Expected shape [2] or [2,2] for default value, got [1]"));
  Tensor keys, values;
  ASSERT_TRUE(table->Export(&keys, &values).ok());
  EXPECT_EQ(values.shape(), Shape({2, 2}));
}

TEST(DenseTable, KeepsTwoKeysForItself) {
  const auto table = Make(TableKind::kDense, {}, {}, DType::kInt64);
  const Tensor empty = Tensor::Scalar<int64_t>(0), deleted = Tensor::Scalar<int64_t>(-1);
  EXPECT_THAT(table->Reserve(empty, empty).message(),
              HasSubstr("Empty and deleted keys cannot be equal"));
  ASSERT_TRUE(table->Reserve(empty, deleted).ok());
  ASSERT_TRUE(table->Insert(Numbers({5, 6}), Numbers({1, 2})).ok());
  EXPECT_THAT(*Find(*table, Numbers({5, 77}), kNone), ElementsAre(1, -1));
  EXPECT_THAT(FindError(*table, Numbers({5, 0}), kNone),
              HasSubstr("Using the empty_key as a table key is not allowed"));
  EXPECT_THAT(table->Insert(Numbers({-1}), Numbers({1})).message(),
              HasSubstr("Using the deleted_key as a table key is not allowed"));
  ASSERT_TRUE(table->Import(Numbers({0, 9, -1}), Numbers({0, 3, 0})).ok());
  EXPECT_EQ(table->size(), 1);
}

TEST(DenseTable, KeysMayBeVectors) {
  const auto table = Make(TableKind::kDense, Shape({1}), Shape({2}), DType::kInt64);
  ASSERT_TRUE(table->Reserve(Numbers({0, 0}), Numbers({-1, -1})).ok());
  const Tensor keys = Tensor::FromValues<int64_t>({1, 2, 3, 4}, Shape({2, 2}));
  ASSERT_TRUE(table->Insert(keys, Tensor::FromValues<int64_t>({7, 8}, Shape({2, 1}))).ok());
  EXPECT_THAT(*Find(*table, keys, Numbers({0})), ElementsAre(7, 8));
  EXPECT_THAT(
      FindError(*table, Tensor::FromValues<int64_t>({1, 2, 3}, Shape({1, 3})), Numbers({0})),
      HasSubstr("Input key shape [1,3] must end with the table's key shape [2]"));
}

TEST(LookupTable, ZerosOfBothSignsAreOneKey) {
  const auto table = Make(TableKind::kMutable, {}, {}, DType::kFloat);
  ASSERT_TRUE(table->Insert(Tensor::Vector<float>({0.0f}), Numbers({4})).ok());
  EXPECT_THAT(*Find(*table, Tensor::Vector<float>({-0.0f, 1.0f}), kNone), ElementsAre(4, -1));
}

TEST(LookupTable, ReadersAndWritersAtOnce) {
  const auto table = Make(TableKind::kMutable);
  std::thread writer([&] {
    for (int64_t i = 0; i < 500; ++i) {
      ASSERT_TRUE(table->Insert(Words({"a", "b"}), Numbers({i, i})).ok());
      ASSERT_TRUE(table->Remove(Words({"a"})).ok());
    }
  });
  for (int i = 0; i < 500; ++i) {
    const auto found = Find(*table, Words({"a", "b"}), kNone);
    ASSERT_TRUE(found.ok());
    // One lock a call: an update is seen whole.
    EXPECT_TRUE((*found)[0] == -1 || (*found)[0] == (*found)[1]);
  }
  writer.join();
  EXPECT_EQ(table->size(), 1);
}

struct FileCase {
  std::string text;
  VocabularyOptions options;
  DType key = DType::kString, value = DType::kInt64;
};
StatusOr<Vocabulary> Read(const FileCase& c) {
  const auto env = NewMemoryEnv();
  RETURN_IF_ERROR(WriteFile(env.get(), "words", c.text));
  return ReadVocabulary(env.get(), "words", c.key, c.value, c.options);
}
std::string ReadError(const FileCase& c) { return std::string(Read(c).status().message()); }

TEST(VocabularyFile, LinesAndTheirNumbers) {
  for (const char* text : {"a\nb\n", "a\nb", "a\r\nb\r\n"}) {
    const auto read = Read({text, {}});
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_THAT(read->keys.flat<std::string>(), ElementsAre("a", "b"));
    EXPECT_THAT(read->values.flat<int64_t>(), ElementsAre(0, 1));
  }
  const auto moved = Read({"a\nb\nc\n", {.vocab_size = 2, .offset = 5}});
  EXPECT_THAT(moved->values.flat<int64_t>(), ElementsAre(5, 6));
}

TEST(VocabularyFile, Columns) {
  const auto read = Read({"a,1.5,x\nb, 2,y\n",
                          {.key_index = 2, .value_index = 1, .delimiter = ','},
                          DType::kString,
                          DType::kFloat});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_THAT(read->keys.flat<std::string>(), ElementsAre("x", "y"));
  EXPECT_THAT(read->values.flat<float>(), ElementsAre(1.5f, 2.0f));
}

TEST(VocabularyFile, SaysWhatIsWrong) {
  const VocabularyOptions columns = {.key_index = 0, .value_index = 1};
  EXPECT_THAT(ReadError({"a\n\nb\n", {}}), HasSubstr("empty line found at position 3"));
  EXPECT_THAT(ReadError({"a\n", {.vocab_size = 5}}), HasSubstr("expected 5 but got 1"));
  EXPECT_THAT(ReadError({"a\t1\nb\n", columns}),
              HasSubstr("line 1 (b) : expected at least 2 got 1"));
  EXPECT_THAT(ReadError({"a\tx\n", columns}), HasSubstr("Field x in line 0 is not a valid int64."));
  EXPECT_THAT(
      ReadError({"a\n", {}, DType::kString, DType::kInt32}),
      HasSubstr("Value index for line number requires table value dtype of int64, got int32"));
  EXPECT_EQ(Read({"", {}}).status().code(), Code::kOutOfRange);
}

}  // namespace
}  // namespace slipway::kernels
