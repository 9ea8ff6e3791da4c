// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/bundle.h"

#include <gtest/gtest.h>

#include "base/fault_env.h"
#include "base/strings.h"

namespace slipway {
namespace {

constexpr char kGolden[] = "tests/golden/checkpoint/";

std::unique_ptr<BundleReader> OpenGolden(const char* name) {
  auto reader = BundleReader::Open(Env::Default(), StrCat(kGolden, name));
  EXPECT_TRUE(reader.ok()) << reader.status().ToString();
  return reader.ok() ? *std::move(reader) : nullptr;
}

template <typename T>
std::vector<T> Values(const StatusOr<Tensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status().ToString();
  if (!tensor.ok()) return {};
  EXPECT_TRUE(IsStoredAs<T>(tensor->dtype()));
  return std::vector<T>(tensor->flat<T>().begin(), tensor->flat<T>().end());
}

TEST(BundleReader, ReadsEveryDTypeOfTensorFlow) {
  const auto reader = OpenGolden("dtypes");
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(Values<uint8_t>(reader->Read("a_odd")), std::vector<uint8_t>{7});
  EXPECT_EQ(Values<bool>(reader->Read("bool")), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(Values<float>(reader->Read("float")),
            (std::vector<float>{1.0, 2.0, 3.0, -4.5, 0.0, 1e30f}));
  EXPECT_EQ(reader->Read("float")->shape(), Shape({2, 3}));
  EXPECT_EQ(Values<double>(reader->Read("double")), std::vector<double>{3.141592653589793});
  EXPECT_EQ(Values<int8_t>(reader->Read("int8")), (std::vector<int8_t>{-128, 127}));
  EXPECT_EQ(Values<int16_t>(reader->Read("int16")), (std::vector<int16_t>{-32768, 32767}));
  EXPECT_EQ(Values<int32_t>(reader->Read("int32")), (std::vector<int32_t>{INT32_MIN, 5}));
  EXPECT_EQ(Values<int64_t>(reader->Read("int64")), (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(Values<uint16_t>(reader->Read("uint16")), std::vector<uint16_t>{65535});
  EXPECT_EQ(Values<uint32_t>(reader->Read("uint32")), std::vector<uint32_t>{UINT32_MAX});
  EXPECT_EQ(Values<uint64_t>(reader->Read("uint64")), std::vector<uint64_t>{UINT64_MAX});
  EXPECT_EQ(static_cast<float>(reader->Read("bfloat16")->flat<BFloat16>()[1]), -2.0f);
  EXPECT_EQ(static_cast<float>(reader->Read("half")->flat<Half>()[1]), 65504.0f);
  EXPECT_EQ(reader->Read("complex64")->flat<std::complex<float>>()[1],
            std::complex<float>(0, -3.5f));
  EXPECT_EQ(reader->Read("complex128")->flat<std::complex<double>>()[0],
            std::complex<double>(1, 2));
  EXPECT_EQ(reader->Read("empty")->shape(), Shape({0, 3}));
  EXPECT_EQ(Values<std::string>(reader->Read("string")),
            (std::vector<std::string>{"", "a", std::string(200, 'b'), std::string("\0\xff", 2)}));
  EXPECT_EQ(reader->Read("string_scalar")->scalar<std::string>(), "one");
}

TEST(BundleReader, PutsPiecesTogether) {
  const auto reader = OpenGolden("partitioned");
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->entries().size(), 2u);
  std::vector<float> all(21);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i);
  EXPECT_EQ(Values<float>(reader->Read("w")), all);
  EXPECT_EQ(Values<float>(reader->ReadSlice("w", *TensorSlice::Parse("3,2:1,2"))),
            (std::vector<float>{10, 11, 13, 14}));
  EXPECT_EQ(Values<float>(reader->ReadSlice("w", *TensorSlice::Parse("4,1:0,1"))),
            std::vector<float>{12});
  const std::string name = "long/" + std::string(70, 'n');
  EXPECT_EQ(reader->Read(name).status().code(), Code::kDataLoss) << "only a third was saved";
  EXPECT_EQ(Values<int32_t>(reader->ReadSlice(name, *TensorSlice::Parse("250,2:-"))),
            (std::vector<int32_t>{100, 101, 102, 103}));
  EXPECT_EQ(reader->ReadSlice("w", *TensorSlice::Parse("6,2:-")).status().code(),
            Code::kInvalidArgument);
}

TEST(BundleReader, ReadsShardsAndObjectGraphs) {
  const auto sharded = OpenGolden("sharded");
  ASSERT_NE(sharded, nullptr);
  EXPECT_EQ(sharded->num_shards(), 2);
  EXPECT_EQ(Values<int32_t>(sharded->Read("t0")), (std::vector<int32_t>{1, 1, 1}));
  EXPECT_EQ(Values<int32_t>(sharded->Read("t1")), (std::vector<int32_t>{2, 2, 2}));
  const auto object = OpenGolden("object/ckpt-1");
  ASSERT_NE(object, nullptr);
  const auto graph = object->Read("_CHECKPOINTABLE_OBJECT_GRAPH");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_NE(graph->scalar<std::string>().find("VARIABLE_VALUE"), std::string::npos);
  EXPECT_EQ(Values<float>(object->Read("v/.ATTRIBUTES/VARIABLE_VALUE")),
            (std::vector<float>{1, 2}));
}

TEST(BundleReader, UnknownKeysNameTheNearest) {
  const auto reader = OpenGolden("dtypes");
  const Status status = reader->Read("strng").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("\"string\""), std::string::npos) << status.ToString();
}

// ---- Writing ----

Tensor Filled(float value, int64_t n = 5) {
  Tensor t(DType::kFloat, Shape({n}));
  std::ranges::fill(t.flat<float>(), value);
  return t;
}

Status Save(Env* env, const std::string& prefix, float value) {
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(env, prefix));
  RETURN_IF_ERROR(writer->Add("w", Filled(value, 1000)));
  RETURN_IF_ERROR(writer->Add("names", Tensor::Vector<std::string>({"x", std::string(300, 'y')})));
  return writer->Finish();
}

StatusOr<float> Saved(Env* env, const std::string& prefix) {
  RETURN_IF_ERROR(VerifyBundle(env, prefix, {.checksums = true}));
  ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(env, prefix));
  ASSIGN_OR_RETURN(const Tensor names, reader->Read("names"));
  EXPECT_EQ(names.flat<std::string>()[1], std::string(300, 'y'));
  ASSIGN_OR_RETURN(const Tensor w, reader->Read("w"));
  for (float v : w.flat<float>()) EXPECT_EQ(v, w.flat<float>()[0]);
  return w.flat<float>()[0];
}

