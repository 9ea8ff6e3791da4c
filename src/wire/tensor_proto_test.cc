// SPDX-License-Identifier: Apache-2.0
#include "wire/tensor_proto.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "wire/base64.h"
#include "wire/coding.h"

namespace slipway {
namespace {

std::string Declared(DType dtype, std::initializer_list<int64_t> dims) {
  std::string bytes;
  ProtoWriter writer(&bytes);
  writer.Varint(1, static_cast<uint64_t>(dtype));
  writer.BytesHeader(2, ShapeProtoSize(PartialShape(dims)));
  AppendShapeProto(PartialShape(dims), &bytes);
  return bytes;
}

void ExpectSame(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  if (a.dtype() == DType::kString) {
    EXPECT_TRUE(std::ranges::equal(a.flat<std::string>(), b.flat<std::string>()));
  } else {
    EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), a.byte_size()), 0);
  }
}

// tests/golden/wire/tensor_protos.json: what TensorFlow wrote and read.
TEST(TensorProto, ReadsWhatTensorFlowReads) {
  std::ifstream file("tests/golden/wire/tensor_protos.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GT(cases.size(), 30u);
  for (const auto& c : cases) {
    SCOPED_TRACE(c["name"].get<std::string>());
    const std::string bytes = *DecodeBase64(c["proto"].get<std::string>());
    auto tensor = DecodeTensorProto(bytes);
    ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
    EXPECT_EQ(static_cast<int>(tensor->dtype()), c["dtype"].get<int>());
    EXPECT_EQ(tensor->shape(), Shape(c["shape"].get<std::vector<int64_t>>()));
    if (tensor->dtype() == DType::kString) {
      for (size_t i = 0; i < c["values"].size(); ++i) {
        EXPECT_EQ(tensor->flat<std::string>()[i], *DecodeBase64(c["values"][i].get<std::string>()));
      }
    } else {
      const std::string values = *DecodeBase64(c["values"].get<std::string>());
      ASSERT_EQ(values.size(), tensor->byte_size());
      EXPECT_EQ(std::memcmp(values.data(), tensor->raw_data(), values.size()), 0);
    }
    for (TensorEncoding encoding : {TensorEncoding::kTyped, TensorEncoding::kContent}) {
      std::string again;
      ASSERT_TRUE(AppendTensorProto(*tensor, encoding, &again).ok());
      EXPECT_EQ(again.size(), TensorProtoSize(*tensor, encoding));
      auto back = DecodeTensorProto(again);
      ASSERT_TRUE(back.ok()) << back.status().ToString();
      ExpectSame(*back, *tensor);
    }
    if (c["name"].get<std::string>().starts_with("typed_")) {
      std::string again;
      ASSERT_TRUE(AppendTensorProto(*tensor, TensorEncoding::kTyped, &again).ok());
      EXPECT_EQ(again, bytes) << "TensorFlow's serialisation, byte for byte";
    }
  }
}

TEST(TensorProto, UnpackedFieldsAndFieldsOfOtherTypes) {
  std::string bytes = Declared(DType::kFloat, {3});
  ProtoWriter writer(&bytes);
  writer.Float(5, 1.0f);
  writer.Varint(7, 99);  // int_val means nothing to a float tensor
  writer.Float(5, 2.0f);
  auto t = DecodeTensorProto(bytes);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->flat<float>()[1], 2.0f);
  EXPECT_EQ(t->flat<float>()[2], 2.0f);

  bytes = Declared(DType::kInt64, {2});
  ProtoWriter ints(&bytes);
  ints.Int64(10, -1);
  ints.Int64(10, 5);
  t = DecodeTensorProto(bytes);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->flat<int64_t>()[0], -1);
  EXPECT_EQ(t->flat<int64_t>()[1], 5);
}

TEST(TensorProto, HugeShapesAreRefusedBeforeMemoryIsTaken) {
  std::string bytes = Declared(DType::kFloat, {100000, 100000});
  ProtoWriter(&bytes).Float(5, 1.0f);
  EXPECT_EQ(DecodeTensorProto(bytes).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(DecodeTensorProto(Declared(DType::kFloat, {INT64_MAX, INT64_MAX})).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(DecodeTensorProto(Declared(DType::kFloat, {-1})).status().code(),
            Code::kInvalidArgument);
  TensorDecodeOptions options;
  options.max_bytes = 1000;
  std::string text = Declared(DType::kString, {20});
  ProtoWriter(&text).Bytes(8, std::string(100, 'x'));
  EXPECT_EQ(DecodeTensorProto(text, options).status().code(), Code::kResourceExhausted);
}

TEST(TensorProto, RefusesWhatDoesNotFit) {
  std::string many = Declared(DType::kInt32, {1});
  ProtoWriter(&many).Bytes(7, "\1\2");
  EXPECT_EQ(DecodeTensorProto(many).status().code(), Code::kInvalidArgument);
  std::string content = Declared(DType::kInt32, {2});
  ProtoWriter(&content).Bytes(4, "123");
  EXPECT_EQ(DecodeTensorProto(content).status().code(), Code::kInvalidArgument);
  std::string odd = Declared(DType::kComplex64, {2});
  ProtoWriter(&odd).Float(9, 1);
  EXPECT_EQ(DecodeTensorProto(odd).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(DecodeTensorProto("").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(DecodeTensorProto(Declared(static_cast<DType>(77), {1})).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(DecodeTensorProto(Declared(DType::kVariant, {1})).status().code(),
            Code::kUnimplemented);
}

TEST(ShapeProto, KeepsUnknownSizesAndRank) {
  for (const PartialShape& shape :
       {PartialShape({-1, 28, 0}), PartialShape(std::vector<int64_t>{}), PartialShape::Unknown()}) {
    std::string bytes;
    AppendShapeProto(shape, &bytes);
    EXPECT_EQ(bytes.size(), ShapeProtoSize(shape));
    auto back = DecodeShapeProto(bytes);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, shape);
  }
}

}  // namespace
}  // namespace slipway
