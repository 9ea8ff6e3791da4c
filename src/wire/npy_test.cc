// SPDX-License-Identifier: Apache-2.0
#include "wire/npy.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "wire/base64.h"

namespace slipway {
namespace {

std::string Npy(std::string_view header, std::string_view data, int major = 1) {
  std::string out = "\x93NUMPY";
  out.push_back(static_cast<char>(major));
  out.push_back('\0');
  out.push_back(static_cast<char>(header.size()));
  out.append(major == 1 ? 1 : 3, '\0');
  return out.append(header).append(data);
}

TEST(Npy, EveryDTypeReadsBack) {
  for (DType dtype : {DType::kBool, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64,
                      DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64, DType::kHalf,
                      DType::kFloat, DType::kDouble, DType::kComplex64, DType::kComplex128}) {
    for (const Shape& shape : {Shape(), Shape({3}), Shape({2, 3}), Shape({0, 4})}) {
      Tensor t(dtype, shape);
      for (size_t i = 0; i < t.byte_size(); ++i) static_cast<char*>(t.raw_data())[i] = i % 2;
      const auto bytes = EncodeNpy(t);
      ASSERT_TRUE(bytes.ok());
      EXPECT_EQ((bytes->size() - t.byte_size()) % 64, 0u);
      const auto back = DecodeNpy(*bytes);
      ASSERT_TRUE(back.ok()) << back.status().ToString();
      EXPECT_EQ(back->dtype(), dtype);
      EXPECT_EQ(back->shape(), shape);
      EXPECT_EQ(std::memcmp(back->raw_data(), t.raw_data(), t.byte_size()), 0);
    }
  }
  EXPECT_FALSE(NpyHolds(DType::kBFloat16));
  EXPECT_EQ(EncodeNpy(Tensor(DType::kBFloat16, Shape())).status().code(), Code::kUnimplemented);
}

TEST(Npy, TheHeaderIsNumPys) {
  const std::string bytes = *EncodeNpy(Tensor(DType::kFloat, Shape({2, 3})));
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, dictionary.size()), dictionary);
  EXPECT_EQ(bytes[127], '\n');
}

TEST(Npy, FortranOrderAndBigEndian) {
  const auto t = DecodeNpy(Npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }",
                               std::string("\0\1\0\2\0\3\0\4\0\5\0\6", 12)));
  ASSERT_TRUE(t.ok()) << t.status().ToString();
  EXPECT_EQ(std::vector<int16_t>(t->flat<int16_t>().begin(), t->flat<int16_t>().end()),
            (std::vector<int16_t>{1, 3, 5, 2, 4, 6}));
}

TEST(Npy, OtherVersionsAndSpellings) {
  for (int major : {1, 2, 3}) {
    const auto t =
        DecodeNpy(Npy("{\"shape\": (2L,),'fortran_order':False, 'descr':'|u1'}", "ab", major));
    ASSERT_TRUE(t.ok()) << t.status().ToString();
    EXPECT_EQ(t->flat<uint8_t>()[1], 'b');
  }
}

TEST(Npy, RefusesWhatIsNot) {
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
  for (const std::string& bad :
       {std::string(), std::string("\x93NUMPY"), std::string(100, 'x'), Npy(good, "a"),
        Npy(good, "abc"), Npy(good, "ab", 9), Npy("{}", ""), Npy("{'descr'", ""),
        Npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "ab"),
        Npy("{'descr': '<U5', 'fortran_order': False, 'shape': (2,), }", "ab"),
        Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""),
        Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", ""),
        Npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", "abcd"),
        Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1", "")}) {
    EXPECT_EQ(DecodeNpy(bad).status().code(), Code::kInvalidArgument) << Quoted(bad);
  }
  const std::string header = Npy(good, "ab");
  for (size_t n = 0; n < header.size(); ++n) EXPECT_FALSE(DecodeNpy(header.substr(0, n)).ok());
}

// The files are numpy.save's.
TEST(Npy, Text) {
  const auto read = [](const std::string& name) {
    auto t = ReadNpy(Env::Default(), "fuzz/corpus/npy_fuzz/" + name);
    EXPECT_TRUE(t.ok()) << t.status().ToString();
    const auto texts = t->flat<std::string>();
    return std::vector<std::string>(texts.begin(), texts.end());
  };
  const std::vector<std::string> bytes = {"ab", "", std::string("\xff\0c", 3), "d"};
  EXPECT_EQ(read("bytes"), bytes);
  const std::vector<std::string> characters = {
      "\xc3\xa9"
      "a",
      "\xf0\x9f\x98\x80", "", "z"};
  EXPECT_EQ(read("characters"), characters);
  const auto t = DecodeNpy(*ReadFile(Env::Default(), "fuzz/corpus/npy_fuzz/bytes"));
  EXPECT_EQ(t->shape(), Shape({2, 2}));
  EXPECT_EQ(*EncodeNpy(*t), *ReadFile(Env::Default(), "fuzz/corpus/npy_fuzz/bytes"));
  const Tensor zero = Tensor::Scalar(std::string("a\0", 2));
  EXPECT_EQ(EncodeNpy(zero).status().code(), Code::kUnimplemented);
  const std::string surrogate = Npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }",
                                    std::string("\x00\xd8\x00\x00", 4));
  EXPECT_EQ(DecodeNpy(surrogate).status().code(), Code::kInvalidArgument);
}

TEST(Npy, FilesAreNamedInErrors) {
  const auto env = NewMemoryEnv();
  const Tensor t = Tensor::Vector<double>({1, 2, 3});
  ASSERT_TRUE(WriteNpy(env.get(), "t.npy", t).ok());
  EXPECT_EQ(ReadNpy(env.get(), "t.npy")->flat<double>()[2], 3);
  ASSERT_TRUE(WriteFile(env.get(), "bad.npy", "no").ok());
  const Status status = ReadNpy(env.get(), "bad.npy").status();
  EXPECT_NE(status.message().find("bad.npy"), std::string::npos);
  NpyOptions options;
  options.max_bytes = 10;
  EXPECT_EQ(ReadNpy(env.get(), "t.npy", options).status().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace slipway