TEST(BundleWriter, RewritesDTypesOfTensorFlow) {
  const auto env = NewMemoryEnv();
  const auto golden = OpenGolden("dtypes");
  auto writer = BundleWriter::Create(env.get(), "m/variables/variables");
  ASSERT_TRUE(writer.ok());
  for (const auto& [key, entry] : golden->entries()) {
    ASSERT_TRUE((*writer)->Add(key, *golden->Read(key)).ok());
  }
  ASSERT_TRUE((*writer)->Finish().ok());
  const auto reader = *BundleReader::Open(env.get(), "m/variables/variables");
  EXPECT_EQ(reader->entries().size(), golden->entries().size());
  for (const auto& [key, entry] : golden->entries()) {
    const BundleEntry& ours = *reader->Find(key).value();
    EXPECT_EQ(ours.masked_crc32c, entry.masked_crc32c) << key;
    EXPECT_EQ(ours.size, entry.size) << key;
    EXPECT_EQ(ours.shape, entry.shape) << key;
    EXPECT_TRUE(reader->Read(key).ok()) << key;
  }
}

TEST(BundleWriter, OverwritingKeepsNothingOfTheOldOne) {
  const auto env = NewMemoryEnv();
  for (float value : {1.0f, 2.0f, 3.0f}) {
    ASSERT_TRUE(Save(env.get(), "ckpt", value).ok());
    EXPECT_EQ(*Saved(env.get(), "ckpt"), value);
  }
  EXPECT_EQ(*env->ListDirectory("."),
            (std::vector<std::string>{"ckpt.data-00000-of-00001", "ckpt.index"}));
}

