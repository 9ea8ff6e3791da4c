// SPDX-License-Identifier: Apache-2.0
//
// The building blocks of the binary formats: little-endian integers, varints and the wire form of
// protocol buffers (https://protobuf.dev/programming-guides/encoding). All reading is checked
// against the bounds of the bytes given; nothing here allocates but the growth of the output.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "slipway/status.h"

namespace slipway {

// Little-endian integers at any address (the machines we build for are little-endian).
inline uint32_t LoadFixed32(const void* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
inline uint64_t LoadFixed64(const void* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
inline void AppendFixed32(std::string* out, uint32_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}
inline void AppendFixed64(std::string* out, uint64_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline constexpr int kMaxVarintBytes = 10;
// Writes at most kMaxVarintBytes; returns the end.
inline char* WriteVarint(char* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}
inline void AppendVarint(std::string* out, uint64_t value) {
  if (value < 0x80) return out->push_back(static_cast<char>(value));
  char bytes[kMaxVarintBytes];
  out->append(bytes, static_cast<size_t>(WriteVarint(bytes, value) - bytes));
}
inline int VarintSize(uint64_t value) { return (63 - __builtin_clzll(value | 1)) / 7 + 1; }
// What ReadVarint does beyond one byte.
bool ReadLongVarint(const char** at, const char* end, uint64_t* value);
// Takes one varint off the front of [*at, end). False, with *at unchanged, if the bytes end
// within it or it has more than ten bytes.
inline bool ReadVarint(const char** at, const char* end, uint64_t* value) {
  if (*at == end || static_cast<unsigned char>(**at) >= 0x80) return ReadLongVarint(at, end, value);
  *value = static_cast<unsigned char>(*(*at)++);
  return true;
}
inline bool ConsumeVarint(std::string_view* bytes, uint64_t* value) {
  const char* at = bytes->data();
  if (!ReadVarint(&at, bytes->data() + bytes->size(), value)) return false;
  bytes->remove_prefix(static_cast<size_t>(at - bytes->data()));
  return true;
}

inline uint64_t ZigZagEncode(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t ZigZagDecode(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// The bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view bytes);

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kFixed32 = 5 };

// Field number and wire type in one integer, for `switch (reader.tag())`: a known field with
// another wire type then falls to `default`, as an unknown field should.
constexpr uint64_t ProtoTag(uint32_t field, WireType type) {
  return (uint64_t{field} << 3) | static_cast<uint32_t>(type);
}
constexpr uint64_t VarintField(uint32_t field) { return ProtoTag(field, WireType::kVarint); }
constexpr uint64_t BytesField(uint32_t field) { return ProtoTag(field, WireType::kBytes); }
constexpr uint64_t Fixed32Field(uint32_t field) { return ProtoTag(field, WireType::kFixed32); }
constexpr uint64_t Fixed64Field(uint32_t field) { return ProtoTag(field, WireType::kFixed64); }

// Walks the fields of one message:
//
//   ProtoReader reader(bytes);
//   while (reader.Next()) {
//     switch (reader.tag()) {
//       case VarintField(1): dtype = reader.varint(); break;
//       case BytesField(2): shape = reader.bytes(); break;
//     }
//   }
//   RETURN_IF_ERROR(reader.status("TensorProto"));
//
// Views point into the bytes given. Groups (obsolete) are skipped whole.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Reads the next field. False at the end of the message and at the first malformed byte.
  bool Next();

  uint64_t tag() const { return tag_; }
  uint32_t field() const { return static_cast<uint32_t>(tag_ >> 3); }
  WireType type() const { return static_cast<WireType>(tag_ & 7); }

  // The value of the field that Next() read. REQUIRES: the tag's type says so.
  uint64_t varint() const { return value_; }
  int64_t int64() const { return static_cast<int64_t>(value_); }
  int32_t int32() const { return static_cast<int32_t>(value_); }
  bool boolean() const { return value_ != 0; }
  uint32_t fixed32() const { return static_cast<uint32_t>(value_); }
  uint64_t fixed64() const { return value_; }
  float float32() const;
  double float64() const;
  std::string_view bytes() const { return bytes_; }

  bool ok() const { return !malformed_; }
  // INVALID_ARGUMENT naming `message` and the offset of the malformed field, if there was one.
  Status status(std::string_view message) const;

 private:
  bool Fail();
  bool SkipGroup();

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* field_start_ = nullptr;
  uint64_t tag_ = 0;
  uint64_t value_ = 0;
  std::string_view bytes_;
  bool malformed_ = false;
};

// Appends fields to a string. Writes what it is told, default values too.
class ProtoWriter {
 public:
  explicit ProtoWriter(std::string* out) : out_(out) {}

  void Varint(uint32_t field, uint64_t value) {
    AppendVarint(out_, VarintField(field));
    AppendVarint(out_, value);
  }
  void Int64(uint32_t field, int64_t value) { Varint(field, static_cast<uint64_t>(value)); }
  void SInt64(uint32_t field, int64_t value) { Varint(field, ZigZagEncode(value)); }
  void Bool(uint32_t field, bool value) { Varint(field, value ? 1 : 0); }
  void Fixed32(uint32_t field, uint32_t value) {
    AppendVarint(out_, Fixed32Field(field));
    AppendFixed32(out_, value);
  }
  void Fixed64(uint32_t field, uint64_t value) {
    AppendVarint(out_, Fixed64Field(field));
    AppendFixed64(out_, value);
  }
  void Float(uint32_t field, float value);
  void Double(uint32_t field, double value);
  void Bytes(uint32_t field, std::string_view value) {
    BytesHeader(field, value.size());
    out_->append(value);
  }
  // Tag and length; the caller appends exactly `size` bytes to out().
  void BytesHeader(uint32_t field, size_t size) {
    AppendVarint(out_, BytesField(field));
    AppendVarint(out_, size);
  }

  // A nested message of which the size is not known yet: what is appended between Begin and End
  // is its body. `expected_size` (as far as known) saves moving the body when the length turns
  // out to need more bytes than one.
  size_t BeginMessage(uint32_t field, size_t expected_size = 0);
  void EndMessage(size_t begun);

  std::string* out() const { return out_; }

 private:
  std::string* out_;
};

}  // namespace slipway
