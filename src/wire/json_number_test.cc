// SPDX-License-Identifier: Apache-2.0
#include "wire/json_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"

namespace slipway {
namespace {

JsonNumber Read(const std::string& text, size_t* used = nullptr) {
  JsonNumber number;
  const char* end = ReadJsonNumber(text.data(), text.data() + text.size(), &number);
  if (used != nullptr) *used = static_cast<size_t>(end - text.data());
  return number;
}

std::string Write(float value) {
  char text[kMaxJsonNumberBytes];
  return std::string(text, WriteJsonFloat(value, text));
}

std::string Write(double value) {
  char text[kMaxJsonNumberBytes];
  return std::string(text, WriteJsonDouble(value, text));
}

// printf's way to the same text.
template <typename T>
std::string Printed(T value, int full) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.6g", static_cast<double>(value));
  const T back = full == 9 ? static_cast<T>(std::strtof(text, nullptr))
                           : static_cast<T>(std::strtod(text, nullptr));
  if (back != value) std::snprintf(text, sizeof(text), "%.*g", full, static_cast<double>(value));
  std::string result = text;
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

TEST(JsonNumber, IntegersAndTheirLimits) {
  EXPECT_EQ(Read("0").kind, JsonNumber::Kind::kInt);
  EXPECT_EQ(Read("18446744073709551615").magnitude, UINT64_MAX);
  EXPECT_EQ(Read("18446744073709551615").kind, JsonNumber::Kind::kInt);
  EXPECT_EQ(Read("18446744073709551616").kind, JsonNumber::Kind::kFloat);
  EXPECT_EQ(Read("18446744073709551616").value, 18446744073709551616.0);
  EXPECT_EQ(Read("-9223372036854775808").kind, JsonNumber::Kind::kInt);
  EXPECT_EQ(Read("-9223372036854775809").kind, JsonNumber::Kind::kFloat);
  EXPECT_EQ(Read("12345678").magnitude, 12345678u);
  EXPECT_EQ(Read("1.0").kind, JsonNumber::Kind::kFloat);
  EXPECT_EQ(Read("1e2").kind, JsonNumber::Kind::kFloat);
  EXPECT_TRUE(std::signbit(Read("-0.0").value));
}

TEST(JsonNumber, Tokens) {
  EXPECT_TRUE(std::isnan(Read("NaN").value));
  EXPECT_EQ(Read("Infinity").value, INFINITY);
  EXPECT_EQ(Read("-Infinity").value, -INFINITY);
  for (const char* bad :
       {"", "-", "+1", ".5", "1.", "1.e3", "1e", "1e+", "nan", "Inf", "-NaN", "x"}) {
    EXPECT_EQ(Read(bad).kind, JsonNumber::Kind::kInvalid) << bad;
  }
  size_t used = 0;
  EXPECT_EQ(Read("01", &used).kind, JsonNumber::Kind::kInt);
  EXPECT_EQ(used, 1u);
}

TEST(JsonNumber, BeyondADouble) {
  EXPECT_EQ(Read("1e400").kind, JsonNumber::Kind::kTooLarge);
  EXPECT_EQ(Read("-1e400").value, -INFINITY);
  EXPECT_EQ(Read("1e-400").value, 0);
  EXPECT_EQ(Read("0e999999999999").value, 0);
  EXPECT_EQ(Read("1e-999999999999").value, 0);
  EXPECT_EQ(Read("1.7976931348623157e308").value, 1.7976931348623157e308);
  EXPECT_EQ(Read("4.9e-324").value, 4.9e-324);
  EXPECT_EQ(Read(std::string(400, '1')).kind, JsonNumber::Kind::kTooLarge);
  EXPECT_EQ(Read("0." + std::string(400, '0') + "1").value, 0);
  EXPECT_EQ(Read("0." + std::string(30, '0') + "123456789012345678901e30").value,
            std::strtod("0.123456789012345678901", nullptr));
}

TEST(JsonNumber, AgreesWithStrtod) {
  Philox random(3);
  for (int i = 0; i < 200000; ++i) {
    const auto words = random.Next();
    const uint64_t bits = uint64_t{words[0]} << 32 | words[1];
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    char text[64];
    // Whole range, and the range of ordinary numbers with many digits.
    const int digits = static_cast<int>(words[2] % 20) + 1;
    if (i % 2 == 0) {
      std::snprintf(text, sizeof(text), "%.*g", digits, value);
    } else {
      std::snprintf(
          text, sizeof(text), "%.*g", digits,
          std::ldexp(1.0 + words[3] / 4294967296.0, static_cast<int>(words[2] % 61) - 30));
    }
    ASSERT_EQ(Read(text).value, std::strtod(text, nullptr)) << text;
  }
}

TEST(JsonNumber, RunsAgreeWithStrtod) {
  Philox random(9);
  for (int i = 0; i < 100000; ++i) {
    const auto words = random.Next();
    char text[128];
    std::snprintf(
        text, sizeof(text), "%.*f, 0123456789012345678901234567890123456789]",
        static_cast<int>(words[0] % 26),
        std::ldexp(static_cast<double>(words[1]) - 2147483648.0, -static_cast<int>(words[2] % 60)));
    float value = -1;
    int64_t count = 0;
    ReadJsonFloats(text, text + std::strlen(text), &value, 1, &count);
    ASSERT_EQ(count, 1) << text;
    ASSERT_EQ(value, static_cast<float>(std::strtod(text, nullptr))) << text;
  }
}

TEST(JsonNumber, HalfWayTextsAreNotRoundedTwice) {
  // Texts just above, at and just below the middle between two doubles.
  for (const char* text : {"9007199254740993", "9007199254740992.999", "9007199254740993.001",
                           "4503599627370496.5", "4503599627370497.5", "0.500000000000000166"}) {
    EXPECT_EQ(Read(text).value, std::strtod(text, nullptr)) << text;
  }
}

TEST(JsonNumber, RunsOfFloats) {
  const std::string text = "1, 2.5 ,-3e1\n,\t0.125]";
  std::vector<float> out(8);
  int64_t count = 0;
  const char* end = ReadJsonFloats(text.data(), text.data() + text.size(), out.data(), 8, &count);
  EXPECT_EQ(count, 4);
  EXPECT_EQ(*end, ']');
  EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 4),
            (std::vector<float>{1, 2.5, -30, 0.125}));
  const std::string mixed = "1, null";
  end = ReadJsonFloats(mixed.data(), mixed.data() + mixed.size(), out.data(), 8, &count);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(*end, ',');
  end = ReadJsonFloats(text.data(), text.data() + text.size(), out.data(), 2, &count);
  EXPECT_EQ(count, 2);
}