TEST(BundleWriter, PiecesReadBackWhole) {
  const auto env = NewMemoryEnv();
  auto writer = *BundleWriter::Create(env.get(), "ckpt");
  const Tensor top = Tensor::FromValues<int32_t>({1, 2, 3, 4}, Shape({2, 2}));
  const Tensor bottom = Tensor::FromValues<int32_t>({5, 6}, Shape({1, 2}));
  ASSERT_TRUE(writer->AddSlice("w", Shape({3, 2}), *TensorSlice::Parse("0,2:-"), top).ok());
  EXPECT_FALSE(writer->AddSlice("w", Shape({3, 2}), *TensorSlice::Parse("0,2:-"), top).ok());
  ASSERT_TRUE(writer->AddSlice("w", Shape({3, 2}), *TensorSlice::Parse("2,1:-"), bottom).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto reader = *BundleReader::Open(env.get(), "ckpt");
  EXPECT_EQ(Values<int32_t>(reader->Read("w")), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(BundleWriter, RefusesKeysTwiceAndEmptyOnes) {
  const auto env = NewMemoryEnv();
  auto writer = *BundleWriter::Create(env.get(), "ckpt");
  ASSERT_TRUE(writer->Add("w", Filled(1)).ok());
  EXPECT_EQ(writer->Add("w", Filled(1)).code(), Code::kInvalidArgument);
  EXPECT_EQ(writer->Add("", Filled(1)).code(), Code::kInvalidArgument);
}

TEST(BundleWriter, DroppedBeforeFinishLeavesTheOldOne) {
  const auto env = NewMemoryEnv();
  ASSERT_TRUE(Save(env.get(), "ckpt", 1).ok());
  {
    auto writer = *BundleWriter::Create(env.get(), "ckpt");
    ASSERT_TRUE(writer->Add("w", Filled(2)).ok());
  }
  EXPECT_EQ(*Saved(env.get(), "ckpt"), 1);
  EXPECT_EQ(env->ListDirectory(".")->size(), 2u);
}

// ---- Damage ----

TEST(Bundle, FlippedBitsAndShortShards) {
  const auto env = NewMemoryEnv();
  ASSERT_TRUE(Save(env.get(), "ckpt", 1).ok());
  const std::string path = "ckpt.data-00000-of-00001";
  const std::string good = *ReadFile(env.get(), path);
  for (size_t at : {size_t{0}, size_t{3999}, size_t{4001}, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    ASSERT_TRUE(WriteFile(env.get(), path, bad).ok());
    EXPECT_TRUE(VerifyBundle(env.get(), "ckpt").ok());
    const Status status = VerifyBundle(env.get(), "ckpt", {.checksums = true});
    EXPECT_EQ(status.code(), Code::kDataLoss);
    EXPECT_NE(status.message().find(path), std::string::npos) << status.ToString();
  }
  ASSERT_TRUE(WriteFile(env.get(), path, good.substr(0, good.size() - 1)).ok());
  EXPECT_EQ(VerifyBundle(env.get(), "ckpt").code(), Code::kDataLoss);
  ASSERT_TRUE(env->RemoveFile(path).ok());
  const Status missing = VerifyBundle(env.get(), "ckpt");
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_NE(missing.message().find(path), std::string::npos) << missing.ToString();
  ASSERT_TRUE(env->RemoveFile("ckpt.index").ok());
  EXPECT_EQ(VerifyBundle(env.get(), "ckpt").code(), Code::kNotFound);
}

}  // namespace
}  // namespace slipway