// The numbers of TensorFlow Serving's own test of its JSON.
TEST(JsonNumber, WritesAsTensorFlowServing) {
  EXPECT_EQ(Write(9000000.0f), "9e+06");
  EXPECT_EQ(Write(999999.0f), "999999.0");
  EXPECT_EQ(Write(0.5f), "0.5");
  EXPECT_EQ(Write(0.0003f), "0.0003");
  EXPECT_EQ(Write(0.00003f), "3e-05");
  EXPECT_EQ(Write(555557.5f), "555557.5");
  EXPECT_EQ(Write(0.0f), "0.0");
  EXPECT_EQ(Write(-0.0f), "-0.0");
  EXPECT_EQ(Write(NAN), "NaN");
  EXPECT_EQ(Write(-INFINITY), "-Infinity");
  EXPECT_EQ(Write(2.0), "2.0");
  EXPECT_EQ(Write(0.1), "0.1");
  EXPECT_EQ(Write(1.0 / 3), "0.33333333333333331");
}

TEST(JsonNumber, WritesWhatPrintfWould) {
  Philox random(11);
  for (int i = 0; i < 400000; ++i) {
    const auto words = random.Next();
    float value;
    std::memcpy(&value, &words[0], sizeof(value));
    if (i % 4 == 1) value = UniformFloat(words[1]);
    if (i % 4 == 2)
      value = static_cast<float>(static_cast<int>(words[1] % 2000001) - 1000000) / 1000;
    if (i % 4 == 3)
      value = std::strtof(std::to_string(words[1] % 1000000).c_str(), nullptr) * 1e-6f;
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(Write(value), Printed(value, 9));
    if (i % 16 == 0) {
      ASSERT_EQ(Write(static_cast<double>(value) / 3), Printed(static_cast<double>(value) / 3, 17));
    }
  }
  for (float edge : {1e-15f, 1e20f, 9.999999e8f, 0.000099999999f, 0.0001f, 999999.5f, 1e9f,
                     16777216.0f, 1.17549435e-38f, 1e-45f, 3.4028235e38f, 99999.995f}) {
    EXPECT_EQ(Write(edge), Printed(edge, 9));
  }
}

}  // namespace
}  // namespace slipway
